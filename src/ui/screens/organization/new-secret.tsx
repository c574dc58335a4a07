import { Button } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { visible } from "../../safe-text.ts"
import { type ApiKey, reachWords } from "./api-keys.tsx"
import { exampleRequest } from "./examples.ts"
import { McpBlocks } from "./mcp-blocks.tsx"
import type { OwnSite } from "./own-organization.ts"
import { ShownOnce } from "./shown-once.tsx"

/** A key right after it was made or rotated: the only answer that holds the whole of it. */
export type SecretShown = ApiKey & { key: string }

/** The key, and what to do with it at once. */
export function NewSecret({ made, sites, onClose }: { made: SecretShown; sites: readonly OwnSite[]; onClose(): void }) {
  const request = exampleRequest({ ...made, site_ids: made.site_ids ?? sites.map(({ id }) => id) })
  return (
    <Dialog title={`Key ${visible(made.name)}`} onClose={onClose} wide>
      <div class="stack">
        <ShownOnce
          label="The key"
          secret={made.key}
          note={`Shown this once: keep it where secrets are kept. It reaches ${reachWords(made, sites)}.`}
        />
        <section class="stack" aria-labelledby="try-it">
          <h3 id="try-it">Try it</h3>
          <pre>{request}</pre>
          <div class="row">
            <CopyButton text={request} label="Copy the request" />
          </div>
        </section>
        {made.scopes.includes("stats:read") && (
          <section class="stack" aria-labelledby="mcp-blocks">
            <h3 id="mcp-blocks">Give it to an assistant</h3>
            <McpBlocks secret={made.key} />
          </section>
        )}
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            I have kept it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
