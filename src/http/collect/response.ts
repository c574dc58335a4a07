import { AppError } from "../domain/error.ts"
import { COLLECT } from "../domain/limits.ts"
import type { Log } from "../domain/log.ts"
import type { CollectAnswer, Collector } from "../ingest/collect.ts"
import type { CollectRequest } from "../ingest/request.ts"
import { readBytes } from "../plugin/body.ts"
import type { Peers } from "../plugin/guard.ts"
import { compatDoors } from "./compat.ts"
import { methodNotAllowed, problem, toFailure } from "./errors.ts"
import { requestId } from "./headers.ts"

export interface CollectOptions {
  baseUrl: string
  /** An additional path that takes events: the usual names are on blocklists. */
  collectPath: string | undefined
  /** On every answer, refusals included: any page may read them. */
  headers: Readonly<Record<string, string>>
  log: Log
  collector: Collector
}

/** Answers the requests of one path. Never rejects. */
export type Door = (request: Request, server: Peers) => Promise<Response>

const EVENT_METHODS = ["POST", "OPTIONS"]
const PIXEL_METHODS = ["GET", "HEAD", "OPTIONS"]
/** The last two are sent by newer trackers of Umami, which would count nothing without them. */
const PREFLIGHT = {
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "content-type, x-umami-cache, x-debug-request, x-umami-website-id, x-umami-hostname",
  "access-control-max-age": "86400",
}
const NOTHING = new Uint8Array()

/**
 * The doors for events, by path. Any page may post here, without credentials; they stand before the router, because most
 * requests of an instance come this way.
 */
export function collectDoors(options: CollectOptions): Map<string, Door> {
  const event = eventDoor(options)
  const doors = new Map([["/api/event", event], ["/p.gif", pixelDoor(options)], ...compatDoors(options)])
  return options.collectPath ? doors.set(options.collectPath, event) : doors
}

function eventDoor({ collector, headers, baseUrl, log }: CollectOptions): Door {
  const shared = ofText(headers)
  return async (request, server) => {
    const id = requestId(request)
    if (request.method !== "POST") return otherMethod(request, EVENT_METHODS, { ...headers, "x-request-id": id }, baseUrl)
    try {
      const body = await readBytes(request, COLLECT.bodyBytes)
      refuseMediaType(request)
      return toResponse(await collect(request, server, body, collector), shared, id)
    } catch (thrown) {
      return problem(toFailure(thrown, id, log), baseUrl, { ...headers, "x-request-id": id })
    }
  }
}

/** For pages without scripts. Looking (HEAD) counts nothing. */
function pixelDoor({ collector, headers, baseUrl, log }: CollectOptions): Door {
  return async (request, server) => {
    const own = { ...headers, "x-request-id": requestId(request), "cache-control": "no-store" }
    if (!["GET", "HEAD"].includes(request.method)) return otherMethod(request, PIXEL_METHODS, own, baseUrl)
    if (request.method === "HEAD") return picture(200, own)
    try {
      return picture(200, own, (await collect(request, server, NOTHING, collector)).headers)
    } catch (thrown) {
      const refusal = problem(toFailure(thrown, own["x-request-id"], log), baseUrl, own)
      // A page shows the picture whatever the status; but what was not stored for now is not answered as if it were.
      return picture(refusal.status < 429 ? 200 : refusal.status, refusal.headers)
    }
  }
}

/** The answer to a preflight, or that the method is not allowed. */
export function otherMethod(request: Request, methods: readonly string[], headers: Record<string, string>, baseUrl: string): Response {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { ...headers, ...PREFLIGHT } })
  return problem(methodNotAllowed(methods), baseUrl, { ...headers, allow: methods.join(", ") })
}

/** Trackers send JSON as text/plain, which needs no preflight. */
export function refuseMediaType({ headers }: Request): void {
  const type = headers.get("content-type")
  if (!type || /^(text\/plain|application\/json)\s*(;|$)/i.test(type)) return
  throw new AppError("unsupported_media_type", "Send the event as application/json or text/plain.")
}

const collect = (request: Request, server: Peers, body: Uint8Array, collector: Collector): Promise<CollectAnswer> =>
  collector.collect(requestWith(body, request, server))

/** A request as ingestion takes it. */
export const requestWith = (body: Uint8Array, request: Request, server: Peers): CollectRequest => ({
  method: request.method,
  url: request.url,
  headers: request.headers,
  body,
  peer: server.requestIP(request)?.address,
})

/**
 * The headers of every answer, and that it is plain text unless it says otherwise. Copied by the engine from here, which costs
 * half of what it costs to read them from an object each time.
 */
export const ofText = (headers: Readonly<Record<string, string>>): Headers =>
  new Headers({ ...headers, "content-type": "text/plain; charset=utf-8" })

export function toResponse({ status, headers, body }: CollectAnswer, shared: Headers, id: string): Response {
  const response = new Response(body, { status, headers: shared })
  response.headers.set("x-request-id", id)
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

const GIF = Uint8Array.fromBase64("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")

/** One transparent dot. */
export function picture(status: number, own: Headers | Record<string, string>, more: Record<string, string> = {}): Response {
  const headers = new Headers(own)
  for (const [name, value] of Object.entries({ ...more, "content-type": "image/gif" })) headers.set(name, value)
  return new Response(GIF, { status, headers })
}
