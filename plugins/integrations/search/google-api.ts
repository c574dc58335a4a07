import { failureCode, type OutboundAnswer } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { SearchFailure } from "./failure.ts"
import { parseLargeJson } from "./large-json.ts"

/** Access of one connection to one of Google's APIs. */
export interface GoogleAccess {
  connectionId: number
  scope: string
  signal?: AbortSignal
}

export interface GoogleRequest {
  url: string
  /** Body of a POST. Default: a GET. */
  body?: object
  /** Whether the operator has configured the URL. */
  byOperator: boolean
}

const TIMEOUT_MS = 20_000
const MAX_BYTES = 16 << 20

/**
 * Sends a request to one of Google's APIs and returns the JSON of its answer. A refused access token is replaced once. Throws a
 * `SearchFailure` or `ConnectionFailure`.
 */
export async function askGoogle(host: IntegrationsHost, access: GoogleAccess, request: GoogleRequest): Promise<unknown> {
  const { connectionId, scope } = access
  const token = await host.connections.accessToken(connectionId, scope)
  const first = await send(host, access, request, token)
  if (first.status !== 401) return read(first)
  const renewed = await host.connections.accessToken(connectionId, scope, { rejected: token })
  return read(await send(host, access, request, renewed))
}

const send = (host: IntegrationsHost, { signal }: GoogleAccess, { url, body, byOperator }: GoogleRequest, token: string) =>
  host.fetch(url, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, accept: "application/json", ...(body && { "content-type": "application/json" }) },
    secretHeaders: ["authorization"],
    follows: false,
    byOperator,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    ...(signal && { signal }),
  })

async function read({ status, body, retryAfterMs }: OutboundAnswer): Promise<unknown> {
  const json = await parseLargeJson(body, "rows")
  if (status >= 200 && status < 300) {
    if (json === undefined) throw new SearchFailure("unavailable")
    return json
  }
  throw refusalOf(status, json, retryAfterMs)
}

const QUOTA = /^(quotaExceeded|rateLimitExceeded|userRateLimitExceeded|dailyLimitExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED)$/
const DISABLED = /^(accessNotConfigured|SERVICE_DISABLED)$/
const SCOPE = /^(ACCESS_TOKEN_SCOPE_INSUFFICIENT|insufficientScopes)$/

function refusalOf(status: number, json: unknown, retryAfterMs: number | undefined): SearchFailure {
  const reasons = reasonsOf(json)
  if (status === 429 || reasons.some((reason) => QUOTA.test(reason))) return new SearchFailure("quota", retryAfterMs)
  if (status === 403 || status === 404) {
    if (reasons.some((reason) => DISABLED.test(reason))) return new SearchFailure("api_disabled")
    if (reasons.some((reason) => SCOPE.test(reason))) return new SearchFailure("scope_not_granted")
    return new SearchFailure("property_lost")
  }
  return new SearchFailure("unavailable")
}

/** Returns the reasons of an error in both forms of Google's APIs. */
function reasonsOf(json: unknown): string[] {
  const { error } = (json ?? {}) as { error?: { status?: unknown; errors?: unknown; details?: unknown } } // each field is checked below
  if (typeof error !== "object" || error === null) return []
  const listed = [error.errors, error.details].flatMap((list) => (Array.isArray(list) ? (list as ({ reason?: unknown } | null)[]) : []))
  return [error.status, ...listed.map((one) => one?.reason)].filter((reason) => typeof reason === "string")
}

/** Whether an error says that the caller has given up. */
export const isAborted = (error: unknown): boolean => failureCode(error) === "aborted"
