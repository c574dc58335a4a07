import { AppError, type Fault } from "../domain/error.ts"
import { COLLECT } from "../domain/limits.ts"
import type { CollectAnswer } from "../ingest/collect.ts"
import type { ForeignOutcome } from "../ingest/foreign.ts"
import type { ForeignPayload } from "../ingest/payloads/foreign.ts"
import { goatcounterCount } from "../ingest/payloads/goatcounter.ts"
import { umamiBatch, umamiSend } from "../ingest/payloads/umami.ts"
import { readBytes } from "../plugin/body.ts"
import { type CollectOptions, type Door, ofText, otherMethod, picture, refuseMediaType, requestWith, toResponse } from "./collect.ts"
import { problem, toFailure } from "./errors.ts"
import { requestId } from "./headers.ts"

/**
 * Doors for the clients of other products, which go on counting once their address is changed. Each is answered as its own
 * server would answer it (metrics.md 18.3, 18.4).
 */
export const compatDoors = (options: CollectOptions): [path: string, door: Door][] => [
  ["/api/send", umamiDoor(options, { payload: umamiSend, limit: COLLECT.bodyBytes, answer: sendAnswer })],
  ["/api/batch", umamiDoor(options, { payload: umamiBatch, limit: COLLECT.batchBodyBytes, answer: batchAnswer })],
  ["/count", countDoor(options)],
]

type Outcomes = readonly ForeignOutcome[]

interface UmamiDoor {
  payload: ForeignPayload
  /** Bytes. */
  limit: number
  answer(outcomes: Outcomes): CollectAnswer
}

const UMAMI_METHODS = ["POST", "OPTIONS"]
const COUNT_METHODS = ["GET", "HEAD", "POST", "OPTIONS"]

function umamiDoor({ collector, headers, baseUrl, log }: CollectOptions, { payload, limit, answer }: UmamiDoor): Door {
  const shared = ofText(headers)
  return async (request, server) => {
    const id = requestId(request)
    if (request.method !== "POST") return otherMethod(request, UMAMI_METHODS, { ...headers, "x-request-id": id }, baseUrl)
    try {
      const body = await readBytes(request, limit)
      refuseMediaType(request)
      const taken = await collector.collectForeign(requestWith(body, request, server), payload)
      return toResponse("status" in taken ? taken : answer(taken), shared, id)
    } catch (thrown) {
      return problem(toFailure(thrown, id, log), baseUrl, { ...headers, "x-request-id": id })
    }
  }
}

const NIL = "00000000-0000-0000-0000-000000000000"
/** Visits are formed here: what the tracker keeps of an answer and sends back says nothing. */
const COUNTED = { cache: "footfall", sessionId: NIL, visitId: NIL }
const BOT = { beep: "boop" }

function sendAnswer([outcome = {}]: Outcomes): CollectAnswer {
  const refusal = refusalOf(outcome)
  if (!refusal) return json(200, outcome.reason === "bot" ? BOT : COUNTED, outcome.reason === undefined ? 0 : 1)
  if (refusal.status === 403) return json(403, { error: refusal }, 1)
  throw failureOf(refusal, outcome)
}

/** What was refused is named one by one; the rest is stored. Only when nothing came slowly enough the whole comes too fast. */
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

/** What is no success to these clients; every other drop is. */
function refusalOf({ reason, faults = [] }: ForeignOutcome): Refusal | undefined {
  if (reason === "invalid") return { code: "invalid_event", message: "The event is not valid.", status: 400, errors: faults.slice(0, 20) }
  if (reason === "unknown_site") return { code: "invalid_event", message: UNKNOWN_SITE.detail, status: 400, errors: [UNKNOWN_SITE] }
  if (reason === "ip") return { code: "forbidden", message: "Nothing is counted from this address.", status: 403 }
  return reason === "rate" ? { code: "rate_limited", message: "Too many events.", status: 429 } : undefined
}

function failureOf({ message, errors = [] }: Refusal, { retryAfter }: ForeignOutcome): AppError {
  if (retryAfter !== undefined) return new AppError("rate_limited", message, { retry_after: retryAfter })
  return new AppError("invalid_event", message, { errors })
}

const json = (status: number, body: object, dropped: number): CollectAnswer => ({
  status,
  headers: { "content-type": "application/json", ...(dropped > 0 && { "x-plausible-dropped": String(dropped) }) },
  body: JSON.stringify(body),
})

/** A picture whatever happens, with the reason in a header. Looking (HEAD) counts nothing. */
function countDoor({ collector, headers, baseUrl, log }: CollectOptions): Door {
  const shared = ofText(headers)
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
      const refusal = problem(failure, baseUrl, own)
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
