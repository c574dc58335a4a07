import {
  ArgumentReader,
  bucketsOf,
  type Fault,
  type Filter,
  flatLabel,
  isPartial,
  readInterval,
  refuseArguments,
  type SavedFilters,
  type Site,
} from "#plugin"
import { dayEdges, daysOf, engineCaller, percent, type ReportCaller, readAsOf, readDays, readReportFilters, todayOf } from "./caller.ts"
import type { Cohort, CohortsHost } from "./cohort.ts"
import type { Evaluation } from "./evaluation.ts"
import { ENGAGEMENT_METRICS, type EngagementPointResponse, type EngagementResponse, type HistogramResponse } from "./responses.ts"
import { hiddenGroups, isSmall, tellsSmallGroup } from "./small-groups.ts"

export const WINDOWS = ["7", "28"] as const

export interface ActivityParts {
  savedOf(caller: ReportCaller): Promise<SavedFilters>
  find(site: Site, id: number): Promise<Cohort>
  evaluation: Evaluation
}

/** Arguments that the reports on active people share. */
export interface ActivityArguments {
  window: number
  asOf: Temporal.PlainDate
  cohortId: number | undefined
  filter: Filter | undefined
  restrict: "identified" | undefined
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
  const filter = readReportFilters(reader.raw("filters"), saved, faults)
  for (const found of faults) reader.refuse(found)
  return { window, asOf, cohortId, filter, restrict }
}

