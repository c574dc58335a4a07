import { COLLECT } from "../../domain/limits.ts"
import type { CollectAnswer, Collector } from "../../ingest/collect/collect.ts"
import { readBytes } from "../../web/body.ts"
import type { Peers } from "../../web/guard.ts"
import { baseUrlFor, problem, toFailure } from "../errors.ts"
import { requestId } from "../headers.ts"
import { compatHandlers } from "./compat.ts"
import {
  type CollectOptions,
  otherMethod,
  picture,
  type RequestHandler,
  refuseMediaType,
  requestWith,
  sharedHeaders,
  toResponse,
} from "./response.ts"

const EVENT_METHODS = ["POST", "OPTIONS"]
const PIXEL_METHODS = ["GET", "HEAD", "OPTIONS"]
const NOTHING = new Uint8Array()

/**
 * Returns the request handlers for events, by path. Any page may send events, without credentials. The server looks for a handler
 * here before it asks the router, because most requests of an instance are events.
 */
export function collectHandlers(options: CollectOptions): Map<string, RequestHandler> {
  const event = eventHandler(options)
  const handlers = new Map([["/api/event", event], ["/p.gif", pixelHandler(options)], ...compatHandlers(options)])
  return options.collectPath ? handlers.set(options.collectPath, event) : handlers
}

function eventHandler({ collector, headers, baseUrl, log }: CollectOptions): RequestHandler {
  const shared = sharedHeaders(headers)
  return async (request, server) => {
    const id = requestId(request)
    if (request.method !== "POST") return otherMethod(request, EVENT_METHODS, { ...headers, "x-request-id": id }, baseUrl)
    try {
      const body = await readBytes(request, COLLECT.bodyBytes)
      refuseMediaType(request)
      return toResponse(await collect(request, server, body, collector), shared, id)
    } catch (thrown) {
      return problem(toFailure(thrown, id, log), baseUrlFor(request, baseUrl), { ...headers, "x-request-id": id })
    }
  }
}

/** Creates the handler of the pixel for pages without scripts. HEAD requests are not counted. */
function pixelHandler({ collector, headers, baseUrl, log }: CollectOptions): RequestHandler {
  return async (request, server) => {
    const own = { ...headers, "x-request-id": requestId(request), "cache-control": "no-store" }
    if (!["GET", "HEAD"].includes(request.method)) return otherMethod(request, PIXEL_METHODS, own, baseUrl)
    if (request.method === "HEAD") return picture(200, own)
    try {
      return picture(200, own, (await collect(request, server, NOTHING, collector)).headers)
    } catch (thrown) {
      const refusal = problem(toFailure(thrown, own["x-request-id"], log), baseUrlFor(request, baseUrl), own)
      // A page shows the picture whatever the status, but a temporary failure must not look like success.
      return picture(refusal.status < 429 ? 200 : refusal.status, refusal.headers)
    }
  }
}

const collect = (request: Request, server: Peers, body: Uint8Array, collector: Collector): Promise<CollectAnswer> =>
  collector.collect(requestWith(body, request, server))
