import { AppError, type Fault } from "../../domain/error.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { CollectAnswer } from "../../ingest/collect/collect.ts"
import type { Outcome } from "../../ingest/draft.ts"
import { goatcounterCount } from "../../ingest/payloads/goatcounter.ts"
import type { ForeignPayload } from "../../ingest/payloads/incoming.ts"
import { umamiBatch, umamiSend } from "../../ingest/payloads/umami.ts"
import { readBytes } from "../../web/body.ts"
import { baseUrlFor, problem, toFailure } from "../errors.ts"
import { requestId } from "../headers.ts"
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

/**
 * Returns the request handlers for the clients of other products, which work after their address is changed. Each responds like
 * the original server (metrics.md 18.3, 18.4).
 */
export const compatHandlers = (options: CollectOptions): [path: string, handler: RequestHandler][] => [
  ["/api/send", umamiHandler(options, { payload: umamiSend, limit: COLLECT.bodyBytes, answer: sendAnswer })],
  ["/api/batch", umamiHandler(options, { payload: umamiBatch, limit: COLLECT.batchBodyBytes, answer: batchAnswer })],
  ["/count", countHandler(options)],
]

type Outcomes = readonly Outcome[]

interface UmamiEndpoint {
  payload: ForeignPayload
  /** Maximum size of the body in bytes. */
  limit: number
  answer(outcomes: Outcomes): CollectAnswer
}

const UMAMI_METHODS = ["POST", "OPTIONS"]
const COUNT_METHODS = ["GET", "HEAD", "POST", "OPTIONS"]

function umamiHandler({ collector, headers, baseUrl, log }: CollectOptions, { payload, limit, answer }: UmamiEndpoint): RequestHandler {
  const shared = sharedHeaders(headers)
  return async (request, server) => {
    const id = requestId(request)
    if (request.method !== "POST") return otherMethod(request, UMAMI_METHODS, { ...headers, "x-request-id": id }, baseUrl)
    try {
      const body = await readBytes(request, limit)
      refuseMediaType(request)
      const taken = await collector.collectForeign(requestWith(body, request, server), payload)
      return toResponse("status" in taken ? taken : answer(taken), shared, id)
    } catch (thrown) {
      return problem(toFailure(thrown, id, log), baseUrlFor(request, baseUrl), { ...headers, "x-request-id": id })
    }
  }
}

const NIL = "00000000-0000-0000-0000-000000000000"
/** Constant response. Visits are determined by the server, so the values that the tracker sends back are ignored. */
const COUNTED = { cache: "footfall", sessionId: NIL, visitId: NIL }
const BOT = { beep: "boop" }

function sendAnswer([outcome = {}]: Outcomes): CollectAnswer {
  const refusal = refusalOf(outcome)
  if (!refusal) return json(200, outcome.reason === "bot" ? BOT : COUNTED, outcome.reason === undefined ? 0 : 1)
  if (refusal.status === 403) return json(403, { error: refusal }, 1)
  throw failureOf(refusal, outcome)
}

/** Creates the response to a batch, with a list of rejected events. Throws `rate_limited` only if every event exceeds the limit. */
function batchAnswer(outcomes: Outcomes): CollectAnswer {
  const [first] = outcomes
  if (first && outcomes.every(({ reason }) => reason === "rate")) throw failureOf(refusalOf(first)!, first)
  const details = outcomes.flatMap((outcome, index) => {
    const error = refusalOf(outcome)
    return error ? [{ index, response: { error } }] : []
  })
  const size = outcomes.length
  const dropped = outcomes.filter(({ reason }) => reason !== undefined && reason !== "invalid").length
  return json(200, { size, processed: size - details.length, errors: details.length, details, cache: COUNTED.cache }, dropped)
}

interface Refusal {
  code: "invalid_event" | "rate_limited" | "forbidden"
  message: string
  status: number
  errors?: readonly Fault[]
}

const UNKNOWN_SITE: Fault = { pointer: "/payload/website", code: "unknown_site", detail: "No site has this id." }

const HOST_DISPUTED: Fault = {
  pointer: "/payload/website",
  code: "host_disputed",
  detail: "Sites of several organizations claim this host, and its owner is not known.",
}

/** Returns the error for drop reasons that these clients must see. All other reasons count as success. */
function refusalOf({ reason, faults = [] }: Outcome): Refusal | undefined {
  if (reason === "invalid") return { code: "invalid_event", message: "The event is not valid.", status: 400, errors: faults.slice(0, 20) }
  if (reason === "unknown_site") return { code: "invalid_event", message: UNKNOWN_SITE.detail, status: 400, errors: [UNKNOWN_SITE] }
  if (reason === "host_disputed") return { code: "invalid_event", message: HOST_DISPUTED.detail, status: 400, errors: [HOST_DISPUTED] }
  if (reason === "ip") return { code: "forbidden", message: "Events from this address are not counted.", status: 403 }
  return reason === "rate" ? { code: "rate_limited", message: "Too many events.", status: 429 } : undefined
}

function failureOf({ message, errors = [] }: Refusal, { retryAfter }: Outcome): AppError {
  if (retryAfter !== undefined) return new AppError("rate_limited", message, { retry_after: retryAfter })
  return new AppError("invalid_event", message, { errors })
}

const json = (status: number, body: object, dropped: number): CollectAnswer => ({
  status,
  headers: { "content-type": "application/json", ...(dropped > 0 && { "x-plausible-dropped": String(dropped) }) },
  body: JSON.stringify(body),
})

/** Creates the handler of GoatCounter, which always responds with a picture and puts the reason into a header. HEAD is not counted. */
function countHandler({ collector, headers, baseUrl, log }: CollectOptions): RequestHandler {
  const shared = sharedHeaders(headers)
  return async (request, server) => {
    const own = { ...headers, "x-request-id": requestId(request), "cache-control": "no-store" }
    if (!COUNT_METHODS.includes(request.method) || request.method === "OPTIONS") return otherMethod(request, COUNT_METHODS, own, baseUrl)
    if (request.method === "HEAD") return picture(200, own)
    try {
      const body = await readBytes(request, COLLECT.bodyBytes)
      const taken = await collector.collectForeign(requestWith(body, request, server), goatcounterCount)
      return "status" in taken ? toResponse(taken, shared, own["x-request-id"]) : counted(taken, own)
    } catch (thrown) {
      const failure = toFailure(thrown, own["x-request-id"], log)
      const refusal = problem(failure, baseUrlFor(request, baseUrl), own)
      return picture(refusal.status, refusal.headers, { "x-goatcounter": failure.code })
    }
  }
}

function counted([outcome = {}]: Outcomes, own: Record<string, string>): Response {
  const { reason, faults = [], retryAfter } = outcome
  if (retryAfter !== undefined) throw failureOf(refusalOf(outcome)!, outcome)
  if (reason === undefined) return picture(200, own)
  if (reason === "invalid") return picture(400, own, { "x-goatcounter": faults[0]?.detail ?? reason })
  return picture(reason === "ip" ? 202 : 200, own, { "x-goatcounter": reason, "x-plausible-dropped": "1" })
}
