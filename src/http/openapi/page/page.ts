import { createHash } from "node:crypto"
import type { OpenApiDocument } from "../document.ts"
import { meaningOf } from "../errors.ts"
import { REQUEST_HEADERS, RESPONSE_HEADERS } from "../headers.ts"
import { EXAMPLE_BASE_URL } from "../problem.ts"
import { clientGuides } from "./client-guides.ts"
import { exampleHost, hasNoAddress } from "./curl.ts"
import { exportGuide } from "./export-guide.ts"
import { filtersGuide } from "./filters-guide.ts"
import { asJson, block, escapeHtml, type Guide, guideSection, inline, prose, table } from "./markup.ts"
import { metricsGuide } from "./metrics-guide.ts"
import { errorsOf, operationSection, type Place } from "./operation.ts"
import { provisioningGuide } from "./provisioning-guide.ts"
import { rangesGuide } from "./ranges-guide.ts"
import { PAGE_SCRIPT } from "./script.ts"
import { PAGE_STYLE } from "./style.ts"
import { warehouseGuide } from "./warehouse-guide.ts"

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Content security policy of the page, which loads nothing: its style and its script are inline. */
export const PAGE_POLICY = `default-src 'none'; script-src ${hashOf(PAGE_SCRIPT)}; style-src ${hashOf(PAGE_STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Headings of the groups of operations, by tag. */
const TITLES: Readonly<Record<string, string>> = {
  stats: "Statistics",
  query: "Queries",
  sites: "Sites",
  goals: "Goals",
  funnels: "Funnels",
  settings: "Settings and configuration",
  segments: "Segments",
  shares: "Shared views",
  annotations: "Annotations",
  plausible: "Plausible",
  umami: "Umami",
  goatcounter: "GoatCounter",
  events: "Events",
  export: "Export",
  cohorts: "Cohorts and retention",
  people: "People",
  mcp: "Assistants (MCP)",
  key: "API key",
  members: "Members of sites",
  "api-keys": "API keys of sites",
  documents: "Reference",
}

/** Renders the description of the API as one self-contained page: guides, and the operations by group. */
export function referencePage(document: OpenApiDocument): string {
  const { info, tags } = document
  const places = placesIn(document)
  const isGeneral = generalErrors(document, places)
  const groups = tags
    .map(({ name, description }) => ({
      ...{ name, description, title: TITLES[name] ?? name },
      places: places.filter(({ operation }) => operation.tags.includes(name)),
    }))
    .filter(({ places }) => places.length > 0)
  const guides = guidesOf(document, places, isGeneral)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(info.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body${hasNoAddress(document) ? ` data-example-host="${EXAMPLE_BASE_URL}"` : ""}>
<nav aria-label="Contents">
<a class="skip" href="#start">Skip to the reference</a>
<details open><summary>Contents</summary>
<h2>Guides</h2><ul>${guides.map(({ id, title }) => entry(id, title)).join("")}</ul>
${groups.map((group) => `<h2>${escapeHtml(group.title)}</h2><ul>${group.places.map(({ operation }) => entry(operation.operationId, operation.summary)).join("")}</ul>`).join("\n")}
</details>
</nav>
<main>
<h1>${escapeHtml(info.title)}</h1>
${guides.map(guideSection).join("\n")}
${groups.map((group) => `<section aria-labelledby="tag-${group.name}"><h2 id="tag-${group.name}">${escapeHtml(group.title)}</h2>${prose(group.description)}${group.places.map((place) => operationSection(document, place, isGeneral)).join("\n")}</section>`).join("\n")}
</main>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`
}

const entry = (id: string, title: string): string => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`

const placesIn = ({ paths }: OpenApiDocument): Place[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method, path, operation })))

/** Share of the operations of one form that an error must be able to occur in, to be explained once for all of them. */
const GENERAL_SHARE = 0.8

/** Returns the test of whether an error can occur in nearly all operations with a key, with a body or with ids. */
function generalErrors(document: OpenApiDocument, places: readonly Place[]): (code: string) => boolean {
  const forms = [
    places.filter(({ operation }) => operation.security.length > 0),
    places.filter(({ operation }) => operation.requestBody !== undefined),
    places.filter(({ path }) => path.includes("{")),
  ]
  const counted = forms.map((form) => ({
    of: form.length,
    counts: Map.groupBy(
      form.flatMap(({ operation }) => errorsOf(document, operation)),
      ({ code }) => code as string,
    ),
  }))
  return (code) => counted.some(({ of, counts }) => (counts.get(code)?.length ?? 0) >= of * GENERAL_SHARE)
}

function guidesOf(document: OpenApiDocument, places: readonly Place[], isGeneral: (code: string) => boolean): Guide[] {
  const api = `${exampleHost(document)}/api/public/v1`
  return [
    startGuide(document, api),
    metricsGuide(),
    filtersGuide(api),
    rangesGuide(),
    exportGuide(),
    warehouseGuide(api),
    provisioningGuide(api),
    ...clientGuides(api),
    assistantsGuide(api),
    headersGuide(),
    errorsGuide(document, places, isGeneral),
  ]
}

const SCRIPTS = `Create an API key in the dashboard or with \`footfall key create --name scripts --scopes stats:read\`, and send it in the header \`Authorization\`. In the examples, \`$KEY\` is this key, and \`1\` is the id of your site.

Clients written for Plausible (stats API v1 and v2, sites API), Umami (reports) and GoatCounter (\`POST /api/v0/count\`) work after you change their base URL and key.`

