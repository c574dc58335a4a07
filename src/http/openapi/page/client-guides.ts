import { block, escapeHtml, type Guide, prose } from "./markup.ts"

/** A part of a guide: text, or code in a language. */
type Part = string | readonly [label: string, code: string]

const render = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === "string" ? prose(part) : block(part[0], escapeHtml(part[1])))).join("\n")

/** Returns a generator in JavaScript that reads a list page by page. */
export const pagingCode = (api: string): string => `async function* sites(key) {
  let cursor
  do {
    const query = new URLSearchParams({ limit: "100", ...(cursor && { cursor }) })
    const response = await fetch(\`${api}/sites?\${query}\`, { headers: { authorization: \`Bearer \${key}\` } })
    const page = await response.json()
    yield* page.data
    cursor = page.next_cursor
  } while (cursor)
}`

/** A function in JavaScript that repeats requests as the guide says. */
export const retryCode = `async function send(url, options = {}, tries = 5) {
  const response = await fetch(url, options)
  const wait = Number(response.headers.get("retry-after"))
  if (tries === 1 || ![409, 429, 503].includes(response.status) || !wait) return response
  await new Promise((resolve) => setTimeout(resolve, wait * 1000))
  return send(url, options, tries - 1)
}`

const PAGING: readonly Part[] = [
  `Lists have up to 100 items per page. While \`has_more\` is true, send \`next_cursor\` as \`cursor\` with otherwise equal parameters. A cursor
remembers a place, not a number: items that are created or deleted in the meantime neither shift nor double the others. It belongs to its
list, and another list refuses it with \`invalid_cursor\`.`,
  `Breakdowns are pages of a report. They have \`offset\` and up to 1,000 rows as \`limit\`; \`total_rows\` says how many there are. For all
rows, use an export, which has no limit.`,
]

const IDEMPOTENCY: readonly Part[] = [
  `A request that creates something can fail after the server has done its work, for example because the connection is lost. Send an
\`Idempotency-Key\` with each of these requests, such as the id of your own record, and repeat the request with the same key and body until you
have a response. The resource is created once, and repeated requests get the first response with \`Idempotency-Replayed: true\`.`,
  `A key is remembered for 24 hours, for one API key and path, over restarts. With another body it is refused as \`idempotency_key_reused\`. While
the first request is still running, the response is \`idempotency_in_progress\`: repeat after a second. Responses with status 429 and 5xx are
not remembered. Events have an \`id\` for the same purpose.`,
]

const IDEMPOTENCY_EXAMPLE = (api: string): string => `curl -sS --fail-with-body -X POST -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: customer-4711" "${api}/sites" \\
  -d '{"name":"Blog","hosts":["blog.example"]}'`

const LIMITS: readonly Part[] = [
  `A key can send 600 requests per minute, unless the operator or the key says otherwise. The allowance refills evenly, so after a burst you
wait for tenths of a second and not for the next minute. \`X-RateLimit-Remaining\` says how many requests are left, and \`RateLimit\` says the
same in the form of the IETF draft. Exports of raw rows count against 60 per hour as well.`,
  `A response with status 429 or 503 says in \`Retry-After\` after how many seconds to try again. Repeat these, and 409 with
\`idempotency_in_progress\`, and no others: any other error stays the same until the request changes. A report that took 15 seconds fails with
\`query_timeout\`; a shorter range or fewer dimensions help more than a repetition.`,
  ["JavaScript", retryCode],
  "Ask for more with one request instead of more requests: `POST /queries` runs 20 queries, a breakdown has 1,000 rows.",
]

const VERSIONING: readonly Part[] = [
  `The version is part of the path. Within \`v1\` the API only grows: new operations, optional parameters, members of responses, values of
enumerations in responses, and error codes for new causes. A client that ignores members and values that it does not know keeps working.`,
  `Branch on \`code\` of an error and on documented members only. Texts in \`detail\`, \`notes\` and \`warnings\` are for people and change. An operation
or member that is to be removed carries the headers \`Deprecation\` and \`Sunset\` for at least twelve months.`,
]

