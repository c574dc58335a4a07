import { type Static, Type as t } from "@sinclair/typebox"
import type { ImportedKind } from "#plugin"
import { IMPORTED_TABLES } from "#plugin/worker"
import { ImportFault, type ReadOptions } from "../../source.ts"
import { TIME_FORMATS, type TimeFormat } from "./times.ts"

/** Which column of a delimited file holds what. */

export const CSV_KINDS = ["events", "daily_totals", "daily_dimension"] as const
export type CsvKind = (typeof CSV_KINDS)[number]

/** Fields of events that are texts. */
export const EVENT_FIELDS = ["url", "path", "hostname", "referrer", "user_agent", "ip", "country", "region", "city", "event_name"].concat([
  "visitor_id",
  "visit_id",
  "user_id",
  "title",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_content",
  "utm_term",
  "browser",
  "os",
  "device",
  "language",
  "revenue",
  "currency",
])
export const METRICS = ["visitors", "visits", "pageviews", "bounces", "visit_duration", "events"] as const
export type Metric = (typeof METRICS)[number]

/** The counts of most kinds are the metrics themselves. */
const FIVE: Counts = {
  visitors: "visitors",
  pageviews: "pageviews",
  visits: "visits",
  bounces: "bounces",
  visit_duration: "visit_duration",
}
/** Metric of each count. */
type Counts = Readonly<Record<string, Metric>>

const dimensionsOf = (kind: ImportedKind, counts = FIVE) =>
  Object.fromEntries(Object.keys(IMPORTED_TABLES[kind].texts).map((column) => [column, { kind, column, counts }]))

/** Dimensions of totals: the kind of totals, its column, and which metric each of its counts is. */
export const DIMENSIONS: Readonly<Record<string, { kind: ImportedKind; column: string; counts: Counts }>> = {
  ...dimensionsOf("imported_sources"),
  ...dimensionsOf("imported_pages", { visitors: "visitors", visits: "visits", pageviews: "pageviews" }),
  ...dimensionsOf("imported_entry_pages", {
    visitors: "visitors",
    entrances: "visits",
    pageviews: "pageviews",
    bounces: "bounces",
    visit_duration: "visit_duration",
  }),
  ...dimensionsOf("imported_exit_pages", {
    visitors: "visitors",
    exits: "visits",
    pageviews: "pageviews",
    bounces: "bounces",
    visit_duration: "visit_duration",
  }),
  ...dimensionsOf("imported_locations"),
  ...dimensionsOf("imported_devices"),
  ...dimensionsOf("imported_browsers"),
  ...dimensionsOf("imported_operating_systems"),
  ...dimensionsOf("imported_languages"),
  ...dimensionsOf("imported_sizes"),
  event: { kind: "imported_custom_events", column: "name", counts: { visitors: "visitors", events: "events" } },
}

const Confidence = t.Optional(t.Number({ minimum: 0, maximum: 1, description: "Confidence of a proposal. Ignored." }))
const ColumnName = t.String({ minLength: 1, maxLength: 500 })
const Column = t.Union([ColumnName, t.Object({ column: ColumnName, confidence: Confidence }, { additionalProperties: false })])
const TimeColumn = t.Union([
  ColumnName,
  t.Object(
    {
      column: ColumnName,
      format: t.Optional(t.Union(TIME_FORMATS.map((format) => t.Literal(format)))),
      timezone: t.Optional(t.String({ minLength: 1, maxLength: 64, description: "IANA time zone of times without a zone." })),
      confidence: Confidence,
    },
    { additionalProperties: false },
  ),
])

export const CsvOptions = t.Object({
  kind: t.Optional(
    t.Union(
      CSV_KINDS.map((kind) => t.Literal(kind)),
      { description: "What a row is: an event, the totals of a day, or the totals of a day and a value. Default: events." },
    ),
  ),
  dimension: t.Optional(
    t.Union(
      Object.keys(DIMENSIONS).map((dimension) => t.Literal(dimension)),
      { description: "Dimension of `mapping.value`. Required with `daily_dimension`." },
    ),
  ),
  mapping: t.Optional(
    t.Object(
      {
        timestamp: t.Optional(TimeColumn),
        date: t.Optional(TimeColumn),
        value: t.Optional(Column),
        ...Object.fromEntries([...EVENT_FIELDS, ...METRICS].map((field) => [field, t.Optional(Column)])),
        props: t.Optional(t.Record(t.String({ minLength: 1, maxLength: 300 }), Column, { description: "Columns of properties by key." })),
      },
      { additionalProperties: false, description: "Columns by field. A run requires it; a preview proposes one." },
    ),
  ),
})

/** A mapping with everything that is needed to read the rows. */
export interface CsvMapping {
  kind: CsvKind
  dimension?: string
  time: { column: string; format: TimeFormat; timezone?: string }
  /** Columns by field, that of `value` included. */
  fields: ReadonlyMap<string, string>
  props: readonly (readonly [key: string, column: string])[]
}

type SentColumn = string | { column: string }
type SentTime = Static<typeof TimeColumn>

/** Returns the mapping of the options. Throws `mapping_required` if it lacks what the kind of rows needs. */
export function mappingOf(own: ReadOptions["own"]): CsvMapping {
  // The options were validated by `CsvOptions`.
  const { kind = "events", dimension, mapping = {} } = own as { kind?: CsvKind; dimension?: string; mapping?: Record<string, unknown> }
  const { timestamp, date, props = {}, ...columns } = mapping
  const time = timeOf((kind === "events" ? (timestamp ?? date) : (date ?? timestamp)) as SentTime | undefined)
  const fields = new Map(Object.entries(columns).map(([field, column]) => [field, nameOf(column as SentColumn)]))
  const lacks = missingIn(kind, { dimension, hasTime: time !== undefined, fields })
  if (lacks || !time) throw new ImportFault("mapping_required", `The mapping lacks ${lacks}. Name the columns in the option mapping.`)
  return {
    kind,
    ...(dimension !== undefined && { dimension }),
    time,
    fields,
    props: Object.entries(props as Record<string, SentColumn>).map(([key, column]) => [key, nameOf(column)] as const),
  }
}

interface Given {
  dimension: string | undefined
  hasTime: boolean
  fields: ReadonlyMap<string, string>
}

/** Names what a mapping lacks for a kind of rows, or returns undefined. */
export function missingIn(kind: CsvKind, { dimension, hasTime, fields }: Given): string | undefined {
  if (kind === "events") {
    if (!hasTime) return "timestamp"
    return ["url", "path", "event_name"].some((field) => fields.has(field)) ? undefined : "url, path or event_name"
  }
  if (!hasTime) return "date"
  if (!METRICS.some((metric) => fields.has(metric))) return `a metric (${METRICS.join(", ")})`
  if (kind === "daily_totals") return undefined
  if (dimension === undefined) return "the option dimension, which says what value is"
  return fields.has("value") ? undefined : "value"
}

const nameOf = (column: SentColumn): string => (typeof column === "string" ? column : column.column).trim()

function timeOf(sent: SentTime | undefined): CsvMapping["time"] | undefined {
  if (sent === undefined) return undefined
  const { column, format = "auto", timezone } = typeof sent === "string" ? { column: sent } : sent
  return { column: column.trim(), format, ...(timezone !== undefined && { timezone }) }
}
