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

/** What answers say beside their bodies. */
export const ANSWER_HEADERS = {
  "X-Request-Id": text("The id of the request: the caller's own when it was a plain word. It is in every line of the log.", "01JD3V8Q2M7Z"),
  "RateLimit-Policy": text(
    "Requests per window of the key. It and the next four are absent when there is no limit, and before the key is known.",
    '"default";q=600;w=60',
  ),
  RateLimit: text("What is left of them.", '"default";r=599;t=60'),
  "X-RateLimit-Limit": count("Requests per minute of the key.", 600),
  "X-RateLimit-Remaining": count("What is left of them.", 599),
  "X-RateLimit-Reset": count("When all of them are there again, in epoch seconds.", 1795348860),
  ETag: text("The version of the answer. Strong for a single thing: send it back with If-Match.", '"3"'),
  Location: text("Where the new thing is.", "/api/public/v1/sites/1/goals/7", { format: "uri-reference" }),
  "Idempotency-Replayed": text("The answer is that of the first request with this Idempotency-Key.", "true", { enum: ["true"] }),
  "Retry-After": count("Seconds to wait.", 1),
  "WWW-Authenticate": text("How to sign in, and what the key lacks.", 'Bearer realm="footfall", error="invalid_token"'),
  "Cache-Control": text("How long the answer may be kept.", "public, max-age=300"),
  "Content-Disposition": text("The name of the file.", 'attachment; filename="1-page-2026-11-01-2026-11-20.csv"'),
} as const satisfies Record<string, Header>
export type AnswerHeader = keyof typeof ANSWER_HEADERS

export const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` })

/** The headers of an answer with this status. */
export function answerHeaders(route: DescribedRoute, status: string): AnswerHeader[] {
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
  if (route.access && (status === "201" || route.method === "patch")) return isVersionTold(route, status)
  if (status === "201") return true
  return status === "200" && (route.method === "patch" || isTagged(route))
}

/** The answer of a private route is a thing that counts its changes. */
const isVersionTold = ({ answers }: DescribedRoute, status: string): boolean => "version" in (answers[status]?.properties ?? {})

/** What requests may say beside their bodies. `Authorization`, `Accept` and `Content-Type` have places of their own. */
export const REQUEST_HEADERS = {
  "X-Request-Id": text("An id of your own for the request, to find it in the log.", "order-4711", { pattern: "^[A-Za-z0-9._-]{1,64}$" }),
  "If-None-Match": text("A tag of an answer you have: while it is the present one, 304 without a body.", '"3"'),
  "If-Match": text("Tags of the version you have read: when it is another by now, 412 and no change. `*` means any.", '"3"'),
  "Idempotency-Key": text(
    "Makes the request safe to send again: for 24 hours the same key and body get the first answer, and one thing is made.",
    "signup-goal-1",
    { pattern: "^[!-~]{1,255}$" },
  ),
  "MCP-Protocol-Version": text("The version of the protocol, after `initialize`.", "2025-06-18", { enum: ["2025-06-18"] }),
} as const satisfies Record<string, Header>

/** The header parameters of an operation. */
export function requestHeaders(route: DescribedRoute): (keyof typeof REQUEST_HEADERS)[] {
  return [
    ...(isTagged(route) ? (["If-None-Match"] as const) : []),
    ...(isVersioned(route) ? (["If-Match"] as const) : []),
    ...(creates(route) ? (["Idempotency-Key"] as const) : []),
    ...(route.path.endsWith("/mcp") ? (["MCP-Protocol-Version"] as const) : []),
    "X-Request-Id",
  ]
}
