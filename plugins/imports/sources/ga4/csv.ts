import { Type as t } from "@sinclair/typebox"
import type { CsvRecord, ImportedKind } from "#plugin"
import { type FileHead, ImportFault, type InputFile, type ReadOptions, type Recognition, type Sink, type Source } from "../../source.ts"
import { type DayAndHour, readLine, TotalsSums } from "../totals-rows.ts"
import { DAYS, kindOf } from "./columns.ts"
import { countsOf, type Dimensions, isAutomatic, type Metrics, textsOf } from "./rows.ts"
import { dimensionsOf, hasDays, metricsOf, type ReportTable, readTables, tablesAtStart } from "./tables.ts"
import { dayIndexReader, nthDayReader, readDate, readDateHour } from "./values.ts"

/** Google Analytics: reports and explorations of GA4 as CSV, and reports of Universal Analytics. Only tables with days are imported. */
export const ga4Csv: Source = {
  id: "ga4_csv",
  title: "Google Analytics CSV",
  kinds: ["aggregate"],
  formats: ["csv", "zip"],
  files: [
    { name: "GA4 report or exploration", required: ["Date or Nth day"], optional: ["a dimension", "metrics"] },
    { name: "Universal Analytics report", required: ["Day Index"], optional: ["metrics"] },
  ],
  options: t.Object({}),
  recognize,
  async read(files, options, sink) {
    const reports = new ReportReader(options, sink)
    for (const file of files) await reports.read(file)
    reports.end()
  },
}

const HEAD_BYTES = 65_536
const HINT = "Add the dimension Date to the exploration, or export a report that lists each day, so that totals have days."

function recognize(file: FileHead): Recognition | undefined {
  const tables = tablesAtStart(file).filter((table) => metricsOf(table).length > 0)
  const hasComments = /^#/.test(file.text)
  const isGoogle = tables.some((table) => table.columns.filter(Boolean).length >= 2)
  if (!isGoogle) return undefined
  const confidence = hasComments ? 0.95 : 0.55
  // The table with days can follow the beginning of the file.
  if (tables.some(isDated) || (hasComments && file.bytes.length >= HEAD_BYTES)) return { confidence, table: "report" }
  const message = `${file.name} is a report of Google Analytics without days. ${HINT}`
  return { confidence, refusal: { code: "needs_date_dimension", message } }
}

/** Days that count from the start of the report need its range. */
const isDated = (table: ReportTable): boolean => hasDays(table) && (table.range !== undefined || !dimensionsOf(table).includes("nth_day"))

/** A table that is being read. */
interface OpenTable {
  table: ReportTable
  kind: ImportedKind
  /** Name by which the days that it covers are known. */
  id: string
  timeOf: (text: string, index: number) => DayAndHour
  /** Rows that were read. */
  rows: number
}

class ReportReader {
  readonly #sums: TotalsSums
  /** Which table the counts of a day come from. Reports repeat the same figures in several tables. */
  readonly #owners = new Map<string, string>()
  #open: OpenTable | undefined
  #datedTables = 0
  #undated: string | undefined

  constructor(
    private readonly options: ReadOptions,
    private readonly sink: Sink,
  ) {
    this.#sums = new TotalsSums(sink)
  }

  async read(file: InputFile): Promise<void> {
    const { sink } = this
    await readTables(file, this.options, sink, {
      begin: (table) => {
        this.#open = this.#begin(file.name, table)
      },
      row: (record) => {
        const open = this.#open
        if (!open) return
        const index = open.rows++
        sink.read(1)
        readLine(sink, file.name, record.line, () => this.#row(file.name, open, record, index))
      },
    })
    this.#open = undefined
    this.#sums.flush()
  }

  /** Throws if no table had days. */
  end(): void {
    if (this.#datedTables > 0 || this.#undated === undefined) return
    throw new ImportFault("needs_date_dimension", `${this.#undated} has no days. ${HINT}`)
  }

  /** Returns undefined for a table that cannot be imported. */
  #begin(file: string, table: ReportTable): OpenTable | undefined {
    if (metricsOf(table).every((metric) => metric === "ignored")) return undefined
    const place = `The table in line ${table.line} of ${file}`
    const timeOf = isDated(table) ? timeReader(file, table) : undefined
    if (!timeOf) {
      this.#undated ??= place
      this.sink.warn("needs_date_dimension", `${place} has no days and is not imported. ${HINT}`, file)
      return undefined
    }
    this.#datedTables++
    const dimensions = dimensionsOf(table).filter((dimension) => !DAYS.has(dimension))
    const kind = kindOf(dimensions)
    if (!kind) {
      const remedy = "Export a table with the days and one of them."
      this.sink.warn(
        "mixed_dimensions",
        `${place} is not imported: it combines dimensions that totals don't have together. ${remedy}`,
        file,
      )
      return undefined
    }
    const unknown = table.names.filter((name, index) => name !== "" && !table.columns[index])
    if (unknown.length > 0) this.sink.warn("unknown_columns", `${place}: these columns are not imported: ${unknown.join(", ")}.`, file)
    // Sources include utm_source.
    for (const what of ["exit_pages", "utm_source"]) this.sink.unsupported(what)
    return { table, kind, id: `${file} ${table.line}`, timeOf, rows: 0 }
  }

  #row(file: string, { table, kind, id, timeOf }: OpenTable, { line, cells }: CsvRecord, index: number): void {
    const width = table.names.length
    const isWide = cells.length === width + 1 && cells.at(-1) === ""
    if (cells.length !== width && !isWide) {
      this.sink.reject(file, line, "wrong_column_count", `${cells.length} columns instead of ${width}`)
      return
    }
    const { dimensions, metrics } = valuesOf(table, cells)
    const time = timeOf(dayValue(dimensions), index)
    const counts = Object.entries(countsOf(kind, metrics))
    const own = counts.filter(([name]) => this.#owns(`${kind} ${name} ${time.day}`, id))
    if (isAutomatic(kind, dimensions)) this.sink.skip("not_imported_type")
    else if (own.length === 0) this.sink.skip("repeated_row")
    else this.#sums.add(kind, { file, line, ...time, texts: textsOf(kind, dimensions), counts: Object.fromEntries(own) })
  }

  #owns(count: string, id: string): boolean {
    const owner = this.#owners.get(count) ?? id
    this.#owners.set(count, owner)
    return owner === id
  }
}

function valuesOf({ columns }: ReportTable, cells: readonly string[]): { dimensions: Dimensions; metrics: Metrics } {
  const [dimensions, metrics]: [Dimensions, Metrics] = [{}, {}]
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? ""
    if (column && "dimension" in column) dimensions[column.dimension] = cell
    else if (column) metrics[column.metric] = cell
  }
  return { dimensions, metrics }
}

const dayValue = ({ date_hour, date, nth_day, day_index }: Dimensions): string => date_hour ?? date ?? nth_day ?? day_index ?? ""

function timeReader(file: string, table: ReportTable): OpenTable["timeOf"] | undefined {
  const dimensions = dimensionsOf(table)
  if (dimensions.includes("date_hour")) return readDateHour
  if (dimensions.includes("date")) return readDate
  if (dimensions.includes("nth_day")) return table.range && nthDayReader(table.range)
  return dayIndexReader(file, table.range)
}
