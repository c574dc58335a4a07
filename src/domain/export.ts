import { FLAT_DIMENSIONS } from "./dimension.ts"

/** What a site's data can be taken away as (api.md section 10). */
export const EXPORT_FORMATS = ["csv", "json", "ndjson"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv",
  json: "application/json",
  ndjson: "application/x-ndjson",
}

/** Raw rows, two reports, or a breakdown by one of the dimensions. */
export const EXPORT_TYPES = ["events", "visits", "timeseries", "goals", ...FLAT_DIMENSIONS] as const
export type ExportType = (typeof EXPORT_TYPES)[number]

/** Raw rows, which are limited by the hour. */
const ROW_TYPES = ["events", "visits"] as const
export type RowType = (typeof ROW_TYPES)[number]
export const isRowType = (type: ExportType): type is RowType => ROW_TYPES.some((known) => known === type)

const ACQUISITION = ["referrer", "source", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"] as const
const PLACE = ["country", "region", "city"] as const
const DEVICE = ["device", "size", "browser", "browser_version", "os", "os_version", "language"] as const
/** What an exported event and an exported visit have of the visit's first event. */
export const EXPORTED_TRAITS = [...ACQUISITION, ...PLACE, ...DEVICE] as const

/** Columns of raw rows, in their order. */
export const ROW_COLUMNS: Readonly<Record<RowType, readonly string[]>> = {
  events: [
    ...["at", "name", "page", "hostname", "title", "visitor", "visit"],
    ...EXPORTED_TRAITS,
    ...["interactive", "revenue_amount", "revenue_currency", "props", "import_id", "scroll_depth", "engaged_ms"],
  ],
  visits: [
    ...["visit", "visitor", "started_at", "last_at", "duration", "pageviews", "events", "bounce", "engaged_seconds"],
    ...["entry_page", "entry_page_hostname", "exit_page", "exit_page_hostname"],
    ...EXPORTED_TRAITS,
    "import_id",
  ],
}
