import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import { Confirm } from "../../parts/confirm.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import { type ApiKey, keysPath } from "./api-keys.tsx"
import type { SecretShown } from "./new-secret.tsx"

const GRACES = [
  { value: "0", label: "Stops at once" },
  { value: "1", label: "Works for an hour more" },
  { value: "24", label: "Works for 24 hours more" },
  { value: "168", label: "Works for seven days more" },
]

interface RotateKeyProps {
  organizationId: number
  apiKey: ApiKey
  onMade(made: SecretShown): Promise<unknown>
  onClose(): void
}

/** Another secret for the same key; the old one goes on for a while, so that programs can change over. */
export function RotateKey({ organizationId, apiKey, onMade, onClose }: RotateKeyProps) {
  const [grace, setGrace] = useState("24")
  return (
    <Confirm
      title={`Rotate ${visible(apiKey.name)}`}
      act="Make the new secret"
      onClose={onClose}
      onConfirm={async () =>
        onMade(await post<SecretShown>(`${keysPath(organizationId)}/${apiKey.id}/rotate`, { grace_hours: Number(grace) }))
      }
    >
      <div class="stack">
        <p>The key keeps its name, scopes and sites and gets a new secret, which is shown once.</p>
        <SelectField label="The old secret" value={grace} onValue={setGrace} options={GRACES} />
      </div>
    </Confirm>
  )
}
