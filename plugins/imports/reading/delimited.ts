import type { CsvRecord } from "#plugin"
import { CsvParser } from "#plugin/worker"
import { type FileHead, ImportFault } from "../source.ts"
import { type Content, decoded, encodingOf, type ReadingSink } from "./text.ts"

/**
 * Delimited files with a header. Columns come in any order, their names are compared without case and surrounding whitespace, and the
 * delimiter is detected.
 */

export const DELIMITERS = [",", ";", "\t", "|"] as const
const MAX_COLUMNS = 200
/** Records by which the delimiter is detected. */
const DETECTION_RECORDS = 5

/** The columns that a table can have. A `SourceFile` of a source is one. */
export interface ColumnRules {
  /** Columns without which the file is refused as `missing_columns`. */
  required: readonly string[]
  optional?: readonly string[]
  /** Other names of columns, in lower case, such as `{ subdivision1: "region" }`. They yield to a column of the name itself. */
  aliases?: Readonly<Record<string, string>>
  /** Accepts columns that are not listed, such as `metadata.<key>_text`. The name is as in the header. */
  accepts?: (name: string) => boolean
}

export interface DelimitedOptions {
  encoding?: string | undefined
  delimiter?: string | undefined
}

/** The header of a file. */
export interface Header {
  delimiter: string
  /** Names as in the file, trimmed. */
  names: readonly string[]
  /** Whether the file has a column, whatever its case. */
  has(column: string): boolean
}

/** A row whose number of columns is that of the header. */
export class Row {
  constructor(
    /** Line in which the row begins. */
    readonly line: number,
    readonly cells: readonly string[],
    private readonly columns: ReadonlyMap<string, number>,
  ) {}

  /** Returns the value of a column, named as in the rules or in lower case. "" if the file has no such column. */
  get(column: string): string {
    const index = this.columns.get(column)
    return index === undefined ? "" : this.cells[index]!
  }

  /** Returns the places of columns in `cells`, which are the same for all rows of a file. Those of missing columns are -1. */
  places<Column extends string>(columns: readonly Column[]): Record<Column, number> {
    const entries = columns.map((column) => [column, this.columns.get(column) ?? -1])
    return Object.fromEntries(entries) as Record<Column, number> // each column has an entry
  }
}

/** Reads the header from the beginning of a file, or returns undefined for an empty one. Never throws: use it to recognize files. */
export function headerOf(file: FileHead, { delimiter }: DelimitedOptions = {}): Header | undefined {
  const used = delimiter ?? detectDelimiter(file.text)
  const [first] = recordsIn(file.text, used)
  if (!first) return undefined
  const names = first.cells.map(cleanName)
  const lower = new Set(names.map((name) => name.toLowerCase()))
  return { delimiter: used, names, has: (column) => lower.has(column.toLowerCase()) }
}

/** Returns the names of the columns that a file has and of those that are ignored, for the preview. */
export function columnsOf(header: Header, rules: ColumnRules): { columns: string[]; ignored: string[] } {
  const used = columnNumbers(header.names, rules)
  const numbers = new Set(used.values())
  return {
    columns: header.names.filter((_, number) => numbers.has(number)),
    ignored: header.names.filter((name, number) => !numbers.has(number) && name !== ""),
  }
}

/**
 * Yields the rows below the header in groups. Counts each row as read, and rejects rows with another number of columns and rows over the
 * limit. Warns once of the columns that are ignored. Throws `missing_columns` with the list of them.
 */
export async function* delimited(
  file: Content & FileHead,
  rules: ColumnRules,
  options: DelimitedOptions,
  sink: ReadingSink,
): AsyncGenerator<Row[]> {
  const header = headerOf(file, options)
  if (!header) throw missingColumns(file.name, rules.required)
  const numbers = checkedColumns(file.name, header, rules, sink)
  const width = header.names.length
  let isHeader = true
  for await (const records of csvRecords(file, { ...options, delimiter: header.delimiter }, sink)) {
    const rows: Row[] = []
    for (const { line, cells } of records) {
      if (cells.length === 1 && cells[0] === "") continue
      if (isHeader) {
        isHeader = false
        continue
      }
      sink.read(1)
      if (cells.length === width) rows.push(new Row(line, cells, numbers))
      else sink.reject(file.name, line, "wrong_column_count", `${cells.length} columns instead of ${width}`)
    }
    if (rows.length > 0) yield rows
  }
}

