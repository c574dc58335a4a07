import type { DropReason, NewEvent } from "../../domain/event.ts"
import type { RecordKind } from "../../domain/record.ts"
import { VISIT_EVENTS, VISIT_IDLE_MS, VISIT_LENGTH_MS } from "../../domain/visit.ts"
import { isTransient } from "../../store/events/dictionary/visitors.ts"
import type { OpenVisit, Writer } from "../../store/events/writer.ts"
import type { Candidate } from "../draft.ts"
import type { Person, RotatingId } from "../identity/identity.ts"

/**
 * Stores an event inside a group commit, in the open visit that it fits in or else in a new visit (metrics.md section 3). Returns
 * undefined, or the reason for which the event was dropped and counted instead.
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

function storeRecord(writer: Writer, { siteId, day, traits, event, identity, isAnonymous }: Candidate, kind: RecordKind): undefined {
  const visitor = isAnonymous ? undefined : writer.visitor(siteId, identity.current.period, identity.current.id)
  writer.record(siteId, kind, { visitor, traits, event }, day)
}

function storeEvent(writer: Writer, candidate: Candidate): DropReason | undefined {
  const { siteId, day, id, traits, event, identifies } = candidate
  if (candidate.isStoredElsewhere || (id !== "" && writer.seen(siteId, id))) return "duplicate"
  const person = knownPerson(writer, candidate)
  const open = findJoinableVisit(writer, candidate, person)
  if (!open && (identifies || isInternal(event))) return "no_visit"
  const visitId = open ? joinVisit(writer, siteId, open, person) : openVisit(writer, candidate, person)
  if (!identifies) {
    const replacing = movesStart(open, event) ? traits : undefined
    writer.add(siteId, visitId, withoutRepeatedRevenue(writer, candidate), day, replacing, id)
  }
  countPartialLosses(writer, candidate, person, open)
  return undefined
}

/** A person with the ordinal of the visitor. */
interface Known extends Person {
  /** Ordinal of the visitor. Undefined for a person who was not seen before. */
  readonly known: number | undefined
  /** Returns the ordinal, which is assigned to a new person, and stores that the person was identified. */
  identified(): number
}

function knownPerson(writer: Writer, { siteId, identity, event }: Candidate): Known | undefined {
  const { person } = identity
  if (!person) return undefined
  const { key, kind, userId, lifeMs, needsConsent } = person
  const found = writer.findPerson(siteId, key)
  // An expired device id counts as absent, even if the browser still sends it.
  if (found && event.at - (found.first_identified_at ?? event.at) >= lifeMs) return undefined
  return {
    ...{ key, kind, userId, lifeMs, needsConsent },
    known: found?.ordinal,
    identified: () => writer.person(siteId, key, kind, userId, found),
  }
}

/** Returns whether an event only describes a visit: `engagement` and `vitals` do not open one. */
const isInternal = ({ name }: NewEvent): boolean => name === "engagement" || name === "vitals"

/** Ordinal of a user without any visit so far. */
const UNKNOWN_USER = -1

/** Returns the open visit that the event belongs to, by the current salt or else by the previous one. */
function findJoinableVisit(writer: Writer, { siteId, identity, event }: Candidate, person: Known | undefined): OpenVisit | undefined {
  // Two user ids are two visitors; one of them may be unknown.
  const user = person?.kind === "user" ? (person.known ?? UNKNOWN_USER) : undefined
  const { current, previous } = identity
  return findBy(writer, siteId, current, user, event.at) ?? (previous && findBy(writer, siteId, previous, user, event.at))
}

/** Returns the open visit of a rotating id that an event of a time fits. */
function findBy(writer: Writer, siteId: number, { period, id }: RotatingId, user: number | undefined, at: number): OpenVisit | undefined {
  const rotating = writer.findVisitor(siteId, period, id)
  return rotating === undefined ? undefined : writer.findOpenVisit(siteId, rotating, user, (visit) => fits(visit, at))
}

/** Returns whether an event fits a visit. Idle time and length are measured by the times of the events. */
function fits({ startedAt, activeAt, size }: OpenVisit, at: number): boolean {
  if (size >= VISIT_EVENTS || at < startedAt - VISIT_IDLE_MS || at > activeAt + VISIT_IDLE_MS) return false
  return Math.max(activeAt, at) - Math.min(startedAt, at) <= VISIT_LENGTH_MS
}

/** Joins a visit. A person who was not identified in the visit before becomes the visitor of all its events. */
function joinVisit(writer: Writer, siteId: number, visit: OpenVisit, person: Known | undefined): number {
  const isBetter = person && mayBeKnown(person, visit) && (person.kind === "user" || visit.visitorKind !== "user")
  if (!isBetter) return visit.id
  const visitor = person.identified()
  if (visit.visitor !== visitor) writer.identify(siteId, visit.id, visitor, person.kind)
  return visit.id
}

/** Returns whether a person may be identified. In mode `persistent` a user id requires consent in the visit. */
const mayBeKnown = (person: Known, visit: OpenVisit | undefined): boolean =>
  !person.needsConsent || (visit !== undefined && visit.visitorKind !== "rotating")

function openVisit(writer: Writer, { siteId, identity, traits, day }: Candidate, person: Known | undefined): number {
  const rotating = writer.visitor(siteId, identity.current.period, identity.current.id)
  const known = person && mayBeKnown(person, undefined) ? person : undefined
  const visitor = known?.identified() ?? rotating
  // The salt of a transient period is destroyed with its request, whose events are all in this group commit.
  const isComplete = isTransient(identity.current.period)
  return writer.openVisit(siteId, { rotating, visitor, visitorKind: known?.kind ?? "rotating", traits, isComplete }, day)
}

/** Returns whether a late event moves the start of the visit back, so that its acquisition replaces that of the visit. */
const movesStart = (open: OpenVisit | undefined, event: NewEvent): boolean =>
  open !== undefined && event.at < open.startedAt && !isInternal(event)

/**
 * Removes the revenue of an order that was already counted in the last 24 hours, as after a reload of the thank-you page. The sale
 * remains and is marked. A refund is no sale, so it is never repeated.
 */
function withoutRepeatedRevenue(writer: Writer, { siteId, event, day }: Candidate): NewEvent {
  const { sale } = event
  if (!sale || sale.orderId === "" || sale.amount < 0 || !writer.seen(siteId, `order:${sale.orderId}`)) return event
  writer.count(siteId, day, "revenue_duplicate")
  const { revenue: _, ...rest } = event
  return { ...rest, sale: { ...sale, isRepeated: true } }
}

function countPartialLosses(
  writer: Writer,
  { siteId, day, counters }: Candidate,
  person: Known | undefined,
  open: OpenVisit | undefined,
): void {
  for (const counter of counters) writer.count(siteId, day, counter)
  if (person && !mayBeKnown(person, open)) writer.count(siteId, day, "identify_ignored")
}
