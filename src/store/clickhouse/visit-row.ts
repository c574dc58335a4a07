import type { VISITOR_KINDS } from "../../domain/visit.ts"
import type { SegmentKind } from "../events/bytes/lanes.ts"

/**
 * The key of a row. A visit, or a record of an area, is one row with all of its events, and has the same key in all its versions. Of the
 * versions of a row the one with the highest number counts, so a row that is written again, late or out of order changes nothing.
 */
export interface VisitKey {
  siteId: number
  kind: SegmentKind
  /** Start of the visit when it was opened, epoch ms. An earlier event that arrives late does not change it. */
  openedAt: number
  /** Sequence of the event that opened the visit. */
  visit: number
  /** Value of the rotating visitor at the visit's opening, which determines the shard of all versions. */
  opener: bigint
  /** Grows with each change of the visit. */
  version: number
}

/** A visit in absolute values, independent of the numbers of a store: texts instead of dictionary numbers, "" for a missing value. */
export interface VisitRow extends VisitKey {
  /** 0 = native. */
  importId: number
  /** Run of the import; 0 for a native visit. */
  run: number
  /** Value of the visitor. */
  visitor: bigint
  visitorKind: (typeof VISITOR_KINDS)[number]
  /** Start of the visit now, epoch ms. */
  startedAt: number
  /** Sequence of the first event now. */
  sequence: number
  /** The columns of `part.ts` with the same names. */
  duration: number
  pageviews: number
  events: number
  interactive: number
  engaged: number
  arrival: number
  /** Whether no event can join the visit, however recently its last one arrived. */
  closed: boolean
  /** In the order of `VISIT_PAGES`: entry page, exit page, host name of each. */
  pages: readonly string[]
  /** In the order of `TRAITS`. */
  traits: readonly string[]
  /** In the order of time and sequence. */
  steps: readonly EventRow[]
}

/** An event of a visit. */
export interface EventRow {
  /** Milliseconds since the start of the visit. */
  offset: number
  name: string
  page: string
  hostname: string
  title: string
  interactive: boolean
  props: readonly (readonly [key: string, value: string])[]
  /** In minor units. */
  revenue?: { amount: number; currency: string }
  /** `scroll` is NO_SCROLL when unknown. */
  engagement?: { engaged: number; scroll: number }
  /** In the order of `VITAL_NAMES`; NO_VITAL when not measured. */
  vitals?: readonly number[]
}
