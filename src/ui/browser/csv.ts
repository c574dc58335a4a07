/** What a spreadsheet would take for a formula is kept from being one. */
const FORMULA = /^[=+\-@\t\r]/

/** Rows as CSV by RFC 4180, with a head. What is no text and no number is told as JSON. */
export function csvText<Column extends string>(
  columns: readonly Column[],
  rows: readonly { readonly [name in Column]?: unknown }[],
): string {
  const lines = [columns.join(","), ...rows.map((row) => columns.map((column) => cell(row[column])).join(","))]
  return lines.map((line) => `${line}\r\n`).join("")
}

function cell(value: unknown): string {
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)
  const safe = typeof value === "number" || !FORMULA.test(text) ? text : `'${text}`
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
