import type { ExportFormat } from "../../domain/export.ts"

/** A cell; undefined and "" are the missing value. */
type Cell = string | number | boolean | Readonly<Record<string, string>> | undefined

/** A row of an export by column. What it has no value for may be left out. */
export type ExportRecord = Readonly<Record<string, Cell>>

/** A spreadsheet takes what begins so for a formula, also in full width (reliability.md section 9). */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/

/**
 * Text cells are quoted, so that none is taken for a number, and those that a spreadsheet would run get a leading `'`. A
 * text that begins with `'` before such a sign gets one more: whoever takes one away has the text back.
 */
export function csvCell(cell: Cell): string {
  if (cell === undefined || cell === "") return ""
  if (typeof cell === "number" || typeof cell === "boolean") return String(cell)
  const text = typeof cell === "string" ? cell : JSON.stringify(cell)
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

/** Rows as text; empty for no rows. The texts of two batches are joined by `betweenBatches`. */
export function recordsText(format: ExportFormat, columns: readonly string[], records: readonly ExportRecord[]): string {
  if (format === "csv") return records.map((record) => csvLine(columns.map((column) => record[column]))).join("")
  const lines = records.map((record) => JSON.stringify(withoutMissing(record)))
  return format === "json" ? lines.join(",\n") : lines.map((line) => `${line}\n`).join("")
}

export const betweenBatches = (format: ExportFormat): string => (format === "json" ? ",\n" : "")

/** What comes before all rows. `range` is what was really used. */
export function exportHead(format: ExportFormat, columns: readonly string[], range: object): string {
  if (format === "csv") return `${columns.join(",")}\r\n`
  return format === "json" ? `{"range":${JSON.stringify(range)},"data":[\n` : ""
}

/**
 * What comes after all rows: how many visits were removed while the export ran and are not in it; nothing when that is 0. In
 * CSV it is a record with all columns, the first of which begins with `#`, in NDJSON an object of its own.
 */
export function exportTrailer(format: ExportFormat, columns: readonly string[], omitted: number): string {
  if (format === "json") return omitted === 0 ? "\n]}\n" : `\n],"omitted_visits":${omitted}}\n`
  if (omitted === 0) return ""
  return format === "csv" ? csvLine([`# omitted_visits=${omitted}`, ...columns.slice(1).map(() => "")]) : `{"omitted_visits":${omitted}}\n`
}

/** A record as a line of CSV. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`

function withoutMissing(record: ExportRecord): ExportRecord {
  return Object.fromEntries(Object.entries(record).filter(([, cell]) => cell !== undefined && cell !== ""))
}
