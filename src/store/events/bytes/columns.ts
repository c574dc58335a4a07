import type { VisitTraits } from "../../../domain/visit.ts"
import type { EventColumn, VisitColumn } from "../part.ts"
import type { PackedColumn, PackedColumns } from "./codec.ts"
import type { ItemRows } from "./items.ts"

/**
 * The columns of a segment. In segments of format 1, each is stored by itself, and its position is its number on disk. In those written
 * before a column existed, its values read as 0.
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

/** Columns of 64-bit numbers. */
export type WideColumn = "starts" | "sequences" | "revenue.amount"

/**
 * The groups of columns of a segment of format 2, whose columns are read together. A group's position is part of its number on disk, so
 * groups may only be appended, and columns only to the end of a group. `grouped-columns.ts` describes what they contain.
 */
export const GROUPS = [
  "core",
  "starts",
  "records",
  "origins",
  "places",
  "clients",
  "entries",
  "items",
  "steps",
  "props",
  "revenue",
  "engagement",
  "vitals",
] as const
export type Group = (typeof GROUPS)[number]

type TraitColumn = keyof VisitTraits

/** The groups whose columns depend on each other, and are therefore stored as combinations. Each trait of a visit is in one of them. */
export const COMBINED = {
  origins: ["source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "click_id_type"],
  places: ["country", "region", "city", "language"],
  clients: ["device", "size", "browser", "browser_version", "os", "os_version"],
} as const satisfies Partial<Record<Group, readonly TraitColumn[]>>

/** The columns of the events of an item. They are stored as combinations, too. */
export const ITEM_COLUMNS = ["name", "page", "hostname", "title", "interactive"] as const

/** The columns of each sparse group. */
export const SPARSE_COLUMNS = {
  props: ["row", "key", "value"],
  revenue: ["row", "amount", "currency"],
  engagement: ["row", "engaged", "scroll"],
  vitals: ["row", "lcp", "inp", "fcp", "ttfb", "cls"],
} as const satisfies Partial<Record<Group, readonly string[]>>
export type SparseGroup = keyof typeof SPARSE_COLUMNS

const NUMBERS = new Map(COLUMNS.map((name, number) => [name, number]))
export const columnNumber = (name: Column): number => NUMBERS.get(name)!

/** Number of rows of `segment_columns` that belong to a segment at most, and the first of them that contains a group. */
const ROWS = 128
const FIRST_GROUP = 64

/** Returns the id of the row of `segment_columns` that contains a segment's column. */
export const columnRow = (segmentId: number, name: Column): number => segmentId * ROWS + columnNumber(name)

/** Returns the id of the row of `segment_columns` that contains a segment's group of columns. */
export const groupRow = (segmentId: number, group: Group): number => segmentId * ROWS + FIRST_GROUP + GROUPS.indexOf(group)

/** Number of rows in the sparse columns of a segment. */
export type SparseCounts = Record<SparseGroup, number>

/** The header of a segment. */
export interface SegmentHeader {
  /** The stored groups. Absent in segments of format 1. */
  groups?: Group[]
  /** In segments of format 1: the numbers of the stored columns, and the values of columns whose rows are all equal. */
  stored?: number[]
  constants?: Record<string, number>
  sparse: SparseCounts
  /** Latest `lastArrivals` of the visits. Absent in segments written before arrivals were stored. */
  last_arrival?: number
}

/** Returns the number of rows of a column. */
export function rowsOf(
  name: Column | "event.offset",
  { visits, events }: { visits: number; events: number },
  { sparse }: SegmentHeader,
): number {
  const [kind] = name.split(".")
  if (kind === name) return visits
  // The other names with a dot are those of sparse columns.
  return kind === "event" ? events : sparse[kind as SparseGroup]
}

/** The columns of a segment as they are read from disk. The arrays are new, and belong to the caller. */
export interface StoredColumns {
  /** Returns a column, or undefined when all of its values are 0. */
  uint32(name: Column | "event.offset"): Uint32Array | undefined
  float64(name: WideColumn): Float64Array
  itemRows(): ItemRows
  /** Returns the names and pages of the items, if no other column is needed for that. */
  itemTable?(): Pick<ItemRows, "names" | "pages">
  /** Returns whether a column surely has none of the values, which are marked with 1. Says no if that would take reading the column. */
  lacks(name: VisitColumn | EventColumn, values: Uint8Array): boolean
  /** The times between events, if they can be read without decoding all of them. */
  steps?(): PackedColumn | undefined
  /** Opens the groups that most reports need. */
  readAhead?(): void
}

/** What columns are read from: a segment, with the columns that are known already. */
export interface ColumnSource {
  readonly visits: number
  readonly events: number
  readonly header: SegmentHeader
  /** Reads a row of `segment_columns`. Throws `damaged` if it is missing. */
  bytes(row: number, name: string): Uint8Array
  readonly id: number
  uint32(name: Column | "event.offset"): Uint32Array
  /** Returns what is known under a name, or undefined. */
  known(name: string): Uint32Array | undefined
  itemRows(): ItemRows
  /** Opens a group of columns unless it is known already. */
  packed(group: Group, open: () => PackedColumns): PackedColumns
}
