import { useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { Page } from "../../parts/page.tsx"
import { visible } from "../../safe-text.ts"
import { type ApiKey, reachWords, useApiKeys } from "./api-keys.tsx"
import { mcpAddress } from "./examples.ts"
import { KeyDialog } from "./key-dialog.tsx"
import { McpBlocks } from "./mcp-blocks.tsx"
import { type McpAnswer, talkMcp } from "./mcp-dialogue.ts"
import { NewSecret, type SecretShown } from "./new-secret.tsx"
import { may, type SectionProps, useOwnSites, useRefresh } from "./own-organization.ts"

/** How assistants ask: the address, ready configurations, and a test that is the real thing. */
export function Mcp({ organization }: SectionProps) {
  const manages = may(organization, "keys:write")
  const keys = useApiKeys(organization.id, "active", manages)
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [secret, setSecret] = useState("")
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<SecretShown>()
  const key = secret.trim()
  const fitting = keys.data?.filter(({ scopes }) => scopes.includes("stats:read")) ?? []
  const known = keys.data?.find(({ prefix }) => key.startsWith(`${prefix}_`))
  return (
    <Page title="MCP">
      <section class="card stack" aria-labelledby="mcp-address">
        <h2 id="mcp-address">Address</h2>
        <p class="quiet">
          Assistants that speak MCP ask through seven tools that only read. They see what their key reaches: a key with the scope
          stats:read, best on chosen sites.
        </p>
        <div class="row">
          <code class="key-text">{mcpAddress()}</code>
          <CopyButton text={mcpAddress()} label="Copy the address" />
        </div>
      </section>
      <section class="card stack" aria-labelledby="mcp-key">
        <h2 id="mcp-key">Key</h2>
        <TextField
          label="API key"
          value={secret}
          onValue={setSecret}
          code
          autocomplete="off"
          placeholder="ff_…"
          note={keyNote(key, known, fitting) ?? (known && `This is ${visible(known.name)}. It reaches ${reachWords(known, sites)}.`)}
        />
        {manages && (
          <div class="row">
            <Button onClick={() => setMaking(true)}>Make a key for an assistant</Button>
          </div>
        )}
        <McpTest secret={key} />
      </section>
      <section class="card stack" aria-labelledby="mcp-clients">
        <h2 id="mcp-clients">Configuration</h2>
        <McpBlocks secret={key || "ff_…"} />
      </section>
      {isMaking && (
        <KeyDialog
          organization={organization}
          preset="assistant"
          onMade={async (one) => {
            setMaking(false)
            setSecret(one.key)
            setMade(one)
            await refresh("api-keys")
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {made && <NewSecret made={made} sites={sites} onClose={() => setMade(undefined)} />}
    </Page>
  )
}

/** Secrets are kept nowhere: a key is picked by pasting it. */
function keyNote(key: string, known: ApiKey | undefined, fitting: readonly ApiKey[]): string | undefined {
  if (key === "")
    return fitting.length === 0
      ? "Paste a key, to test it and to have it in the configuration below. It stays in this page."
      : `Paste one of ${fitting.map(({ name, prefix }) => `${visible(name)} (${prefix}…)`).join(", ")}. It stays in this page.`
  if (known && !known.scopes.includes("stats:read")) return `${visible(known.name)} cannot read figures: it lacks the scope stats:read.`
  return known ? undefined : "It stays in this page."
}

function McpTest({ secret }: { secret: string }) {
  const [answer, setAnswer] = useState<McpAnswer>()
  return (
    <>
      <Form
        label="Test"
        submit={async () => {
          setAnswer(undefined)
          setAnswer(await talkMcp(secret))
        }}
      >
        {({ busy }) => (
          <div class="row">
            <Button kind="primary" type="submit" busy={busy} disabled={secret === ""}>
              Test now
            </Button>
            {secret === "" && <span class="small quiet">Needs a key.</span>}
          </div>
        )}
      </Form>
      <div role="status">
        {answer && (
          <p>
            {visible(answer.server.title)} {answer.server.version} answered in {answer.ms} ms, protocol {answer.protocol}:{" "}
            {answer.tools.length} tools, {answer.sites === 0 ? "and no site that this key reaches" : sitesText(answer)}.
          </p>
        )}
      </div>
      {answer && (
        <DataTable
          caption="Tools"
          rows={answer.tools}
          keyOf={({ name }) => name}
          columns={[
            { id: "name", label: "Tool", cell: ({ name }) => <code>{name}</code> },
            { id: "description", label: "What it does", cell: ({ description }) => description },
          ]}
        />
      )}
    </>
  )
}

const sitesText = ({ sites, hasMoreSites }: McpAnswer): string =>
  hasMoreSites ? `more than ${sites} sites` : sites === 1 ? "1 site" : `${sites} sites`
