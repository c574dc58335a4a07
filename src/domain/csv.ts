/** Maximum size of a line, or of a record with line ends in its cells. */
export const MAX_LINE_BYTES = 1024 ** 2
const MAX_BYTES_PER_CHAR = 3

export type LineEnd = "\n" | "\r"

/** Returns what ends the lines of a text, or undefined if it has only one. A carriage return alone counts if there is no line feed. */
export function lineEndOf(text: string): LineEnd | undefined {
  if (text.includes("\n")) return "\n"
  const first = text.indexOf("\r")
  // A line feed can follow one at the end.
  return first !== -1 && first < text.length - 1 ? "\r" : undefined
}

/** Returns whether a text takes more bytes than a limit. */
export const exceeds = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (text.length * MAX_BYTES_PER_CHAR > maxBytes && Buffer.byteLength(text) > maxBytes)

/** A record of a delimited text. */
export interface CsvRecord {
  /** Number of the line that it begins in, from 1. */
  line: number
  cells: string[]
}

type Refuse = (line: number, code: "too_long" | "wrong_column_count") => void

/**
 * Parses delimited text (RFC 4180) a piece at a time. A quoted cell can contain delimiters and line ends. A record over the limit, and one
 * whose quote is never closed, is refused alone: parsing goes on with the line after the one it begins in.
 *
 * A parser of our own, because libraries neither name the line of a record nor go on after one that is too long; see DECISIONS.
 */
export class CsvParser {
  /** Text that is not parsed yet. It begins with a record. */
  #rest = ""
  #line = 1
  #lineEnd: LineEnd | undefined
  /** Whether the rest of the current line belongs to a record that was refused. */
  #isSkipping = false

  constructor(
    private readonly delimiter: string,
    private readonly refuse: Refuse,
    private readonly maxBytes = MAX_LINE_BYTES,
  ) {}

  /** Returns the records that the text completes. */
  push(text: string): CsvRecord[] {
    this.#lineEnd ??= lineEndOf(text)
    this.#rest = this.#rest === "" ? text : this.#rest + text
    return this.#parse(false)
  }

  /** Returns the record after the last line end. */
  end(): CsvRecord[] {
    return this.#parse(true)
  }

  #parse(isLast: boolean): CsvRecord[] {
    const records: CsvRecord[] = []
    const [text, lineEnd] = [this.#rest, this.#lineEnd ?? "\n"]
    let at = this.#isSkipping ? this.#skipLine(text, 0, lineEnd) : 0
    let quote = -2
    while (at < text.length) {
      const feed = text.indexOf(lineEnd, at)
      if (feed === -1 && !isLast) break
      const end = feed === -1 ? text.length : feed
      if (quote !== -1 && quote < at) quote = text.indexOf('"', at)
      if (quote === -1 || quote > end) {
        // Without a quote a line is a record.
        const line = text.slice(at, text[end - 1] === "\r" && end > at ? end - 1 : end)
        if (exceeds(line, this.maxBytes)) this.refuse(this.#line, "too_long")
        else records.push({ line: this.#line, cells: line.split(this.delimiter) })
        this.#line++
        at = end + 1
        continue
      }
      const record = this.#quotedRecord(text, at, end, lineEnd, isLast)
      if (record) {
        if (exceeds(text.slice(at, record.next), this.maxBytes)) this.refuse(this.#line, "too_long")
        else records.push({ line: this.#line, cells: record.cells })
        this.#line += record.lines
        at = record.next
      } else if (!isLast && text.length - at <= this.maxBytes) break
      else {
        this.refuse(this.#line, isLast && !exceeds(text.slice(at), this.maxBytes) ? "wrong_column_count" : "too_long")
        at = this.#skipLine(text, at, lineEnd)
      }
    }
    this.#rest = at >= text.length ? "" : text.slice(at)
    if (!isLast && this.#rest.length > this.maxBytes && !this.#rest.includes(lineEnd)) this.#skipRest()
    return records
  }

  /** Refuses a line that has no end within the limit, and forgets what was read of it. */
  #skipRest(): void {
    this.refuse(this.#line, "too_long")
    this.#isSkipping = true
    this.#rest = ""
  }

  /** Returns where the next line begins, or the end of the text if the line goes on. */
  #skipLine(text: string, at: number, lineEnd: LineEnd): number {
    const feed = text.indexOf(lineEnd, at)
    this.#isSkipping = feed === -1
    if (feed === -1) return text.length
    this.#line++
    return feed + 1
  }

  /** Parses a record that contains quotes. Returns undefined if the text ends within a quote. `end` is the end of its first line. */
  #quotedRecord(text: string, from: number, end: number, lineEnd: LineEnd, isLast: boolean): QuotedRecord | undefined {
    const cells: string[] = []
    let [at, lines] = [from, 1]
    let lineStop = end
    for (;;) {
      let cell = ""
      if (text[at] === '"') {
        const closed = quotedPart(text, at, isLast)
        if (!closed) return undefined
        cell = closed.text
        at = closed.next
        for (; lineStop !== -1 && lineStop < at; lines++) lineStop = text.indexOf(lineEnd, lineStop + 1)
        if (lineStop === -1) {
          if (!isLast) return undefined
          lineStop = text.length
        }
      }
      const next = text.indexOf(this.delimiter, at)
      const isLastCell = next === -1 || next > lineStop
      const stop = isLastCell ? lineStop : next
      const cut = isLastCell && stop > at && text[stop - 1] === "\r" ? stop - 1 : stop
      cells.push(at === cut ? cell : cell + text.slice(at, cut))
      at = stop + 1
      if (isLastCell) return { cells, next: at, lines }
    }
  }
}

interface QuotedRecord {
  cells: string[]
  next: number
  /** Lines that it takes. */
  lines: number
}

/** Reads a quoted text. Returns undefined if it is not closed. A quote at the end of a piece can be the first of an escaped pair. */
function quotedPart(text: string, from: number, isLast: boolean): { text: string; next: number } | undefined {
  let [part, at] = ["", from + 1]
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote === -1 || (quote === text.length - 1 && !isLast)) return undefined
    if (text[quote + 1] !== '"') return { text: part + text.slice(at, quote), next: quote + 1 }
    part += text.slice(at, quote + 1)
    at = quote + 2
  }
}
