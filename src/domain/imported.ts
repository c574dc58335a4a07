import type { DictionaryName } from "./dimension.ts"
import type { Range } from "./query.ts"

/**
 * Imported totals: daily or hourly counts per dimension, without visits. Each kind is a table of its own, stored in columnar segments
 * of that kind. `texts` are the dimension columns with their dictionaries, `counts` the sums; durations and times are in seconds.
 * The order of both is that of the columns on disk: append, never reorder.
 */
const FIVE = ["visitors", "pageviews", "visits", "bounces", "visit_duration"] as const

export const IMPORTED_TABLES = {
  imported_visitors: table({}, [...FIVE, "events"]),
  imported_sources: table(
    {
      source: "source",
      channel: "channel",
      referrer: "referrer",
      utm_source: "utm_source",
      utm_medium: "utm_medium",
      utm_campaign: "utm_campaign",
      utm_content: "utm_content",
      utm_term: "utm_term",
    },
    FIVE,
  ),
  imported_pages: table({ hostname: "hostname", page: "page" }, [
    "visitors",
    "visits",
    "pageviews",
    "exits",
    "scroll_depth_sum",
    "scroll_depth_visits",
    "time_on_page",
    "time_on_page_visits",
  ]),
  imported_entry_pages: table({ entry_page: "page" }, ["visitors", "entrances", "pageviews", "bounces", "visit_duration"]),
  imported_exit_pages: table({ exit_page: "page" }, ["visitors", "exits", "pageviews", "bounces", "visit_duration"]),
  imported_locations: table({ country: "country", region: "region", city: "city" }, FIVE),
  imported_devices: table({ device: "device" }, FIVE),
  imported_browsers: table({ browser: "browser", browser_version: "browser_version" }, FIVE),
  imported_operating_systems: table({ os: "os", os_version: "os_version" }, FIVE),
  imported_languages: table({ language: "language" }, FIVE),
  imported_sizes: table({ size: "size" }, FIVE),
  /** `link_url` and `path` are values of the properties `url` and `path` of the event. */
  imported_custom_events: table({ name: "name", link_url: "property", path: "property" }, ["visitors", "events"]),
  /** `value` is a value of the property named by `property`. */
  imported_custom_props: table({ property: "property", value: "property" }, ["visitors", "events"]),
} as const satisfies Record<string, ImportedTable>

interface ImportedTable {
  texts: Readonly<Record<string, DictionaryName>>
  counts: readonly string[]
}

function table<const Texts extends Readonly<Record<string, DictionaryName>>, const Counts extends readonly string[]>(
  texts: Texts,
  counts: Counts,
) {
  return { texts, counts }
}

export type ImportedKind = keyof typeof IMPORTED_TABLES
// The keys of the table.
export const IMPORTED_KINDS = Object.keys(IMPORTED_TABLES) as ImportedKind[]

/** Value of `hour` for the totals of a whole day. */
export const WHOLE_DAY = 255

/** A row of totals. Absent texts are "", absent counts 0. */
export interface ImportedRow {
  /** Local day in the zone of the import, such as `2026-11-21`. */
  day: string
  /** Local hour, 0 to 23. Absent: the totals of the whole day. */
  hour?: number
  texts: Readonly<Record<string, string>>
  counts: Readonly<Record<string, number>>
}

/** An import that answers include, and on which days. */
export interface VisibleImport {
  id: number
  /** Last completed run. Rows of later runs are not visible yet. */
  run: number
  /** IANA time zone in which its days are counted. */
  timezone: string
  /** Effective days as days since 1970, ascending, both ends inclusive. */
  days: readonly { first: number; last: number }[]
  /** The same days as instants, for visits by their start. */
  spans: readonly Range[]
}

/** Returns whether a visit that started at an instant is native (import 0) or visible with its import. */
export const isVisible = (imports: readonly VisibleImport[], importId: number, startedAt: number): boolean =>
  importId === 0 || imports.some(({ id, spans }) => id === importId && spans.some(({ from, to }) => startedAt >= from && startedAt < to))

/** Returns the number of days from 1970-01-01 to a day such as `2026-11-21`. */
export const dayNumber = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / 86_400_000)

/** Returns the day with a number, such as `2026-11-21`. */
export const dayText = (number: number): string => new Date(number * 86_400_000).toISOString().slice(0, 10)
