import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Site } from "#plugin"
import type { ImportsHost } from "../../area.ts"
import { importError } from "../../errors.ts"
import { API_TABLES, type ApiTable } from "../../sources/ga4/api-tables.ts"
import { isZone } from "../../sources/times.ts"
import type { Staged, StagedFile } from "../task.ts"
import { type ApiProperty, type DataApi, unavailable } from "./data-api.ts"
import { type PageNote, type PageTask, type StoredPage, storePage } from "./page.ts"

/**
 * Fetches the reports of a property into the staged folder of an import, where they lie like files that were sent. The first report has the
 * days that have data; a preview needs no other. The rest is fetched in slices of days, and after an interruption from the last stored page.
 */
export interface Fetching {
  /** Fetches the first report. */
  begin(folder: string, property: FetchedProperty, signal: AbortSignal): Promise<Fetched>
  /** Fetches what is missing. Throws `analytics_quota` if Google asks to wait. */
  finish(folder: string, property: FetchedProperty, signal: AbortSignal, report: (done: number, total: number) => void): Promise<Fetched>
}

/** What is fetched. */
export interface FetchedProperty {
  site: Site
  options: Readonly<Record<string, unknown>>
}

export interface Fetched {
  files: StagedFile[]
  /** Zone of the property, in which its days are. */
  timezone: string
  warnings: Staged["warnings"]
}

/** How far the reports are fetched. */
interface Position {
  timezone: string
  /** Days that have data. */
  first: string
  last: string
  /** Number of the step after those that are done, and the rows of it that are stored. */
  step: number
  offset: number
  /** Size of each file, in the order of the tables. */
  sizes: number[]
  notes: PageNote[]
}

/** A report over some days. */
interface Step {
  table: ApiTable
  from: string
  to: string
}

/** Google Analytics has no data from before this day. */
const EARLIEST = "2015-08-14"
/** Days of a report, and rows of a page: both few enough for the memory of a small machine. */
const DAYS_PER_STEP = 31
const ROWS_PER_PAGE = 10_000
/** Size up to which a page is stored at once: parsing it takes a millisecond, and starting a thread some hundred. */
const SMALL_BYTES = 128 << 10

const NOTES: Readonly<Record<PageNote, string>> = {
  sampled: "Google Analytics has estimated some figures from a sample. Import fewer days at once, or export to BigQuery, for exact ones.",
  thresholded:
    "Google Analytics leaves out rows of few people to protect them. To get all rows, turn off Google signals for reporting in the property.",
  other_rows: "Google Analytics has combined rare values of some reports in one row, which is imported as an empty value.",
}

export function createFetching(host: Pick<ImportsHost, "runInThread">, api: DataApi): Fetching {
  /** Fetches the next page of a step and stores its rows. */
  async function nextPage(folder: string, of: ApiProperty, step: Step, position: Position, signal: AbortSignal) {
    const index = API_TABLES.indexOf(step.table)
    const body = await api.runReport(of, requestOf(step, position.offset), signal)
    const task: PageTask = { do: "page", table: step.table.name, body, path: sourcePath(folder, index), size: position.sizes[index] ?? 0 }
    const isSmall = body.length <= SMALL_BYTES
    const page = isSmall ? storePage(task) : await host.runInThread<StoredPage | undefined>(task, { signal })
    if (!page) throw unavailable("Google Analytics sent an answer that can't be read.")
    const offset = position.offset + page.rows
    const next: Position = {
      ...position,
      ...(page.timezone !== undefined && isZone(page.timezone) && { timezone: page.timezone }),
      ...(index === 0 && page.days && { first: earlier(position.first, page.days.first), last: later(position.last, page.days.last) }),
      ...(page.rows === 0 || offset >= page.total ? { step: position.step + 1, offset: 0 } : { offset }),
      sizes: API_TABLES.map((_, at) => (at === index ? page.size : (position.sizes[at] ?? 0))),
      notes: [...new Set([...position.notes, ...page.notes])],
    }
    keep(folder, next)
    return next
  }

  return {
    async begin(folder, { site, options }, signal) {
      const { from = EARLIEST, to = "yesterday" } = options as { from?: string; to?: string } // validated with the input
      const step = { table: API_TABLES[0], from, to }
      let position: Position = { timezone: site.timezone, first: "", last: "", step: 0, offset: 0, sizes: [], notes: [] }
      while (position.step === 0) position = await nextPage(folder, propertyOf({ site, options }), step, position, signal)
      if (position.first === "") throw nothingFound(String(options.property))
      return fetchedIn(folder, position, [API_TABLES[0]])
    },

    async finish(folder, given, signal, report) {
      if ((read(folder)?.step ?? 0) === 0) await this.begin(folder, given, signal)
      let position = read(folder)! // kept by `begin`
      const tables = wantedTables(given.options)
      const steps = stepsOf(position, tables.slice(1))
      while (position.step <= steps.length) {
        report(position.step - 1, steps.length)
        signal.throwIfAborted()
        position = await nextPage(folder, propertyOf(given), steps[position.step - 1]!, position, signal)
      }
      return fetchedIn(folder, position, tables)
    },
  }
}

