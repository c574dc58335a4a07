import { FLAT_DIMENSIONS } from "./dimension.ts"

/** The file formats of an export (api.md section 10). */
export const EXPORT_FORMATS = ["csv", "json", "ndjson", "parquet"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv",
  json: "application/json",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
}

/** The exportable data: raw rows, two reports, and a breakdown by each dimension. */
export const EXPORT_TYPES = ["events", "visits", "timeseries", "goals", ...FLAT_DIMENSIONS] as const
export type ExportType = (typeof EXPORT_TYPES)[number]

/** The export types that consist of raw rows. Their number is limited per hour. */
const ROW_TYPES = ["events", "visits"] as const
export type RowType = (typeof ROW_TYPES)[number]
export const isRowType = (type: ExportType): type is RowType => ROW_TYPES.some((known) => known === type)

const ACQUISITION = ["referrer", "source", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"] as const
const PLACE = ["country", "region", "city"] as const
const DEVICE = ["device", "size", "browser", "browser_version", "os", "os_version", "language"] as const
/** The columns that exported events and visits take from the visit's first event. */
export const EXPORTED_TRAITS = [...ACQUISITION, ...PLACE, ...DEVICE] as const

const REVENUE_COLUMNS: readonly string[] = ["revenue_amount", "revenue_currency"]

/** Returns the columns of raw rows, in order. `hidesRevenue` leaves out those of revenue. */
export const rowColumns = (of: RowType, hidesRevenue = false): readonly string[] =>
  hidesRevenue ? ROW_COLUMNS[of].filter((column) => !REVENUE_COLUMNS.includes(column)) : ROW_COLUMNS[of]

const ROW_COLUMNS: Readonly<Record<RowType, readonly string[]>> = {
  events: [
    ...["at", "name", "page", "hostname", "title", "visitor", "visit"],
    ...EXPORTED_TRAITS,
    ...["interactive", "revenue_amount", "revenue_currency", "props", "import_id", "scroll_depth", "engaged_ms", "position"],
  ],
  visits: [
    ...["visit", "visitor", "started_at", "last_at", "duration", "pageviews", "events", "bounce", "engaged_seconds"],
    ...["entry_page", "entry_page_hostname", "exit_page", "exit_page_hostname"],
    ...EXPORTED_TRAITS,
    "import_id",
  ],
}
