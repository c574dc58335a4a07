import { type Filter, type RecordCounts, type ReportOptions, refuseChoice, refuseNames, type Site } from "#plugin"
import { type Pixel, type PixelsHost, paramKey } from "./pixel.ts"
import { OPENS, ROUTE_NAMES, ROUTES, type Route, VIAS, type Via } from "./via.ts"

/** User who requests a report. */
export interface Caller {
  signal: AbortSignal
  userId: number
}
type Given = Record<string, unknown>
type Counts = Record<Route, number>

/** Explanation of a report: its range, how visitors were counted, and notes. */
export interface Meta {
  range: object
  visitor_window?: string
  notes: string[]
}

const ESTIMATE =
  "unique_est is an estimate: one person may use several programs, one program may stand for several people, and readers who send Do Not Track or GPC are not included."
const RECIPIENTS = "unique_est counts recipients by their hash; beyond 10,000 new recipients per day, the rest count as one."
const DIRECT_ONLY = "Direct opens only. The location and device of other opens belong to a proxy."
const NO_BOTS = "Opens by bots are not included."

/** Dimensions of the reader. They are known for direct opens only. */
const READER_DIMENSIONS = ["country", "region", "city", "device", "browser", "browser_version", "os", "os_version", "language"] as const
/** Dimensions of the requested URL and of its referrer. */
export const URL_DIMENSIONS = [
  "source",
  "referrer",
  "channel",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
] as const
/** Dimensions of an open, in addition to `param:<name>`. */
export const DIMENSIONS = ["via", ...READER_DIMENSIONS, ...URL_DIMENSIONS] as const
/** Maximum number of rows of a breakdown. */
export const MAX_ROWS = 100
const PARAM = /^param:([A-Za-z0-9_-]{1,40})$/

const isProperty = (property: string, values: readonly (string | number)[]): Filter => ({
  op: "is",
  dimension: "property",
  property,
  values: values.map(String),
  missing: false,
  caseSensitive: true,
})
const opensOf = (pixels: readonly Pick<Pixel, "id">[], vias: readonly Via[]): Filter => ({
  op: "and",
  filters: [
    isProperty(
      "pixel_id",
      pixels.map(({ id }) => id),
    ),
    isProperty("via", vias),
  ],
})
const hasRecipient: Filter = {
  op: "not",
  filter: { op: "is", dimension: "property", property: "recipient", values: [], missing: true, caseSensitive: true },
}

export type Reports = ReturnType<typeof createReports>

/** Reports about the opens of pixels. They throw `invalid_query` with all faults at once. */
export function createReports({ services: { stats, recordReports } }: PixelsHost) {
  const options = ({ signal, userId }: Caller, locked: Filter): ReportOptions => ({
    form: "text",
    signal,
    userId,
    locked,
    records: "opens",
  })

  /** Counts the opens of a pixel by `via` in one query, so that a total and its parts are of the same moment. */
  const byVia = (pixel: Pixel, caller: Caller) => ({
    ...options(caller, isProperty("pixel_id", [pixel.id])),
    records: "opens" as const,
    by: { property: "via", values: VIAS },
  })

  async function recipients(site: Site, pixel: Pixel, given: Given, caller: Caller): Promise<number> {
    const locked: Filter = { op: "and", filters: [opensOf([pixel], OPENS), hasRecipient] }
    const query = { ...rangeOf(given), dimension: "property", property: "recipient", metrics: "events", limit: "1" }
    return (await stats.breakdown(site, query, options(caller, locked))).total_rows
  }

  return {
    async stats(site: Site, pixel: Pixel, given: Given, caller: Caller) {
      refuseNames(given, ["metrics"])
      const isHashed = pixel.recipient_mode === "hashed"
      // The total is queried last, so that opens that arrive meanwhile are never among the recipients without being in the total.
      const known = isHashed ? await recipients(site, pixel, given, caller) : undefined
      const { counts, comparison, ...facts } = await recordReports.summary(site, given, byVia(pixel, caller))
      const now = { ...countsByRoute(counts), unique_est: known ?? counts.direct!.visitors }
      const meta = metaOf(facts, isHashed ? [ESTIMATE, RECIPIENTS] : [ESTIMATE])
      if (!comparison) return { ...now, meta }
      const { range } = comparison
      const before = countsByRoute(comparison.counts)
      // Recipients can only be counted for whole days.
      if (isHashed && range.from_time !== undefined) return { ...now, comparison: { range, ...before }, meta }
      const days = { ...given, period: undefined, from: range.from, to: range.to }
      const uniqueBefore = isHashed ? await recipients(site, pixel, days, caller) : comparison.counts.direct!.visitors
      return { ...now, comparison: { range, ...before, unique_est: uniqueBefore }, meta }
    },

    async timeseries(site: Site, pixel: Pixel, given: Given, caller: Caller) {
      refuseNames(given, ["metrics"])
      const { interval, points, comparison, ...facts } = await recordReports.timeseries(site, given, byVia(pixel, caller))
      const shown = ({ counts, ...point }: (typeof points)[number]) => ({ ...point, ...countsByRoute(counts) })
      return {
        interval,
        points: points.map(shown),
        ...(comparison && { comparison: { range: comparison.range, points: comparison.points.map(shown) } }),
        meta: metaOf(facts, []),
      }
    },

    async breakdown(site: Site, pixel: Pixel, given: Given, caller: Caller) {
      refuseNames(given, ["metrics", "property", "sort"])
      const named = readDimension(given.dimension)
      const locked = opensOf([pixel], named.vias)
      const query = { ...given, dimension: named.dimension, ...(named.property && { property: named.property }), metrics: "events" }
      const { rows, total_rows, has_more, ...facts } = await stats.breakdown(site, query, options(caller, locked))
      return {
        dimension: named.name,
        rows: rows.map(({ value, label, events = 0 }) => ({ value, ...(label !== undefined && { label }), opens: events })),
        total_rows,
        has_more,
        meta: metaOf(facts, named.notes),
      }
    },

    /** Returns the opens of several pixels by route over the last days. */
    async recent(site: Site, pixels: readonly Pixel[], days: number, caller: Caller): Promise<Map<number, Counts>> {
      const counts = new Map(pixels.map(({ id }) => [id, { opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 0 }]))
      for (let from = 0; from < pixels.length; from += MAX_ROWS) {
        const some = pixels.slice(from, from + MAX_ROWS)
        const query = { period: `${days}d`, dimension: "property", property: "pixel_id", metrics: "events", limit: String(MAX_ROWS) }
        const ask = (route: Route) => stats.breakdown(site, query, options(caller, opensOf(some, ROUTES[route])))
        const found = await allOf(ROUTE_NAMES, ask)
        for (const route of ROUTE_NAMES) for (const { value, events = 0 } of found[route].rows) counts.get(Number(value))![route] = events // one of the pixels
      }
      return counts
    },
  }
}

