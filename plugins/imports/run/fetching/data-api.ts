import { AppError, ConnectionFailure, failureCode, instantText, isObject } from "#plugin"
import type { ImportsHost } from "../../area.ts"
import { importError } from "../../errors.ts"

/** The Google Analytics Data API, as far as imports use it. */
export interface DataApi {
  /** Returns the response to a request for a report. Throws an `AppError` that says what to do. */
  runReport(of: ApiProperty, request: object, signal: AbortSignal): Promise<Uint8Array>
}

export interface ApiProperty {
  organizationId: number
  connectionId: number
  /** Such as `properties/123456789`. */
  property: string
}

export const DEFAULT_BASE = "https://analyticsdata.googleapis.com"
const SCOPE = "https://www.googleapis.com/auth/analytics.readonly"
const TIMEOUT_MS = 60_000
/** A page of 10,000 rows has some megabytes. */
const MAX_BYTES = 64 << 20
/** Pauses before further attempts when Google does not answer. */
const PAUSES_MS = [1_000, 5_000]
/** Google counts most quotas by the hour. */
const QUOTA_MS = 60 * 60_000

export function createDataApi({ connections, fetch, now, settings, log }: ImportsHost, pauses: readonly number[] = PAUSES_MS): DataApi {
  const base = settings.ga4_api_base ?? DEFAULT_BASE

  /** Returns an access token. `rejected` is one that Google has just refused. */
  async function tokenOf({ organizationId, connectionId }: ApiProperty, rejected?: string): Promise<string> {
    if (!(await connections.get(organizationId, connectionId))) throw notConnected()
    try {
      return await connections.accessToken(connectionId, SCOPE, rejected === undefined ? {} : { rejected })
    } catch (error) {
      throw error instanceof ConnectionFailure ? connectionError(error, now()) : error
    }
  }

  async function send({ property }: ApiProperty, request: object, token: string, signal: AbortSignal) {
    return fetch(`${base}/v1beta/${property}:runReport`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      secretHeaders: ["authorization"],
      body: JSON.stringify(request),
      byOperator: base !== DEFAULT_BASE,
      follows: false,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    })
  }

  async function attempt(of: ApiProperty, request: object, signal: AbortSignal): Promise<Uint8Array> {
    const token = await tokenOf(of)
    let answer = await send(of, request, token, signal)
    if (answer.status === 401) answer = await send(of, request, await tokenOf(of, token), signal)
    if (answer.status === 200) return answer.body
    const { status, retryAfterMs } = answer
    const reason = reasonIn(answer.body)
    log.warn("Google Analytics refused a report", { status, reason })
    if (status === 401) throw needsReauth()
    if (status === 429) throw quotaExceeded(now(), retryAfterMs)
    if (status === 403 && reason === "SERVICE_DISABLED") throw apiDisabled()
    if (status === 403 || status === 404) throw propertyDenied(of.property)
    throw unavailable(`Google Analytics answered with the status ${status}.`)
  }

  return {
    async runReport(of, request, signal) {
      for (let failures = 0; ; failures++) {
        try {
          return await attempt(of, request, signal)
        } catch (error) {
          signal.throwIfAborted()
          const failure = failureCode(error)
          if (failure === "outbound_disabled") throw error
          const problem = failure === undefined ? error : unavailable("Google Analytics could not be reached.")
          const pause = pauses[failures]
          if (pause === undefined || !(problem instanceof AppError) || problem.code !== "unavailable") throw problem
          await Bun.sleep(pause)
        }
      }
    },
  }
}

/** Returns the reason of a refusal, such as `SERVICE_DISABLED`. */
function reasonIn(body: Uint8Array): string {
  try {
    const { error } = JSON.parse(new TextDecoder().decode(body)) as { error?: { status?: unknown; details?: unknown } }
    const details: unknown[] = Array.isArray(error?.details) ? error.details : []
    const reason = details.find((one) => isObject(one) && typeof one.reason === "string") as { reason: string } | undefined
    return reason?.reason ?? String(error?.status ?? "")
  } catch {
    return ""
  }
}

export const unavailable = (what: string) => new AppError("unavailable", `${what} Try again in a few minutes.`)

const notConnected = () =>
  importError(
    "analytics_not_connected",
    "The organization has no such connection to a Google account. Connect the account on the page Integrations and choose it again.",
  )
const needsReauth = () =>
  importError(
    "analytics_not_connected",
    "Google no longer accepts the connection, because access was removed or has expired. Connect the account again on the page Integrations.",
  )
const propertyDenied = (property: string) =>
  importError(
    "analytics_property_denied",
    `The connected account can't read ${property}. In Google Analytics, give it the role Viewer under Admin > Property access management, or choose another property.`,
  )
const apiDisabled = () =>
  importError(
    "analytics_api_disabled",
    "The Google Analytics Data API is turned off in the Google Cloud project of this instance or service account. Turn it on under APIs & Services, then try again.",
  )

function quotaExceeded(now: number, retryAfterMs = 0): AppError {
  const wait = Math.max(QUOTA_MS, retryAfterMs)
  const detail = `Google Analytics allows no more requests for this property now. Requests are possible again at ${instantText(now + wait)}.`
  return importError("analytics_quota", detail, { retry_after: Math.ceil(wait / 1_000) })
}

/** Returns what a failure of the connection means for an import. */
function connectionError({ code, retryAfterMs }: ConnectionFailure, now: number): AppError {
  switch (code) {
    case "needs_reauth":
      return needsReauth()
    case "scope_not_granted":
      return importError(
        "analytics_not_connected",
        "The connected account has not granted access to Google Analytics. Connect it again for Google Analytics on the page Integrations.",
      )
    case "client_rejected":
      return importError(
        "analytics_not_connected",
        "Google rejects the OAuth client of this instance. An administrator must check FOOTFALL_GOOGLE_CLIENT_ID and FOOTFALL_GOOGLE_CLIENT_SECRET.",
      )
    case "outbound_disabled":
      return new AppError("outbound_disabled", "Outgoing requests are turned off on this instance.")
    case "quota":
      return quotaExceeded(now, retryAfterMs)
    case "unavailable":
      return unavailable("Google could not confirm the connection.")
    default:
      return notConnected()
  }
}
