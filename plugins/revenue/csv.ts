import { AppError, CsvParser, type CsvRecord, type Fault, fault } from "#plugin"

/** A row of a CSV body: its values by column, without empty ones, and the line that it begins in. */
export interface CsvRow {
  line: number
  values: Readonly<Record<string, string>>
}

/**
 * Parses a CSV body with a header. Columns come in any order, and empty lines are skipped. Returns the rows and all faults, each with its
 * line. Reads at most one row more than `maximum`, so that longer files are rejected without parsing the rest.
 */
export function parseCsv(
  bytes: Uint8Array,
  { required, optional, maximum }: { required: readonly string[]; optional: readonly string[]; maximum: number },
): { rows: CsvRow[]; faults: Fault[] } {
  const faults: Fault[] = []
  const parser = new CsvParser(",", (line, code) => void faults.push(lineFault(line, "", code, "can't be read")))
  const text = textOf(bytes)
  const records = [...parser.push(text), ...parser.end()].filter(({ cells }) => cells.length > 1 || cells[0]?.trim() !== "")
  const [header, ...rows] = records
  const names = (header?.cells ?? []).map((name) => name.trim().toLowerCase())
  const known = [...required, ...optional]
  for (const name of required)
    if (!names.includes(name)) faults.push(lineFault(header?.line ?? 1, name, "required", "is a required column"))
  for (const [column, name] of names.entries())
    if (!known.includes(name)) faults.push(lineFault(header!.line, name, "unknown_field", "is not a known column"))
    else if (names.indexOf(name) !== column) faults.push(lineFault(header!.line, name, "not_unique", "is a column that occurs twice"))
  if (rows.length > maximum) faults.push(fault("", "too_many", `must have at most ${maximum} rows`))
  return { rows: rows.slice(0, maximum).flatMap((row) => rowOf(row, names, faults)), faults }
}

function rowOf({ line, cells }: CsvRecord, names: readonly string[], faults: Fault[]): CsvRow[] {
  if (cells.length !== names.length) {
    faults.push(lineFault(line, "", "wrong_column_count", `has ${cells.length} columns instead of ${names.length}`))
    return []
  }
  const filled = names.map((name, column) => [name, withoutMark(cells[column]!.trim())] as const).filter(([, value]) => value !== "")
  return [{ line, values: Object.fromEntries(filled) }]
}

/** Returns a fault of a line, and of a column if one is named. */
export const lineFault = (line: number, column: string, code: string, predicate: string): Fault => ({
  pointer: column === "" ? `/lines/${line}` : `/lines/${line}/${column}`,
  code,
  detail: column === "" ? `Line ${line} ${predicate}.` : `Line ${line}: ${column} ${predicate}.`,
})

/** Removes the mark before a text that a spreadsheet would run as a formula. Our own CSV files have it. */
const withoutMark = (text: string): string => (/^'+[=+\-@\t\r＝＋－＠]/.test(text) ? text.slice(1) : text)

const UTF8 = new TextDecoder("utf-8", { fatal: true })

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new AppError("validation_failed", "The CSV file is not valid UTF-8.", {
      errors: [fault("", "invalid_encoding", "must be UTF-8")],
    })
  }
}