const propertyOf = ({ site, options }: FetchedProperty): ApiProperty => ({
  organizationId: site.organization_id,
  connectionId: options.connection_id as number, // the options were validated with the input
  property: options.property as string,
})

const requestOf = ({ table, from, to }: Step, offset: number) => {
  const dimensions = ["date", ...Object.keys(table.dimensions)].map((name) => ({ name }))
  return {
    dateRanges: [{ startDate: from, endDate: to }],
    dimensions,
    metrics: Object.keys(table.metrics).map((name) => ({ name })),
    // Pages of a report fit together only in a fixed order.
    orderBys: dimensions.map(({ name }) => ({ dimension: { dimensionName: name } })),
    limit: String(ROWS_PER_PAGE),
    offset: String(offset),
  }
}

/** Returns the tables that the options ask for. The first one is always fetched. */
const wantedTables = ({ tables }: FetchedProperty["options"]): ApiTable[] =>
  API_TABLES.filter(({ kind }, index) => index === 0 || !Array.isArray(tables) || tables.includes(kind))

/** Returns the reports after the first one: of each table, in slices of days. */
function stepsOf({ first, last }: Position, tables: readonly ApiTable[]): Step[] {
  const end = Temporal.PlainDate.from(dashed(last))
  return tables.flatMap((table) => {
    const steps: Step[] = []
    for (let day = Temporal.PlainDate.from(dashed(first)); Temporal.PlainDate.compare(day, end) <= 0; ) {
      const lastDay = day.add({ days: DAYS_PER_STEP - 1 })
      const to = Temporal.PlainDate.compare(lastDay, end) < 0 ? lastDay : end
      steps.push({ table, from: day.toString(), to: to.toString() })
      day = to.add({ days: 1 })
    }
    return steps
  })
}

/** Writes a day of the API, such as `20261121`, as requests have it. */
const dashed = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`
const earlier = (day: string, other: string): string => (day === "" || other < day ? other : day)
const later = (day: string, other: string): string => (other > day ? other : day)

const sourcePath = (folder: string, index: number): string => join(folder, "source", String(index))
const positionPath = (folder: string): string => join(folder, "fetched.json")

const read = (folder: string): Position | undefined =>
  existsSync(positionPath(folder)) ? (JSON.parse(readFileSync(positionPath(folder), "utf8")) as Position) : undefined // written below

function keep(folder: string, position: Position): void {
  const draft = `${positionPath(folder)}.new`
  writeFileSync(draft, JSON.stringify(position), { mode: 0o600 })
  renameSync(draft, positionPath(folder))
}

const fetchedIn = (folder: string, { timezone, sizes, notes }: Position, tables: readonly ApiTable[]): Fetched => ({
  files: tables.map((table) => {
    const index = API_TABLES.indexOf(table)
    return { name: `${table.name}.ndjson`, path: sourcePath(folder, index), bytes: sizes[index] ?? 0 }
  }),
  timezone,
  warnings: notes.map((code) => ({ code, message: NOTES[code] })),
})

const nothingFound = (property: string) =>
  importError("nothing_to_import", `${property} has no data in these days. Choose other days or another property.`)
