import type { DictionaryName } from "../../domain/dimension.ts"
import type { ImportedKind, VisibleImport } from "../../domain/imported.ts"
import type { PeopleSet } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import { TRAITS } from "../../domain/visit.ts"
import type { Items } from "./bytes/items.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import type { NewSums, SumsKey } from "./tables/month-sums.ts"
import type { SentStatement } from "./tables/row-tables.ts"
import type { TotalsPart } from "./totals.ts"

/**
 * A part of a site's stored rows: one columnar segment or the tail. It contains whole visits with all of their events, so a report
 * reads the parts one by one, in any order, and merges their small partial results.
 *
 * Every column except the 64-bit ones is a Uint32Array, whatever its width on disk: with a single array type, the JavaScript engine
 * compiles each kernel to one fast loop. Columns are shared: do not write to a column or keep it longer than the report. The
 * dictionary number 0 is the missing value.
 */
export interface Part {
  /** Identifies a whole segment, and is never used again. Other parts have none. */
  readonly id?: number
  readonly siteId: number
  /** 0 = native. */
  readonly importId: number
  readonly visits: number
  readonly events: number
  /** Earliest and latest start of a visit, epoch ms. */
  readonly minStart: number
  readonly maxStart: number
  /** Earliest and latest event of any name, epoch ms. */
  readonly minAt: number
  readonly maxAt: number

  /** Upper bound of `lastArrivals`, epoch ms. */
  readonly lastArrival: number

  /** Start of each visit, epoch ms. */
  starts(): Float64Array
  /** Sequence number of each visit's first event, which orders visits with equal starts. */
  sequences(): Float64Array
  visit(column: VisitColumn): Uint32Array
  event(column: EventColumn): Uint32Array
  /**
   * Event rows sorted by visit, time and sequence, or null when the rows are stored in that order, as in segments. The tail stores
   * them in order of arrival.
   */
  order(): Uint32Array | null
  /** Returns whether events can still join a visit, given by row. In a segment, it can be up to a second too long. */
  isOpen(row: number, now: number): boolean
  /** The events by name and page. Only segments have them. */
  items?(): Items | undefined
  /**
   * Returns whether a column surely has none of some dictionary numbers, which are marked with 1. Segments know that without reading the
   * column; others do not say.
   */
  lacks?(column: VisitColumn | EventColumn, values: Uint8Array): boolean
  /**
   * Returns the times of single visits. Read in this way, the column `offset` need not be decoded. Only some segments can do that.
   */
  steps?(): Steps | undefined
  /**
   * Returns parts of adjacent visits that together have all visits which a range touches. Those that start before the range, and those that
   * can last beyond it, are apart from the others. Only segments have them.
   */
  within?(range: Range): Part[]
  /** Reads from disk what most reports need, and keeps it in its packed form. */
  readAhead?(): void
  /** The four below are sparse: `row` is an event row, ascending. */
  props(): PropColumns
  revenue(): RevenueColumns
  engagement(): EngagementColumns
  vitals(): VitalColumns
}

/** The milliseconds of each event since the one before it in its visit, or since the visit's start, modulo 2^32. */
export interface Steps {
  at(row: number): number
  /** Returns the same for rows that are counted from one of them. */
  from(row: number): Steps
}

/**
 * Columns of a visit that are not dictionary numbers. Times are in milliseconds; `duration` is from the start to the last counted event.
 * `arrival` is in seconds, see `lastArrivals`.
 */
const VISIT_NUMBERS = ["visitor", "visitor_kind", "duration", "pageviews", "events", "interactive", "engaged", "arrival"] as const
export const VISIT_PAGES = ["entry_page", "exit_page", "entry_page_hostname", "exit_page_hostname"] as const

export const VISIT_COLUMNS = [...VISIT_NUMBERS, ...VISIT_PAGES, ...TRAITS] as const
export type VisitColumn = (typeof VISIT_COLUMNS)[number]

export const ARRIVAL_UNIT_MS = 1_000

/** Returns the value of the column `arrival`: whole seconds from the start of a visit to the arrival of its last event. */
export const arrivalSince = (start: number, arrivedAt: number): number => Math.max(0, Math.floor((arrivedAt - start) / ARRIVAL_UNIT_MS))

/**
 * Returns when the last event of each visit arrived by the server's clock, in epoch ms and less than a second too early. An event that
 * was sent late has an early time and a late arrival. For imported visits, and those of segments without arrivals, it is the start.
 */
export const lastArrivals = (starts: Float64Array, arrival: Uint32Array): Float64Array =>
  starts.map((start, visit) => start + arrival[visit]! * ARRIVAL_UNIT_MS)

/**
 * Columns of an event. `visit` is the row of its visit in the same part, `offset` the milliseconds since the visit's start,
 * `interactive` 0 or 1; the others are dictionary numbers. `engagement` and `vitals` events are rows too.
 */
export const EVENT_COLUMNS = ["visit", "offset", "name", "page", "hostname", "title", "interactive"] as const
export type EventColumn = (typeof EVENT_COLUMNS)[number]

