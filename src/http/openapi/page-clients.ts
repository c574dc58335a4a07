import { block, escapeHtml, prose } from "./page-text.ts"
import { EXAMPLE_BASE_URL } from "./problem.ts"

/** Returns example requests for scripts, with the base URL of this instance. `KEY` is an API key. */
export const scriptExample = (api: string): string => `# Show the key and its scopes
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "${api}/key"

# List the sites of the key
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "${api}/sites"

# Compare the last week of site 1 with the week before
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "${api}/sites/1/stats/summary?period=7d&compare=previous_period"

# Run a query in the format of Plausible's stats API v2
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "${api}/query" \\
  -d '{"site_id":1,"metrics":["visitors","pageviews"],"date_range":"30d","dimensions":["event:page"]}'`

/** Returns the configuration for MCP clients. */
const assistantBlock = (api: string): string =>
  JSON.stringify({ mcpServers: { footfall: { type: "http", url: `${api}/mcp`, headers: { Authorization: "Bearer ff_…" } } } }, null, 2)

export const assistantExample = (api: string): string =>
  `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "MCP-Protocol-Version: 2025-06-18" "${api}/mcp" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sites","arguments":{}}}'`

const SCRIPTS = `Create an API key in the dashboard or with \`footfall key create --name scripts --scopes stats:read\`, and send it in the header \`Authorization\`. Errors are \`application/problem+json\`: use \`code\` to distinguish them, and quote \`request_id\` in questions to the operator.

Clients written for Plausible's stats API v2 work after you change their base URL: \`POST /api/v2/query\` accepts the same queries.`

const ASSISTANTS = `Assistants that support MCP can use seven read-only tools. Create a key with the scope \`stats:read\` and access to the sites that the assistant needs, and add this block to the configuration of the client. Clients that list their servers under \`servers\` use the same inner object.`

/** Renders the sections on getting started with programs and assistants. `baseUrl` is the server URL of the document. */
export function clientSections(baseUrl: string): string {
  const api = `${baseUrl === "/" ? EXAMPLE_BASE_URL : baseUrl}/api/public/v1`
  return `<section aria-labelledby="scripts"><h2 id="scripts">For scripts and programs</h2>${prose(SCRIPTS)}${block("Shell", escapeHtml(scriptExample(api)))}</section>
<section aria-labelledby="assistants"><h2 id="assistants">For assistants</h2>${prose(ASSISTANTS)}${block("Client configuration", escapeHtml(assistantBlock(api)))}${prose("You can also send a request by hand:")}${block("Shell", escapeHtml(assistantExample(api)))}</section>`
}
