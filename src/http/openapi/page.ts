import { createHash } from "node:crypto"
import type { OpenApiDocument } from "./document.ts"
import { block, escapeHtml, prose, schemaSection } from "./page-markup.ts"
import { operationSection } from "./page-operation.ts"
import { PAGE_STYLE } from "./page-style.ts"
import { EXAMPLE_BASE_URL } from "./problem.ts"

const styleHash = createHash("sha256").update(PAGE_STYLE).digest("base64")

/** Content security policy of the page, which loads nothing: its style is inline and it has no script. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Renders the description of the API as one self-contained page. */
export function referencePage(document: OpenApiDocument): string {
  const { info, tags, components } = document
  const groups = tags.map(({ name, description }) => ({ name, description, operations: operationsOf(document, name) }))
  const schemas = Object.entries(components.schemas)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(info.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the operations</a>
<header>
<h1>${escapeHtml(info.title)}</h1>
${prose(info.description)}
<p>Machine-readable version: <a href="openapi.json">openapi.json</a>, OpenAPI ${document.openapi}.</p>
</header>
<nav aria-label="Operations">
<h2>Getting started</h2><ul><li><a href="#scripts">For scripts and programs</a></li><li><a href="#assistants">For assistants</a></li></ul>
${groups.map(({ name, operations }) => `<h2>${name}</h2><ul>${operations.map(({ link }) => `<li>${link}</li>`).join("")}</ul>`).join("\n")}
<h2>Schemas</h2><ul>${schemas.map(([name]) => `<li><a href="#schema-${name}">${name}</a></li>`).join("")}</ul>
</nav>
<main id="main">
${clientSections(document.servers[0]?.url ?? "/")}
${groups.map(({ name, description, operations }) => `<section aria-labelledby="tag-${name}"><h2 id="tag-${name}">${name}</h2>${prose(description)}${operations.map(({ section }) => section).join("\n")}</section>`).join("\n")}
<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>${schemas.map(([name, schema]) => schemaSection(name, schema)).join("\n")}</section>
</main>
</body>
</html>
`
}

/** Renders the operations of a tag, each with its link for the navigation. */
function operationsOf(document: OpenApiDocument, tag: string): { link: string; section: string }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({
        link: `<a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a>`,
        section: operationSection(document, { method, path, operation }),
      })),
  )
}

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
