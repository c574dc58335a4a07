/**
 * Reads CSV strictly by RFC 4180: CRLF after every record, quotes only around whole cells and doubled inside, and as many cells
 * in every record as in the header. A cell that was not quoted is returned as `{ bare }`.
 */
export type CsvCell = string | { bare: string }

export function readCsv(text: string): { header: string[]; records: CsvCell[][] } {
  const rows: CsvCell[][] = []
  let at = 0
  while (at < text.length) {
    const row: CsvCell[] = []
    for (;;) {
      const { cell, end } = text[at] === '"' ? quoted(text, at) : bare(text, at)
      row.push(cell)
      at = end + 1
      if (text[end] === ",") continue
      if (text.slice(end, end + 2) !== "\r\n") throw new Error(`A cell ends at ${end} with ${JSON.stringify(text.slice(end, end + 5))}`)
      at = end + 2
      break
    }
    if (rows[0] && row.length !== rows[0].length) throw new Error(`Record ${rows.length} has ${row.length} cells`)
    rows.push(row)
  }
  const [header = [], ...records] = rows
  return { header: header.map((cell) => (typeof cell === "string" ? cell : cell.bare)), records }
}

function quoted(text: string, from: number): { cell: string; end: number } {
  let cell = ""
  let at = from + 1
  for (;;) {
    const close = text.indexOf('"', at)
    if (close === -1) throw new Error(`The quote at ${from} is never closed`)
    cell += text.slice(at, close)
    if (text[close + 1] !== '"') return { cell, end: close + 1 }
    cell += '"'
    at = close + 2
  }
}

function bare(text: string, from: number): { cell: { bare: string }; end: number } {
  const length = text.slice(from).search(/[",\r\n]/)
  const end = length === -1 ? text.length : from + length
  return { cell: { bare: text.slice(from, end) }, end }
}

/** Returns records by column, with numbers and booleans parsed and empty cells omitted. Removes the prefix that protects spreadsheets from formulas. */
export function recordsOf(text: string): Record<string, unknown>[] {
  const { header, records } = readCsv(text)
  return records.map((cells) =>
    Object.fromEntries(cells.map((cell, i) => [header[i]!, readCell(cell)] as const).filter(([, value]) => value !== undefined)),
  )
}

function readCell(cell: CsvCell): unknown {
  if (typeof cell === "string") return cell.replace(/^'(?='*[=+\-@\t\r＝＋－＠])/, "")
  if (cell.bare === "") return undefined
  if (cell.bare === "true" || cell.bare === "false") return cell.bare === "true"
  if (!/^-?\d+(\.\d+)?(e[+-]\d+)?$/.test(cell.bare)) throw new Error(`${cell.bare} is no number and not quoted`)
  return Number(cell.bare)
}
