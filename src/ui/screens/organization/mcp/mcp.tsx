import { useState } from "preact/hooks"
import { Button } from "../../../parts/button.tsx"
import { CopyButton } from "../../../parts/copy.tsx"
import { DataTable } from "../../../parts/data-table.tsx"
import { TextField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { Page } from "../../../parts/page.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { McpBlocks, mcpUrl } from "../keys/examples.tsx"
import { KeyDialog } from "../keys/key-dialog.tsx"
import { type ApiKey, reachWords, useApiKeys } from "../keys/keys.ts"
import { NewSecret, type SecretShown } from "../keys/new-secret.tsx"
import { may, type SectionProps, useOwnSites, useRefresh } from "../own-organization.ts"
import { type McpAnswer, testMcp } from "./mcp-dialogue.ts"

/** Shows how assistants connect: endpoint URL, key, connection test and ready configurations. */
export function Mcp({ organization }: SectionProps) {
  const manages = may(organization, "keys:write")
  const keys = useApiKeys(organization.id, "active", manages)
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [secret, setSecret] = useState("")
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<SecretShown>()
  const key = secret.trim()
  const usable = keys.data?.filter(({ scopes }) => scopes.includes("stats:read")) ?? []
  const known = keys.data?.find(({ prefix }) => key.startsWith(`${prefix}_`))
  return (
    <Page title="MCP">
      <section class="card stack" aria-labelledby="mcp-url">
        <h2 id="mcp-url">Endpoint URL</h2>
        <p class="quiet">
          Assistants that support MCP query your statistics with seven read-only tools. They need an API key with the stats:read scope,
          ideally for selected sites only.
        </p>
        <div class="row">
          <code class="key-text">{mcpUrl()}</code>
          <CopyButton text={mcpUrl()} label="Copy URL" />
        </div>
      </section>
      <section class="card stack" aria-labelledby="mcp-key">
        <h2 id="mcp-key">Connection test</h2>
        <TextField
          label="API key"
          value={secret}
          onValue={setSecret}
          code
          autocomplete="off"
          placeholder="ff_…"
          note={keyNote(key, known, usable) ?? (known && `This is ${visible(known.name)}. Access: ${reachWords(known, sites)}.`)}
        />
        {manages && (
          <div class="row">
            <Button onClick={() => setCreating(true)}>Create API key</Button>
          </div>
        )}
        <McpTest secret={key} />
      </section>
      <section class="card stack" aria-labelledby="mcp-clients">
        <h2 id="mcp-clients">Configuration</h2>
        <McpBlocks secret={key || "ff_…"} />
      </section>
      {isCreating && (
        <KeyDialog
          organization={organization}
          preset="assistant"
          onCreated={async (one) => {
            setCreating(false)
            setSecret(one.key)
            setCreated(one)
            await refresh("api-keys")
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created && <NewSecret created={created} sites={sites} onClose={() => setCreated(undefined)} />}
    </Page>
  )
}

/** Returns the help text of the key field. Keys aren't stored, so the user has to paste one. */
function keyNote(key: string, known: ApiKey | undefined, usable: readonly ApiKey[]): string | undefined {
  if (key === "")
    return usable.length === 0
      ? "Paste a key to test it and to include it in the configuration below. It isn't stored."
      : `Paste one of these keys: ${usable.map(({ name, prefix }) => `${visible(name)} (${prefix}…)`).join(", ")}. It isn't stored.`
  if (known && !known.scopes.includes("stats:read"))
    return `${visible(known.name)} can't read statistics, because it lacks the stats:read scope.`
  return known ? undefined : "The key isn't stored."
}

function McpTest({ secret }: { secret: string }) {
  const [answer, setAnswer] = useState<McpAnswer>()
  return (
    <>
      <Form
        label="Test connection"
        submit={async () => {
          setAnswer(undefined)
          setAnswer(await testMcp(secret))
        }}
      >
        {({ busy }) => (
          <div class="row">
            <Button kind="primary" type="submit" busy={busy} disabled={secret === ""}>
              Test connection
            </Button>
            {secret === "" && <span class="small quiet">Paste an API key first.</span>}
          </div>
        )}
      </Form>
      <div role="status">
        {answer && (
          <p>
            {visible(answer.server.title)} {answer.server.version} responded in {answer.ms} ms (protocol {answer.protocol}):{" "}
            {answer.tools.length} tools, {sitesText(answer)}.
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
            { id: "description", label: "Description", cell: ({ description }) => description },
          ]}
        />
      )}
    </>
  )
}

const sitesText = ({ sites, hasMoreSites }: McpAnswer): string =>
  sites === 0 ? "no sites this key can access" : hasMoreSites ? `more than ${sites} sites` : sites === 1 ? "1 site" : `${sites} sites`