const ASSISTANTS = `Assistants that support MCP can use seven read-only tools. Create a key with the scope \`stats:read\` and access to the sites that the assistant needs, and add this block to the configuration of the client. Clients that list their servers under \`servers\` use the same inner object.`

/** Introduces the API, with requests to begin with. */
const startGuide = (document: OpenApiDocument, api: string): Guide => ({
  id: "start",
  title: "Getting started",
  html: `${prose(SCRIPTS)}${block("Shell", escapeHtml(scriptExample(api)))}${prose(document.info.description)}
<p>The same as a machine-readable document: <a href="openapi.json">openapi.json</a>, OpenAPI ${document.openapi}.</p>`,
})

const assistantsGuide = (api: string): Guide => ({
  id: "assistants",
  title: "Assistants",
  html: `${prose(ASSISTANTS)}${block("Client configuration", asJson(assistantConfig(api)))}${prose("You can also send a request by hand:")}${block("Shell", escapeHtml(assistantExample(api)))}`,
})

/** Explains the headers of requests and responses, which the operations only name. */
function headersGuide(): Guide {
  const rows = (headers: Readonly<Record<string, { description: string; example?: string | number }>>) =>
    Object.entries(headers).map(([name, { description, example }]) => [
      `<code>${name}</code>`,
      inline(description),
      example === undefined ? "" : `<code>${escapeHtml(String(example))}</code>`,
    ])
  const heads = ["Header", "Meaning", "Example"]
  return {
    id: "headers",
    title: "Headers",
    html: `<h3>Of requests</h3>${table(heads, rows(REQUEST_HEADERS))}<h3>Of responses</h3>${table(heads, rows(RESPONSE_HEADERS))}`,
  }
}

const ERRORS = `Every error is \`application/problem+json\` with a stable \`code\` for programs and a \`detail\` for people. \`errors\` lists each problem of the request with a pointer to
the field. Quote \`request_id\` in questions to the operator.`

/** Explains all errors: first those of most operations. */
function errorsGuide(document: OpenApiDocument, places: readonly Place[], isGeneral: (code: string) => boolean): Guide {
  const all = new Map(places.flatMap(({ operation }) => errorsOf(document, operation)).map((error) => [error.code, error]))
  const sorted = [...all.values()].sort((a, b) => Number(a.status) - Number(b.status) || (a.code < b.code ? -1 : 1))
  const rows = (errors: typeof sorted) =>
    errors.map(({ status, code }) => [`<code>${status}</code> <code>${code}</code>`, inline(meaningOf(code))])
  const heads = ["Status and code", "Meaning"]
  const example = document.components.examples.validation_failed as { value: unknown } | undefined
  return {
    id: "errors",
    title: "Errors",
    html: `${prose(ERRORS)}${example ? block("Example", asJson(example.value)) : ""}
<h3>Of most operations</h3>${table(heads, rows(sorted.filter(({ code }) => isGeneral(code))))}
<h3>Of single operations</h3>${table(heads, rows(sorted.filter(({ code }) => !isGeneral(code))))}`,
  }
}

/** Returns example requests for scripts, with the base URL of this instance. `KEY` is an API key. */
export const scriptExample = (api: string): string => `# Show the key and its scopes
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "${api}/key"

# List the sites of the key
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "${api}/sites"

# Compare the last 7 days of site 1, today included, with the 7 days before
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "${api}/sites/1/stats/summary?period=7d&compare=previous_period"

# Run a query in the format of Plausible's stats API v2
curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "${api}/query" \\
  -d '{"site_id":1,"metrics":["visitors","pageviews"],"date_range":"30d","dimensions":["event:page"]}'`

/** Returns the configuration for MCP clients. */
const assistantConfig = (api: string): object => ({
  mcpServers: { footfall: { type: "http", url: `${api}/mcp`, headers: { Authorization: "Bearer ff_…" } } },
})

export const assistantExample = (api: string): string =>
  `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "MCP-Protocol-Version: 2025-06-18" "${api}/mcp" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sites","arguments":{}}}'`
