/** A row of a CSV file with the number of its first line. */
export interface CsvRow {
  line: number
  cells: string[]
}

/**
 * Yields the rows of a CSV file (RFC 4180), without empty ones. Lines may end with CR, LF or both; an unclosed quote extends to the end
 * of the file. A generator, so that the caller can pause between the rows of a large file.
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
    const [firstLine, cells] = [line, [readCell()]]
    while (text[at] === ",") {
      at++
      cells.push(readCell())
    }
    at += text.startsWith("\r\n", at) ? 2 : 1
    line++
    if (cells.length > 1 || cells[0] !== "") yield { line: firstLine, cells }
  }
}

const LINE_END = /\r\n|\r|\n/g
const CELL_END = /[,\r\n]/g

/** Removes the apostrophe that exports put in front of a cell that a spreadsheet would run as a formula. */
export const withoutFormulaGuard = (cell: string): string => (/^'[=+\-@\t\r＝＋－＠]/.test(cell) ? cell.slice(1) : cell)