/** Ways to send \`metrics=visitors,pageviews\`, by client. */
export const listCode = (api: string) =>
  ({
    javascript: `const query = new URLSearchParams({ period: "7d", metrics: ["visitors", "pageviews"].join(",") })
const response = await fetch(\`${api}/sites/1/stats/summary?\${query}\`, { headers: { authorization: \`Bearer \${key}\` } })`,
    python: `import os, requests

response = requests.get(
    "${api}/sites/1/stats/summary",
    params={"period": "7d", "metrics": ",".join(["visitors", "pageviews"])},
    headers={"Authorization": f"Bearer {os.environ['KEY']}"},
)`,
    filters: `curl -sS --fail-with-body -G -H "Authorization: Bearer $KEY" "${api}/sites/1/stats/summary" \\
  -d metrics=visitors,pageviews --data-urlencode 'filters=[{"dimension":"country","values":["DE","AT"]}]'`,
  }) as const

const lists = (api: string): readonly Part[] => {
  const { javascript, python, filters } = listCode(api)
  return [
    `A list in a query string is one parameter with commas (\`style: form\`, \`explode: false\` in OpenAPI). Many clients repeat the parameter
instead, as \`metrics=visitors&metrics=pageviews\`, which is refused as \`duplicate_parameter\`. Join the list yourself where a client has no
option for this:`,
    ["JavaScript", javascript],
    ["Python", python],
    "`filters` is a list of objects, so it is sent as JSON, escaped as a whole:",
    ["Shell", filters],
    `Times with an offset contain a plus sign, which means a space in a query string. Escape it as \`%2B\`, send the time in UTC with \`Z\`, or
leave out the offset: the time is then local.`,
  ]
}

const clients = (api: string): readonly Part[] => [
  `The description in OpenAPI 3.1 at \`${api}/openapi.json\` needs no key, and generators turn it into clients with types. Generate from the
instance that you call, because its plugins and its version decide what it offers.`,
  [
    "TypeScript: types for openapi-fetch",
    `npx openapi-typescript ${api}/openapi.json -o schema.ts

import createClient from "openapi-fetch"
import type { paths } from "./schema.ts"

const { GET } = createClient<paths>({
  baseUrl: "${api.replace(/\/api\/public\/v1$/, "")}",
  headers: { authorization: \`Bearer \${process.env.KEY}\` },
  querySerializer: { array: { style: "form", explode: false } },
})
const { data, error } = await GET("/api/public/v1/sites/{site_id}/stats/summary", {
  params: { path: { site_id: 1 }, query: { period: "7d", metrics: ["visitors", "pageviews"] } },
})`,
  ],
  [
    "TypeScript: a function for each operation",
    `npx @hey-api/openapi-ts -i ${api}/openapi.json -o sdk

import { client } from "./sdk/client.gen.ts"
import { getSummary } from "./sdk/index.ts"

client.setConfig({ baseUrl: "${api.replace(/\/api\/public\/v1$/, "")}", auth: process.env.KEY })
const { data, error } = await getSummary({ path: { site_id: 1 }, query: { period: "7d" } })`,
  ],
  "Functions are named after the `operationId`, which does not change within a version.",
]

/** Guides for people who write clients. */
export const clientGuides = (api: string): readonly Guide[] => [
  { id: "paging", title: "Paging", html: render([...PAGING, ["JavaScript", pagingCode(api)]]) },
  { id: "idempotency", title: "Safe repetition", html: render([...IDEMPOTENCY, ["Shell", IDEMPOTENCY_EXAMPLE(api)]]) },
  { id: "rate-limits", title: "Rate limits", html: render(LIMITS) },
  { id: "versioning", title: "Versions", html: render(VERSIONING) },
  { id: "lists", title: "Lists and times in a query string", html: render(lists(api)) },
  { id: "typed-clients", title: "Typed clients", html: render(clients(api)) },
]
