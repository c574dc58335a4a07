import { block, escapeHtml, prose } from "./page-text.ts"

/** First steps for whoever writes a client, at this instance's own address. `KEY` is an API key. */
export const scriptExample = (api: string): string => `# What the key may do
curl -sf -H "Authorization: Bearer $KEY" "${api}/key"

# The sites it reaches
curl -sf -H "Authorization: Bearer $KEY" "${api}/sites"

# The last week of site 1 against the one before
curl -sf -H "Authorization: Bearer $KEY" "${api}/sites/1/stats/summary?period=7d&compare=previous_period"

# The query form, as clients of Plausible's stats API v2 send it
curl -sf -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "${api}/query" \\
  -d '{"site_id":1,"metrics":["visitors","pageviews"],"date_range":"30d","dimensions":["event:page"]}'`

/** The block that clients of MCP keep in their configuration. */
const assistantBlock = (api: string): string =>
  JSON.stringify({ mcpServers: { footfall: { type: "http", url: `${api}/mcp`, headers: { Authorization: "Bearer ff_…" } } } }, null, 2)

export const assistantExample = (api: string): string =>
  `curl -sf -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "MCP-Protocol-Version: 2025-06-18" "${api}/mcp" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sites","arguments":{}}}'`

const SCRIPTS = `An API key is made in the dashboard or by \`footfall key create --name scripts --scopes stats:read\`, and sent in the header \`Authorization\`. Errors are \`application/problem+json\`: branch on \`code\`, quote \`request_id\`.

Clients written for Plausible's stats API v2 work when their base address is changed: \`POST /api/v2/query\` is the query form.`

const ASSISTANTS = `An assistant that speaks MCP asks through seven read-only tools. Make a key with \`stats:read\` that reaches only the sites it is to see, and put this block into the client's configuration; clients that keep their servers under \`servers\` take the same inner object.`

/** Where an instance without a base address is most likely. */
const USUAL = "http://localhost:8080"

/** How to begin: for programs, and for assistants. `baseUrl` as the document names its server. */
export function clientSections(baseUrl: string): string {
  const api = `${baseUrl === "/" ? USUAL : baseUrl}/api/public/v1`
  return `<section aria-labelledby="scripts"><h2 id="scripts">For scripts and programs</h2>${prose(SCRIPTS)}${block("Shell", escapeHtml(scriptExample(api)))}</section>
<section aria-labelledby="assistants"><h2 id="assistants">For assistants</h2>${prose(ASSISTANTS)}${block("Configuration of a client", escapeHtml(assistantBlock(api)))}${prose("By hand it is one POST:")}${block("Shell", escapeHtml(assistantExample(api)))}</section>`
}
