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
    const response = await fetch(\`${api}/sites?\${query}\`, {
      headers: { authorization: \`Bearer \${key}\` },
    })
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
  `Lists return up to 100 items per page. While \`has_more\` is true, send \`next_cursor\` as \`cursor\` and keep the other parameters the same.
Items that are created or deleted in the meantime cause neither gaps nor duplicates. A cursor only works for its own list; any other list
rejects it with \`invalid_cursor\`.`,
  `Breakdowns use \`limit\`, up to 1,000 rows, and \`offset\`. \`total_rows\` is the number of all rows. To get every row at once, use an export,
which has no limit.`,
]

const IDEMPOTENCY: readonly Part[] = [
  `A request that creates something can fail after the server has done the work, for example when the connection is lost. Send an
\`Idempotency-Key\` with such requests, for example the id of your own record, and retry with the same key and body until you get a response.
The resource is created once. Retries get the first response, with the header \`Idempotency-Replayed: true\`.`,
  `A key is valid for 24 hours, for one API key and one path, and survives restarts. The same key with another body is rejected with
\`idempotency_key_reused\`. While the first request is still running, the response is \`idempotency_in_progress\`: retry after a second. Responses
with status 429 and 5xx are not stored. For events, use the field \`id\` instead.`,
]

const IDEMPOTENCY_EXAMPLE = (api: string): string => `curl -sS --fail-with-body -X POST -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: customer-4711" \\
  "${api}/sites" -d '{"name":"Blog","hosts":["blog.example"]}'`

const LIMITS: readonly Part[] = [
  `A key can send 600 requests per minute, unless the operator has set another limit. The allowance refills continuously, so after a burst the
next request is possible within tenths of a second. \`X-RateLimit-Remaining\` is the number of requests left; \`RateLimit\` says the same in the
form of the IETF draft. Exports of raw rows are also limited to 60 per hour.`,
  `Responses with status 429 and 503 say in \`Retry-After\` how many seconds to wait. Retry these, and 409 with \`idempotency_in_progress\`. Other
errors stay the same until the request changes. If a report fails with \`query_timeout\`, ask for a shorter range or fewer dimensions rather
than retrying.`,
  ["JavaScript", retryCode],
  "To send fewer requests, run up to 20 queries with one `POST /queries`, and ask for up to 1,000 rows per breakdown.",
]

const VERSIONING: readonly Part[] = [
  `The version is part of the path. Within \`v1\` changes only add: operations, optional parameters, members of responses, values of enums in
responses, and error codes for new causes. Ignore members and values that you don't know, and your client keeps working.`,
  `Branch on the \`code\` of an error and on documented members only. The texts in \`detail\`, \`notes\` and \`warnings\` are for people and can change.
Anything that is to be removed has the headers \`Deprecation\` and \`Sunset\` for at least 12 months.`,
]

/** Ways to send \`metrics=visitors,pageviews\`, by client. */
export const listCode = (api: string) =>
  ({
    javascript: `const query = new URLSearchParams({ period: "7d", metrics: ["visitors", "pageviews"].join(",") })
const response = await fetch(\`${api}/sites/1/stats/summary?\${query}\`, {
  headers: { authorization: \`Bearer \${key}\` },
})`,
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
    `An array is one parameter with comma-separated items (\`style: form\`, \`explode: false\` in OpenAPI). Many clients repeat the parameter
instead, as in \`metrics=visitors&metrics=pageviews\`, which is rejected with \`duplicate_parameter\`. If your client has no option for this, join
the items yourself:`,
    ["JavaScript", javascript],
    ["Python", python],
    "`filters` is an array of objects, so send it as URL-encoded JSON:",
    ["Shell", filters],
    `The plus sign of a time such as \`2026-11-20T08:00:00+01:00\` means a space in a query string. Encode it as \`%2B\`, send the time in UTC with
\`Z\`, or leave out the offset to use local time.`,
  ]
}

const clients = (api: string): readonly Part[] => [
  `Generators turn the OpenAPI 3.1 document at \`${api}/openapi.json\` into clients with types. It needs no key. Generate from the
instance that you call, so that the client matches its version.`,
  ["Shell", `npx openapi-typescript ${api}/openapi.json -o schema.ts`],
  [
    "TypeScript, with openapi-fetch",
    `import createClient from "openapi-fetch"
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
  "Or generate a function for each operation:",
  ["Shell", `npx @hey-api/openapi-ts -i ${api}/openapi.json -o sdk`],
  [
    "TypeScript",
    `import { client } from "./sdk/client.gen.ts"
import { getSummary } from "./sdk/index.ts"

client.setConfig({ baseUrl: "${api.replace(/\/api\/public\/v1$/, "")}", auth: process.env.KEY })
const { data, error } = await getSummary({ path: { site_id: 1 }, query: { period: "7d" } })`,
  ],
  "Functions are named after the `operationId`, which never changes within a version.",
]

/** Guides for people who write clients. */
export const clientGuides = (api: string): readonly Guide[] => [
  { id: "paging", title: "Pagination", html: render([...PAGING, ["JavaScript", pagingCode(api)]]) },
  { id: "idempotency", title: "Idempotent requests", html: render([...IDEMPOTENCY, ["Shell", IDEMPOTENCY_EXAMPLE(api)]]) },
  { id: "rate-limits", title: "Rate limits", html: render(LIMITS) },
  { id: "versioning", title: "Versioning", html: render(VERSIONING) },
  { id: "lists", title: "Array parameters and times", html: render(lists(api)) },
  { id: "typed-clients", title: "Typed clients", html: render(clients(api)) },
]
