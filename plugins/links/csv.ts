/** Rows of a CSV text (RFC 4180), each with the line it begins in. Line ends of any kind; a quote that never ends holds the rest. */
export function csvRows(text: string): { line: number; cells: string[] }[] {
  const rows: { line: number; cells: string[] }[] = []
  let [cells, cell, isQuoted, line, begun] = [[] as string[], "", false, 1, 1]
  const endRow = () => {
    cells.push(cell)
    if (cells.length > 1 || cell !== "") rows.push({ line: begun, cells })
    cells = []
    cell = ""
    begun = line
  }
  const plain = text.startsWith("\ufeff") ? text.slice(1) : text
  for (let at = 0; at < plain.length; at++) {
    const sign = plain[at]!
    const isEnd = sign === "\n" || (sign === "\r" && plain[at + 1] !== "\n")
    if (isEnd) line++
    if (isQuoted) {
      if (sign === '"' && plain[at + 1] === '"') cell += plain[at++]
      else if (sign === '"') isQuoted = false
      else cell += sign
    } else if (sign === '"' && cell === "") isQuoted = true
    else if (sign === ",") {
      cells.push(cell)
      cell = ""
    } else if (isEnd) endRow()
    else if (sign !== "\r") cell += sign
  }
  endRow()
  return rows
}

/** Takes away the mark that exports put in front of what a spreadsheet would run. */
export const unmarked = (cell: string): string => (/^'[=+\-@\t\r＝＋－＠]/.test(cell) ? cell.slice(1) : cell)
