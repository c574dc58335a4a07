import { Button } from "../../../parts/button.tsx"
import { CopyButton, OneTimeSecret } from "../../../parts/copy.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { visible } from "../../../text/safe-text.tsx"
import type { OwnSite } from "../own-organization.ts"
import { exampleRequest } from "./examples.ts"
import { type ApiKey, reachWords } from "./keys.ts"
import { McpBlocks } from "./mcp-blocks.tsx"

/** Key right after it was created or rotated. Only this response contains the whole key. */
export type SecretShown = ApiKey & { key: string }

/** Shows a new key once, with an example request and MCP configurations. */
export function NewSecret({ created, sites, onClose }: { created: SecretShown; sites: readonly OwnSite[]; onClose(): void }) {
  const request = exampleRequest({ ...created, site_ids: created.site_ids ?? sites.map(({ id }) => id) })
  return (
    <Dialog title={`API key ${visible(created.name)}`} onClose={onClose} wide>
      <div class="stack">
        <OneTimeSecret
          label="API key"
          secret={created.key}
          note={`Copy the key now. It won't be shown again. Access: ${reachWords(created, sites)}.`}
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
