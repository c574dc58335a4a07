import { ArgumentReader, type Filter, type RecordCounts, refuseArguments, refuseChoice, refuseNames, siteFacts } from "#plugin"
import type { Link, LinksHost, Site } from "../link.ts"
import { conversionsOf } from "./conversions.ts"
import type { BreakdownShown, StatsShown, TimeseriesShown } from "./shapes.ts"

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

/** Clicks of one link over a range, in the form of the statistics API. Throws `invalid_query` with all that is wrong. */
export interface Reports {
  stats(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<StatsShown>
  timeseries(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<TimeseriesShown>
  breakdown(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<BreakdownShown>
  /** Clicks a day over the last 30 days, the oldest first, by link. */
  sparklines(site: Site, links: readonly Link[], signal: AbortSignal): Promise<Map<number, { human: number[]; bot: number[] }>>
}

const SPARK_DAYS = 30
/** Above the number of rules and of reasons. */
const MAX_VALUES = 100
/** Clicks are counted by this property in one query, so that human and bot are always parts of the same total. */
const BY_HUMAN = { property: "human", values: ["0", "1"] }

export function createReports(host: LinksHost): Reports {
  const { stats, recordReports, goals } = host.services
  const asking = (locked: Filter, signal: AbortSignal) => ({ form: "text" as const, records: "clicks" as const, locked, signal })
  const counting = (locked: Filter, signal: AbortSignal) => ({ ...asking(locked, signal), by: BY_HUMAN })

  return {
    async stats(site, link, query, signal) {
      const { conversions, ...given } = query
      refuseNames(given, ["metrics", "interval"])
      if (conversions !== undefined && conversions !== "true" && conversions !== "false") refuseChoice("conversions", ["true", "false"])
      const plain = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith("compare") && name !== "match_weekday"))
      const rowsOf = async (property: string, filter: Filter) => {
        const rest = { dimension: "property", property, metrics: "events", limit: String(MAX_VALUES) }
        return (await stats.breakdown(site, { ...plain, ...rest }, asking(filter, signal))).rows
      }
      // The totals are queried last: clicks that come meanwhile are then in a total and not only in one of its parts.
      const [qr, reasons, rules] = await Promise.all([
        recordReports.summary(site, given, counting(both(ofLink(link), own("qr", "1")), signal)),
        rowsOf("bot_reason", both(ofLink(link), own("human", "0"))),
        rowsOf("rule", peopleOf(link)),
      ])
      const all = await recordReports.summary(site, given, counting(ofLink(link), signal))
      const clicks = { ...countsOf(all.counts), qr: countsOf(qr.counts).total }
      return {
        clicks,
        bot_reasons: Object.fromEntries(reasons.map(({ value, events }) => [String(value), Number(events)])),
        rules: rules.map(({ value, events }) => ({ rule: Number(value), human: Number(events) })),
        ...(conversions === "true" && {
          conversions: await conversionsOf(host, {
            site,
            goals: goals.rules(site.id),
            filter: peopleOf(link),
            range: rangeOf(all),
            signal,
          }),
        }),
        ...(all.comparison &&
          qr.comparison && {
            comparison: comparisonOf(clicks, {
              range: all.comparison.range,
              clicks: { ...countsOf(all.comparison.counts), qr: countsOf(qr.comparison.counts).total },
            }),
          }),
        meta: metaOf(all),
      }
    },
    async timeseries(site, link, query, signal) {
      const { metrics, given } = metricsIn(query)
      const report = await recordReports.timeseries(site, given, counting(ofLink(link), signal))
      const shown = ({ counts, ...point }: (typeof report.points)[number]) => ({ ...point, ...chosen(metrics, countsOf(counts)) })
      return {
        interval: report.interval,
        points: report.points.map(shown),
        ...(report.comparison && { comparison: { range: report.comparison.range, points: report.comparison.points.map(shown) } }),
        meta: metaOf(report),
      }
    },
    async breakdown(site, link, query, signal) {
      const { metrics, given } = metricsIn(query)
      const { sort, dimension = "source", ...rest } = given
      if (!DIMENSIONS.some((known) => known === dimension)) refuseChoice("dimension", DIMENSIONS)
      const order = sort ?? "total"
      if (!CLICK_METRICS.some((known) => known === order)) refuseChoice("sort", CLICK_METRICS)
      const named = OWN.includes(String(dimension)) ? { dimension: "property", property: dimension } : { dimension }
      const report = await recordReports.breakdown(
        site,
        { ...rest, ...named, metrics: "visitors,events", sort: order === "unique" ? "visitors" : "events" },
        { ...counting(ofLink(link), signal), ...RANKED[order as ClickMetric] },
      )
      return {
        dimension: String(dimension),
        rows: report.rows.map(({ counts, ...value }) => ({ ...value, ...chosen(metrics, countsOf(counts)) })),
        total_rows: report.total_rows,
        has_more: report.has_more,
        meta: metaOf(report),
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
          metrics: ["events"],
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
/** The clicks by which the rows of a breakdown are chosen and ordered. */
const RANKED: Record<ClickMetric, { ranked?: Filter }> = {
  human: { ranked: own("human", "1") },
  unique: { ranked: own("human", "1") },
  bot: { ranked: own("human", "0") },
  total: {},
}

function countsOf(counts: RecordCounts): Counts {
  const [human, bot] = [counts["1"]!, counts["0"]!] // the values of BY_HUMAN
  return { human: human.records, bot: bot.records, total: human.records + bot.records, unique: human.visitors }
}
const chosen = (metrics: readonly ClickMetric[], counts: Counts) => Object.fromEntries(metrics.map((name) => [name, counts[name]]))

type ReportRange = Awaited<ReturnType<LinksHost["services"]["recordReports"]["summary"]>>["range"]
type Ranged = { range: ReportRange }
type Clicks = Counts & { qr: number }

function comparisonOf(now: Clicks, { range, clicks }: { range: ReportRange; clicks: Clicks }) {
  const names = (Object.keys(now) as (keyof Clicks)[]).filter((name) => clicks[name] > 0) // its own keys
  const percent = (name: keyof Clicks) => Math.round(((now[name] - clicks[name]) / clicks[name]) * 1_000) / 10
  return { range, clicks, change_percent: Object.fromEntries(names.map((name) => [name, percent(name)])) }
}

const metaOf = ({ range, visitor_window, notes }: Ranged & { visitor_window?: unknown; notes?: unknown }) => ({
  range,
  ...(visitor_window !== undefined && { visitor_window }),
  ...(notes !== undefined && { notes }),
})

function rangeOf({ range: { from, to, timezone, from_time, to_time } }: Ranged): { from: number; to: number } {
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