interface Dimension {
  /** Name in the request. */
  name: string
  dimension: string
  property?: string
  vias: readonly Via[]
  notes: string[]
}

function readDimension(given: unknown): Dimension {
  const name = String(given ?? "via")
  if (name === "via") return { name, dimension: "property", property: "via", vias: [...OPENS, "bot"], notes: [] }
  const [, param] = PARAM.exec(name) ?? []
  if (param !== undefined) return { name, dimension: "property", property: paramKey(param), vias: OPENS, notes: [NO_BOTS] }
  if (isOf(READER_DIMENSIONS, name)) return { name, dimension: name, vias: ["direct"], notes: [DIRECT_ONLY] }
  if (isOf(URL_DIMENSIONS, name)) return { name, dimension: name, vias: OPENS, notes: [NO_BOTS] }
  return refuseChoice("dimension", [...DIMENSIONS, "param:<name>"])
}

const isOf = (names: readonly string[], name: string): boolean => names.includes(name)

/** Returns the arguments that select opens, without those that format the report. */
const rangeOf = ({ period, from, to, timezone, filters }: Given): Given =>
  Object.fromEntries(Object.entries({ period, from, to, timezone, filters }).filter(([, value]) => value !== undefined))

const withTotal = (counts: Counts): Counts & { opens_total: number } => ({
  opens_total: counts.opens_direct + counts.opens_proxied + counts.opens_prefetched,
  ...counts,
})

/** Returns the opens by route. */
export const countsByRoute = (counts: RecordCounts) =>
  withTotal(mapRoutes(ROUTES, (vias: readonly Via[]) => vias.reduce((sum, via) => sum + counts[via]!.records, 0))) // an entry for each via

const metaOf = ({ range, visitor_window, notes = [] }: Omit<Meta, "notes"> & { notes?: string[] }, own: string[]): Meta => ({
  range,
  ...(visitor_window !== undefined && { visitor_window }),
  notes: [...notes, ...own],
})

const mapRoutes = <Part, Value>(parts: Readonly<Record<Route, Part>>, value: (part: Part) => Value): Record<Route, Value> => ({
  opens_direct: value(parts.opens_direct),
  opens_proxied: value(parts.opens_proxied),
  opens_prefetched: value(parts.opens_prefetched),
  bots: value(parts.bots),
})

/** Runs a function for each route at the same time. */
async function allOf<Value>(routes: readonly Route[], make: (route: Route) => Promise<Value>): Promise<Record<Route, Value>> {
  const values = await Promise.all(routes.map(make))
  return Object.fromEntries(routes.map((route, place) => [route, values[place]!])) as Record<Route, Value> // an entry for each route
}
