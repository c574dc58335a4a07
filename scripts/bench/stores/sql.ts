/**
 * The reports in SQL for the two SQL contenders. Texts are numbers in every table, because both group numbers faster than texts.
 * `wide` tables repeat the visit's columns on every event (DuckDB reads only the columns it needs); narrow ones need a join (SQLite
 * reads whole rows).
 */
import type { Range } from "../../../src/domain/query.ts"
import { type Answer, DAY_MS, type Goal, NO_SUMS, type Report, ROWS_SHOWN, type Sums, summaryOf } from "./reports.ts"

type Cell = string | number | bigint | null
export interface Dialect {
  wide: boolean
  all(sql: string): Promise<Cell[][]>
}

const COUNTED = "e.name <> 2 and e.name <> 3" // not engagement, not vitals
const BOUNCED = "v.pageviews <= 1 and v.interactive = 0"
const VISIT_SUMS = `count(*), coalesce(sum(v.pageviews), 0), coalesce(sum(v.duration), 0), count(*) filter (where ${BOUNCED})`

export async function answerInSql(dialect: Dialect, siteId: number, report: Report, range: Range): Promise<Answer> {
  const scope = new Scope(dialect, siteId, report, range)
  const { ask } = report
  if (ask.kind === "summary") return [summaryOf(await scope.summary())]
  if (ask.kind === "days") return scope.days()
  if (ask.kind === "goals") return scope.goals(ask.goals)
  if (ask.kind === "funnel") return scope.funnel(ask.steps)
  if (ask.by === "page") return scope.pages()
  return ask.by === "event" ? scope.names() : scope.visitsBy(ask.by)
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const numberOf = (dictionary: string, text: string): string =>
  `(select id from texts where dictionary = ${quoted(dictionary)} and text = ${quoted(text)})`
const dictionaryOf = (dimension: string): string => (dimension === "entry_page" ? "page" : dimension)

/** The conditions of a report, shared by its statements. */
class Scope {
  constructor(
    private readonly dialect: Dialect,
    private readonly siteId: number,
    private readonly report: Report,
    private readonly range: Range,
  ) {}

  private get visitFilters() {
    return this.report.filter.filter(([dimension]) => dimension !== "page")
  }
  private get page(): string | undefined {
    return this.report.filter.find(([dimension]) => dimension === "page")?.[1]
  }

  /** Events that satisfy the filters, at any time since the start of the range. */
  private events(alsoVisit = false): string {
    const { wide } = this.dialect
    const joined = !wide && (alsoVisit || this.visitFilters.length > 0)
    const table = joined ? "events e join visits v on v.id = e.visit" : "events e"
    const filters = this.visitFilters.map(([name, value]) => `${wide ? "e" : "v"}.${name} = ${numberOf(dictionaryOf(name), value)}`)
    if (this.page !== undefined) filters.push(`e.page = ${numberOf("page", this.page)}`)
    return `from ${table} where ${[`e.site_id = ${this.siteId}`, `e.at_ms >= ${this.range.from}`, COUNTED, ...filters].join(" and ")}`
  }
  /** Visits that start in the range and satisfy the filters. */
  private visits(): string {
    const { from, to } = this.range
    const filters = this.visitFilters.map(([name, value]) => `v.${name} = ${numberOf(dictionaryOf(name), value)}`)
    if (this.page !== undefined) filters.push(`v.id in (select e.visit ${this.events()} and e.visit_start < ${to})`)
    return `from visits v where ${[`v.site_id = ${this.siteId}`, `v.start >= ${from}`, `v.start < ${to}`, ...filters].join(" and ")}`
  }
  private async numbers(sql: string): Promise<number[]> {
    return (await this.dialect.all(sql))[0]!.map(Number)
  }

  async summary(): Promise<Sums> {
    const [visitors, pageviews, events] = await this.numbers(
      `select count(distinct e.visitor), count(*) filter (where e.name = 1), count(*) ${this.events()} and e.at_ms < ${this.range.to}`,
    )
    const [visits, visitPageviews, durationMs, allBounces] = await this.numbers(`select ${VISIT_SUMS} ${this.visits()}`)
    const sums = { ...NO_SUMS, visitors: visitors!, pageviews: pageviews!, events: events!, visits: visits! }
    const totals = { ...sums, visitPageviews: visitPageviews!, durationMs: durationMs! }
    if (this.page === undefined) return { ...totals, entries: visits!, bounces: allBounces! }
    const [entries, , , bounces] = await this.numbers(
      `select ${VISIT_SUMS} ${this.visits()} and v.entry_page = ${numberOf("page", this.page)}`,
    )
    return { ...totals, entries: entries!, bounces: bounces! }
  }

  async days(): Promise<Answer> {
    const { from, to } = this.range
    const day = (time: string) => `cast(floor((${time} - ${from}) / ${DAY_MS}.0) as integer)`
    const rows = await this.dialect.all(`
      with seen as (
        select ${day("e.at_ms")} as day, count(distinct e.visitor) as visitors, count(*) filter (where e.name = 1) as pageviews
        ${this.events()} and e.at_ms < ${to} group by 1
      ), begun as (select ${day("v.start")} as day, count(*) as visits ${this.visits()} group by 1)
      select seen.day, visitors, coalesce(visits, 0), pageviews from seen left join begun on begun.day = seen.day order by seen.day`)
    return rows.map(([day, ...values]) => [from + Number(day) * DAY_MS, ...values.map(Number)])
  }

  /** Breakdown by a visit dimension: both sets are grouped by the visit's value. */
  async visitsBy(dimension: string): Promise<Answer> {
    const column = `${this.dialect.wide ? "e" : "v"}.${dimension}`
    const rows = await this.dialect.all(`
      with seen as (
        select ${column} as key, count(distinct e.visitor) as visitors, count(*) filter (where e.name = 1) as pageviews
        ${this.events(true)} and e.at_ms < ${this.range.to} group by 1
      ), begun as (select v.${dimension} as key, ${visitColumns} ${this.visits()} group by 1)
      ${top("seen.key", dictionaryOf(dimension), "visitors, coalesce(visits, 0), pageviews, coalesce(duration, 0), coalesce(bounces, 0)", "left join begun on begun.key = seen.key")}`)
    return rows.map(([text, ...values]) => {
      const [visitors, visits, pageviews, durationMs, bounces] = values.map(Number)
      const sums = { ...NO_SUMS, visits: visits!, entries: visits!, durationMs: durationMs!, bounces: bounces! }
      const [, , , , , bounceRate, duration] = summaryOf(sums)
      return [keyOf(text!), visitors!, visits!, pageviews!, bounceRate!, duration!]
    })
  }

  async pages(): Promise<Answer> {
    const { to } = this.range
    const rows = await this.dialect.all(`
      with seen as (
        select e.page as key, count(distinct e.visitor) filter (where e.at_ms < ${to}) as visitors,
          count(distinct e.visit) filter (where e.visit_start >= ${this.range.from} and e.visit_start < ${to}) as visits,
          count(*) filter (where e.name = 1 and e.at_ms < ${to}) as pageviews
        ${this.events()} and e.visit_start < ${to} group by 1
      )
      ${top("seen.key", "page", "visitors, visits, pageviews")}`)
    return rows.map(([text, ...values]) => [keyOf(text!), ...values.map(Number)])
  }

  /** Excludes pageviews, which are not custom events. */
  async names(): Promise<Answer> {
    const rows = await this.dialect.all(`
      with seen as (
        select e.name as key, count(distinct e.visitor) as visitors, count(*) as events
        ${this.events()} and e.at_ms < ${this.range.to} and e.name <> 1 group by 1
      )
      ${top("seen.key", "name", "visitors, events")}`)
    return rows.map(([text, ...values]) => [keyOf(text!), ...values.map(Number)])
  }

  async goals(goals: readonly Goal[]): Promise<Answer> {
    const sorted = [...goals].sort((left, right) => (left.value < right.value ? -1 : 1))
    const rows: (string | number)[][] = []
    for (const goal of sorted) {
      const when = `${this.events()} and e.at_ms < ${this.range.to} and ${completes(goal)}`
      const numbers = await this.numbers(`select count(distinct e.visitor), count(*) ${when}`)
      if (numbers[0]! > 0) rows.push([goal.value, ...numbers])
    }
    return rows
  }

  /** A visitor's events never share a millisecond in the data, so time alone orders them. */
  async funnel(steps: readonly Goal[]): Promise<Answer> {
    const matching = (step: Goal) => `${this.events()} and e.at_ms < ${this.range.to} and ${completes(step)}`
    const tables = steps.map((step, index) => {
      if (index === 0) return `step0 as (select e.visitor, min(e.at_ms) as at_ms ${matching(step)} group by 1)`
      const before = `step${index - 1}`
      return `step${index} as (
        select e.visitor, min(e.at_ms) as at_ms from (select e.visitor, e.at_ms ${matching(step)}) e
        join ${before} on ${before}.visitor = e.visitor and e.at_ms > ${before}.at_ms group by 1)`
    })
    const counts = steps.map((_, index) => `(select count(*) from step${index})`).join(", ")
    return [await this.numbers(`with ${tables.join(", ")} select ${counts}`)]
  }
}

const visitColumns = `count(*) as visits, sum(v.duration) as duration, count(*) filter (where ${BOUNCED}) as bounces`

/** Returns the rows with most visitors, ties by text. Only these look up their text. */
function top(key: string, dictionary: string, columns: string, join = ""): string {
  return `select text, ${columns} from seen ${join}
    left join texts on texts.dictionary = ${quoted(dictionary)} and texts.id = ${key}
    where visitors > 0 order by visitors desc, text limit ${ROWS_SHOWN}`
}

const keyOf = (text: Cell): string | null => (text === null || text === "" ? null : String(text))

function completes({ kind, match, value }: Goal): string {
  if (kind === "event") return `e.name = ${numberOf("name", value)} and e.name <> 1`
  const pages =
    match === "exact"
      ? `e.page = ${numberOf("page", value)}`
      : `e.page in (select id from texts where dictionary = 'page' and text >= ${quoted(value)} and text < ${quoted(`${value}\u{10ffff}`)})`
  return `e.name = 1 and ${pages}`
}