/** One row per property of an event. `key` is a number of the dictionary `property`, `value` one of the dictionary `property:<key>`. */
export interface PropColumns {
  row: Uint32Array
  key: Uint32Array
  value: Uint32Array
}
/** `amount` is in signed minor units; `currency` is a number of the dictionary `currency`. */
export interface RevenueColumns {
  row: Uint32Array
  amount: Float64Array
  currency: Uint32Array
}
/** `scroll` is 0 to 100, or NO_SCROLL when the tracker sent none. */
export interface EngagementColumns {
  row: Uint32Array
  engaged: Uint32Array
  scroll: Uint32Array
}
export const NO_SCROLL = 255
/** In milliseconds, `cls` in thousandths. NO_VITAL when not measured. */
export interface VitalColumns {
  row: Uint32Array
  lcp: Uint32Array
  inp: Uint32Array
  fcp: Uint32Array
  ttfb: Uint32Array
  cls: Uint32Array
}
export const NO_VITAL = 0xffff_ffff

/** The texts of one dictionary of a site, by number. The text of number 0 and of blanked values is empty. */
export interface Dictionary {
  /** Numbers run from 0 to `size` − 1. */
  readonly size: number
  text(id: number): string
  /** Returns the number of a text, or undefined when the site does not have it. */
  find(text: string): number | undefined
}

/** A site's data at one moment. It stays readable and unchanged while a report runs. */
export interface Snapshot {
  readonly siteId: number
  /** Exclusive upper bound of the visitor ordinals in the parts, such as the size of a bitset. */
  readonly visitorLimit: number
  readonly visitors: VisitorNumbers
  /** The segments, oldest first, then the tail. Hidden imports are left out. Columns are decoded when they are first requested. */
  readonly parts: readonly Part[]
  /** Parts of another kind, of the same moment, if they were requested. */
  readonly alongside?: readonly Part[]
  dictionary(name: DictionaryName): Dictionary
  /** Imports that the snapshot includes. */
  readonly imports: readonly VisibleImport[]
  /** Returns the totals of visible imports. Some of their days may not be effective. */
  totals(kind: ImportedKind): readonly TotalsPart[]
  readonly version: SnapshotVersion
  /** What earlier reports computed, for reports over the same data. */
  readonly results: ResultCache
  /** The same for months of segments, beyond the end of the process. Only a store of segments has it. */
  readonly sums?: StoredSums
  /** Reads row tables of areas as of now. `take` receives one row after another. */
  eachRow(statement: SentStatement, take: (row: object) => void): void
  /** Returns the visits of sale events by the event's sequence, as of now. Events that were removed are left out. */
  saleVisits(sequences: readonly number[]): VisitOfSale[]
  /** Evaluates a set of people that a filter names. Present while a query is computed. */
  readonly people?: (set: PeopleSet) => PeopleStates
}

/**
 * The numbers by which visitors are known outside a snapshot, and of which pseudonyms are made. They are below 2^53 and never change. Every
 * reader of the same store has the same ones, unlike ordinals.
 */
export interface VisitorNumbers {
  /** Returns the number of a visitor, given by ordinal. */
  number(ordinal: number): number
  /** Returns the ordinal of a visitor, or undefined if the snapshot has no visitor of that number. */
  ordinal(number: number): number | undefined
}

/** The visit of a sale event, by the sequence of the visit's first event. */
export interface VisitOfSale {
  sequence: number
  visit: number
  /** Time of the sale in epoch ms. */
  at: number
}

/** Snapshots of one site and kind have the same data when both are equal, and the same segments when `sealed` is. */
export interface SnapshotVersion {
  sealed: string
  tail: string
}

/** Results by key, bounded by their bytes. A result is dropped when its version differs from the requested one, or when space is needed. */
export interface ResultCache {
  get(key: string, version: string): unknown
  set(key: string, version: string, result: unknown, bytes: number): void
}

/** Sums of months that are stored with the segments. What is set can be found a moment later, if at all. */
export interface StoredSums {
  find(key: SumsKey): Uint8Array | undefined
  /** Returns the names of the stored sums of a month, the latest first. */
  names(month: string): string[]
  set(sums: NewSums): void
}

/** The state of each visitor in a set of people, by ordinal, for all ordinals of the site: 0 outside, 1 undecided, 2 in the set. */
export type PeopleStates = Uint8Array

/** Imports of a snapshot: those that are visible, or the visits of every import, hidden and masked ones too. */
export type Imports = readonly VisibleImport[] | "all"

/** A reader of the event store, in a worker or a test. Each thread needs its own. */
export interface SnapshotOptions {
  /** Another kind whose parts are included. */
  alongside?: SegmentKind | undefined
  /** Whether the columns are read in passing, so that they do not displace those that reports use. */
  isPassing?: boolean
}

export interface EventReader {
  /** Returns a snapshot that contains everything committed before the call. */
  snapshot(siteId: number, kind?: SegmentKind, imports?: Imports, options?: SnapshotOptions): Snapshot
  /**
   * Reads row tables. Returns at most `limit` rows, or `limit` + 1 to indicate that there are more. `check` is called at intervals and
   * throws when the query was cancelled.
   */
  rows(statement: SentStatement, limit: number, check: () => void): object[]
  /** Returns the reader of what this node has recorded, which is this one unless the events are on a server. */
  own(): EventReader
  /** Returns the site with the most events in the latest segments, or undefined when there are none. */
  fullestSite(): number | undefined
  close(): void
}
