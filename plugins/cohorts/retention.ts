import { type Static, Type as t } from "@sinclair/typebox"
import {
  averageRates,
  type CellRules,
  type CellState,
  cellStates,
  cellWindow,
  dayStart,
  type Fault,
  type Filter,
  fault,
  flatLabel,
  inspect,
  isObject,
  type RetentionQuery,
  refuseFaults,
  returnRate,
  type SavedFilters,
  type Site,
} from "#plugin"
import { engineCaller, type ReportCaller, readDays, readReportFilters, todayOf } from "./caller.ts"
import type { CohortsHost } from "./cohort.ts"
import { VISIT_DIMENSIONS } from "./definition.ts"
import type { Measured, ReportRequest, Reports } from "./report.ts"
import type { RetentionResponse } from "./responses.ts"
import { oneOf, RestrictInput } from "./schemas.ts"
import { hiddenGroups, isSmall } from "./small-groups.ts"

const closed = { additionalProperties: false } as const
const ACTIONS = ["event", "page", "goal", "any"] as const
const ACTION = {
  type: oneOf(ACTIONS, "`event`, `page`, `goal` or `any`, which is every event."),
  value: t.Optional(t.String({ minLength: 1, maxLength: 2_000, description: "Name of the event, or path of the page." })),
  goal_id: t.Optional(t.Integer({ minimum: 1, description: "Id of the goal." })),
}
const Start = t.Object(ACTION, { ...closed, description: "What starts a cohort. Default: any event." })
const Return = t.Object(
  { ...ACTION, count: t.Optional(t.Integer({ minimum: 1, maximum: 10_000, description: "Events that one period needs. Default: 1." })) },
  { ...closed, description: "What counts as a return. Default: any event." },
)

/** Longest row of each interval. */
const PERIODS = { day: 90, week: 53, month: 36 } as const
type Interval = keyof typeof PERIODS
const MAX_COHORTS = 1_000

export const RetentionInput = t.Object(
  {
    start: t.Optional(Start),
    return: t.Optional(Return),
    cohort_by: t.Optional(oneOf(["day", "week", "month"], "Length of a period. Default: `week`.")),
    periods: t.Optional(
      t.Integer({ minimum: 1, maximum: PERIODS.day, description: "Cells of a row, the cohort's own period included. Default: 12." }),
    ),
    from: t.Optional(t.String({ description: "First day whose period starts a cohort, as YYYY-MM-DD. Default: the last 12 periods." })),
    to: t.Optional(t.String({ description: "Last day whose period starts a cohort, as YYYY-MM-DD." })),
    mode: t.Optional(
      oneOf(
        ["first_time", "recurring"],
        "`first_time`: the cohort of the first start event. `recurring`: every period with one. Default: `first_time`.",
      ),
    ),
    first_ever: t.Optional(
      t.Boolean({ description: "Whether people whose very first start event doesn't match the filters are left out. Default: false." }),
    ),
    counting: t.Optional(oneOf(["exact", "unbounded"], "`exact`: returned in that period. `unbounded`: in it or later. Default: `exact`.")),
    measured: t.Optional(
      oneOf(["calendar", "elapsed"], "`elapsed` counts 24-hour days from each person's start, for cohorts by day. Default: `calendar`."),
    ),
    cohort_id: t.Optional(t.Integer({ minimum: 1, description: "Counts only people of this cohort." })),
    filters: t.Optional(t.Any({ description: "Filters on start events and their visits, as in statistics requests." })),
    breakdown: t.Optional(t.String({ description: "Dimension of the visit of the start event." })),
    restrict: t.Optional(RestrictInput),
  },
  { ...closed, title: "RetentionReport" },
)
type Action = Static<typeof Start>

