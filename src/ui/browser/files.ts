/** Downloads a file under this name. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  // By then the browser has started to read the file.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Matches texts that a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/

/** Writes rows as CSV (RFC 4180) with a header. Values other than texts and numbers are written as JSON. */
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
