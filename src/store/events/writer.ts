import type { DictionaryName } from "../../domain/dimension.ts"
import type { Counter, DropReason, NewEvent } from "../../domain/event.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { VisitorKind, VisitTraits } from "../../domain/visit.ts"
import type { StoredPerson } from "./dictionary/identities.ts"

/**
 * The first 64 bits of a keyed hash: a rotating id or a person key (metrics.md section 2). Two unsigned halves avoid bigints, which
 * are slow on this path.
 */
export interface Hash64 {
  high: number
  low: number
}

/** How a visitor with a person key is recognized. */
export type LongKind = Exclude<VisitorKind, "rotating">

/** A visitor with a person key. */
export type KnownPerson = StoredPerson

/** A visit that events may still join. Its properties are live: after `add` they have their new values. */
export interface OpenVisit {
  readonly id: number
  readonly startedAt: number
  /** Time of the last event of any name. */
  readonly activeAt: number
  /** Arrival of the last event, by the server's clock. */
  readonly arrivedAt: number
  /** Number of events of any name. */
  readonly size: number
  readonly visitor: number
  readonly visitorKind: VisitorKind
}

/** A visit to begin. */
export interface NewVisit {
  rotating: number
  visitor: number
  visitorKind: VisitorKind
  traits: VisitTraits
  /** Whether the visit closes with the group commit, because no later event can be recognized as one of its visitor. Default: false. */
  isComplete?: boolean
}

/**
 * The operations of one group commit. Everything done through a writer becomes durable together or not at all. Ingestion makes the
 * decisions, such as whether an event joins a visit or is dropped; the writer assigns numbers and stores.
 *
 * `day` is the site's local day of the event (`2026-11-21`), under which new values are counted. A value over the daily limit of its
 * dictionary is stored as `(other)` and counted as `cardinality`.
 */
export interface Writer {
  /** Returns whether the site received this event id within the last 24 hours, by arrival. Stores the id if it did not. */
  seen(siteId: number, eventId: string): boolean
  /** Returns the visitor with a rotating id of a salt period (named like `2026-11-21`), or undefined when it is unknown. */
  findVisitor(siteId: number, period: string, id: Hash64): number | undefined
  /** The same, but creates an unknown visitor. Periods whose names begin with `~` are only kept in memory, until `forgetVisitors`. */
  visitor(siteId: number, period: string, id: Hash64): number
  /** Returns the visitor with a person key, or undefined when it is unknown. Person keys are independent of salts. */
  findPerson(siteId: number, key: Hash64): KnownPerson | undefined
  /**
   * The same, but creates an unknown visitor, and stores how the visitor was identified. `known` is the result of `findPerson` for the
   * same key. `userId` is stored unless it is "".
   */
  person(siteId: number, key: Hash64, kind: LongKind, userId?: string, known?: KnownPerson): number
  /**
   * Returns the most recently active open visit that began under this rotating visitor and satisfies `fits`. A visit is open until it
   * is full or has had no arrival for 30 minutes. `user` excludes visits of other users. The visit passed to `fits` is only valid
   * during the call.
   */
  findOpenVisit(siteId: number, rotating: number, user: number | undefined, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined
  /** Begins a visit and returns its id. The caller adds the first event with `add`. */
  openVisit(siteId: number, visit: NewVisit, day: string): number
  /**
   * Adds an event to an open visit. `traits` replaces the traits of the visit; pass it when the event is earlier than the visit's start.
   * `eventId` is the id of which `seen` has returned false.
   */
  add(siteId: number, visitId: number, event: NewEvent, day: string, traits?: VisitTraits, eventId?: string): void
  /** Assigns the visit with all its events to another visitor. */
  identify(siteId: number, visitId: number, visitor: number, kind: VisitorKind): void
  /** Stores a record of an area, which never joins a visit. `visitor` is undefined for people who opted out: they share one visitor. */
  record(siteId: number, kind: RecordKind, record: { visitor: number | undefined; traits: VisitTraits; event: NewEvent }, day: string): void
  /** Counts dropped events by reason. `entry` is the host, page or rule that caused the drop. Site 0 is the instance. */
  drop(siteId: number, day: string, reason: DropReason, entry?: string, count?: number): void
  /** Stores a dropped event for display. The last 100 of each site are kept. */
  sample(siteId: number, sample: DropSample): void
  count(siteId: number, day: string, counter: Counter): void
}

/** A dropped event for display, without address, visitor and full user agent. */
export interface DropSample {
  at: number
  reason: DropReason
  hostname: string
  page: string
  browser: string
  country: string
}

/**
 * Returns whether a value is exempt from the daily limits, because a goal, funnel step or shield names it exactly. `property` is the
 * key when the dictionary is that of a property's values.
 */
export type ExemptValues = (siteId: number, dictionary: DictionaryName, text: string, property?: string) => boolean
