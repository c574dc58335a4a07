/**
 * The one client for requests to the outside (areas/00 section 16). Nothing leaves the instance by itself; each URL that a
 * person can set is judged when a request is made, not only when it is saved, and the connection goes to the very address that
 * was judged.
 */
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { OUTBOUND } from "../domain/limits.ts"
import { readWithin } from "./bounded-read.ts"
import { literalAddress, mayReach, openedRanges } from "./outbound-address.ts"
import { type ResolveName, resolveName, send } from "./outbound-socket.ts"

export interface OutboundSettings {
  /** False: nothing leaves at all. */
  enabled: boolean
  allowHttp: boolean
  ports: readonly number[]
  /** CIDR ranges beside the global ones: home networks. */
  privateRanges: readonly string[]
}

export interface OutboundRequest {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Names of headers that hold a secret or a signature: they are dropped when a redirect leads to another origin. */
  secretHeaders?: readonly string[]
  /** The address stands in the environment or the file of the operator, who is trusted: no rule is asked of it. Of where it redirects to, all. */
  byOperator?: boolean
  /** False: a redirect is the answer, for its body holds a secret. */
  follows?: boolean
  signal?: AbortSignal
}

export interface OutboundAnswer {
  status: number
  headers: Headers
  body: Uint8Array
  /** The last of the redirects. */
  url: string
  ms: number
}

export interface Outbound {
  readonly enabled: boolean
  /** What saving a URL refuses: `blocked_address`. What the name leads to is judged with each request. */
  check(url: string): void
  /**
   * Throws `outbound_disabled`, `blocked_address` (and never which rule or which address), or `outbound_failed` when no answer
   * came: refused, cut off, too late, too large, a certificate of another name. Any status is an answer.
   */
  fetch(url: string, request?: OutboundRequest): Promise<OutboundAnswer>
  /** The same for what is too large for memory: the body of the answer is read as it comes, and a redirect is the answer. */
  transfer(url: string, request: TransferRequest): Promise<Response>
}

export interface TransferRequest extends Pick<OutboundRequest, "method" | "headers" | "byOperator"> {
  /** A file is read while it is sent. */
  body?: Blob
  /** For all of it, the answer's body included. */
  timeoutMs: number
}

interface OutboundOptions {
  settings: OutboundSettings
  clock: Pick<Clock, "monotonic">
  /** Of tests: what a name leads to, and whose certificates count. */
  resolve?: ResolveName
  ca?: string
}

