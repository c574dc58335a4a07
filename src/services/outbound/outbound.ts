/**
 * The only client for outgoing requests (areas/00 section 16). User-entered URLs are checked at every request and not only when they are
 * saved, and the connection is made to the same IP address that was checked.
 */

import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { OUTBOUND } from "../../domain/limits.ts"
import { readWithin } from "../runtime/files.ts"
import { type AddressRules, blocked, checkUrl, literalAddress, mayReach, parseRanges } from "./addresses.ts"
import { connectionFailure, OutboundFailure, redirectFailure } from "./failure.ts"
import { type ResolveName, resolveName, send } from "./socket.ts"

export interface OutboundSettings extends AddressRules {
  /** Whether outgoing requests are allowed at all. */
  enabled: boolean
}

export interface OutboundRequest {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Names of headers with a secret or signature. They are removed when a redirect leads to another origin. */
  secretHeaders?: readonly string[]
  /** Whether the operator has configured the URL. Such a URL is not checked, but the targets of its redirects are. */
  byOperator?: boolean
  /** False treats a redirect as a failure that names the new address: for requests whose body holds a secret or must arrive as a POST. */
  follows?: boolean
  /** Total time, including redirects. Default: 10 seconds. */
  timeoutMs?: number
  /** Maximum size of the response body. Default: 1 MiB. */
  maxBytes?: number
  signal?: AbortSignal
}

export interface OutboundAnswer {
  status: number
  headers: Headers
  body: Uint8Array
  /** The URL after all redirects. */
  url: string
  ms: number
  /** How long the server asks to wait before the next request (`Retry-After`), from 0 to a day. Absent if it does not. */
  retryAfterMs?: number
}

export interface Outbound {
  readonly enabled: boolean
  /** Throws `blocked_address` for a URL that must not be saved. The IP address of its host name is checked with each request. */
  check(url: string): void
  /**
   * Sends a request and returns the response, whatever its status. Throws `outbound_disabled`, `blocked_address` (without revealing the
   * rule or the address), or an `OutboundFailure` if there is no usable response. `failureCode` returns the cause of all three.
   */
  fetch(url: string, request?: OutboundRequest): Promise<OutboundAnswer>
  /** Sends a request whose response may be too large for memory, and returns the response as a stream. Does not follow redirects. */
  transfer(url: string, request: TransferRequest): Promise<Response>
}

interface TransferRequest extends Pick<OutboundRequest, "method" | "headers" | "byOperator" | "signal"> {
  /** The body. A file is streamed. */
  body?: Blob
  /** Timeout for the whole exchange, including the response body. */
  timeoutMs: number
}

interface OutboundOptions {
  settings: OutboundSettings
  clock: Pick<Clock, "now" | "monotonic">
  /** Version in the header `User-Agent`. */
  version: string
  /** For tests: name resolution and trusted certificates. */
  resolve?: ResolveName
  ca?: string
}

