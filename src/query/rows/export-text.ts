import type { ExportFormat } from "../../domain/export.ts"

/** The formats that consist of text. */
export type TextFormat = Exclude<ExportFormat, "parquet">

/** A cell of an export. undefined and "" are the missing value. */
type Cell = string | number | boolean | Readonly<Record<string, string>> | undefined

/** A row of an export by column. Columns without a value may be absent. */
export type ExportRecord = Readonly<Record<string, Cell>>

/** Texts that a spreadsheet would run as a formula, including full-width characters (reliability.md section 9). */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/

/**
 * Returns a CSV cell. Texts are quoted, so that none is read as a number, and those that a spreadsheet would run are prefixed with `'`.
 * A text that already has such a prefix gets another one, so that removing one `'` always restores the text.
 */
export function csvCell(cell: Cell): string {
  if (cell === undefined || cell === "") return ""
  if (typeof cell === "number" || typeof cell === "boolean") return String(cell)
  const text = typeof cell === "string" ? cell : JSON.stringify(cell)
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

/** Returns rows as text, "" for no rows. Batches are joined by `betweenBatches`. */
export function recordsText(format: TextFormat, columns: readonly string[], records: readonly ExportRecord[]): string {
  if (format === "csv") return records.map((record) => csvLine(columns.map((column) => record[column]))).join("")
  const lines = records.map((record) => JSON.stringify(withoutMissing(record)))
  return format === "json" ? lines.join(",\n") : lines.map((line) => `${line}\n`).join("")
}

export const betweenBatches = (format: TextFormat): string => (format === "json" ? ",\n" : "")

/** Returns the text before the first row. `facts` are the members of a JSON export before its rows. */
export function exportHead(format: TextFormat, columns: readonly string[], facts: object): string {
  if (format === "csv") return `${columns.join(",")}\r\n`
  return format === "json" ? `${JSON.stringify(facts).slice(0, -1)},"data":[\n` : ""
}

/**
 * Returns the text after the last row: the number of visits that were removed while the export ran, unless it is 0. In CSV it is a
 * record whose first column begins with `#`, in NDJSON a separate object.
 */
export function exportTrailer(format: TextFormat, columns: readonly string[], omitted: number): string {
  if (format === "json") return omitted === 0 ? "\n]}\n" : `\n],"omitted_visits":${omitted}}\n`
  if (omitted === 0) return ""
  return format === "csv" ? csvLine([`# omitted_visits=${omitted}`, ...columns.slice(1).map(() => "")]) : `{"omitted_visits":${omitted}}\n`
}

/** Returns a line of CSV. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`

function withoutMissing(record: ExportRecord): ExportRecord {
  return Object.fromEntries(Object.entries(record).filter(([, cell]) => cell !== undefined && cell !== ""))
}
