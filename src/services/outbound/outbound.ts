/**
 * The only client for outgoing requests (areas/00 section 16). User-entered URLs are checked at every request and not only when they are
 * saved, and the connection is made to the same IP address that was checked.
 */

import ipaddr from "ipaddr.js"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { OUTBOUND } from "../../domain/limits.ts"
import { readWithin } from "../runtime/files.ts"
import { type ResolveName, resolveName, send } from "./socket.ts"

export interface OutboundSettings {
  /** Whether outgoing requests are allowed at all. */
  enabled: boolean
  allowHttp: boolean
  ports: readonly number[]
  /** CIDR ranges of private networks that are allowed in addition to public addresses. */
  privateRanges: readonly string[]
}

export interface OutboundRequest {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Names of headers with a secret or signature. They are removed when a redirect leads to another origin. */
  secretHeaders?: readonly string[]
  /** Whether the operator has configured the URL. Such a URL is not checked, but the targets of its redirects are. */
  byOperator?: boolean
  /** False returns a redirect as the response, for requests whose body holds a secret. */
  follows?: boolean
  signal?: AbortSignal
}

export interface OutboundAnswer {
  status: number
  headers: Headers
  body: Uint8Array
  /** The URL after all redirects. */
  url: string
  ms: number
}

export interface Outbound {
  readonly enabled: boolean
  /** Throws `blocked_address` for a URL that must not be saved. The IP address of its host name is checked with each request. */
  check(url: string): void
  /**
   * Sends a request and returns the response, whatever its status. Throws `outbound_disabled`, `blocked_address` (without revealing the
   * rule or the address), or `outbound_failed` if there is no response: refused, interrupted, too slow, too large, invalid certificate.
   */
  fetch(url: string, request?: OutboundRequest): Promise<OutboundAnswer>
  /** Sends a request whose response may be too large for memory, and returns the response as a stream. Does not follow redirects. */
  transfer(url: string, request: TransferRequest): Promise<Response>
}

export interface TransferRequest extends Pick<OutboundRequest, "method" | "headers" | "byOperator"> {
  /** The body. A file is streamed. */
  body?: Blob
  /** Timeout for the whole exchange, including the response body. */
  timeoutMs: number
}

interface OutboundOptions {
  settings: OutboundSettings
  clock: Pick<Clock, "monotonic">
  /** For tests: name resolution and trusted certificates. */
  resolve?: ResolveName
  ca?: string
}

