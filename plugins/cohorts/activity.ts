import {
  ArgumentReader,
  bucketsOf,
  type Fault,
  flatLabel,
  isPartial,
  readInterval,
  refuseArguments,
  type SavedFilters,
  type Site,
} from "#plugin"
import { dayEdges, daysOf, engineCaller, percent, type ReportCaller, readAsOf, readDays, readReportFilters, todayOf } from "./caller.ts"
import type { CohortsHost } from "./cohort.ts"
import type { Measured, ReportRequest, Reports } from "./report.ts"
import { ENGAGEMENT_METRICS, type EngagementPointResponse, type EngagementResponse, type HistogramResponse } from "./responses.ts"
import { hiddenGroups, sumOf } from "./small-groups.ts"

export const WINDOWS = ["7", "28"] as const

/** Arguments that the reports on active people share. */
export interface ActivityArguments extends ReportRequest {
  window: number
  asOf: Temporal.PlainDate
}

/** Names of the arguments that `readActivity` reads. */
export const ACTIVITY_ARGUMENTS = ["window", "as_of", "cohort_id", "filters", "restrict"] as const

/** Reads the arguments that the reports on active people share. Faults are refused by the reader. */
export function readActivity(
  reader: ArgumentReader,
  { site, now, saved }: { site: Site; now: number; saved: SavedFilters },
): ActivityArguments {
  const faults: Fault[] = []
  const window = Number(reader.choice("window", WINDOWS) ?? 28)
  const cohortId = reader.integer("cohort_id", { min: 1, max: Number.MAX_SAFE_INTEGER })
  const restrict = reader.choice("restrict", ["identified"])
  const today = todayOf(site, now)
  const asOf = readAsOf(reader.raw("as_of"), "/as_of", { usual: today.subtract({ days: 1 }), today }, faults)
  const filters = readReportFilters(reader.raw("filters"), saved, faults)
  for (const found of faults) reader.refuse(found)
  return { window, asOf, cohortId, filters, restrict }
}

export function createActivity(host: CohortsHost, reports: Reports) {
  return {
    /** Reports how many people were active on how many days of a window. */
    async histogram(caller: ReportCaller, given: Record<string, unknown>): Promise<HistogramResponse> {
      const { site, least } = caller
      const request = await reports.read(caller, (saved) => {
        const reader = new ArgumentReader(given, ACTIVITY_ARGUMENTS)
        const read = readActivity(reader, { site, now: host.now(), saved })
        refuseArguments(reader, "text")
        return read
      })
      const { window, asOf } = request
      const first = asOf.subtract({ days: window - 1 })
      const before = { from: first.subtract({ days: window }), to: first.subtract({ days: 1 }) }
      const { counted, measure } = await reports.open(caller, request, { range: daysOf(first, asOf, site.timezone) })
      const [days, previousDays] = [dayEdges(first, asOf, site.timezone), dayEdges(before.from, before.to, site.timezone)]
      const measured = await measure((query) => host.engine.activeDays({ ...query, days, previous: previousDays }, engineCaller(caller)))
      const { result } = measured
      const shown = bucketsOfPeople(measured, ({ people }) => people, least)
      const isKnown = counted.recognizes(daysOf(before.from, before.to, site.timezone))
      const previous = isKnown ? bucketsOfPeople(measured, (one) => one.previous, least) : undefined
      const hidden = shown.buckets.concat(previous?.buckets ?? []).filter(({ people }) => people === null).length
      const events = sumOf(result.tenths)
      return {
        window,
        as_of: asOf.toString(),
        people: shown.people,
        buckets: shown.buckets,
        at_least: atLeast(shown.counted),
        tenths: shown.people === null || shown.people < least * 10 ? null : result.tenths.map((count) => percent(count, events)),
        previous: { people: previous?.people ?? null, buckets: previous?.buckets ?? [] },
        median: medianOf(shown.counted),
        mean: meanOf(shown.counted),
        identity: counted.identity(result.coverage),
        suppressed: { below: least, groups: hidden },
        meta: { range: { from: first.toString(), to: asOf.toString(), timezone: site.timezone } },
      }
    },

    /** Reports active, new, returning, resurrected and dormant people over time. */
    async engagement(caller: ReportCaller, given: Record<string, unknown>): Promise<EngagementResponse> {
      const { site, least } = caller
      const now = host.now()
      const { timezone } = site
      const { days, range, interval, metrics, ...request } = await reports.read(caller, (saved) =>
        readEngagement(given, { site, now, saved }),
      )
      const whole = bucketsOf(range.range, interval, timezone)
      const edges = [previousEdge(whole.edges[0]!, interval, timezone), ...whole.edges]
      const first = days.from.subtract({ days: 28 })
      const onlyDaily = metrics.every((metric) => metric === "dau")
      // Daily people need one day of identity; everything else needs the time from the first to the last day that a point looks at.
      const needed = onlyDaily
        ? daysOf(days.to, days.to, timezone)
        : { from: Math.min(edges[0]!, dayEdges(first, first, timezone)[0]!), to: range.range.to }
      const { counted, measure } = await reports.open(caller, request, { range: needed })
      const dayStarts = dayEdges(first, days.to, timezone)
      const { result, hides } = await measure((query) => host.engine.engagement({ ...query, edges, days: dayStarts }, engineCaller(caller)))
      let groups = 0
      const points = result.points.map((point, i): EngagementPointResponse => {
        const isHidden = (name: keyof typeof point) => hides(({ points }) => points[i]![name])
        const hidesParts = PARTS.some(isHidden) || WHOLES.some((wholeOf) => hides(({ points }) => wholeOf(points[i]!)))
        const shownOf = (metric: (typeof ENGAGEMENT_METRICS)[number]): number | null => {
          if (metric === "stickiness") return isHidden("dau") || isHidden("mau") ? null : percent(point.dau, point.mau)
          const hides = PARTS.some((name) => name === metric) ? hidesParts : isHidden(metric)
          groups += Number(hides)
          return hides ? null : point[metric]
        }
        return {
          time: flatLabel(whole.edges[i]!, "day", timezone),
          ...(isPartial(whole, i, now) && { partial: true }),
          ...Object.fromEntries(metrics.map((metric) => [metric, shownOf(metric)])),
        }
      })
      return {
        points,
        interval,
        identity: counted.identity(result.coverage),
        suppressed: { below: least, groups },
        meta: { range: { from: range.from, to: range.to, timezone } },
      }
    },
  }
}
/** The metrics that add up to others. One hidden number of a point would follow from the rest. */
const PARTS = ["new", "returning", "resurrected", "dormant"] as const
type Parts = Record<(typeof PARTS)[number], number>
/** The people of a point, and those of the point before. */
const WHOLES: readonly ((point: Parts) => number)[] = [
  (point) => point.new + point.returning + point.resurrected,
  ({ returning, dormant }) => returning + dormant,
]

