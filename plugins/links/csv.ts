/** A row of a CSV text with the number of the line that it begins in. */
export interface CsvRow {
  line: number
  cells: string[]
}

/**
 * Yields the rows of a CSV text (RFC 4180) that are not empty. Lines end in any of the three ways; a quote that is never closed holds
 * the rest. A generator, so that a large text can be read in turns.
 */
export function* csvRows(text: string): Generator<CsvRow, void> {
  let [at, line] = [text.startsWith("\ufeff") ? 1 : 0, 1]

  function quotedPart(): string {
    let part = ""
    for (at++; ; at++) {
      const end = text.indexOf('"', at)
      part += text.slice(at, end === -1 ? undefined : end)
      at = end === -1 ? text.length : end + 1
      if (text[at] !== '"') break
      part += '"'
    }
    line += part.match(LINE_END)?.length ?? 0
    return part
  }
  function readCell(): string {
    const quoted = text[at] === '"' ? quotedPart() : ""
    CELL_END.lastIndex = at
    const end = CELL_END.exec(text)?.index ?? text.length
    const cell = quoted + text.slice(at, end)
    at = end
    return cell
  }

  while (at < text.length) {
    const [begun, cells] = [line, [readCell()]]
    while (text[at] === ",") {
      at++
      cells.push(readCell())
    }
    at += text.startsWith("\r\n", at) ? 2 : 1
    line++
    if (cells.length > 1 || cells[0] !== "") yield { line: begun, cells }
  }
}

const LINE_END = /\r\n|\r|\n/g
const CELL_END = /[,\r\n]/g

/** Takes away the mark that exports put in front of what a spreadsheet would run. */
export const unmarked = (cell: string): string => (/^'[=+\-@\t\r＝＋－＠]/.test(cell) ? cell.slice(1) : cell)