export function createOutbound({ settings, clock, resolve = resolveName, ca }: OutboundOptions): Outbound {
  const allowedRanges = parseRanges(settings.privateRanges)

  /** Returns the IP address to connect to. All addresses of a host name must be allowed, because their order is not under our control. */
  async function resolveAllowed(url: URL): Promise<string> {
    checkUrl(url, settings)
    const literal = literalAddress(url.hostname)
    const addresses = literal === undefined ? await resolve(url.hostname.replace(/\.$/, "")).catch(() => failed()) : [literal]
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
    const headers = headersOf(request)
    for (let hops = 0; ; hops++) {
      const response = await sendOnce(url, current, new Headers(headers), signal)
      const location = REDIRECTS.has(response.status) && request.follows !== false ? response.headers.get("location") : null
      if (location === null) return { response, url }
      await response.body?.cancel()
      if (hops === OUTBOUND.hops) throw new AppError("outbound_failed", "The address redirects too many times.")
      const next = URL.parse(location, url)
      if (!next) throw new AppError("outbound_failed", "The address redirects to an invalid URL.")
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
      const late = AbortSignal.timeout(OUTBOUND.timeoutMs)
      const signal = request.signal ? AbortSignal.any([late, request.signal]) : late
      try {
        const { response, url: last } = await follow(url, request, signal)
        const body = await readAnswer(response)
        return { status: response.status, headers: response.headers, body, url: last.href, ms: Math.round(clock.monotonic() - startedAt) }
      } catch (error) {
        throw error instanceof AppError ? error : noAnswer(error, late.aborted)
      }
    },
    async transfer(text, request) {
      const url = destination(text)
      const late = AbortSignal.timeout(request.timeoutMs)
      try {
        return await sendOnce(url, request, headersOf(request), late)
      } catch (error) {
        throw error instanceof AppError ? error : noAnswer(error, late.aborted)
      }
    },
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const LOCAL_NAME = /(^|\.)localhost$|\.local$|\.internal$/

/** Rules 1 and 2: checks the scheme, credentials, port and host name of a URL. Throws `blocked_address`. */
function checkUrl(url: URL | null, { allowHttp, ports }: OutboundSettings): void {
  if (!url || !(url.protocol === "https:" || (allowHttp && url.protocol === "http:"))) throw blocked()
  if (url.username !== "" || url.password !== "" || url.hostname === "") throw blocked()
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  if (!ports.includes(port)) throw blocked()
  if (LOCAL_NAME.test(url.hostname.toLowerCase().replace(/\.$/, ""))) throw blocked()
}

function headersOf({ headers }: Pick<OutboundRequest, "headers">): Headers {
  const sent = new Headers(headers)
  if (!sent.has("user-agent")) sent.set("user-agent", "Footfall")
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

/** Reads a response body. Throws `outbound_failed` if it exceeds the limit in `limits.ts`. */
export async function readAnswer({ body }: Response): Promise<Buffer> {
  const bytes = await readWithin(body, OUTBOUND.answerBytes)
  if (!bytes) throw new AppError("outbound_failed", "The response is too large.")
  return bytes
}

/** Stops waiting for `work` when the signal aborts. A name lookup itself cannot be cancelled. */
function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  return Promise.race([work, promise])
}

const blocked = () => new AppError("blocked_address", "Requests to this address are not allowed.")
const failed = (): never => {
  throw new AppError("outbound_failed", "The host name cannot be resolved.")
}

/** Returns a general error, without details of the network or the other server. */
function noAnswer(error: unknown, isLate: boolean): AppError {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  if (isLate) return new AppError("outbound_failed", "The response took too long.")
  return new AppError(
    "outbound_failed",
    /CERT|TLS|SSL|SIGNED/.test(code) ? "The server's TLS certificate is not valid for this host name." : "The server did not respond.",
  )
}

/** Returns the beginning of a response as text, without control characters. */
export const excerptOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body.subarray(0, OUTBOUND.excerptBytes)).replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")

/** IPv4 ranges that are not public: the IANA special-purpose registry and multicast. */
const NOT_GLOBAL_V4 = ranges(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4`)
const GLOBAL_V6 = ranges("2000::/3")
const NOT_GLOBAL_V6 = ranges("2001::/23 2001:db8::/32 2002::/16 3fff::/20")

type Range = ReturnType<typeof ipaddr.parseCIDR>

function ranges(list: string): Range[] {
  return list.split(/\s+/).map((range) => ipaddr.parseCIDR(range))
}

/** Parses CIDR ranges, which the configuration has validated. */
export const parseRanges = (list: readonly string[]): Range[] => list.map((range) => ipaddr.parseCIDR(range))

/**
 * Whether a request may be sent to an IP address: it must be public or in a range that the operator allows. IPv4 addresses in IPv6
 * notation (`::ffff:10.0.0.1`) are never allowed.
 */
export function mayReach(address: string, allowedRanges: readonly Range[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  const lies = (among: readonly Range[]) => among.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  if (lies(allowedRanges)) return true
  return parsed.kind() === "ipv4" ? !lies(NOT_GLOBAL_V4) : lies(GLOBAL_V6) && !lies(NOT_GLOBAL_V6)
}

/** Returns the IP address in the host part of a URL, without brackets; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const plain = hostname.replace(/^\[(.*)\]$/, "$1")
  return ipaddr.isValid(plain) ? plain : undefined
}
