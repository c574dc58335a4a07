import { type Asking, type Filter, refuseChoice, refuseNames, type Site } from "#plugin"
import { type Pixel, type PixelsHost, paramKey } from "./pixel.ts"
import { OPENS, ROUTE_NAMES, ROUTES, type Route, type Via } from "./via.ts"

/** Who asks, as far as it decides about the numbers. */
export interface Asker {
  signal: AbortSignal
  userId: number
}
type Given = Record<string, unknown>
type Counts = Record<Route, number>

/** What a report says of how it came about. */
export interface Meta {
  range: object
  visitor_window?: string
  notes: string[]
}

const ESTIMATE = "unique_est is an estimate: one person may have several programs, and one program may stand for several people."
const RECIPIENTS = "unique_est counts recipients by their hash; of more than 10,000 new ones a day the rest count as one."
const DIRECT_ONLY = "Only direct opens are in it: the place and the device of all others are those of a machine between."
const NO_BOTS = "Opens by bots are not in it."

/** Of the request itself, which is the reader's only when nothing stands between. */
const OF_READERS = ["country", "region", "city", "device", "browser", "browser_version", "os", "os_version", "language"] as const
const OF_ADDRESSES = ["source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const
/** `param:<name>` besides. */
export const DIMENSIONS = ["via", ...OF_READERS, ...OF_ADDRESSES] as const
/** A breakdown has at most so many. */
export const MOST_ROWS = 100
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

export type Reports = ReturnType<typeof reportsOf>

/** What is known of the opens of pixels. Bad arguments are `invalid_query`, with all faults at once. */
export function reportsOf({ services: { stats } }: PixelsHost) {
  const asking = ({ signal, userId }: Asker, locked: Filter): Asking => ({ form: "text", signal, userId, locked, records: "opens" })

  /** The same report about the opens of each route. */
  const byRoute = <Report>(pixel: Pixel, asker: Asker, ask: (asking: Asking) => Promise<Report>): Promise<Record<Route, Report>> =>
    allOf(ROUTE_NAMES, (route) => ask(asking(asker, opensOf([pixel], ROUTES[route]))))

  async function recipients(site: Site, pixel: Pixel, given: Given, asker: Asker): Promise<number> {
    const locked: Filter = { op: "and", filters: [opensOf([pixel], OPENS), hasRecipient] }
    const question = { ...rangeOf(given), dimension: "property", property: "recipient", metrics: "events", limit: "1" }
    return (await stats.breakdown(site, question, asking(asker, locked))).total_rows
  }

  return {
    async stats(site: Site, pixel: Pixel, given: Given, asker: Asker) {
      refuseNames(given, ["metrics"])
      const parts = await byRoute(pixel, asker, (asked) => stats.summary(site, { ...given, metrics: "events,visitors" }, asked))
      const isHashed = pixel.recipient_mode === "hashed"
      const { opens_direct: direct } = parts
      const unique = isHashed ? await recipients(site, pixel, given, asker) : (direct.metrics.visitors ?? 0)
      const now = { ...totalled(mapped(parts, ({ metrics }) => metrics.events ?? 0)), unique_est: unique }
      const meta = metaOf(direct, isHashed ? [ESTIMATE, RECIPIENTS] : [ESTIMATE])
      if (!direct.comparison) return { ...now, meta }
      const { range } = direct.comparison
      const before = totalled(mapped(parts, ({ comparison }) => comparison?.metrics.events ?? 0))
      // Of hours of days nobody can ask by name.
      if (isHashed && range.from_time !== undefined) return { ...now, comparison: { range, ...before }, meta }
      const days = { ...given, period: undefined, from: range.from, to: range.to }
      const uniqueBefore = isHashed ? await recipients(site, pixel, days, asker) : (direct.comparison.metrics.visitors ?? 0)
      return { ...now, comparison: { range, ...before, unique_est: uniqueBefore }, meta }
    },

    async timeseries(site: Site, pixel: Pixel, given: Given, asker: Asker) {
      refuseNames(given, ["metrics"])
      const parts = await byRoute(pixel, asker, (asked) => stats.timeseries(site, { ...given, metrics: "events" }, asked))
      const { opens_direct: direct } = parts
      const pointsOf = (points: Record<Route, readonly { time: string; partial?: boolean; events?: number }[]>) =>
        points.opens_direct.map(({ time, partial }, place) => ({
          time,
          ...(partial && { partial }),
          ...totalled(mapped(points, (list) => list[place]?.events ?? 0)),
        }))
      return {
        interval: direct.interval,
        points: pointsOf(mapped(parts, ({ points }) => points)),
        ...(direct.comparison && {
          comparison: {
            range: direct.comparison.range,
            points: pointsOf(mapped(parts, ({ comparison }) => comparison?.points ?? [])),
          },
        }),
        meta: metaOf(direct, []),
      }
    },

    async breakdown(site: Site, pixel: Pixel, given: Given, asker: Asker) {
      refuseNames(given, ["metrics", "property", "sort"])
      const named = readDimension(given.dimension)
      const locked = opensOf([pixel], named.vias)
      const question = { ...given, dimension: named.dimension, ...(named.property && { property: named.property }), metrics: "events" }
      const { rows, total_rows, has_more, ...facts } = await stats.breakdown(site, question, asking(asker, locked))
      return {
        dimension: named.asked,
        rows: rows.map(({ value, label, events = 0 }) => ({ value, ...(label !== undefined && { label }), opens: events })),
        total_rows,
        has_more,
        meta: metaOf(facts, named.notes),
      }
    },

    /** By pixel and route over the last days, of a page of a list. */
    async recent(site: Site, pixels: readonly Pixel[], days: number, asker: Asker): Promise<Map<number, Counts>> {
      const counts = new Map(pixels.map(({ id }) => [id, { opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 0 }]))
      for (let from = 0; from < pixels.length; from += MOST_ROWS) {
        const some = pixels.slice(from, from + MOST_ROWS)
        const question = { period: `${days}d`, dimension: "property", property: "pixel_id", metrics: "events", limit: String(MOST_ROWS) }
        const ask = (route: Route) => stats.breakdown(site, question, asking(asker, opensOf(some, ROUTES[route])))
        const found = await allOf(ROUTE_NAMES, ask)
        for (const route of ROUTE_NAMES) for (const { value, events = 0 } of found[route].rows) counts.get(Number(value))![route] = events // asked for
      }
      return counts
    },
  }
}

interface Dimension {
  /** As it was asked for. */
  asked: string
  dimension: string
  property?: string
  vias: readonly Via[]
  notes: string[]
}

function readDimension(given: unknown): Dimension {
  const asked = String(given ?? "via")
  if (asked === "via") return { asked, dimension: "property", property: "via", vias: [...OPENS, "bot"], notes: [] }
  const [, param] = PARAM.exec(asked) ?? []
  if (param !== undefined) return { asked, dimension: "property", property: paramKey(param), vias: OPENS, notes: [NO_BOTS] }
  if (isOf(OF_READERS, asked)) return { asked, dimension: asked, vias: ["direct"], notes: [DIRECT_ONLY] }
  if (isOf(OF_ADDRESSES, asked)) return { asked, dimension: asked, vias: OPENS, notes: [NO_BOTS] }
  return refuseChoice("dimension", [...DIMENSIONS, "param:<name>"])
}

const isOf = (names: readonly string[], name: string): boolean => names.includes(name)

/** Arguments that say which opens, without those that say how they are shown. */
const rangeOf = ({ period, from, to, timezone, filters }: Given): Given =>
  Object.fromEntries(Object.entries({ period, from, to, timezone, filters }).filter(([, value]) => value !== undefined))

const totalled = (counts: Counts): Counts & { opens_total: number } => ({
  opens_total: counts.opens_direct + counts.opens_proxied + counts.opens_prefetched,
  ...counts,
})

const metaOf = ({ range, visitor_window, notes = [] }: Omit<Meta, "notes"> & { notes?: string[] }, own: string[]): Meta => ({
  range,
  ...(visitor_window !== undefined && { visitor_window }),
  notes: [...notes, ...own],
})

const mapped = <Part, Value>(parts: Readonly<Record<Route, Part>>, value: (part: Part) => Value): Record<Route, Value> => ({
  opens_direct: value(parts.opens_direct),
  opens_proxied: value(parts.opens_proxied),
  opens_prefetched: value(parts.opens_prefetched),
  bots: value(parts.bots),
})

/** At the same time. */
async function allOf<Value>(routes: readonly Route[], make: (route: Route) => Promise<Value>): Promise<Record<Route, Value>> {
  const values = await Promise.all(routes.map(make))
  return Object.fromEntries(routes.map((route, place) => [route, values[place]!])) as Record<Route, Value> // an entry for each route
}