export function createActivity(host: CohortsHost, { savedOf, find, evaluation }: ActivityParts) {
  /** Opens a report on active people: who counts, and the query that all of them share. Throws `identity_insufficient`. */
  async function open(caller: ReportCaller, { cohortId, filter, restrict }: ActivityArguments, range: { from: number; to: number }) {
    const { site, locked } = caller
    const filters = distinctFilters(filter)
    const cohort = cohortId === undefined ? undefined : await find(site, cohortId)
    const among = cohort && (await evaluation.setFor(caller, cohort))
    const counted = await host.services.people.resolve({ site, range, windows: among?.windows ?? [], ...(restrict && { restrict }) })
    const queryWith = (kept: readonly Filter[], set: boolean) => {
      const all = locked ? [...kept, locked] : kept
      return {
        site: counted.scope.site,
        scope: counted.scope,
        ...(all.length > 0 && { filter: { op: "and" as const, filters: all } }),
        ...(among && set && { among: among.set(counted.scope) }),
      }
    }
    /** Without each filter and without the cohort: what leaving them out changes must not be a small group. */
    const variants = [...filters.map((_, i) => queryWith(filters.toSpliced(i, 1), true)), ...(among ? [queryWith(filters, false)] : [])]
    return { counted, query: queryWith(filters, true), variants: caller.least === 0 ? [] : variants }
  }

  return {
    open,

    /** Reports how many people were active on how many days of a window. */
    async histogram(caller: ReportCaller, given: Record<string, unknown>): Promise<HistogramResponse> {
      const { site, least } = caller
      const reader = new ArgumentReader(given, ACTIVITY_ARGUMENTS)
      const read = readActivity(reader, { site, now: host.now(), saved: await savedOf(caller) })
      refuseArguments(reader, "text")
      const { window, asOf } = read
      const first = asOf.subtract({ days: window - 1 })
      const before = { from: first.subtract({ days: window }), to: first.subtract({ days: 1 }) }
      const { counted, query, variants } = await open(caller, read, daysOf(first, asOf, site.timezone))
      const [days, previousDays] = [dayEdges(first, asOf, site.timezone), dayEdges(before.from, before.to, site.timezone)]
      const measure = (one: typeof query) => host.engine.activeDays({ ...one, days, previous: previousDays }, engineCaller(caller))
      const result = await measure(query)
      const others = await Promise.all(variants.map(measure))
      const shown = bucketsOfPeople(
        result.people,
        others.map(({ people }) => people),
        least,
      )
      const isKnown = counted.recognizes(daysOf(before.from, before.to, site.timezone))
      const earlier = others.map((other) => other.previous)
      const previous = isKnown ? bucketsOfPeople(result.previous, earlier, least) : undefined
      const hidden = shown.buckets.concat(previous?.buckets ?? []).filter(({ people }) => people === null).length
      const events = result.tenths.reduce((sum, count) => sum + count, 0)
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
      const today = todayOf(site, now)
      const { timezone } = site
      const saved = await savedOf(caller)
      const reader = new ArgumentReader(given, ["from", "to", "interval", "metrics", "filters", "restrict", "cohort_id"])
      const faults: Fault[] = []
      const days = readDays(given, { from: today.subtract({ days: 29 }), to: today }, { now, site }, faults)
      const range = {
        range: daysOf(days.from, days.to, timezone),
        from: days.from.toString(),
        to: days.to.toString(),
        timezone,
        hours: false,
      }
      const interval = given.interval === undefined || given.interval === "auto" ? "day" : (readInterval(reader, range) ?? "day")
      if (interval === "hour") reader.choice("interval", ["auto", "day", "week", "month"])
      const metrics = readMetrics(reader)
      const cohortId = reader.integer("cohort_id", { min: 1, max: Number.MAX_SAFE_INTEGER })
      const restrict = reader.choice("restrict", ["identified"])
      const filter = readReportFilters(given.filters, saved, faults)
      for (const found of faults) reader.refuse(found)
      refuseArguments(reader, "text")

      const whole = bucketsOf(range.range, interval === "hour" ? "day" : interval, timezone)
      const edges = [previousEdge(whole.edges[0]!, interval, timezone), ...whole.edges]
      const first = days.from.subtract({ days: 28 })
      const onlyDaily = metrics.every((metric) => metric === "dau")
      // Daily people need one day of identity; everything else needs the time from the first to the last day that a point looks at.
      const needed = onlyDaily
        ? daysOf(days.to, days.to, timezone)
        : { from: Math.min(edges[0]!, dayEdges(first, first, timezone)[0]!), to: range.range.to }
      const { counted, query, variants } = await open(caller, { window: 28, asOf: days.to, cohortId, filter, restrict }, needed)
      const dayStarts = dayEdges(first, days.to, timezone)
      const measure = (one: typeof query) => host.engine.engagement({ ...one, edges, days: dayStarts }, engineCaller(caller))
      const result = await measure(query)
      const others = await Promise.all(variants.map(measure))
      let groups = 0
      const points = result.points.map((point, i): EngagementPointResponse => {
        // The new, returning and resurrected people add up to the active ones, and so do the returning and dormant ones of the point before.
        const isHidden = (name: keyof typeof point) =>
          isSmall(point[name], least) ||
          tellsSmallGroup(
            point[name],
            others.map(({ points: left }) => left[i]![name]),
            least,
          )
        const hidesParts = PARTS.some(isHidden)
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

export type Activity = ReturnType<typeof createActivity>

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

/**
 * Returns the filters of a report one by one. Of equal ones only the first: leaving out one of them would change nothing and hide what
 * the filter does.
 */
function distinctFilters(filter: Filter | undefined): Filter[] {
  const filters = filter === undefined ? [] : filter.op === "and" ? filter.filters : [filter]
  return [...new Map(filters.map((one) => [JSON.stringify(one), one])).values()]
}

/** Returns the people by number of active days, with small groups hidden. `others` are those without one of the filters. `counted` are the shown numbers, and 0 for hidden ones. */
function bucketsOfPeople(people: readonly number[], others: readonly (readonly number[])[], least: number) {
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  const total = sumOf(people)
  const isTelling = (i: number) =>
    tellsSmallGroup(
      people[i]!,
      others.map((other) => other[i]!),
      least,
    )
  const hidden = hiddenGroups(people, least, isTelling)
  const hidesTotal = isSmall(total, least) || tellsSmallGroup(total, others.map(sumOf), least)
  const buckets = people.map((count, i) => {
    const hides = hidden[i]! || hidesTotal
    return { active_days: i + 1, people: hides ? null : count, share: hides ? null : percent(count, total) }
  })
  return { people: hidesTotal ? null : total, buckets, counted: buckets.map(({ people }) => people ?? 0) }
}

function atLeast(people: readonly number[]): HistogramResponse["at_least"] {
  const total = people.reduce((sum, count) => sum + count, 0)
  return people.map((_, i) => {
    const count = people.slice(i).reduce((sum, more) => sum + more, 0)
    return { days: i + 1, people: count, share: percent(count, total) }
  })
}

/** Returns the median of the active days; of an even number of people the mean of the two in the middle. */
function medianOf(people: readonly number[]): number | null {
  const total = people.reduce((sum, count) => sum + count, 0)
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
  const total = people.reduce((sum, count) => sum + count, 0)
  const days = people.reduce((sum, count, i) => sum + count * (i + 1), 0)
  return total === 0 ? null : Math.round((100 * days) / total) / 100
}