export function createRetention(host: CohortsHost, reports: Reports) {
  /** Reports how many people of each cohort came back, and says for each number whether it can be known. */
  return async (caller: ReportCaller, body: unknown): Promise<RetentionResponse> => {
    const { site, least } = caller
    const now = host.now()
    const goals = host.services.goals.rules(site.id)
    const request = await reports.read(caller, (saved) => readRequest(body, { site, now, saved, goals }))
    const { interval, periods, edges, cohorts } = request
    const isSame = Bun.deepEquals(request.start, request.returning) && request.returnCount === 1
    const rules: CellRules = { ...request, isSame, now }
    const separate = windowsToKnow(rules, site)
    const report = await reports.open(caller, request, {
      range: { from: edges[0]!, to: edges[cohorts]! },
      ...(separate.length > 0 && { separate }),
    })
    const { counted } = report
    const measured = await report.measure((query) =>
      host.engine.retention(
        {
          ...query,
          ...(request.start && { start: request.start }),
          ...(request.returning && { returning: request.returning }),
          ...{ returnCount: request.returnCount, isSame, edges, cohorts, periods, mode: request.mode, firstEver: request.firstEver },
          ...{ counting: request.counting, elapsed: request.elapsed },
          ...(request.breakdown && { breakdown: request.breakdown }),
        },
        engineCaller(caller),
      ),
    )
    const { result } = measured
    const hiding = createHiding(measured, least)
    const known = cellStates(rules, counted.recognizes)
    const stated = result.rows.map((row, i) => ({
      ...row,
      states: known[row.cohort]!.map((state, period): CellState => {
        const isNumber = state === "complete" || state === "partial"
        return isNumber && (hiding.size(i) || hiding.cell(i, period)) ? "suppressed" : state
      }),
    }))
    const rows = stated.map(({ states, ...row }, i) => ({
      cohort: flatLabel(edges[row.cohort]!, interval, site.timezone),
      ...(request.breakdown && { value: row.isOther ? "(other)" : (row.value ?? "(none)") }),
      size: hiding.size(i) ? null : row.size,
      cells: states.map((state, period) => {
        const isShown = state === "complete" || state === "partial"
        const count = row.counts[period]!
        return { period, count: isShown ? count : null, rate: isShown ? returnRate(count, row.size) : null, state }
      }),
    }))
    return {
      identity: counted.identity(result.coverage),
      rows,
      average: averageRates(stated, periods),
      week_starts_on: "monday",
      suppressed: {
        below: least,
        groups:
          rows.filter(({ size }) => size === null).length +
          rows.flatMap(({ cells }) => cells).filter(({ state }) => state === "suppressed").length,
      },
      meta: {
        range: {
          from: flatLabel(edges[0]!, "day", site.timezone),
          to: flatLabel(edges[cohorts]! - 1, "day", site.timezone),
          timezone: site.timezone,
        },
        cohort_by: interval,
      },
    }
  }
}

/**
 * Returns the windows of which one must be known for the report to say anything: those of the cells after period 0, as far as they have
 * begun, otherwise those of period 0. With daily ids, no report looks at more than one day.
 */
function windowsToKnow(rules: CellRules, { settings }: Site) {
  const windowsOf = (period: number) => Array.from({ length: rules.cohorts }, (_, cohort) => cellWindow(rules, cohort, period))
  const isKnown = (window: ReturnType<typeof cellWindow>) => window !== undefined
  const later = Array.from({ length: rules.periods - 1 }, (_, i) => windowsOf(i + 1)).flatMap((windows) => windows.filter(isKnown))
  return later.length > 0 || settings.identity_mode === "daily" ? later : windowsOf(0).filter(isKnown)
}

type Result = Awaited<ReturnType<CohortsHost["engine"]["retention"]>>
type Row = Result["rows"][number]

/** Decides which sizes and cells are hidden: small groups, and numbers that tell one by leaving something out or by adding up values. */
function createHiding(measured: Measured<Result>, least: number) {
  if (least === 0) return { size: () => false, cell: () => false }
  const { rows } = measured.result
  const keyOf = ({ cohort, value, isOther }: Row) => JSON.stringify([cohort, value, isOther])
  const indexes = new WeakMap<Result, Map<string, Row>>()
  const matching = (result: Result, row: Row): Row | undefined => {
    const index = indexes.get(result) ?? new Map(result.rows.map((other) => [keyOf(other), other]))
    indexes.set(result, index)
    return index.get(keyOf(row))
  }
  const hiddenBy = (numberOf: (row: Row | undefined) => number): boolean[] => {
    const hidden = rows.map((row) => measured.hides((result) => numberOf(matching(result, row))))
    // The values of a breakdown add up to the cohort, which is known without it.
    for (const places of Map.groupBy(rows.keys(), (i) => rows[i]!.cohort).values()) {
      if (places.length === 1) continue
      const people = places.map((i) => numberOf(rows[i]))
      const groups = hiddenGroups(people, least, (at) => hidden[places[at]!]!)
      places.forEach((i, at) => {
        hidden[i] = groups[at]!
      })
    }
    return hidden
  }
  const sizes = hiddenBy((row) => row?.size ?? 0)
  const cells = (rows[0]?.counts ?? []).map((_, period) => hiddenBy((row) => row?.counts[period] ?? 0))
  return {
    size: (row: number) => sizes[row]!,
    // Those who did not return are a group, too.
    cell: (row: number, period: number) => cells[period]![row]! || isSmall(rows[row]!.size - rows[row]!.counts[period]!, least),
  }
}

interface RetentionRequest
  extends ReportRequest,
    Pick<RetentionQuery, "edges" | "cohorts" | "periods" | "mode" | "firstEver" | "counting" | "elapsed" | "returnCount"> {
  interval: Interval
  start: Filter | undefined
  returning: Filter | undefined
  breakdown: (typeof VISIT_DIMENSIONS)[number] | undefined
}

