import type { DictionaryName } from "../../domain/dimension.ts"
import type { ImportedKind, VisibleImport } from "../../domain/imported.ts"
import { TRAITS } from "../../domain/visit.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import type { SentStatement } from "./tables/row-tables.ts"
import type { TotalsPart } from "./totals.ts"

/**
 * How the kernels see stored rows. A part is one columnar segment or the tail of a site; it holds whole visits with all
 * of their events, so a report reads parts one by one, in any order, and merges small partial results.
 *
 * Every column but the 64-bit ones is a Uint32Array, whatever its width on disk: a kernel then always meets one shape of
 * array, which the engine compiles to one fast loop. Columns are shared: never write into one, never keep one longer than
 * the report. A dictionary number of 0 is the missing value.
 */
export interface Part {
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

  /** Start of each visit, epoch ms. */
  starts(): Float64Array
  /** Sequence of each visit's first event: orders visits with equal times. */
  sequences(): Float64Array
  visit(column: VisitColumn): Uint32Array
  event(column: EventColumn): Uint32Array
  /**
   * Event rows in the order visit, time, sequence; null when they lie in that order already (segments). Rows of the tail
   * lie in order of arrival.
   */
  order(): Uint32Array | null
  /** The four below are sparse: `row` is an event row, ascending. */
  props(): PropColumns
  revenue(): RevenueColumns
  engagement(): EngagementColumns
  vitals(): VitalColumns
}

/** Numbers of a visit that are no dictionary values. Times in ms; `duration` is last counted event minus start. */
const VISIT_NUMBERS = ["visitor", "visitor_kind", "duration", "pageviews", "events", "interactive", "engaged"] as const
const VISIT_PAGES = ["entry_page", "exit_page", "entry_page_hostname", "exit_page_hostname"] as const

export const VISIT_COLUMNS = [...VISIT_NUMBERS, ...VISIT_PAGES, ...TRAITS] as const
export type VisitColumn = (typeof VISIT_COLUMNS)[number]

/**
 * `visit` is the row of the event's visit in the same part, `offset` milliseconds since that visit's start,
 * `interactive` 0 or 1, the others dictionary numbers. `engagement` and `vitals` events are rows too.
 */
export const EVENT_COLUMNS = ["visit", "offset", "name", "page", "hostname", "title", "interactive"] as const
export type EventColumn = (typeof EVENT_COLUMNS)[number]

/** One row per property of an event. `key` is a number of dictionary `property`, `value` of dictionary `property:<key>`. */
export interface PropColumns {
  row: Uint32Array
  key: Uint32Array
  value: Uint32Array
}
/** Signed minor units of the currency (a number of dictionary `currency`). */
export interface RevenueColumns {
  row: Uint32Array
  amount: Float64Array
  currency: Uint32Array
}
/** `scroll` is 0..100, or NO_SCROLL where the report carried none. */
export interface EngagementColumns {
  row: Uint32Array
  engaged: Uint32Array
  scroll: Uint32Array
}
export const NO_SCROLL = 255
/** Milliseconds, `cls` in thousandths; NO_VITAL where not measured. */
export interface VitalColumns {
  row: Uint32Array
  lcp: Uint32Array
  inp: Uint32Array
  fcp: Uint32Array
  ttfb: Uint32Array
  cls: Uint32Array
}
export const NO_VITAL = 0xffff_ffff

/** Texts of one dictionary of a site, by number. Number 0 and blanked values are "". */
export interface Dictionary {
  /** Numbers run from 0 to `size` − 1. */
  readonly size: number
  text(id: number): string
  /** The number of a text, or undefined when the site never had it. */
  find(text: string): number | undefined
}

/** A site's data as it was at one moment; stays readable and unchanged while a report runs. */
export interface Snapshot {
  readonly siteId: number
  /** Above every visitor ordinal in the parts: the size of a bitset. */
  readonly visitorLimit: number
  /** Segments first, oldest first, the tail last. Of imports only the visible days. Columns are decoded when asked for. */
  readonly parts: readonly Part[]
  dictionary(name: DictionaryName): Dictionary
  /** Imports that the snapshot includes. */
  readonly imports: readonly VisibleImport[]
  /** Returns the totals of visible imports, with days that are not effective among them. */
  totals(kind: ImportedKind): readonly TotalsPart[]
}

/** Imports to include: those that are visible, or the visits of every import, hidden and masked ones too. */
export type Imports = readonly VisibleImport[] | "all"

/** Reads the event store beside the writer, in a worker or a test. Not for two threads at once. */
export interface EventReader {
  /** Follows the log to its end first: what was committed before this call is in the snapshot. */
  snapshot(siteId: number, kind?: SegmentKind, imports?: Imports): Snapshot
  /** Rows of row tables: at most so many, one more when there are more. `check` throws when nobody waits any more. */
  rows(statement: SentStatement, most: number, check: () => void): object[]
  /** The site with the most events in the latest segments; undefined while there are none. */
  fullestSite(): number | undefined
  close(): void
}
