import type { DictionaryName } from "../../domain/dimension.ts"
import type { Counter, DropReason, NewEvent } from "../../domain/event.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { VisitorKind, VisitTraits } from "../../domain/visit.ts"

/** First 64 bits of a keyed hash: a rotating id or a person key (metrics.md section 2). As two unsigned halves: no bigint on the hot path. */
export interface Hash64 {
  high: number
  low: number
}

/** A visit that events may still join. Live: reading it again after `add` shows the change. */
export interface OpenVisit {
  readonly id: number
  readonly startedAt: number
  /** Time of its last event of any name. */
  readonly activeAt: number
  /** When its last event arrived, by the server's clock. */
  readonly arrivedAt: number
  /** Events of any name. */
  readonly size: number
  readonly visitor: number
  readonly visitorKind: VisitorKind
}

/**
 * What one group commit may do. Everything done through a writer becomes durable together, or not at all. Decisions (does
 * an event join a visit, is it dropped) are ingestion's; the writer numbers, remembers and stores.
 *
 * `day` is the site's local day of the event (`2026-11-21`), by which new values are counted; a value over the limit of
 * its dictionary is stored as `(other)` and counted as `cardinality`.
 */
export interface Writer {
  /** True when the site has seen this event id within 24 hours by arrival; remembers it otherwise. */
  seen(siteId: number, eventId: string): boolean
  /** The visitor with this rotating id, if the salt period (its name, such as `2026-11-21`) knows it. */
  findVisitor(siteId: number, period: string, id: Hash64): number | undefined
  /** The same, made when unknown. A period that begins with `~` is remembered in memory alone, until `forgetVisitors`. */
  visitor(siteId: number, period: string, id: Hash64): number
  /** The visitor with this person key, made when unknown. Outlives salts. */
  person(siteId: number, key: Hash64): number
  /** The visitor with this person key, if there is one. */
  findPerson(siteId: number, key: Hash64): number | undefined
  /**
   * Of the open visits begun under this rotating visitor for which `fits` holds, the most recently active (closed: full, or
   * 30 minutes without an arrival). `user` leaves out the visits of other users. The visit that `fits` is given is only
   * valid during the call.
   */
  findOpenVisit(siteId: number, rotating: number, user: number | undefined, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined
  /** Begins a visit; its first event follows with `add`. Returns the visit's id. */
  openVisit(
    siteId: number,
    visit: { rotating: number; visitor: number; visitorKind: VisitorKind; traits: VisitTraits },
    day: string,
  ): number
  /** Appends an event to an open visit. `traits` replaces those of the visit: given when the event is earlier than its start. */
  add(siteId: number, visitId: number, event: NewEvent, day: string, traits?: VisitTraits): void
  /** From now on the visit, with all its events, belongs to this visitor. */
  identify(siteId: number, visitId: number, visitor: number, kind: VisitorKind): void
  /** Stores a record, which joins nothing. `visitor` is undefined for whoever is not to be told from others. */
  record(siteId: number, kind: RecordKind, record: { visitor: number | undefined; traits: VisitTraits; event: NewEvent }, day: string): void
  /** Counts dropped events under their reason; `entry` tells which host, page, rule … it was. Site 0 is the instance. */
  drop(siteId: number, day: string, reason: DropReason, entry?: string, count?: number): void
  /** Keeps the last 100 dropped events of a site to show to its owner. */
  sample(siteId: number, sample: DropSample): void
  count(siteId: number, day: string, counter: Counter): void
}

/** A dropped event as its site's owner sees it: no address, no visitor, no full user agent. */
export interface DropSample {
  at: number
  reason: DropReason
  hostname: string
  page: string
  browser: string
  country: string
}

/**
 * Values that the limits per day do not hold back: those a goal, funnel step or shield names exactly. `property` is the
 * key when the dictionary is that of a property's values.
 */
export type KeptValues = (siteId: number, dictionary: DictionaryName, text: string, property?: string) => boolean
