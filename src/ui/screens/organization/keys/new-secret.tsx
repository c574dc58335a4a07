import { useState } from "preact/hooks"
import type { KeyResponse, SecretResponse } from "../../../../domain/key.ts"
import { post } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { CopyButton, OneTimeSecret } from "../../../parts/copy.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { visible } from "../../../text/safe-text.tsx"
import type { OwnSite } from "../own-organization.ts"
import { exampleRequest, McpBlocks } from "./examples.tsx"
import { accessText, keysPath } from "./keys.ts"

/** Shows a new key once, with an example request and MCP configurations. */
export function NewSecret({ created, sites, onClose }: { created: SecretResponse; sites: readonly OwnSite[]; onClose(): void }) {
  const request = exampleRequest({ ...created, site_ids: created.site_ids ?? sites.map(({ id }) => id) })
  return (
    <Dialog title={`API key ${visible(created.name)}`} onClose={onClose} wide>
      <div class="stack">
        <OneTimeSecret
          label="API key"
          secret={created.key}
          note={`Copy the key now. It won't be shown again. Access: ${accessText(created, sites)}.`}
        />
        <section class="stack" aria-labelledby="try-it">
          <h3 id="try-it">Try it</h3>
          <pre>{request}</pre>
          <div class="row">
            <CopyButton text={request} label="Copy request" />
          </div>
        </section>
        {created.scopes.includes("stats:read") && (
          <section class="stack" aria-labelledby="mcp-blocks">
            <h3 id="mcp-blocks">Connect an assistant</h3>
            <McpBlocks secret={created.key} />
          </section>
        )}
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            I've saved the key
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

const GRACE_PERIODS = [
  { value: "0", label: "Stops working immediately" },
  { value: "1", label: "Works for another hour" },
  { value: "24", label: "Works for another 24 hours" },
  { value: "168", label: "Works for another 7 days" },
]

interface RotateKeyProps {
  organizationId: number
  apiKey: KeyResponse
  onCreated(created: SecretResponse): Promise<unknown>
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
        onCreated(await post<SecretResponse>(`${keysPath(organizationId)}/${apiKey.id}/rotate`, { grace_hours: Number(grace) }))
      }
    >
      <div class="stack">
        <p>The key keeps its name, permissions and sites and gets a new secret, which is shown once.</p>
        <SelectField label="Old secret" value={grace} onValue={setGrace} options={GRACE_PERIODS} />
      </div>
    </Confirm>
  )
}
