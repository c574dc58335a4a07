import type { Fault } from "../domain/error.ts"
import type { DropReason } from "../domain/event.ts"
import type { Site, SiteDirectory } from "../domain/site.ts"
import type { Candidate } from "./candidate.ts"
import type { Client } from "./client-address.ts"
import type { CollectAnswer, Readable, Verdict } from "./collect.ts"
import type { RequestFacts } from "./draft.ts"
import { noteInvalid, noteWithoutSite } from "./drop-notes.ts"
import type { DropNote } from "./drop-tally.ts"
import type { Intake } from "./intake.ts"
import type { ForeignPayload, ForeignReading } from "./payloads/foreign.ts"
import type { CollectRequest } from "./request.ts"
import { hostOf, targetsOf } from "./which-site.ts"

/** What became of one event: stored or without anything to store when it has no reason. */
export interface ForeignOutcome {
  reason?: DropReason
  /** Of reason `invalid`. */
  faults?: readonly Fault[]
  /** Of reason `rate`: seconds. */
  retryAfter?: number
}

/** The parts of the way that every payload goes. */
export interface Ways {
  intake: Intake
  directory: SiteDirectory
  readSender(request: CollectRequest): { client: Client; facts: RequestFacts }
  judge(site: Site, event: Readable): Verdict | Promise<Verdict>
  explain(verdicts: readonly Verdict[], client: Client): CollectAnswer
}

/** About what an event takes in memory beside its text. */
const EVENT_BYTES = 512

/**
 * Takes a request of another product's client; its events are stored in one transaction. Returns what became of each, in
 * their order, or what is answered to a question (`X-Debug-Request`).
 */
export async function collectForeign(
  ways: Ways,
  request: CollectRequest,
  payload: ForeignPayload,
): Promise<readonly ForeignOutcome[] | CollectAnswer> {
  const { client, facts } = ways.readSender(request)
  const now = ways.intake.clock.now()
  const fates: Fate[] = []
  for (const reading of readingsOf(ways, request, payload, facts, now))
    fates.push(await fateOf(ways, reading, { request, payload, client, facts, now }))
  if (request.headers.get("x-debug-request") === "true")
    return ways.explain(
      fates.filter((fate) => "candidate" in fate || "note" in fate),
      client,
    )
  return settled(ways, fates, request.body.length)
}

/** A verdict, with what the client is told of it. */
type Fate = { candidate: Candidate } | (ForeignOutcome & { note: DropNote }) | { ignored: true }

function readingsOf({ intake }: Ways, request: CollectRequest, payload: ForeignPayload, facts: RequestFacts, now: number) {
  try {
    return payload.read(request, facts)
  } catch (fault) {
    intake.buffer.drop(noteWithoutSite("invalid", "", now))
    throw fault
  }
}

interface Circumstances {
  request: CollectRequest
  payload: ForeignPayload
  client: Client
  facts: RequestFacts
  now: number
}

async function fateOf({ intake, directory, judge }: Ways, reading: ForeignReading, given: Circumstances): Promise<Fate> {
  const { request, payload, client, facts, now } = given
  if ("ignored" in reading) return reading
  if ("faults" in reading) {
    const targets = reading.named.length === 0 ? [] : targetsOf(directory, reading.named, "", payload.product)
    return { reason: "invalid", faults: reading.faults, note: noteInvalid(intake, targets, facts.userAgent, now) }
  }
  const { incoming } = reading
  const hostname = hostOf(incoming, facts)
  const named = incoming.named.length > 0 ? incoming.named : impliedSite(directory, payload, request)
  // Payloads of others name one site.
  const { site, sent } = targetsOf(directory, named, hostname, payload.product)[0]!
  if (!site) return { reason: "unknown_site", note: noteWithoutSite("unknown_site", sent, now) }
  const verdict = await judge(site, { incoming, facts, client, sender: "script", hostname, now })
  return "note" in verdict ? { ...verdict, reason: verdict.note.reason } : verdict
}

function impliedSite(directory: SiteDirectory, { product, impliedSite }: ForeignPayload, request: CollectRequest): readonly string[] {
  const implied = impliedSite?.(request) ?? ""
  return implied !== "" && directory.byCompatId(product, implied) ? [implied] : []
}

/** Stores what passed; drops are counted once the rest is on disk, as a client that is told to come again sends them again. */
async function settled({ intake: { buffer } }: Ways, fates: readonly Fate[], bodyBytes: number): Promise<readonly ForeignOutcome[]> {
  const candidates = fates.flatMap((fate) => ("candidate" in fate ? [fate.candidate] : []))
  const stored = candidates.length === 0 ? [] : await buffer.store(candidates, bodyBytes + candidates.length * EVENT_BYTES)
  const rest = stored.values()
  return fates.map((fate) => {
    if ("ignored" in fate) return {}
    if ("note" in fate) {
      const { note, ...outcome } = fate
      buffer.drop(note)
      return outcome
    }
    const reason = rest.next().value
    return reason === undefined ? {} : { reason }
  })
}
