import { useState } from "preact/hooks"
import { post } from "../../../api/api.ts"
import { Confirm } from "../../../parts/confirm.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { type ApiKey, keysPath } from "./keys.ts"
import type { SecretShown } from "./new-secret.tsx"

const GRACE_PERIODS = [
  { value: "0", label: "Stops working immediately" },
  { value: "1", label: "Works for another hour" },
  { value: "24", label: "Works for another 24 hours" },
  { value: "168", label: "Works for another 7 days" },
]

interface RotateKeyProps {
  organizationId: number
  apiKey: ApiKey
  onCreated(created: SecretShown): Promise<unknown>
  onClose(): void
}

/** Replaces the secret of a key. The old one can stay valid for a while, so that programs can switch. */
export function RotateKey({ organizationId, apiKey, onCreated, onClose }: RotateKeyProps) {
  const [grace, setGrace] = useState("24")
  return (
    <Confirm
      title={`Rotate ${visible(apiKey.name)}?`}
      act="Rotate key"
      onClose={onClose}
      onConfirm={async () =>
        onCreated(await post<SecretShown>(`${keysPath(organizationId)}/${apiKey.id}/rotate`, { grace_hours: Number(grace) }))
      }
    >
      <div class="stack">
        <p>The key keeps its name, permissions and sites and gets a new secret, which is shown once.</p>
        <SelectField label="Old secret" value={grace} onValue={setGrace} options={GRACE_PERIODS} />
      </div>
    </Confirm>
  )
}
