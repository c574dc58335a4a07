import { AppError } from "../../domain/error.ts"

/** Why a request got no usable response. */
export type OutboundReason =
  | "name_not_resolved"
  | "not_connected"
  | "invalid_certificate"
  | "timeout"
  | "too_large"
  | "redirected"
  | "too_many_redirects"
  | "invalid_redirect"
  | "aborted"

const DETAILS: Readonly<Record<OutboundReason, string>> = {
  name_not_resolved: "The host name cannot be resolved.",
  not_connected: "The server did not respond.",
  invalid_certificate: "The server's TLS certificate is not valid for this host name.",
  timeout: "The response took too long.",
  too_large: "The response is too large.",
  redirected: "The address redirects elsewhere.",
  too_many_redirects: "The address redirects too many times.",
  invalid_redirect: "The address redirects to an invalid URL.",
  aborted: "The request was cancelled.",
}

/** A request without a usable response: `outbound_failed` with its reason. */
export class OutboundFailure extends AppError {
  constructor(
    readonly reason: OutboundReason,
    detail: string = DETAILS[reason],
  ) {
    super("outbound_failed", detail)
  }
}

/** Why a request failed, including the refusals before anything was sent. */
export type FailureCode = OutboundReason | "blocked_address" | "outbound_disabled"

/** Returns why a request failed. Returns undefined for any other error. */
export function failureCode(error: unknown): FailureCode | undefined {
  if (error instanceof OutboundFailure) return error.reason
  if (!(error instanceof AppError)) return undefined
  return error.code === "blocked_address" ? "blocked_address" : error.code === "outbound_disabled" ? "outbound_disabled" : undefined
}

/** Converts an error of the connection. The result has no details of the network or the other server. */
export function connectionFailure(error: unknown, isLate: boolean, isAborted: boolean): OutboundFailure {
  if (isLate) return new OutboundFailure("timeout")
  if (isAborted) return new OutboundFailure("aborted")
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  return new OutboundFailure(/CERT|TLS|SSL|SIGNED/.test(code) ? "invalid_certificate" : "not_connected")
}

const MIN_SECRET_CHARS = 8
const MAX_SHOWN_CHARS = 300

/**
 * Creates the failure of a request that must not be redirected. It names the new address without its query, and without the long parts
 * that it shares with the requested URL: the URL of a webhook is a secret, which a redirect to HTTPS repeats.
 */
export function redirectFailure(from: URL, location: string): OutboundFailure {
  const to = URL.parse(location, from)
  if (!to || !/^https?:$/.test(to.protocol)) return new OutboundFailure("invalid_redirect")
  const secrets = new Set(`${from.pathname}${from.search}`.split(/[/?&=]/).filter((part) => part.length >= MIN_SECRET_CHARS))
  const path = to.pathname
    .split("/")
    .map((part) => (secrets.has(part) ? "…" : part))
    .join("/")
  const shown = `${to.origin}${path}`.slice(0, MAX_SHOWN_CHARS)
  return new OutboundFailure("redirected", `The address redirects to ${shown}. Enter the new address instead.`)
}
