import type { CsvRecord } from "#plugin"
import { csvRecords } from "../../reading/delimited.ts"
import type { FileHead, InputFile, ReadOptions, Sink } from "../../source.ts"
import { type Column, columnOf, DAYS, type Dimension, type Metric } from "./columns.ts"

/**
 * The tables of a report file of Google Analytics. Comment lines name the range, an empty line ends a table, and the line after it is the
 * header of the next.
 */

/** A table of a report. */
export interface ReportTable {
  /** Line of the header. */
  line: number
  names: readonly string[]
  columns: readonly (Column | undefined)[]
  /** First and last day of the report, as `20260101`. */
  range: { from: string; to: string } | undefined
}

export const dimensionsOf = ({ columns }: ReportTable): Dimension[] =>
  columns.flatMap((column) => (column && "dimension" in column ? [column.dimension] : []))
export const metricsOf = ({ columns }: ReportTable): Metric[] =>
  columns.flatMap((column) => (column && "metric" in column ? [column.metric] : []))
export const hasDays = (table: ReportTable): boolean => dimensionsOf(table).some((dimension) => DAYS.has(dimension))

/** Receives the tables of a file, each with its rows. Rows of totals are left out. */
export interface TableReader {
  begin(table: ReportTable): void
  row(record: CsvRecord): void
}

const COMPACT_DAY = /^(?:19|20)\d{6}$/

/** Splits records into tables, one record at a time. */
export class TableSplitter {
  #range: ReportTable["range"]
  /** Dates of comments since the last table. */
  #dates: string[] = []
  #header: CsvRecord | undefined
  #hasBegun = false

  constructor(private readonly reader: TableReader) {}

  push(record: CsvRecord): void {
    const { cells } = record
    if (cells[0]!.startsWith("#")) this.#comment(cells.join(","))
    else if (cells.every((cell) => cell.trim() === "")) this.#header = undefined
    else if (!this.#header) {
      this.#header = record
      this.#hasBegun = false
    } else if (!isTotal(cells)) this.#row(this.#header, record)
  }

  #comment(text: string): void {
    if (this.#header) this.#dates = []
    this.#header = undefined
    this.#dates.push(...(text.match(/\b(?:19|20)\d{6}\b/g) ?? []))
    const [from, to] = this.#dates.slice(-2)
    if (from !== undefined && to !== undefined) this.#range = { from, to }
  }

  #row({ line, cells }: CsvRecord, record: CsvRecord): void {
    if (!this.#hasBegun) {
      const names = cells.map((cell) => cell.trim())
      // The name of the column of days is in the language of the account, its values are not.
      const columns = names.map((name, index): Column | undefined =>
        COMPACT_DAY.test(record.cells[index]?.trim() ?? "") ? { dimension: "date" } : columnOf(name),
      )
      this.reader.begin({ line, names, columns, range: this.#range })
      this.#hasBegun = true
    }
    this.reader.row(record)
  }
}

/** Rows of totals have no value in the first column. Explorations end theirs with these words. */
const isTotal = (cells: readonly string[]): boolean => cells[0]!.trim() === "" || cells.at(-1)!.trim() === "Grand total"

/** Reads all tables of a file. */
export async function readTables(file: InputFile, options: ReadOptions, sink: Sink, reader: TableReader): Promise<void> {
  const splitter = new TableSplitter(reader)
  const delimiter = options.delimiter ?? reportDelimiter(file.text)
  for await (const records of csvRecords(file, { ...options, delimiter }, sink)) for (const record of records) splitter.push(record)
}

/** Returns the tables at the beginning of a file. */
export function tablesAtStart(file: FileHead): ReportTable[] {
  const tables: ReportTable[] = []
  const splitter = new TableSplitter({ begin: (table) => tables.push(table), row() {} })
  const delimiter = reportDelimiter(file.text)
  for (const [index, text] of file.text.split(/\r?\n/).entries()) {
    splitter.push({ line: index + 1, cells: text.split(delimiter).map((cell) => cell.replace(/^"(.*)"$/, "$1")) })
  }
  return tables
}

/** Returns the delimiter of the first line that is not a comment: a tab, a semicolon or a comma. */
function reportDelimiter(text: string): string {
  const header = text.split(/\r?\n/).find((line) => line.trim() !== "" && !line.startsWith("#")) ?? ""
  if (header.includes("\t")) return "\t"
  return header.includes(";") && !header.includes(",") ? ";" : ","
}
