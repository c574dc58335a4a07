import type { ApiKey } from "../../domain/key.ts"
import { UMAMI } from "../../domain/limits.ts"
import type { Metric } from "../../domain/metric.ts"
import { instantText } from "../../domain/moment.ts"
import type { Key, Row } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import { ArgumentReader, type Bounds, refuseArguments } from "../../query/parse/arguments.ts"
import { asParameterFaults, type QueryForm } from "./query-form.ts"

/** Umami's reports on a website. Each request becomes queries in the array form. Faults name the parameters that were sent. */
export interface UmamiReports {
  active(asked: Asked): Promise<{ visitors: number }>
  stats(asked: Asked): Promise<UmamiTotals & { comparison: UmamiTotals }>
  pageviews(asked: Asked): Promise<UmamiSeries & { compare?: UmamiSeries }>
  metrics(asked: Asked): Promise<{ x: string; y: number }[]>
}

interface Asked {
  key: ApiKey
  site: Site
  given: Record<string, unknown>
  signal?: AbortSignal
}

const TOTALS = ["pageviews", "visitors", "visits", "bounces", "total_duration"] as const satisfies readonly Metric[]
export interface UmamiTotals {
  pageviews: number
  visitors: number
  visits: number
  bounces: number
  /** Seconds. */
  totaltime: number
}

interface Point {
  x: string
  y: number
}
export interface UmamiSeries {
  pageviews: Point[]
  sessions: Point[]
}

/** Dimensions by the names that Umami gives them in filters. */
export const UMAMI_FILTERS: Readonly<Record<string, string>> = {
  path: "event:page",
  url: "event:page",
  title: "event:title",
  hostname: "event:hostname",
  event: "event:name",
  referrer: "visit:referrer",
  browser: "visit:browser",
  os: "visit:os",
  device: "visit:device",
  language: "visit:language",
  country: "visit:country",
  region: "visit:region",
  city: "visit:city",
}

/** Dimensions by the names that Umami gives them as types of metrics. */
export const UMAMI_TYPES = {
  path: "event:page",
  url: "event:page",
  entry: "visit:entry_page",
  exit: "visit:exit_page",
  title: "event:title",
  hostname: "event:hostname",
  event: "event:name",
  referrer: "visit:referrer",
  domain: "visit:source",
  channel: "visit:channel",
  country: "visit:country",
  region: "visit:region",
  city: "visit:city",
  browser: "visit:browser",
  os: "visit:os",
  device: "visit:device",
  screen: "visit:size",
  language: "visit:language",
} as const
export type UmamiType = keyof typeof UMAMI_TYPES

export const UMAMI_UNITS = ["minute", "hour", "day", "month", "year"] as const

const RANGED = ["startAt", "endAt", "timezone", "segment", "cohort", ...Object.keys(UMAMI_FILTERS)]
const INSTANT: Bounds = { min: 0, max: 8.64e15 }
const ID: Bounds = { min: 1, max: Number.MAX_SAFE_INTEGER }
const TEXT: Bounds = { min: 0, max: UMAMI.filterChars }

