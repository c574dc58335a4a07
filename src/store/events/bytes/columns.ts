/**
 * Every column of a segment. The position is the column's number on disk: append, never reorder. A segment written
 * before a column existed reads it as 0.
 */
export const COLUMNS = [
  "starts",
  "sequences",
  "visitor",
  "visitor_kind",
  "duration",
  "pageviews",
  "events",
  "interactive_events",
  "engaged",
  "entry_page",
  "exit_page",
  "entry_page_hostname",
  "exit_page_hostname",
  "source",
  "referrer",
  "channel",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "click_id_type",
  "country",
  "region",
  "city",
  "device",
  "size",
  "browser",
  "browser_version",
  "os",
  "os_version",
  "language",
  "event.visit",
  "event.step",
  "event.name",
  "event.page",
  "event.hostname",
  "event.title",
  "event.interactive",
  "props.row",
  "props.key",
  "props.value",
  "revenue.row",
  "revenue.amount",
  "revenue.currency",
  "engagement.row",
  "engagement.engaged",
  "engagement.scroll",
  "vitals.row",
  "vitals.lcp",
  "vitals.inp",
  "vitals.fcp",
  "vitals.ttfb",
  "vitals.cls",
] as const
export type Column = (typeof COLUMNS)[number]

const NUMBERS = new Map(COLUMNS.map((name, number) => [name, number]))
export const columnNumber = (name: Column): number => NUMBERS.get(name)!

/** The row of `segment_columns` that holds a segment's column. */
export const columnRow = (segmentId: number, name: Column): number => segmentId * 128 + columnNumber(name)

/** Rows of the sparse columns of a segment. */
interface SparseCounts {
  props: number
  revenue: number
  engagement: number
  vitals: number
}

/** What a segment's header says: which columns have bytes, and the one value of those that have none. */
export interface SegmentHeader {
  stored: number[]
  constants: Record<string, number>
  sparse: SparseCounts
}