/**
 * Yields the records of a file as they are, in groups: for files with comments or several tables. An empty line is a record with one
 * empty cell. Only records that cannot be read are counted as read, and rejected.
 */
export async function* csvRecords(
  file: Content & FileHead,
  { encoding, delimiter }: DelimitedOptions,
  sink: ReadingSink,
): AsyncGenerator<CsvRecord[]> {
  const parser = new CsvParser(delimiter ?? detectDelimiter(file.text), (line, code) => {
    sink.read(1)
    sink.reject(file.name, line, code, "")
  })
  for await (const text of decoded(file, encodingOf(file, encoding))) {
    sink.check()
    const records = parser.push(text)
    if (records.length > 0) yield records
  }
  const rest = parser.end()
  if (rest.length > 0) yield rest
}

/** Returns the delimiter that splits the first records into the same number of columns, and into the most. */
export function detectDelimiter(text: string): string {
  const [best] = DELIMITERS.map((delimiter) => {
    const widths = recordsIn(text, delimiter).map(({ cells }) => cells.length)
    const [width = 1] = widths
    return { delimiter, width, isEven: width > 1 && widths.every((other) => other === width) }
  }).toSorted((a, b) => Number(b.isEven) - Number(a.isEven) || b.width - a.width)
  return best!.delimiter
}

/** Returns the first records of a text that are not empty. The last of them can be cut off. */
function recordsIn(text: string, delimiter: string): CsvRecord[] {
  const parser = new CsvParser(delimiter, () => {})
  // A file of few records is complete, so its last one is read too.
  const records = parser.push(text).filter(({ cells }) => cells.length > 1 || cells[0] !== "")
  const all = records.length === 0 ? [...records, ...parser.end()] : records
  return all.slice(0, DETECTION_RECORDS)
}

const cleanName = (name: string): string => {
  const trimmed = name.trim()
  return /^".*"$/.test(trimmed) ? trimmed.slice(1, -1).trim() : trimmed
}

/** Maps the names of columns to their places: those of the rules as spelled there, and all of them in lower case. */
function columnNumbers(names: readonly string[], { required, optional = [], aliases = {}, accepts }: ColumnRules): Map<string, number> {
  const known = new Map([...required, ...optional].map((name) => [name.toLowerCase(), name]))
  const numbers = new Map<string, number>()
  const add = (name: string, number: number) => {
    const key = name.toLowerCase()
    const rule = known.get(key)
    if (numbers.has(key)) return
    numbers.set(key, number)
    if (rule !== undefined) numbers.set(rule, number)
  }
  for (const [number, name] of names.entries()) if (known.has(name.toLowerCase()) || accepts?.(name)) add(name, number)
  for (const [number, name] of names.entries()) {
    const column = aliases[name.toLowerCase()]
    if (column !== undefined) add(column, number)
  }
  return numbers
}

function checkedColumns(name: string, header: Header, rules: ColumnRules, sink: ReadingSink): Map<string, number> {
  const { names } = header
  if (names.length > MAX_COLUMNS) {
    const remedy = `Remove those that are not needed: at most ${MAX_COLUMNS} are read.`
    throw new ImportFault("unrecognized_source", `The header of ${name} in line 1 has ${names.length} columns. ${remedy}`)
  }
  const numbers = columnNumbers(names, rules)
  const missing = rules.required.filter((column) => !numbers.has(column))
  if (missing.length > 0) throw missingColumns(name, missing)
  const { ignored } = columnsOf(header, rules)
  if (ignored.length > 0) sink.warn("unknown_columns", `${name}: these columns are not imported: ${listed(ignored)}.`, name)
  return numbers
}

function missingColumns(name: string, columns: readonly string[]): ImportFault {
  const message = `The header of ${name} in line 1 lacks ${listed(columns)}. Export the file again with all columns.`
  return new ImportFault("missing_columns", message, { columns })
}

const listed = (columns: readonly string[]): string => columns.map((column) => column.slice(0, 100)).join(", ")
