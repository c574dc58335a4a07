import type { SiteDirectory } from "../../domain/site.ts"
import type { Client } from "../address/client-address.ts"
import { type Candidate, isCandidate, type Outcome, type RequestFacts } from "../draft.ts"
import type { ForeignPayload, ForeignReading } from "../payloads/incoming.ts"
import type { CollectRequest } from "../request/request.ts"
import type { ReadSender } from "./clients.ts"
import type { CollectAnswer, Judge } from "./collect.ts"
import { noteInvalid, notesWithoutSite, noteWithoutSite } from "./drop-notes.ts"
import type { Intake } from "./intake.ts"
import { hostOf, targetsOf } from "./which-site.ts"

/** The components that every kind of payload shares. */
export interface CollectParts {
  intake: Intake
  directory: SiteDirectory
  readSender: ReadSender
  judge: Judge
  explain(results: readonly (Candidate | Outcome)[], client: Client): CollectAnswer
}

/** Approximate memory of an event, without its text. */
export const EVENT_BYTES = 512

/** The outcome of an event that is valid but has nothing to store. */
const NOTHING_TO_STORE: Outcome = {}

/**
 * Collects a request of another product's client. Its events are stored in one transaction. Returns the outcome of each event in
 * order, or the answer to a debug request (`X-Debug-Request`).
 */
export async function collectForeign(
  parts: CollectParts,
  request: CollectRequest,
  payload: ForeignPayload,
): Promise<readonly Outcome[] | CollectAnswer> {
  const { client, facts } = parts.readSender(request)
  const now = parts.intake.clock.now()
  const results: (Candidate | Outcome)[] = []
  for (const reading of readEvents(parts, request, payload, facts, now))
    results.push(await prepare(parts, reading, { request, payload, client, facts, now }))
  if (request.headers.get("x-debug-request") === "true") return parts.explain(results, client)
  return settle(parts, results, request.body.length)
}

function readEvents({ intake }: CollectParts, request: CollectRequest, payload: ForeignPayload, facts: RequestFacts, now: number) {
  try {
    return payload.read(request, facts)
  } catch (fault) {
    intake.buffer.drop(noteWithoutSite("invalid", "", now))
    throw fault
  }
}

interface RequestContext {
  request: CollectRequest
  payload: ForeignPayload
  client: Client
  facts: RequestFacts
  now: number
}

async function prepare(
  { intake, directory, judge }: CollectParts,
  reading: ForeignReading,
  { request, payload, client, facts, now }: RequestContext,
): Promise<Candidate | Outcome> {
  if ("ignored" in reading) return NOTHING_TO_STORE
  if ("faults" in reading) {
    const targets = reading.named.length === 0 ? [] : targetsOf(directory, reading.named, "", payload.product)
    return { reason: "invalid", faults: reading.faults, notes: [noteInvalid(intake, targets, facts.userAgent, now)] }
  }
  const { incoming } = reading
  const hostname = hostOf(incoming, facts)
  const named = incoming.named.length > 0 ? incoming.named : impliedSite(directory, payload, request)
  // Payloads of other products name one site.
  const target = targetsOf(directory, named, hostname, payload.product)[0]!
  if (!target.site) return notesWithoutSite(intake, target, { now, hostname })
  return judge(target.site, { incoming, facts, client, sender: "script", hostname, now })
}

function impliedSite(directory: SiteDirectory, { product, impliedSite }: ForeignPayload, request: CollectRequest): readonly string[] {
  const implied = impliedSite?.(request) ?? ""
  return implied !== "" && directory.byCompatId(product, implied) ? [implied] : []
}

/** Stores the events that passed. Drops are counted only after that, because a client whose request failed sends its events again. */
async function settle(
  { intake: { buffer } }: CollectParts,
  results: readonly (Candidate | Outcome)[],
  bodyBytes: number,
): Promise<readonly Outcome[]> {
  const candidates = results.filter(isCandidate)
  const stored = candidates.length === 0 ? [] : await buffer.store(candidates, bodyBytes + candidates.length * EVENT_BYTES)
  const rest = stored.values()
  return results.map((result) => {
    if (!isCandidate(result)) {
      const { notes = [], ...outcome } = result
      for (const note of notes) buffer.drop(note)
      return outcome
    }
    const reason = rest.next().value
    return reason === undefined ? {} : { reason }
  })
}