export function createUmamiReports({ run }: Pick<QueryForm, "run">): UmamiReports {
  /** Returns the rows of a query. Its faults become faults of the parameters. */
  const rowsOf = async ({ key, site, signal }: Asked, metrics: readonly Metric[], body: object): Promise<readonly Row[]> => {
    try {
      const { table } = await run(key, { site_id: site.id, metrics: ["visitors"], ...body }, { metrics, signal })
      return table.rows
    } catch (thrown) {
      throw asParameterFaults(thrown, PARAMETERS)
    }
  }
  const totalsOf = async (asked: Asked, body: object): Promise<UmamiTotals> => {
    const [row] = await rowsOf(asked, TOTALS, body)
    const [pageviews = 0, visitors = 0, visits = 0, bounces = 0, totaltime = 0] = row?.values.map(Number) ?? []
    return { pageviews, visitors, visits, bounces, totaltime }
  }
  const seriesOf = async (asked: Asked, body: object): Promise<UmamiSeries> => {
    const rows = await rowsOf(asked, ["pageviews", "visitors"], body)
    const points = (place: number) => rows.map(({ keys, values }) => ({ x: instantText(Number(keys[0])), y: Number(values[place]) }))
    return { pageviews: points(0), sessions: points(1) }
  }

  return {
    async active(asked) {
      refuseArguments(new ArgumentReader(asked.given, []), "text")
      const [row] = await rowsOf(asked, ["visitors"], { date_range: "realtime" })
      return { visitors: Number(row?.values[0] ?? 0) }
    },
    async stats(asked) {
      const reader = new ArgumentReader(asked.given, RANGED)
      const { range, ...rest } = readRanged(reader)
      refuseArguments(reader, "text")
      const [totals, comparison] = await Promise.all(
        [range, before(range, "prev")].map((span) => totalsOf(asked, { ...rest, date_range: instants(span) })),
      )
      return { ...totals!, comparison: comparison! }
    },
    async pageviews(asked) {
      const reader = new ArgumentReader(asked.given, [...RANGED, "unit", "compare"])
      const { range, ...rest } = readRanged(reader)
      const unit = reader.choice("unit", UMAMI_UNITS)
      const compare = reader.choice("compare", ["prev", "yoy"])
      refuseArguments(reader, "text")
      const dimensions = [unit === undefined ? "time" : `time:${unit === "year" ? "month" : unit}`]
      const series = (span: Span) => seriesOf(asked, { ...rest, date_range: instants(span), dimensions })
      if (!compare) return series(range)
      const [shown, compared] = await Promise.all([series(range), series(before(range, compare))])
      return { ...shown, compare: compared }
    },
    async metrics(asked) {
      const reader = new ArgumentReader(asked.given, [...RANGED, "type", "limit", "offset"])
      const { range, ...rest } = readRanged(reader)
      const type = reader.choice("type", Object.keys(UMAMI_TYPES) as UmamiType[]) // the keys of a literal
      if (!reader.has("type")) reader.refuse({ pointer: "/type", code: "required", detail: "type is required." })
      const limit = reader.integer("limit", { min: 1, max: UMAMI.rows }) ?? UMAMI.usualRows
      const offset = reader.integer("offset", { min: 0, max: UMAMI.offset }) ?? 0
      refuseArguments(reader, "text")
      const metric = type === "event" ? "events" : "visitors"
      const rows = await rowsOf(asked, [metric], {
        ...{ ...rest, date_range: instants(range), dimensions: [UMAMI_TYPES[type!]], pagination: { limit, offset } },
        ...(type === "event" && { filters: [...rest.filters, ["is_not", "event:name", ["pageview"]]] }),
      })
      return rows.map(({ keys, values }) => ({ x: shownKey(keys[0]!), y: Number(values[0]) }))
    },
  }
}

/** A range in epoch milliseconds, both ends inclusive. */
interface Span {
  from: number
  to: number
}

const instants = ({ from, to }: Span): [string, string] => [new Date(from).toISOString(), new Date(to).toISOString()]

/** Returns the range before another one, or the same range a year earlier. */
function before({ from, to }: Span, how: "prev" | "yoy"): Span {
  const length = to - from + 1
  if (how === "prev") return { from: Math.max(0, from - length), to: Math.max(0, to - length) }
  const earlier = (at: number) =>
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("UTC").subtract({ years: 1 }).epochMilliseconds
  return { from: earlier(from), to: earlier(to) }
}

/** Reads the parameters of all reports but the current visitors. */
function readRanged(reader: ArgumentReader) {
  const [from, to] = [reader.integer("startAt", INSTANT), reader.integer("endAt", INSTANT)]
  for (const name of ["startAt", "endAt"])
    if (!reader.has(name)) reader.refuse({ pointer: `/${name}`, code: "required", detail: `${name} is required, in epoch milliseconds.` })
  const timezone = reader.text("timezone", { min: 1, max: 64 })
  const filters = Object.entries(UMAMI_FILTERS).flatMap(([name, dimension]) => {
    const value = reader.text(name, TEXT)
    return value === undefined ? [] : [["is", dimension, [value], { case_sensitive: false }]]
  })
  const saved = ["segment", "cohort"].flatMap((name) => {
    const id = reader.integer(name, ID)
    return id === undefined ? [] : [["is", name, [id]]]
  })
  return {
    range: { from: from ?? 0, to: to ?? 0 },
    filters: [...filters, ...saved],
    ...(timezone !== undefined && { timezone }),
  }
}

/** Parameters to which faults of a query belong. */
const PARAMETERS: Readonly<Record<string, string>> = { date_range: "startAt", dimensions: "unit", pagination: "limit" }

/** Umami leaves a missing value empty. */
const shownKey = (key: Key): string => (key === null ? "" : String(key))
