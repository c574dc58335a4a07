/** The reports in ClickHouse's SQL, with its own aggregate functions. `uniqExact` and `windowFunnel` are exact for this data. */
import type { Range } from "../../../src/domain/query.ts"
import { type Answer, DAY_MS, type Goal, NO_SUMS, type Report, ROWS_SHOWN, summaryOf } from "./reports.ts"

type Cell = string | number | null
type All = (sql: string) => Cell[][]

const COUNTED = "name not in ('engagement', 'vitals')"
const BOUNCED = "pageviews <= 1 and interactive = 0"

export function answerInClickhouse(all: All, siteId: number, report: Report, range: Range): Answer {
  const scope = scopeOf(siteId, report, range)
  const { ask } = report
  const numbers = (sql: string): number[] => all(sql)[0]!.map(Number)
  if (ask.kind === "summary") return [summary(numbers, scope)]
  if (ask.kind === "days") return days(all, scope)
  if (ask.kind === "goals") return goals(numbers, scope, ask.goals)
  if (ask.kind === "funnel") return [funnel(numbers, scope, ask.steps)]
  if (ask.by === "page") return named(all(pages(scope)))
  return ask.by === "event" ? named(all(names(scope))) : visitsBy(all, scope, ask.by)
}

/** The conditions of a report, shared by its statements. */
interface Scope {
  range: Range
  page: string | undefined
  /** Counted events that satisfy the filters, at any time since the start of the range. */
  events: string
  /** Visits that start in the range and satisfy the filters. */
  visits: string
}

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`

function scopeOf(siteId: number, { filter }: Report, range: Range): Scope {
  const { from, to } = range
  const [, page] = filter.find(([dimension]) => dimension === "page") ?? []
  const traits = filter.filter(([dimension]) => dimension !== "page").map(([name, value]) => `${name} = ${quoted(value)}`)
  const inPage = page === undefined ? [] : [`page = ${quoted(page)}`]
  const events = `from events where ${[`site_id = ${siteId}`, `at_ms >= ${from}`, COUNTED, ...traits, ...inPage].join(" and ")}`
  const chosen = page === undefined ? [] : [`id in (select visit ${events} and visit_start < ${to})`]
  const visits = `from visits where ${[`site_id = ${siteId}`, `start >= ${from}`, `start < ${to}`, ...traits, ...chosen].join(" and ")}`
  return { range, page, events, visits }
}

function summary(numbers: (sql: string) => number[], { range, page, events, visits }: Scope): number[] {
  const [visitors, pageviews, counted] = numbers(
    `select uniqExact(visitor), countIf(name = 'pageview'), count() ${events} and at_ms < ${range.to}`,
  )
  const entered = page === undefined ? "1" : `entry_page = ${quoted(page)}`
  const [count, visitPageviews, durationMs, entries, bounces] = numbers(
    `select count(), sum(pageviews), sum(duration), countIf(${entered}), countIf(${BOUNCED} and ${entered}) ${visits}`,
  )
  const ofEvents = { visitors: visitors!, pageviews: pageviews!, events: counted! }
  const ofVisits = { visits: count!, visitPageviews: visitPageviews!, durationMs: durationMs!, entries: entries!, bounces: bounces! }
  return summaryOf({ ...ofEvents, ...ofVisits })
}

function days(all: All, { range: { from, to }, events, visits }: Scope): Answer {
  const day = (time: string) => `intDiv(${time} - ${from}, ${DAY_MS}) as day`
  const rows = all(`
    select day, visitors, visits, pageviews from (
      select ${day("at_ms")}, uniqExact(visitor) as visitors, countIf(name = 'pageview') as pageviews ${events} and at_ms < ${to} group by day
    ) as seen left join (select ${day("start")}, count() as visits ${visits} group by day) as begun using day order by day`)
  return rows.map(([number, ...values]) => [from + Number(number) * DAY_MS, ...values.map(Number)])
}

/** Breakdown by a visit dimension: both sets are grouped by the visit's value. */
function visitsBy(all: All, { range, events, visits }: Scope, dimension: string): Answer {
  const rows = all(`
    select key, visitors, visits, pageviews, duration, bounces from (
      select ${dimension} as key, uniqExact(visitor) as visitors, countIf(name = 'pageview') as pageviews
      ${events} and at_ms < ${range.to} group by key
    ) as seen left join (
      select ${dimension} as key, count() as visits, sum(duration) as duration, countIf(${BOUNCED}) as bounces ${visits} group by key
    ) as begun using key order by visitors desc, key limit ${ROWS_SHOWN}`)
  return rows.map(([key, ...values]) => {
    const [visitors, count, pageviews, durationMs, bounces] = values.map(Number)
    const sums = { ...NO_SUMS, visits: count!, entries: count!, durationMs: durationMs!, bounces: bounces! }
    const [, , , , , bounceRate, duration] = summaryOf(sums)
    return [keyOf(key!), visitors!, count!, pageviews!, bounceRate!, duration!]
  })
}

const pages = ({ range: { from, to }, events }: Scope): string => `
  select page, uniqExactIf(visitor, at_ms < ${to}) as visitors, uniqExactIf(visit, visit_start >= ${from} and visit_start < ${to}),
    countIf(name = 'pageview' and at_ms < ${to})
  ${events} and visit_start < ${to} group by page having visitors > 0 order by visitors desc, page limit ${ROWS_SHOWN}`

/** Excludes pageviews, which are not custom events. */
const names = ({ range, events }: Scope): string => `
  select name, uniqExact(visitor) as visitors, count() ${events} and at_ms < ${range.to} and name <> 'pageview'
  group by name order by visitors desc, name limit ${ROWS_SHOWN}`

const named = (rows: Cell[][]): Answer => rows.map(([key, ...values]) => [keyOf(key!), ...values.map(Number)])

const keyOf = (text: Cell): string | null => (text === null || text === "" ? null : String(text))

const completes = ({ kind, match, value }: Goal): string => {
  if (kind === "event") return `name = ${quoted(value)}`
  return `(name = 'pageview' and ${match === "exact" ? `page = ${quoted(value)}` : `startsWith(page, ${quoted(value)})`})`
}

/** Counts all goals in one pass. */
function goals(numbers: (sql: string) => number[], { range, events }: Scope, wanted: readonly Goal[]): Answer {
  const sorted = [...wanted].sort((left, right) => (left.value < right.value ? -1 : 1))
  const columns = sorted.flatMap((goal) => [`uniqExactIf(visitor, ${completes(goal)})`, `countIf(${completes(goal)})`])
  const counts = numbers(`select ${columns.join(", ")} ${events} and at_ms < ${range.to}`)
  return sorted.map(({ value }, at) => [value, counts[at * 2]!, counts[at * 2 + 1]!] as const).filter(([, visitors]) => visitors > 0)
}

/** A visitor's events never share a millisecond in the data, and no event matches two steps, so the mode of the function makes no difference. */
function funnel(numbers: (sql: string) => number[], { range, events }: Scope, steps: readonly Goal[]): number[] {
  const conditions = steps.map(completes)
  const levels = steps.map((_, step) => `countIf(level > ${step})`)
  const visitors = `select windowFunnel(${range.to - range.from})(toUInt64(at_ms), ${conditions.join(", ")}) as level
    ${events} and at_ms < ${range.to} and (${conditions.join(" or ")}) group by visitor`
  return numbers(`select ${levels.join(", ")} from (${visitors})`)
}
