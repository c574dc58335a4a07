import { creates, isTagged, isVersioned } from "./failures.ts"
import type { DescribedRoute } from "./route.ts"
import type { Schema } from "./schema.ts"

type Header = {
  description: string
  schema: Schema
  example?: string | number
}

const text = (description: string, example: string, more: Schema = {}): Header => ({
  description,
  schema: { type: "string", ...more },
  example,
})
const count = (description: string, example: number): Header => ({ description, schema: { type: "integer", minimum: 0 }, example })

/** Headers of responses. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": text("Id of the request, as sent by the caller or generated. Log lines contain it.", "01JD3V8Q2M7Z"),
  "RateLimit-Policy": text(
    "Number of requests per time window of the key. All rate limit headers are absent without a limit or before the key is known.",
    '"default";q=600;w=60',
  ),
  RateLimit: text("Remaining requests and seconds until the reset.", '"default";r=599;t=60'),
  "X-RateLimit-Limit": count("Maximum number of requests per minute.", 600),
  "X-RateLimit-Remaining": count("Remaining number of requests.", 599),
  "X-RateLimit-Reset": count("Time at which all requests are available again, in epoch seconds.", 1795348860),
  ETag: text("Version of the response. A strong tag of a single resource can be sent in `If-Match`.", '"3"'),
  Location: text("URL of the new resource.", "/api/public/v1/sites/1/goals/7", { format: "uri-reference" }),
  "Idempotency-Replayed": text("`true` if this is the response to an earlier request with the same `Idempotency-Key`.", "true", {
    enum: ["true"],
  }),
  "Retry-After": count("Seconds to wait before the next attempt.", 1),
  "WWW-Authenticate": text("Required authentication, and the problem of the key.", 'Bearer realm="footfall", error="invalid_token"'),
  "Cache-Control": text("How long the response may be cached.", "public, max-age=300"),
  "Content-Disposition": text("Name of the file.", 'attachment; filename="1-page-2026-11-01-2026-11-20.csv"'),
  "X-Next-Since": text("Value for `since` of the next incremental export. Absent in an export of a range.", "2026-11-20T11:29:59.000Z"),
} as const satisfies Record<string, Header>
export type ResponseHeader = keyof typeof RESPONSE_HEADERS

export const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` })

/** Returns the headers of a response with this status. */
export function responseHeaders(route: DescribedRoute, status: string): ResponseHeader[] {
  const isKeyKnown = route.scopes.length > 0 && status !== "401"
  return [
    "X-Request-Id",
    ...(isKeyKnown ? LIMITS : []),
    ...(hasTag(route, status) ? (["ETag"] as const) : []),
    ...(status === "201" ? (["Location"] as const) : []),
    ...(creates(route) && ["201", "409", "422"].includes(status) ? (["Idempotency-Replayed"] as const) : []),
    ...(["429", "503"].includes(status) || (status === "409" && creates(route)) ? (["Retry-After"] as const) : []),
    ...(!route.access && (status === "401" || status === "403") ? (["WWW-Authenticate"] as const) : []),
  ]
}

const LIMITS = ["RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const

function hasTag(route: DescribedRoute, status: string): boolean {
  if (status === "304" || status === "412") return true
  if (route.access && (status === "201" || route.method === "patch")) return hasVersion(route, status)
  if (status === "201") return !route.detail["x-unversioned"]
  return status === "200" && (route.method === "patch" || isTagged(route))
}

/** Returns whether the response of a private route contains a version. */
const hasVersion = ({ answers }: DescribedRoute, status: string): boolean => "version" in (answers[status]?.properties ?? {})

/** Headers of requests, except `Authorization`, `Accept` and `Content-Type`, which OpenAPI describes elsewhere. */
export const REQUEST_HEADERS = {
  "X-Request-Id": text("Your own id for the request, for finding it in the log.", "order-4711", { pattern: "^[A-Za-z0-9._-]{1,64}$" }),
  "If-None-Match": text("ETag of a cached response. If it is current, the response is 304 without a body.", '"3"'),
  "If-Match": text(
    "ETag of the version you have read. If the resource was changed since, nothing is changed and the response is 412. `*` matches any version.",
    '"3"',
  ),
  "Idempotency-Key": text(
    "Makes a retry safe. For 24 hours, requests with the same key and body return the first response and create nothing else.",
    "signup-goal-1",
    { pattern: "^[!-~]{1,255}$" },
  ),
  "MCP-Protocol-Version": text("Protocol version, sent after `initialize`.", "2025-06-18", { enum: ["2025-06-18"] }),
} as const satisfies Record<string, Header>

/** Returns the header parameters of an operation. */
export function requestHeaders(route: DescribedRoute): (keyof typeof REQUEST_HEADERS)[] {
  return [
    ...(isTagged(route) ? (["If-None-Match"] as const) : []),
    ...(isVersioned(route) ? (["If-Match"] as const) : []),
    ...(creates(route) ? (["Idempotency-Key"] as const) : []),
    ...(route.path.endsWith("/mcp") ? (["MCP-Protocol-Version"] as const) : []),
    "X-Request-Id",
  ]
}
