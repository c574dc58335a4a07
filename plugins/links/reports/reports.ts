import { ArgumentReader, type Filter, type RecordCounts, refuseArguments, refuseChoice, refuseNames, type Site, siteFacts } from "#plugin"
import type { Link, LinksHost } from "../link.ts"
import type { BreakdownResponse, StatsResponse, TimeseriesResponse } from "../responses.ts"

/** Counts of clicks. */
const CLICK_METRICS = ["human", "bot", "total", "unique"] as const
type ClickMetric = (typeof CLICK_METRICS)[number]
type Counts = Record<ClickMetric, number>

/** Dimensions of a click. */
const DIMENSIONS = [
  ...["source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "country", "region", "city"],
  ...["device", "browser", "browser_version", "os", "os_version", "language", "rule", "bot_reason", "method", "status"],
] as const
/** Dimensions that are stored as properties of the click, not as columns of a visit. */
const CLICK_PROPERTIES = ["rule", "bot_reason", "method", "status"]

type Given = Record<string, unknown>

/** Reports about the clicks of a link, in the form of the statistics API. Throws `invalid_query` with all faults at once. */
export interface Reports {
  stats(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<StatsResponse>
  timeseries(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<TimeseriesResponse>
  breakdown(site: Site, link: Link, query: Given, signal: AbortSignal): Promise<BreakdownResponse>
  /** Returns the clicks per day over the last 30 days by link, oldest first. */
  sparklines(site: Site, links: readonly Link[], signal: AbortSignal): Promise<Map<number, { human: number[]; bot: number[] }>>
}

const SPARK_DAYS = 30
/** More than the number of rules and of bot reasons. */
const MAX_VALUES = 100
/** Clicks are counted by this property in one query, so that human and bot are always parts of the same total. */
const BY_HUMAN = { property: "human", values: ["0", "1"] }

export function createReports(host: LinksHost): Reports {
  const { stats, recordReports, goals } = host.services
  const options = (locked: Filter, signal: AbortSignal) => ({ form: "text" as const, records: "clicks" as const, locked, signal })
  const countOptions = (locked: Filter, signal: AbortSignal) => ({ ...options(locked, signal), by: BY_HUMAN })

  return {
    async stats(site, link, query, signal) {
      const { conversions, ...given } = query
      refuseNames(given, ["metrics", "interval"])
      if (conversions !== undefined && conversions !== "true" && conversions !== "false") refuseChoice("conversions", ["true", "false"])
      const plain = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith("compare") && name !== "match_weekday"))
      const rowsOf = async (property: string, filter: Filter) => {
        const rest = { dimension: "property", property, metrics: "events", limit: String(MAX_VALUES) }
        return (await stats.breakdown(site, { ...plain, ...rest }, options(filter, signal))).rows
      }
      // The totals are queried last, so that clicks that arrive meanwhile are never in a part without being in the total.
      const [qr, reasons, rules] = await Promise.all([
        recordReports.summary(site, given, countOptions(both(ofLink(link), hasProperty("qr", "1")), signal)),
        rowsOf("bot_reason", both(ofLink(link), hasProperty("human", "0"))),
        rowsOf("rule", peopleOf(link)),
      ])
      const all = await recordReports.summary(site, given, countOptions(ofLink(link), signal))
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
      const report = await recordReports.timeseries(site, given, countOptions(ofLink(link), signal))
      const shown = ({ counts, ...point }: (typeof report.points)[number]) => ({ ...point, ...pick(metrics, countsOf(counts)) })
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
      const named = CLICK_PROPERTIES.includes(String(dimension)) ? { dimension: "property", property: dimension } : { dimension }
      const report = await recordReports.breakdown(
        site,
        { ...rest, ...named, metrics: "visitors,events", sort: order === "unique" ? "visitors" : "events" },
        { ...countOptions(ofLink(link), signal), ...RANKED[order as ClickMetric] },
      )
      return {
        dimension: String(dimension),
        rows: report.rows.map(({ counts, ...value }) => ({ ...value, ...pick(metrics, countsOf(counts)) })),
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
          filter: { ...hasProperty("link_id", ""), values: links.map(({ id }) => String(id)) },
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

/** Returns a filter by a property of the click. */
const hasProperty = (property: string, value: string) => ({
  op: "is" as const,
  dimension: "property" as const,
  property,
  values: [value],
  missing: false,
  caseSensitive: true,
})
const both = (one: Filter, other: Filter): Filter => ({ op: "and", filters: [one, other] })
const ofLink = ({ id }: Link): Filter => hasProperty("link_id", String(id))
const peopleOf = (link: Link): Filter => both(ofLink(link), hasProperty("human", "1"))
/** Clicks by which the rows of a breakdown are ranked. */
const RANKED: Record<ClickMetric, { ranked?: Filter }> = {
  human: { ranked: hasProperty("human", "1") },
  unique: { ranked: hasProperty("human", "1") },
  bot: { ranked: hasProperty("human", "0") },
  total: {},
}

function countsOf(counts: RecordCounts): Counts {
  const [human, bot] = [counts["1"]!, counts["0"]!] // the values of BY_HUMAN
  return { human: human.records, bot: bot.records, total: human.records + bot.records, unique: human.visitors }
}
const pick = (metrics: readonly ClickMetric[], counts: Counts) => Object.fromEntries(metrics.map((name) => [name, counts[name]]))

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

/** Returns the midnights of the last 30 days and the one at the end of today. */
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
  return { metrics: names!, given } // rejected otherwise
}

/** A goal with the visits that completed it after a click. */
export interface Conversion {
  goal_id: number
  name: string
  visits: number
  visitors: number
}

interface ConversionOptions {
  site: Site
  goals: ReturnType<LinksHost["services"]["goals"]["rules"]>
  /** Selects the clicks of people on the link. */
  filter: Filter
  range: { from: number; to: number }
  signal: AbortSignal
}

/** Time after a click in which a visit of a visitor with a rotating identity counts. */
const AFTER_CLICK_MS = 30 * 60_000

/**
 * Counts the visits that complete a goal and start within 30 minutes after a click of the same visitor; for visitors with a longer
 * identity, within the range. Reads only visits that complete a goal.
 */
async function conversionsOf({ engine }: LinksHost, { site, goals, filter, range, signal }: ConversionOptions): Promise<Conversion[]> {
  const facts = siteFacts(site, goals)
  const caller = { organizationId: site.organization_id, signal }
  const clicks = new Map<number, number[]>()
  for await (const batch of engine.rows({ site: facts, records: "clicks", range, filter }, caller))
    for (const { visitor, started_at } of batch) clicks.set(visitor, [...(clicks.get(visitor) ?? []), started_at])
  const found: Conversion[] = []
  for (const { id, name } of goals) {
    const visitors = new Set<number>()
    let visits = 0
    const completes: Filter = { op: "is", dimension: "goal", values: [name], missing: false, caseSensitive: true }
    const query = { site: facts, range: { from: range.from, to: range.to + AFTER_CLICK_MS }, filter: completes }
    if (clicks.size > 0)
      for await (const batch of engine.rows(query, caller))
        for (const { visitor, visitor_kind, started_at } of batch) {
          const isLong = visitor_kind !== "rotating"
          const follows = (at: number) => at <= started_at && started_at <= (isLong ? range.to : at + AFTER_CLICK_MS)
          if (!(clicks.get(visitor) ?? []).some(follows)) continue
          visits++
          visitors.add(visitor)
        }
    found.push({ goal_id: id, name, visits, visitors: visitors.size })
  }
  return found
}
