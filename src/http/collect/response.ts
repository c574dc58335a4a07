/** Options, preflight and responses shared by the routes for events and for clients of other products. */
import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import type { CollectAnswer, Collector } from "../../ingest/collect/collect.ts"
import type { CollectRequest } from "../../ingest/request/request.ts"
import type { Peers } from "../../web/guard.ts"
import { baseUrlFor, methodNotAllowed, problem } from "../errors.ts"

export interface CollectOptions {
  baseUrl: string
  /** Additional path that accepts events, because content blockers know the usual path. */
  collectPath: string | undefined
  /** Headers of all responses, errors included, which let any page read them. */
  headers: Readonly<Record<string, string>>
  log: Log
  collector: Collector
}

/** Responds to the requests for one path. Never rejects. */
export type RequestHandler = (request: Request, server: Peers) => Promise<Response>

/** The last two request headers are sent by newer trackers of Umami, which count nothing if a preflight rejects them. */
const PREFLIGHT = {
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "content-type, x-umami-cache, x-debug-request, x-umami-website-id, x-umami-hostname",
  "access-control-max-age": "86400",
}

/** Returns the response to a preflight or, for other methods, `method_not_allowed`. */
export function otherMethod(request: Request, methods: readonly string[], headers: Record<string, string>, baseUrl: string): Response {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { ...headers, ...PREFLIGHT } })
  return problem(methodNotAllowed(methods), baseUrlFor(request, baseUrl), { ...headers, allow: methods.join(", ") })
}

/** Throws `unsupported_media_type` unless the body is JSON or text. Trackers send JSON as text/plain, which needs no preflight. */
export function refuseMediaType({ headers }: Request): void {
  const type = headers.get("content-type")
  if (!type || /^(text\/plain|application\/json)\s*(;|$)/i.test(type)) return
  throw new AppError("unsupported_media_type", "Send the event as application/json or text/plain.")
}

/** Converts a request to the form that ingestion expects. */
export const requestWith = (body: Uint8Array, request: Request, server: Peers): CollectRequest => ({
  method: request.method,
  url: request.url,
  headers: request.headers,
  body,
  peer: server.requestIP(request)?.address,
})

/**
 * Returns the shared headers of all responses, which are plain text by default. A response copies them from a `Headers` object in
 * half the time that a plain object takes.
 */
export const sharedHeaders = (headers: Readonly<Record<string, string>>): Headers =>
  new Headers({ ...headers, "content-type": "text/plain; charset=utf-8" })

/** Creates the response for a result of ingestion. `shared` are the headers from `sharedHeaders`. */
export function toResponse({ status, headers, body }: CollectAnswer, shared: Headers, id: string): Response {
  const response = new Response(body, { status, headers: shared })
  response.headers.set("x-request-id", id)
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

const GIF = Uint8Array.fromBase64("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")

/** Creates a response with a transparent picture of one pixel. */
export function picture(status: number, own: Headers | Record<string, string>, more: Record<string, string> = {}): Response {
  const headers = new Headers(own)
  for (const [name, value] of Object.entries({ ...more, "content-type": "image/gif" })) headers.set(name, value)
  return new Response(GIF, { status, headers })
}