interface ReadingParts {
  site: Site
  now: number
  saved: SavedFilters
  goals: readonly { id: number; name: string }[]
}

function readRequest(body: unknown, { site, now, saved, goals }: ReadingParts): RetentionRequest {
  const { fields, faults } = inspect(RetentionInput, body, "", [])
  const interval: Interval = fields.cohort_by ?? "week"
  const periods = fields.periods ?? Math.min(12, PERIODS[interval])
  if (periods > PERIODS[interval])
    faults.push(
      fault("/periods", "out_of_range", `must be at most ${PERIODS[interval]} by ${interval}`, { min: 1, max: PERIODS[interval] }),
    )
  const filters = readReportFilters(isObject(body) ? body.filters : undefined, saved, faults)
  const start = actionFilter(fields.start, "/start", goals, faults)
  const returning = actionFilter(fields.return, "/return", goals, faults)
  if (fields.breakdown !== undefined && !VISIT_DIMENSIONS.some((known) => known === fields.breakdown))
    faults.push(fault("/breakdown", "invalid_choice", "must be a dimension of visits", VISIT_DIMENSIONS))
  if (fields.measured === "elapsed" && interval !== "day")
    faults.push(fault("/measured", "unsupported_combination", "can only be elapsed with cohort_by day"))
  const today = todayOf(site, now)
  const usual = { from: periodStart(today, interval).subtract({ [`${interval}s`]: 11 }), to: today }
  const days = readDays(fields, usual, { now, site }, faults)
  const first = periodStart(days.from, interval)
  const cohorts = countPeriods(first, periodStart(days.to, interval), interval)
  if (cohorts > MAX_COHORTS) faults.push(fault("/from", "too_many_points", `gives more than ${MAX_COHORTS} cohorts`))
  refuseFaults(faults)
  return {
    ...{ interval, periods, cohorts, start, returning },
    edges: edgesOf(first, { today, interval, cohorts, timezone: site.timezone }),
    filters,
    mode: fields.mode ?? "first_time",
    firstEver: fields.first_ever ?? false,
    counting: fields.counting ?? "exact",
    elapsed: fields.measured === "elapsed",
    returnCount: fields.return?.count ?? 1,
    cohortId: fields.cohort_id,
    breakdown: fields.breakdown as RetentionRequest["breakdown"],
    restrict: fields.restrict,
  }
}

/** Returns the first day of the period of a day. Weeks start on Monday. */
const periodStart = (day: Temporal.PlainDate, interval: Interval): Temporal.PlainDate => {
  if (interval === "month") return day.with({ day: 1 })
  return interval === "week" ? day.subtract({ days: day.dayOfWeek - 1 }) : day
}

const countPeriods = (first: Temporal.PlainDate, last: Temporal.PlainDate, interval: Interval): number => {
  if (interval === "month") return (last.year - first.year) * 12 + last.month - first.month + 1
  return Math.round(first.until(last).days / (interval === "week" ? 7 : 1)) + 1
}

/** Returns the edges of the periods from the first cohort until the end of the running period, and at least of all cohorts. */
function edgesOf(
  first: Temporal.PlainDate,
  { today, interval, cohorts, timezone }: { today: Temporal.PlainDate; interval: Interval; cohorts: number; timezone: string },
): number[] {
  const count = Math.max(cohorts, countPeriods(first, periodStart(today, interval), interval))
  return Array.from({ length: count + 1 }, (_, i) => dayStart(first.add({ [`${interval}s`]: i }), timezone))
}

/** Returns the filter of an action; undefined for any event, and with a fault. */
function actionFilter(action: Action | undefined, pointer: string, goals: ReadingParts["goals"], faults: Fault[]): Filter | undefined {
  if (!action || action.type === "any") return undefined
  const exactly = (dimension: "event" | "page" | "goal", value: string): Filter => ({
    op: "is",
    dimension,
    values: [value],
    missing: false,
    caseSensitive: true,
  })
  if (action.type === "goal") {
    const goal = goals.find(({ id }) => id === action.goal_id)
    if (goal) return exactly("goal", goal.name)
    faults.push(
      fault(`${pointer}/goal_id`, action.goal_id === undefined ? "required" : "broken_reference", "must be the id of a goal of this site"),
    )
    return undefined
  }
  if (action.value === undefined) {
    faults.push(fault(`${pointer}/value`, "required", "is required"))
    return undefined
  }
  const isPageview = exactly("event", "pageview")
  const kind: Filter = action.type === "page" ? isPageview : { op: "not", filter: isPageview }
  return { op: "and", filters: [exactly(action.type, action.value), kind] }
}
