/** What the routes for events and for the clients of other products share: options, preflight, and the form of their responses. */
import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import type { CollectAnswer, Collector } from "../../ingest/collect/collect.ts"
import type { CollectRequest } from "../../ingest/request/request.ts"
import type { Peers } from "../../web/guard.ts"
import { baseUrlFor, methodNotAllowed, problem } from "../errors.ts"

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
export type RequestHandler = (request: Request, server: Peers) => Promise<Response>

/** The last two are sent by newer trackers of Umami, which would count nothing without them. */
const PREFLIGHT = {
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "content-type, x-umami-cache, x-debug-request, x-umami-website-id, x-umami-hostname",
  "access-control-max-age": "86400",
}
/** The answer to a preflight, or that the method is not allowed. */
export function otherMethod(request: Request, methods: readonly string[], headers: Record<string, string>, baseUrl: string): Response {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { ...headers, ...PREFLIGHT } })
  return problem(methodNotAllowed(methods), baseUrlFor(request, baseUrl), { ...headers, allow: methods.join(", ") })
}

/** Trackers send JSON as text/plain, which needs no preflight. */
export function refuseMediaType({ headers }: Request): void {
  const type = headers.get("content-type")
  if (!type || /^(text\/plain|application\/json)\s*(;|$)/i.test(type)) return
  throw new AppError("unsupported_media_type", "Send the event as application/json or text/plain.")
}

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