export function createOutbound({ settings, clock, resolve = resolveName, ca }: OutboundOptions): Outbound {
  const opened = openedRanges(settings.privateRanges)

  /** The address to connect to. Every address of the name must be allowed: which one is taken is not ours to say. */
  async function judged(url: URL): Promise<string> {
    judgeUrl(url, settings)
    const literal = literalAddress(url.hostname)
    const addresses = literal === undefined ? await resolve(url.hostname.replace(/\.$/, "")).catch(() => failed()) : [literal]
    const [first] = addresses
    if (first === undefined || !addresses.every((address) => mayReach(address, opened))) throw blocked()
    return first
  }

  /** One request and its answer, with the redirect it names. */
  async function once(
    url: URL,
    request: Pick<OutboundRequest, "method" | "byOperator"> & { body?: string | Uint8Array | Blob },
    headers: Headers,
    signal: AbortSignal,
  ): Promise<Response> {
    const address = request.byOperator ? undefined : await withSignal(judged(url), signal)
    const body = request.body
    return send({ url, address, method: request.method ?? "GET", headers, body, signal, ca })
  }

  async function follow(start: URL, request: OutboundRequest, signal: AbortSignal): Promise<{ response: Response; url: URL }> {
    let url = start
    let current = request
    const headers = headersOf(request)
    for (let hops = 0; ; hops++) {
      const response = await once(url, current, new Headers(headers), signal)
      const location = REDIRECTS.has(response.status) && request.follows !== false ? response.headers.get("location") : null
      if (location === null) return { response, url }
      await response.body?.cancel()
      if (hops === OUTBOUND.hops) throw new AppError("outbound_failed", "The address redirects too often.")
      const next = URL.parse(location, url)
      if (!next) throw new AppError("outbound_failed", "The address redirects to nowhere.")
      if (next.origin !== url.origin) dropSecrets(headers, request)
      current = { ...afterRedirect(current, response.status, headers), byOperator: false }
      url = next
    }
  }

  /** The address, where anything may leave at all. */
  function destination(text: string): URL {
    if (!settings.enabled) throw new AppError("outbound_disabled", "Requests to the outside are switched off.")
    const url = URL.parse(text)
    if (!url) throw blocked()
    return url
  }

  return {
    enabled: settings.enabled,
    check: (text) => judgeUrl(URL.parse(text), settings),
    async fetch(text, request = {}) {
      const url = destination(text)
      const begun = clock.monotonic()
      const late = AbortSignal.timeout(OUTBOUND.timeoutMs)
      const signal = request.signal ? AbortSignal.any([late, request.signal]) : late
      try {
        const { response, url: last } = await follow(url, request, signal)
        const body = await readAnswer(response)
        return { status: response.status, headers: response.headers, body, url: last.href, ms: Math.round(clock.monotonic() - begun) }
      } catch (error) {
        throw error instanceof AppError ? error : noAnswer(error, late.aborted)
      }
    },
    async transfer(text, request) {
      const url = destination(text)
      const late = AbortSignal.timeout(request.timeoutMs)
      try {
        return await once(url, request, headersOf(request), late)
      } catch (error) {
        throw error instanceof AppError ? error : noAnswer(error, late.aborted)
      }
    },
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const LOCAL_NAME = /(^|\.)localhost$|\.local$|\.internal$/

/** Rules 1 and 2: what a URL says by itself. */
function judgeUrl(url: URL | null, { allowHttp, ports }: OutboundSettings): void {
  if (!url || !(url.protocol === "https:" || (allowHttp && url.protocol === "http:"))) throw blocked()
  if (url.username !== "" || url.password !== "" || url.hostname === "") throw blocked()
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  if (!ports.includes(port)) throw blocked()
  if (LOCAL_NAME.test(url.hostname.toLowerCase().replace(/\.$/, ""))) throw blocked()
}

function headersOf({ headers }: Pick<OutboundRequest, "headers">): Headers {
  const sent = new Headers(headers)
  if (!sent.has("user-agent")) sent.set("user-agent", "Footfall")
  // What is counted is what came, and nothing unpacks in memory.
  sent.set("accept-encoding", "identity")
  sent.set("connection", "close")
  return sent
}

const ALWAYS_SECRET = ["authorization", "cookie", "proxy-authorization"]

function dropSecrets(headers: Headers, { secretHeaders = [] }: OutboundRequest): void {
  for (const name of [...ALWAYS_SECRET, ...secretHeaders]) headers.delete(name)
}

/** As browsers do: after 303, and after 301 and 302 of a POST, the next one is a GET without a body. */
function afterRedirect(request: OutboundRequest, status: number, headers: Headers): OutboundRequest {
  const method = request.method ?? "GET"
  const becomesGet = (status === 303 && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST")
  if (!becomesGet) return request
  headers.delete("content-type")
  const { body: _, ...rest } = request
  return { ...rest, method: "GET" }
}

/** Never more of an answer than `limits.ts` allows. Throws `outbound_failed` for a longer one. */
export async function readAnswer({ body }: Response): Promise<Buffer> {
  const bytes = await readWithin(body, OUTBOUND.answerBytes)
  if (!bytes) throw new AppError("outbound_failed", "The answer is too large.")
  return bytes
}

/** A look-up cannot be stopped, but nobody has to wait for it. */
function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  return Promise.race([work, promise])
}

const blocked = () => new AppError("blocked_address", "This address may not be called from here.")
const failed = (): never => {
  throw new AppError("outbound_failed", "The name leads nowhere.")
}

/** In few words: what the other side or the network says is nobody's business here. */
function noAnswer(error: unknown, isLate: boolean): AppError {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  if (isLate) return new AppError("outbound_failed", "The answer took too long.")
  return new AppError("outbound_failed", /CERT|TLS|SSL|SIGNED/.test(code) ? "The certificate is not of this name." : "No answer came.")
}

/** The text of an answer for people who manage the site: its beginning, without what a terminal or a page would obey. */
export const excerptOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body.subarray(0, OUTBOUND.excerptBytes)).replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