export function createOutbound({ settings, clock, version, resolve = resolveName, ca }: OutboundOptions): Outbound {
  const allowedRanges = parseRanges(settings.privateRanges)

  /** Returns the IP address to connect to. All addresses of a host name must be allowed, because their order is not under our control. */
  async function resolveAllowed(url: URL): Promise<string> {
    checkUrl(url, settings)
    const literal = literalAddress(url.hostname)
    const addresses = literal === undefined ? await resolve(url.hostname.replace(/\.$/, "")).catch(() => unresolved()) : [literal]
    const [first] = addresses
    if (first === undefined || !addresses.every((address) => mayReach(address, allowedRanges))) throw blocked()
    return first
  }

  /** Sends one request without following redirects. */
  async function sendOnce(
    url: URL,
    request: Pick<OutboundRequest, "method" | "byOperator"> & { body?: string | Uint8Array | Blob },
    headers: Headers,
    signal: AbortSignal,
  ): Promise<Response> {
    const address = request.byOperator ? undefined : await withSignal(resolveAllowed(url), signal)
    const body = request.body
    return send({ url, address, method: request.method ?? "GET", headers, body, signal, ca })
  }

  async function follow(start: URL, request: OutboundRequest, signal: AbortSignal): Promise<{ response: Response; url: URL }> {
    let url = start
    let current = request
    const headers = headersOf(request, version)
    for (let hops = 0; ; hops++) {
      const response = await sendOnce(url, current, new Headers(headers), signal)
      const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null
      if (location === null) return { response, url }
      await response.body?.cancel()
      if (request.follows === false) throw redirectFailure(url, location)
      if (hops === OUTBOUND.hops) throw new OutboundFailure("too_many_redirects")
      const next = URL.parse(location, url)
      if (!next) throw new OutboundFailure("invalid_redirect")
      if (next.origin !== url.origin) dropSecrets(headers, request)
      current = { ...afterRedirect(current, response.status, headers), byOperator: false }
      url = next
    }
  }

  /** Parses a URL. Throws if outgoing requests are turned off. */
  function destination(text: string): URL {
    if (!settings.enabled) throw new AppError("outbound_disabled", "Outgoing requests are turned off on this instance.")
    const url = URL.parse(text)
    if (!url) throw blocked()
    return url
  }

  return {
    enabled: settings.enabled,
    check: (text) => checkUrl(URL.parse(text), settings),
    async fetch(text, request = {}) {
      const url = destination(text)
      const startedAt = clock.monotonic()
      using limit = deadline(request.timeoutMs ?? OUTBOUND.timeoutMs, request.signal)
      try {
        const { response, url: last } = await follow(url, request, limit.signal)
        const body = await readAnswer(response, request.maxBytes)
        const { status, headers } = response
        const wait = retryAfter(headers, clock.now())
        const ms = Math.round(clock.monotonic() - startedAt)
        return { status, headers, body, url: last.href, ms, ...(wait !== undefined && { retryAfterMs: wait }) }
      } catch (error) {
        throw error instanceof AppError ? error : connectionFailure(error, limit.isLate, limit.signal.aborted)
      }
    },
    async transfer(text, request) {
      const url = destination(text)
      const late = AbortSignal.timeout(request.timeoutMs)
      const signal = request.signal ? AbortSignal.any([late, request.signal]) : late
      try {
        return await sendOnce(url, request, headersOf(request, version), signal)
      } catch (error) {
        throw error instanceof AppError ? error : connectionFailure(error, late.aborted, request.signal?.aborted ?? false)
      }
    },
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
function headersOf({ headers }: Pick<OutboundRequest, "headers">, version: string): Headers {
  const sent = new Headers(headers)
  if (!sent.has("user-agent")) sent.set("user-agent", `Footfall/${version}`)
  // Without compression the size limit applies to the received bytes, and no archive bomb can unpack in memory.
  sent.set("accept-encoding", "identity")
  sent.set("connection", "close")
  return sent
}

const ALWAYS_SECRET = ["authorization", "cookie", "proxy-authorization"]

function dropSecrets(headers: Headers, { secretHeaders = [] }: OutboundRequest): void {
  for (const name of [...ALWAYS_SECRET, ...secretHeaders]) headers.delete(name)
}

/** Returns the request to send after a redirect. As in browsers, a 303, or a 301 or 302 of a POST, becomes a GET without a body. */
function afterRedirect(request: OutboundRequest, status: number, headers: Headers): OutboundRequest {
  const method = request.method ?? "GET"
  const becomesGet = (status === 303 && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST")
  if (!becomesGet) return request
  headers.delete("content-type")
  const { body: _, ...rest } = request
  return { ...rest, method: "GET" }
}

/** Reads a response body. Throws an `OutboundFailure` if it is too large. */
export async function readAnswer({ body }: Response, maxBytes: number = OUTBOUND.answerBytes): Promise<Buffer> {
  const bytes = await readWithin(body, maxBytes)
  if (!bytes) throw new OutboundFailure("too_large")
  return bytes
}

/**
 * Creates a signal that aborts after a time, or together with another one. `AbortSignal.any` would leave a dependent signal at the other
 * one for each request, and the signal of a job lives for hundreds of thousands of them.
 */
function deadline(ms: number, other: AbortSignal | undefined): { signal: AbortSignal; isLate: boolean } & Disposable {
  const controller = new AbortController()
  const cancel = (): void => controller.abort()
  const timer = setTimeout(() => {
    own.isLate = true
    cancel()
  }, ms)
  if (other?.aborted) cancel()
  other?.addEventListener("abort", cancel, { once: true })
  const own = {
    signal: controller.signal,
    isLate: false,
    [Symbol.dispose]() {
      clearTimeout(timer)
      other?.removeEventListener("abort", cancel)
    },
  }
  return own
}

/** Stops waiting for `work` when the signal aborts. A name lookup itself cannot be cancelled. */
function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  return Promise.race([work, promise])
}

const unresolved = (): never => {
  throw new OutboundFailure("name_not_resolved")
}

/** Reads `Retry-After`: a number of seconds, or a date. Anything else is ignored, and more than a day counts as a day. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? ""
  // Dates of HTTP name the day of the week. Date.parse alone would read "-1" as a year.
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) - now : Number.NaN
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), OUTBOUND.longestRetryMs)
}

/** Returns the beginning of a response as text, without control characters. */
export const excerptOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body.subarray(0, OUTBOUND.excerptBytes)).replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
