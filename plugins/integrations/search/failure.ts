import { ConnectionFailure, failureCode } from "#plugin"
import type { Integration, Status } from "../integration.ts"

/** Why data of a search engine, or the list of an account's properties, could not be fetched. */
export type SearchFault =
  | "needs_reauth"
  | "scope_not_granted"
  | "secret_unreadable"
  | "quota"
  | "property_lost"
  | "api_disabled"
  | "client_rejected"
  | "unavailable"
  | "outbound_disabled"

/** A failed request to a search engine. */
export class SearchFailure extends Error {
  constructor(
    readonly code: SearchFault,
    /** How long the service asks to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(`The request to a search engine failed: ${code}`)
    this.name = "SearchFailure"
  }
}

/** Returns a failure of the connection or of the request as one of the search engine. Undefined for any other error. */
export function searchFailureOf(error: unknown): SearchFailure | undefined {
  if (error instanceof SearchFailure) return error
  if (error instanceof ConnectionFailure) return new SearchFailure(CONNECTION_FAULTS[error.code] ?? "unavailable", error.retryAfterMs)
  const code = failureCode(error)
  if (code === undefined) return undefined
  return new SearchFailure(code === "outbound_disabled" ? "outbound_disabled" : "unavailable")
}

const CONNECTION_FAULTS: Readonly<Partial<Record<ConnectionFailure["code"], SearchFault>>> = {
  needs_reauth: "needs_reauth",
  not_connected: "needs_reauth",
  denied: "needs_reauth",
  scope_not_granted: "scope_not_granted",
  client_rejected: "client_rejected",
  not_configured: "client_rejected",
  quota: "quota",
  outbound_disabled: "outbound_disabled",
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const [FIRST_RETRY, LAST_RETRY] = [15 * MINUTE, 6 * HOUR]

/**
 * Returns what a failure means for an integration: its status, and when it is tried again; null if only a person can end it. Further
 * failures of the same kind wait twice as long, unless something was fetched in between.
 */
export function consequenceOf(
  { code, retryAfterMs }: SearchFailure,
  { last_error_code, last_error_at, next_run_at }: Pick<Integration, "last_error_code" | "last_error_at" | "next_run_at">,
  { now, hasProgress }: { now: number; hasProgress: boolean },
): { status: Status; nextRunAt: number | null } {
  switch (code) {
    case "needs_reauth":
    case "scope_not_granted":
    case "secret_unreadable":
      return { status: "needs_reauth", nextRunAt: null }
    case "quota":
      return { status: "degraded", nextRunAt: now + (retryAfterMs ?? HOUR) }
    case "property_lost":
    case "api_disabled":
    case "client_rejected":
      return { status: "error", nextRunAt: now + 24 * HOUR }
    case "outbound_disabled":
      return { status: "degraded", nextRunAt: now + LAST_RETRY }
    case "unavailable": {
      const isRepeated = !hasProgress && last_error_code === "unavailable" && last_error_at !== null && next_run_at !== null
      const pause = isRepeated ? Math.min(LAST_RETRY, 2 * (next_run_at - last_error_at)) : FIRST_RETRY
      return { status: "degraded", nextRunAt: now + pause }
    }
  }
}

const SENTENCES: Readonly<Record<SearchFault, string>> = {
  needs_reauth: "The access was revoked or has expired. Connect the account again.",
  scope_not_granted: "The account has not granted this access. Connect it again, and allow all requested access.",
  secret_unreadable: "The stored secret can't be decrypted. Enter it again.",
  quota: "The service allows no more requests for now. Footfall will try again.",
  property_lost: "The account has no access to this property. Add it to the property's users, or map another property.",
  api_disabled: "The API is not enabled in the Google Cloud project of this instance or service account. Enable it there.",
  client_rejected: "Google rejects the client of this instance. An administrator must check FOOTFALL_GOOGLE_CLIENT_ID and its secret.",
  unavailable: "The service could not be reached or its answer was invalid. Footfall will try again.",
  outbound_disabled: "Outgoing requests are turned off on this instance (FOOTFALL_OUTBOUND).",
}

/** Returns the cause and remedy of a failure as a sentence. */
export const searchFaultMessage = (code: string): string | undefined => SENTENCES[code as SearchFault]
