import { useState } from "preact/hooks"
import type { KeyResponse, SecretResponse } from "../../../domain/key.ts"
import { Problem, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { SelectField, TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { Page } from "../../parts/page.tsx"
import { visible } from "../../text/safe-text.tsx"
import { McpBlocks, mcpUrl } from "./keys/examples.tsx"
import { KeyDialog } from "./keys/key-dialog.tsx"
import { accessText, useApiKeys } from "./keys/keys.ts"
import { NewSecret } from "./keys/new-secret.tsx"
import { can, type SectionProps, useOwnSites, useRefresh } from "./own-organization.ts"

/** Shows how assistants connect: endpoint URL, key, connection test and ready configurations. */
export function Mcp({ organization }: SectionProps) {
  const manages = can(organization, "keys:write")
  const keys = useApiKeys(organization.id, "active", manages)
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [secret, setSecret] = useState("")
  const [chosen, setChosen] = useState("")
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<SecretResponse>()
  const key = secret.trim()
  const usable = keys.data?.filter(({ scopes }) => scopes.includes("stats:read")) ?? []
  const known = keys.data?.find(({ id, prefix }) => (key === "" ? String(id) === chosen : key.startsWith(`${prefix}_`)))
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
      {/* Without keys the first of them is lower. */}
      {!keys.isLoading && (
        <>
          <section class="card stack" aria-labelledby="mcp-key">
            <h2 id="mcp-key">API key</h2>
            <div class="row">
              {usable.length > 0 && (
                <SelectField
                  label="Key"
                  value={chosen}
                  onValue={(id) => {
                    setChosen(id)
                    setSecret("")
                  }}
                  options={[
                    { value: "", label: "Choose a key" },
                    ...usable.map(({ id, name, prefix }) => ({ value: String(id), label: `${visible(name)} (${prefix}…)` })),
                  ]}
                />
              )}
              {manages && (
                <Button {...(keys.data && usable.length === 0 && { kind: "primary" as const })} onClick={() => setCreating(true)}>
                  Create API key
                </Button>
              )}
            </div>
            <p class="small quiet">{keyNote({ key, known, manages, access: known && accessText(known, sites) })}</p>
          </section>
          <section class="card stack" aria-labelledby="mcp-clients">
            <h2 id="mcp-clients">Configuration</h2>
            <McpBlocks secret={key || (known ? `${known.prefix}_…` : "ff_…")} />
          </section>
          <section class="card stack" aria-labelledby="mcp-test">
            <h2 id="mcp-test">Connection test</h2>
            <TextField
              label="Whole key"
              value={secret}
              onValue={setSecret}
              code
              autocomplete="off"
              placeholder="ff_…"
              note="Used for the test and in the configuration. It isn't stored."
            />
            <McpTest secret={key} />
          </section>
        </>
      )}
      {isCreating && (
        <KeyDialog
          organization={organization}
          preset="assistant"
          onCreated={async (one) => {
            setCreating(false)
            setSecret(one.key)
            setChosen(String(one.id))
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

interface KeyFacts {
  /** The whole key, if it is known. */
  key: string
  known: KeyResponse | undefined
  /** Whether the user can create keys. */
  manages: boolean
  /** What the known key can access. */
  access: string | undefined
}

/** Returns what the configuration contains of a key. Only a new key can be filled in, because keys aren't stored. */
function keyNote({ key, known, manages, access }: KeyFacts): string {
  if (known && !known.scopes.includes("stats:read"))
    return `${visible(known.name)} can't read statistics, because it lacks the stats:read scope.`
  const reach = known ? `Access: ${access}. ` : ""
  if (key !== "") return `${reach}The configuration below contains the whole key.`
  return `${reach}Footfall stores only a hash of its keys, so put the whole key in place of ${known ? `${known.prefix}_…` : "ff_…"} below${manages ? ", or create a new key, which is filled in" : ""}.`
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
            {secret === "" && <span class="small quiet">Enter a key first.</span>}
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

const PROTOCOL = "2025-06-18"

interface McpTool {
  name: string
  title: string
  description: string
}
export interface McpAnswer {
  server: { title: string; version: string }
  protocol: string
  tools: readonly McpTool[]
  /** Number of sites on the first page that the key can access. */
  sites: number
  hasMoreSites: boolean
  /** Milliseconds from the first request to the last response. */
  ms: number
}

interface Reply<Result> {
  result?: Result
  error?: { code: number; message: string }
}

/** Performs the exchange of an MCP client: initialize, confirm, list the tools, call one. Throws `Problem`. */
export async function testMcp(key: string): Promise<McpAnswer> {
  const startedAt = performance.now()
  const request = <Result,>(body: object, isInitialized = true) => send<Result>(key, body, isInitialized)
  const initialized = await request<{ protocolVersion: string; serverInfo: { title: string; version: string } }>(
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "footfall-dashboard", version: "1" } },
    },
    false,
  )
  await request({ method: "notifications/initialized" })
  const { tools } = await request<{ tools: McpTool[] }>({ id: 2, method: "tools/list" })
  const { structuredContent } = await request<{ structuredContent: { sites: unknown[]; next_cursor?: string } }>({
    id: 3,
    method: "tools/call",
    params: { name: "list_sites", arguments: {} },
  })
  return {
    server: initialized.serverInfo,
    protocol: initialized.protocolVersion,
    tools,
    sites: structuredContent.sites.length,
    hasMoreSites: structuredContent.next_cursor !== undefined,
    ms: Math.round(performance.now() - startedAt),
  }
}

/** Sends one message and returns its result. A message without an ID is a notification without a response. */
async function send<Result>(key: string, message: object, isInitialized: boolean): Promise<Result> {
  const headers = { authorization: `Bearer ${key}`, ...(isInitialized && { "mcp-protocol-version": PROTOCOL }) }
  const reply = await post<Reply<Result> | undefined>(mcpUrl(), { jsonrpc: "2.0", ...message }, { headers, isSignIn: true })
  if (reply?.error) throw new Problem(200, "mcp_error", `The MCP endpoint returned an error: ${reply.error.message} (${reply.error.code}).`)
  return reply?.result as Result // by the protocol
}