export type Activity = ReturnType<typeof createActivity>

/** Reads the arguments of the report on engagement. */
function readEngagement(given: Record<string, unknown>, { site, now, saved }: { site: Site; now: number; saved: SavedFilters }) {
  const { timezone } = site
  const today = todayOf(site, now)
  const reader = new ArgumentReader(given, ["from", "to", "interval", "metrics", "filters", "restrict", "cohort_id"])
  const faults: Fault[] = []
  const days = readDays(given, { from: today.subtract({ days: 29 }), to: today }, { now, site }, faults)
  const range = { range: daysOf(days.from, days.to, timezone), from: days.from.toString(), to: days.to.toString(), timezone, hours: false }
  const interval = given.interval === undefined || given.interval === "auto" ? "day" : (readInterval(reader, range) ?? "day")
  if (interval === "hour") reader.choice("interval", ["auto", "day", "week", "month"])
  const metrics = readMetrics(reader)
  const cohortId = reader.integer("cohort_id", { min: 1, max: Number.MAX_SAFE_INTEGER })
  const restrict = reader.choice("restrict", ["identified"])
  const filters = readReportFilters(given.filters, saved, faults)
  for (const found of faults) reader.refuse(found)
  refuseArguments(reader, "text")
  // Hours were refused above.
  return { days, range, interval: interval as Exclude<typeof interval, "hour">, metrics, cohortId, restrict, filters }
}

/** Reads a list of metrics, separated by commas. Default: all. */
function readMetrics(reader: ArgumentReader): readonly (typeof ENGAGEMENT_METRICS)[number][] {
  const given = reader.raw("metrics")
  if (given === undefined) return ENGAGEMENT_METRICS
  const names = String(given).split(",")
  const known = ENGAGEMENT_METRICS.filter((metric) => names.includes(metric))
  if (known.length === new Set(names).size) return known
  reader.refuse({
    pointer: "/metrics",
    code: "invalid_choice",
    detail: `metrics must be from: ${ENGAGEMENT_METRICS.join(", ")}.`,
    allowed: ENGAGEMENT_METRICS,
  })
  return ENGAGEMENT_METRICS
}

/** Returns the start of the point before the first one. */
function previousEdge(first: number, interval: string, timezone: string): number {
  const day = Temporal.Instant.fromEpochMilliseconds(first).toZonedDateTimeISO(timezone).toPlainDate()
  const before =
    interval === "month"
      ? day.with({ day: 1 }).subtract({ months: day.day === 1 ? 1 : 0 })
      : day.subtract({ days: interval === "week" ? (day.dayOfWeek === 1 ? 7 : day.dayOfWeek - 1) : 1 })
  return before.toZonedDateTime(timezone).epochMilliseconds
}

/** Returns the people by number of active days, with small groups hidden. `counted` are the shown numbers, and 0 for hidden ones. */
function bucketsOfPeople<Result>({ result, hides }: Measured<Result>, peopleOf: (result: Result) => readonly number[], least: number) {
  const people = peopleOf(result)
  const total = sumOf(people)
  const hidden = hiddenGroups(people, least, (i) => hides((one) => peopleOf(one)[i]!))
  const hidesTotal = hides((one) => sumOf(peopleOf(one)))
  const buckets = people.map((count, i) => {
    const hides = hidden[i]! || hidesTotal
    return { active_days: i + 1, people: hides ? null : count, share: hides ? null : percent(count, total) }
  })
  return { people: hidesTotal ? null : total, buckets, counted: buckets.map(({ people }) => people ?? 0) }
}

function atLeast(people: readonly number[]): HistogramResponse["at_least"] {
  const total = sumOf(people)
  return people.map((_, i) => {
    const count = sumOf(people.slice(i))
    return { days: i + 1, people: count, share: percent(count, total) }
  })
}

/** Returns the median of the active days; of an even number of people the mean of the two in the middle. */
function medianOf(people: readonly number[]): number | null {
  const total = sumOf(people)
  if (total === 0) return null
  const at = (rank: number): number => {
    let seen = 0
    for (const [i, count] of people.entries()) {
      seen += count
      if (seen > rank) return i + 1
    }
    return people.length
  }
  return (at(Math.ceil(total / 2) - 1) + at(Math.floor(total / 2))) / 2
}

function meanOf(people: readonly number[]): number | null {
  const total = sumOf(people)
  const days = people.reduce((sum, count, i) => sum + count * (i + 1), 0)
  return total === 0 ? null : Math.round((100 * days) / total) / 100
}
