/**
 * The columns of a segment. A column's position is its number on disk, so columns may only be appended. In segments written before a
 * column existed, its values read as 0.
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
  "arrival",
] as const
export type Column = (typeof COLUMNS)[number]

const NUMBERS = new Map(COLUMNS.map((name, number) => [name, number]))
export const columnNumber = (name: Column): number => NUMBERS.get(name)!

/** Returns the id of the row of `segment_columns` that contains a segment's column. */
export const columnRow = (segmentId: number, name: Column): number => segmentId * 128 + columnNumber(name)

/** Number of rows in the sparse columns of a segment. */
interface SparseCounts {
  props: number
  revenue: number
  engagement: number
  vitals: number
}

/** The header of a segment: the numbers of the stored columns, and the values of columns whose rows are all equal. */
export interface SegmentHeader {
  stored: number[]
  constants: Record<string, number>
  sparse: SparseCounts
  /** Latest `lastArrivals` of the visits. Absent in segments written before arrivals were stored. */
  last_arrival?: number
}
