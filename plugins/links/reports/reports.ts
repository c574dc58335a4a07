import { ArgumentReader, type Filter, refuseArguments, refuseChoice, refuseNames, siteFacts } from "#plugin"
import { conversionsOf } from "./conversions.ts"
import type { Link, LinksHost, Site } from "./link.ts"
import type { BreakdownShown, StatsShown, TimeseriesShown } from "./report-shapes.ts"

/** What can be counted of clicks. */
const CLICK_METRICS = ["human", "bot", "total", "unique"] as const
type ClickMetric = (typeof CLICK_METRICS)[number]
type Counts = Record<ClickMetric, number>

/** Dimensions that a click has. */
const DIMENSIONS = [
  ...["source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "country", "region", "city"],
  ...["device", "browser", "browser_version", "os", "os_version", "language", "rule", "bot_reason", "method", "status"],
] as const
/** Those that stand beside the click and not in the columns of a visit. */
const OWN = ["rule", "bot_reason", "method", "status"]

type Given = Record<string, unknown>
type Stats = LinksHost["services"]["stats"]
type Summary = Awaited<ReturnType<Stats["summary"]>>

/** Clicks of one link over a range, in the form of the statistics API. Throws `invalid_query` with all that is wrong. */
export interface Reports {
  stats(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<StatsShown>
  timeseries(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<TimeseriesShown>
  breakdown(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<BreakdownShown>
  /** Clicks a day over the last 30 days, the oldest first, by link. */
  sparklines(site: Site, links: readonly Link[], signal: AbortSignal): Promise<Map<number, { human: number[]; bot: number[] }>>
}

const EVENTS = ["events"]
const BOTH = ["visitors", "events"]
const SPARK_DAYS = 30
/** More than there are rules or reasons. */
const MOST_VALUES = 100

export function createReports(host: LinksHost): Reports {
  const { stats, goals } = host.services
  const asking = (locked: Filter, signal: AbortSignal) => ({ form: "text" as const, records: "clicks" as const, locked, signal })

  async function summaries(site: Site, link: Link, given: Given, signal: AbortSignal) {
    const ask = (filter: Filter, metrics: readonly string[]) =>
      stats.summary(site, { ...given, metrics: metrics.join(",") }, asking(filter, signal))
    const all = await ask(ofLink(link), EVENTS)
    const [people, qr] = await Promise.all([ask(peopleOf(link), BOTH), ask(both(ofLink(link), own("qr", "1")), EVENTS)])
    return { all, people, qr }
  }
  const rowsAt = async (site: Site, given: Given, { filter, most, signal }: { filter: Filter; most: number; signal: AbortSignal }) =>
    (await stats.breakdown(site, { ...given, metrics: "visitors,events", limit: String(most) }, asking(filter, signal))).rows

  return {
    async stats(site, link, query, signal) {
      const { conversions, ...given } = query
      refuseNames(given, ["metrics", "interval"])
      if (conversions !== undefined && conversions !== "true" && conversions !== "false") refuseChoice("conversions", ["true", "false"])
      const { all, people, qr } = await summaries(site, link, given, signal)
      const plain = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith("compare") && name !== "match_weekday"))
      const side = (property: string, filter: Filter) =>
        rowsAt(site, { ...plain, dimension: "property", property }, { filter, most: MOST_VALUES, signal })
      const reasons = await side("bot_reason", both(ofLink(link), own("human", "0")))
      const rules = await side("rule", peopleOf(link))
      const wantsConversions = conversions === "true"
      return {
        clicks: clicksIn(all.metrics, people.metrics, qr.metrics),
        bot_reasons: Object.fromEntries(reasons.map(({ value, events }) => [String(value), Number(events)])),
        rules: rules.map(({ value, events }) => ({ rule: Number(value), human: Number(events) })),
        ...(wantsConversions && {
          conversions: await conversionsOf(host, {
            site,
            goals: goals.rules(site.id),
            filter: peopleOf(link),
            range: rangeOf(all),
            signal,
          }),
        }),
        ...(all.comparison && { comparison: comparisonOf(all, people, qr) }),
        meta: metaOf(all),
      }
    },
    async timeseries(site, link, query, signal) {
      const { metrics, given } = metricsIn(query)
      const ask = (filter: Filter, names: readonly string[]) =>
        stats.timeseries(site, { ...given, metrics: names.join(",") }, asking(filter, signal))
      const all = await ask(ofLink(link), EVENTS)
      const people = await ask(peopleOf(link), BOTH)
      const pointsOf = (total: Point[], human: Point[]) =>
        total.map(({ time, partial, ...point }, index) => ({
          time,
          ...(partial === true && { partial }),
          ...chosen(metrics, countsOf(point, human[index] ?? {})),
        }))
      return {
        interval: all.interval,
        points: pointsOf(all.points, people.points),
        ...(all.comparison && {
          comparison: { range: all.comparison.range, points: pointsOf(all.comparison.points, people.comparison?.points ?? []) },
        }),
        meta: metaOf(all),
      }
    },
    async breakdown(site, link, query, signal) {
      const { metrics, given } = metricsIn(query)
      const { sort, dimension = "source", ...rest } = given
      if (!DIMENSIONS.some((known) => known === dimension)) refuseChoice("dimension", DIMENSIONS)
      const order = sort ?? "total"
      if (!CLICK_METRICS.some((known) => known === order)) refuseChoice("sort", CLICK_METRICS)
      const named = OWN.includes(String(dimension)) ? { dimension: "property", property: dimension } : { dimension }
      // The rows are those of the metric they are ordered by; the others are asked for the same values.
      const sides = { human: peopleOf(link), unique: peopleOf(link), bot: both(ofLink(link), own("human", "0")), total: ofLink(link) }
      const first = await stats.breakdown(
        site,
        { ...rest, ...named, metrics: "visitors,events", sort: order === "unique" ? "visitors" : "events" },
        asking(sides[order as ClickMetric], signal),
      )
      const locked = valuesFilter(
        named,
        first.rows.map(({ value }) => value),
      )
      const { limit: _, offset: __, order: ___, ...range } = rest
      const ask = (filter: Filter) =>
        first.rows.length === 0
          ? []
          : rowsAt(site, { ...range, ...named }, { filter: both(filter, locked), most: first.rows.length, signal })
      const [all, people] = [await ask(ofLink(link)), await ask(peopleOf(link))]
      const byValue = (rows: readonly { value: unknown }[]) => new Map(rows.map((row) => [row.value, row as Record<string, unknown>]))
      const [total, human] = [byValue(all), byValue(people)]
      return {
        dimension: String(dimension),
        rows: first.rows.map(({ value, visitors: _, events: __, share: ___, ...label }) => ({
          ...label,
          value,
          ...chosen(metrics, countsOf(total.get(value) ?? {}, human.get(value) ?? {})),
        })),
        total_rows: first.total_rows,
        has_more: first.has_more,
        meta: metaOf(first),
      }
    },
    async sparklines(site, links, signal) {
      const sparks = new Map(
        links.map(({ id }) => [id, { human: new Array<number>(SPARK_DAYS).fill(0), bot: new Array<number>(SPARK_DAYS).fill(0) }]),
      )
      if (links.length === 0) return sparks
      const starts = lastDays(host.now(), site.timezone)
      const property = (name: string) => ({ by: "dimension" as const, dimension: "property" as const, property: name })
      const { rows } = await host.engine.aggregate(
        {
          site: siteFacts(site, []),
          records: "clicks",
          range: { from: starts[0]!, to: starts[SPARK_DAYS]! },
          timezone: site.timezone,
          now: host.now(),
          metrics: EVENTS as ["events"],
          groupings: [{ by: "time", interval: "day" }, property("link_id"), property("human")],
          filter: { ...own("link_id", ""), values: links.map(({ id }) => String(id)) },
          order: [],
          limit: Number.MAX_SAFE_INTEGER,
          offset: 0,
          fillBuckets: false,
        },
        { organizationId: site.organization_id, signal },
      )
      for (const { keys, values } of rows) {
        const [day, id, isHuman] = keys
        const spark = sparks.get(Number(id))
        const index = starts.indexOf(Number(day))
        if (spark && index >= 0 && index < SPARK_DAYS) spark[isHuman === "1" ? "human" : "bot"][index]! += values[0] ?? 0
      }
      return sparks
    },
  }
}

/** A condition on what stands beside a click. */
const own = (property: string, value: string) => ({
  op: "is" as const,
  dimension: "property" as const,
  property,
  values: [value],
  missing: false,
  caseSensitive: true,
})
const both = (one: Filter, other: Filter): Filter => ({ op: "and", filters: [one, other] })
const ofLink = ({ id }: Link): Filter => own("link_id", String(id))
const peopleOf = (link: Link): Filter => both(ofLink(link), own("human", "1"))

/** How a missing value is written. */
const MISSING = ["Direct", "(none)"]

/** Rows with these values. */
function valuesFilter({ dimension, property }: { dimension: unknown; property?: unknown }, values: readonly unknown[]): Filter {
  const texts = values.map(String)
  const name = dimension as Extract<Filter, { dimension: unknown }>["dimension"] // of the list above
  return {
    ...{ op: "is", dimension: name, values: texts, missing: texts.some((text) => MISSING.includes(text)), caseSensitive: true },
    ...(property !== undefined && { property: String(property) }),
  }
}

type Metrics = Record<string, unknown>
type Point = Metrics & { time: string; partial?: boolean }

function countsOf(all: Metrics, people: Metrics): Counts {
  const [total, human] = [Number(all.events ?? 0), Number(people.events ?? 0)]
  return { human, bot: total - human, total, unique: Number(people.visitors ?? 0) }
}
const clicksIn = (all: Metrics, people: Metrics, qr: Metrics) => ({ ...countsOf(all, people), qr: Number(qr.events ?? 0) })
const chosen = (metrics: readonly ClickMetric[], counts: Counts) => Object.fromEntries(metrics.map((name) => [name, counts[name]]))

function comparisonOf(all: Summary, people: Summary, qr: Summary) {
  const before = clicksIn(all.comparison!.metrics, people.comparison!.metrics, qr.comparison!.metrics) // compared as all
  const now = clicksIn(all.metrics, people.metrics, qr.metrics)
  const names = (Object.keys(now) as (keyof typeof now)[]).filter((name) => before[name] > 0)
  const percent = (name: keyof typeof now) => Math.round(((now[name] - before[name]) / before[name]) * 1_000) / 10
  return { range: all.comparison!.range, clicks: before, change_percent: Object.fromEntries(names.map((name) => [name, percent(name)])) }
}

const metaOf = ({ range, visitor_window, notes }: Pick<Summary, "range"> & { visitor_window?: unknown; notes?: unknown }) => ({
  range,
  ...(visitor_window !== undefined && { visitor_window }),
  ...(notes !== undefined && { notes }),
})

function rangeOf({ range: { from, to, timezone, from_time, to_time } }: Summary): { from: number; to: number } {
  const midnight = (day: string, later: number) =>
    Temporal.PlainDate.from(day).add({ days: later }).toZonedDateTime(timezone).epochMilliseconds
  if (from_time !== undefined && to_time !== undefined) return { from: Date.parse(from_time), to: Date.parse(to_time) }
  return { from: midnight(from, 0), to: midnight(to, 1) }
}

/** Midnights of the last 30 days, and the one that ends today. */
function lastDays(now: number, timezone: string): number[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  return Array.from(
    { length: SPARK_DAYS + 1 },
    (_, day) => today.add({ days: day - SPARK_DAYS + 1 }).toZonedDateTime(timezone).epochMilliseconds,
  )
}

function metricsIn({ metrics, ...given }: Given): { metrics: readonly ClickMetric[]; given: Given } {
  if (metrics === undefined) return { metrics: CLICK_METRICS, given }
  const reader = new ArgumentReader({ metrics: String(metrics).split(",") }, ["metrics"])
  const names = reader.choices("metrics", CLICK_METRICS, { min: 1, max: CLICK_METRICS.length })
  refuseArguments(reader, "text")
  return { metrics: names!, given } // refused otherwise
}
