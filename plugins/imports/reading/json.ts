import { exceeds, MAX_LINE_BYTES } from "#plugin/worker"
import { type Content, decoded, type Encoding, type ReadingSink } from "./text.ts"

/** An object of a JSON file. */
export interface JsonElement {
  /** Number of the line that it begins in, from 1. */
  line: number
  value: Readonly<Record<string, unknown>>
}

/**
 * Yields the objects of a JSON file in groups, without holding more than one group: those of an array, of several arrays one after
 * another, or one per line (NDJSON). In NDJSON an object can also span lines, if no further line of it begins with a brace. Counts each
 * as read. Rejects an object over the limit as `too_long`, and anything that is not a JSON object as `wrong_column_count`; reading goes
 * on with the next element or line.
 */
export async function* jsonElements(
  file: Content,
  encoding: Encoding,
  sink: ReadingSink,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<JsonElement[]> {
  const splitter = new JsonSplitter(maxBytes, (line, code) => {
    sink.read(1)
    sink.reject(file.name, line, code, "")
  })
  for await (const text of decoded(file, encoding)) {
    sink.check()
    const elements = splitter.push(text)
    sink.read(elements.length)
    if (elements.length > 0) yield elements
  }
  const last = splitter.end()
  sink.read(last.length)
  if (last.length > 0) yield last
}

type Refuse = (line: number, code: "too_long" | "wrong_column_count") => void

const VALUE = /[^\s,]/g

/** Splits JSON text into objects, a piece at a time. */
class JsonSplitter {
  /** Text that is not split yet. It begins with a value, or within one that is skipped. */
  #rest = ""
  #line = 1
  #isInArray = false
  /** How far the element of an array that the rest begins with is scanned. */
  #scan = newScan()
  /** The rest of what was refused before it ended. */
  #skipped: "line" | "element" | undefined
  #elements: JsonElement[] = []

  constructor(
    private readonly maxBytes: number,
    private readonly refuse: Refuse,
  ) {}

  /** Returns the objects that the text completes. */
  push(text: string): JsonElement[] {
    this.#rest = this.#rest === "" ? text : this.#rest + text
    return this.#split(false)
  }

  /** Returns the object that ends with the file. */
  end(): JsonElement[] {
    return this.#split(true)
  }

  #split(isLast: boolean): JsonElement[] {
    const text = this.#rest
    let at = 0
    let feed = text.indexOf("\n")
    while (at < text.length) {
      const next = this.#step(text, at, isLast)
      if (next === undefined) break
      for (; feed !== -1 && feed < next; feed = text.indexOf("\n", feed + 1)) this.#line++
      at = next
    }
    this.#rest = text.slice(at)
    const elements = this.#elements
    this.#elements = []
    return elements
  }

  /** Reads what begins at a place. Returns where it ends, or undefined if the rest of it is not read yet. */
  #step(text: string, at: number, isLast: boolean): number | undefined {
    if (this.#skipped === "line") return this.#skipLine(text, at)
    if (this.#skipped === "element") return this.#skipElement(text, at)
    VALUE.lastIndex = at
    const start = VALUE.exec(text)?.index ?? text.length
    if (start > at) return start
    if (text[at] === "[" && !this.#isInArray) this.#isInArray = true
    else if (text[at] === "]" && this.#isInArray) this.#isInArray = false
    else return this.#isInArray ? this.#readElement(text, at, isLast) : this.#readLine(text, at, isLast)
    return at + 1
  }

  #skipLine(text: string, at: number): number {
    const feed = text.indexOf("\n", at)
    this.#skipped = feed === -1 ? "line" : undefined
    return feed === -1 ? text.length : feed
  }

  #skipElement(text: string, at: number): number {
    const end = scanValue(text, at, this.#scan)
    this.#scan = end === undefined ? { ...this.#scan, at: 0 } : newScan()
    this.#skipped = end === undefined ? "element" : undefined
    return end ?? text.length
  }

  /** Reads an element of an array. The end of the file ends it too. */
  #readElement(text: string, at: number, isLast: boolean): number | undefined {
    const end = scanValue(text, at, this.#scan) ?? (isLast ? text.length : undefined)
    if (end === undefined) {
      if (!exceeds(text.slice(at), this.maxBytes)) return undefined
      this.refuse(this.#line, "too_long")
      this.#scan.at = 0
      this.#skipped = "element"
      return text.length
    }
    this.#scan = newScan()
    this.#add(text.slice(at, end))
    return end
  }

  /** Reads an object outside of an array: a line, a part of it, or several lines. */
  #readLine(text: string, at: number, isLast: boolean): number | undefined {
    const feed = text.indexOf("\n", at)
    if (feed === -1 && !isLast) return this.#wait(text, at)
    const lineEnd = feed === -1 ? text.length : feed
    if (text[at] !== "{") {
      this.refuse(this.#line, "wrong_column_count")
      return lineEnd
    }
    const line = text.slice(at, lineEnd).trimEnd()
    if (line.endsWith("}") && parseObject(line)) {
      this.#add(line)
      return lineEnd
    }
    const next = text.indexOf("\n{", at)
    const end = scanValue(next === -1 ? text : text.slice(0, next), at, newScan())
    if (end === undefined && next === -1 && !isLast) return this.#wait(text, at)
    const stop = end ?? (next === -1 ? text.length : next)
    return this.#add(text.slice(at, stop)) ? stop : Math.max(stop, lineEnd)
  }

  /** Waits for the rest of an object, unless it is over the limit already. */
  #wait(text: string, at: number): number | undefined {
    if (!exceeds(text.slice(at), this.maxBytes)) return undefined
    this.refuse(this.#line, "too_long")
    return this.#skipLine(text, at)
  }

  #add(text: string): boolean {
    if (exceeds(text, this.maxBytes)) this.refuse(this.#line, "too_long")
    else {
      const value = parseObject(text)
      if (value) this.#elements.push({ line: this.#line, value })
      else this.refuse(this.#line, "wrong_column_count")
      return value !== undefined
    }
    return false
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // JSON.parse returns records for objects.
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** How far a value is scanned: the characters of it, the objects and arrays that are open, and whether a text or an escape in it is. */
interface Scan {
  at: number
  depth: number
  isInText: boolean
  isEscaped: boolean
}

const newScan = (): Scan => ({ at: 0, depth: 0, isInText: false, isEscaped: false })

const TEXT_STOP = /["\\]/g
const STRUCTURE = /["{}[\]]/g
/** What ends a number or a word. */
const SCALAR_STOP = /["{}[\],\s]/g

/** Returns where the value that begins at `from` ends, or undefined if the text ends before. Then `scan` is where to go on. */
function scanValue(text: string, from: number, scan: Scan): number | undefined {
  let at = from + scan.at
  while (at < text.length) {
    if (scan.isEscaped) {
      scan.isEscaped = false
      at++
      continue
    }
    const stops = scan.isInText ? TEXT_STOP : scan.depth === 0 ? SCALAR_STOP : STRUCTURE
    stops.lastIndex = at
    const stop = stops.exec(text)?.index
    if (stop === undefined) {
      at = text.length
      break
    }
    const char = text[stop]!
    // A number or a word ends before what follows it.
    if (!scan.isInText && scan.depth === 0 && stop > from && !"}]".includes(char)) return stop
    at = stop + 1
    if (char === "\\") scan.isEscaped = true
    else if (char === '"') scan.isInText = !scan.isInText
    else if (char === "{" || char === "[") scan.depth++
    else scan.depth--
    if (scan.depth <= 0 && !scan.isInText && !scan.isEscaped) return at
  }
  scan.at = at - from
  return undefined
}
