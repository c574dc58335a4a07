import type { DropReason, NewEvent } from "../domain/event.ts"
import type { RecordKind } from "../domain/record.ts"
import { VISIT_EVENTS, VISIT_IDLE_MS, VISIT_LENGTH_MS } from "../domain/visit.ts"
import type { OpenVisit, Writer } from "../store/events/writer.ts"
import type { Candidate } from "./candidate.ts"
import type { Person, RotatingId } from "./identity.ts"

/**
 * Stores an event with its visit, inside a group commit: the open visit it fits in, or a new one (metrics.md section 3).
 * Returns why it was dropped and counted instead, if it was.
 */
export function recordEvent(writer: Writer, candidate: Candidate): DropReason | undefined {
  if (candidate.records) return storeRecord(writer, candidate, candidate.records)
  const reason = storeEvent(writer, candidate)
  if (!reason) return undefined
  const { siteId, day, event, traits } = candidate
  writer.drop(siteId, day, reason)
  const { at, hostname, page } = event
  writer.sample(siteId, { at, reason, hostname, page, browser: traits.browser, country: traits.country })
  return reason
}

function storeRecord(writer: Writer, { siteId, day, traits, event, identity, isNobody }: Candidate, kind: RecordKind): undefined {
  const visitor = isNobody ? undefined : writer.visitor(siteId, identity.current.period, identity.current.id)
  writer.record(siteId, kind, { visitor, traits, event }, day)
}

function storeEvent(writer: Writer, candidate: Candidate): DropReason | undefined {
  const { siteId, day, traits, event, identifies } = candidate
  if (candidate.id !== "" && writer.seen(siteId, candidate.id)) return "duplicate"
  const person = knownPerson(writer, candidate)
  const open = joinable(writer, candidate, person)
  if (!open && (identifies || isInternal(event))) return "no_visit"
  const visitId = open ? joined(writer, siteId, open, person) : opened(writer, candidate, person)
  if (!identifies) writer.add(siteId, visitId, withoutSoldTwice(writer, candidate), day, movesStart(open, event) ? traits : undefined)
  countRest(writer, candidate, person, open)
  return undefined
}

/** A person and the visitor they are. Made a visitor only once the person may be known. */
interface Known extends Person {
  /** Undefined: never known before. */
  readonly known: number | undefined
  readonly visitor: number
}

function knownPerson(writer: Writer, { siteId, identity }: Candidate): Known | undefined {
  const { person } = identity
  if (!person) return undefined
  const known = writer.findPerson(siteId, person.key)
  return {
    ...person,
    known,
    get visitor() {
      return known ?? writer.person(siteId, person.key)
    },
  }
}

/** `engagement` and `vitals` tell of a visit, they are none. */
const isInternal = ({ name }: NewEvent): boolean => name === "engagement" || name === "vitals"

/** A user of no visit yet. */
const NOBODY = -1

/** The open visit of this visitor the event belongs to: by the current salt, else by the one before. */
function joinable(writer: Writer, { siteId, identity, event }: Candidate, person: Known | undefined): OpenVisit | undefined {
  const by = ({ period, id }: RotatingId): OpenVisit | undefined => {
    const rotating = writer.findVisitor(siteId, period, id)
    if (rotating === undefined) return undefined
    // Two user ids are two visitors; one of them may be unknown.
    const user = person?.kind === "user" ? (person.known ?? NOBODY) : undefined
    return writer.findOpenVisit(siteId, rotating, user, (visit) => fits(visit, event.at))
  }
  return by(identity.current) ?? (identity.previous && by(identity.previous))
}

/** Idle time and length of a visit are judged by the events' own times. */
function fits({ startedAt, activeAt, size }: OpenVisit, at: number): boolean {
  if (size >= VISIT_EVENTS || at < startedAt - VISIT_IDLE_MS || at > activeAt + VISIT_IDLE_MS) return false
  return Math.max(activeAt, at) - Math.min(startedAt, at) <= VISIT_LENGTH_MS
}

/** Joins a visit; a person that was not known before makes the visit, with all its events, their own. */
function joined(writer: Writer, siteId: number, visit: OpenVisit, person: Known | undefined): number {
  const isBetter = person && mayBeKnown(person, visit) && (person.kind === "user" || visit.visitorKind !== "user")
  if (isBetter && visit.visitor !== person.visitor) writer.identify(siteId, visit.id, person.visitor, person.kind)
  return visit.id
}

/** In mode `persistent` a user id counts once consent was given in the visit. */
const mayBeKnown = (person: Known, visit: OpenVisit | undefined): boolean =>
  !person.needsConsent || (visit !== undefined && visit.visitorKind !== "rotating")

function opened(writer: Writer, { siteId, identity, traits, day }: Candidate, person: Known | undefined): number {
  const rotating = writer.visitor(siteId, identity.current.period, identity.current.id)
  const known = person && mayBeKnown(person, undefined) ? person : undefined
  const visitor = known?.visitor ?? rotating
  return writer.openVisit(siteId, { rotating, visitor, visitorKind: known?.kind ?? "rotating", traits }, day)
}

/** A late event that is earlier than the visit's start brings its acquisition along; reports about a visit have none. */
const movesStart = (open: OpenVisit | undefined, event: NewEvent): boolean =>
  open !== undefined && event.at < open.startedAt && !isInternal(event)

/** A reload of the thank-you page earns nothing: revenue of an order counts once in 24 hours. */
function withoutSoldTwice(writer: Writer, { siteId, event, orderId, day }: Candidate): NewEvent {
  if (orderId === "" || !writer.seen(siteId, `order:${orderId}`)) return event
  writer.count(siteId, day, "revenue_duplicate")
  const { revenue: _, ...rest } = event
  return rest
}

function countRest(writer: Writer, { siteId, day, counters }: Candidate, person: Known | undefined, open: OpenVisit | undefined): void {
  for (const counter of counters) writer.count(siteId, day, counter)
  if (person && !mayBeKnown(person, open)) writer.count(siteId, day, "identify_ignored")
}
