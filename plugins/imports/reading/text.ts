import type { LineEnd } from "#plugin"
import { exceeds, lineEndOf, MAX_LINE_BYTES } from "#plugin/worker"
import { type FileHead, ImportFault, type Sink } from "../source.ts"

/** The text of files: encodings, and lines with their numbers. */

/** Encodings that can be named in `options.encoding`. Without it, a byte order mark decides, otherwise UTF-8. */
export const ENCODINGS = ["utf-8", "utf-16", "latin1"] as const
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1"

const LINE_FEED = 10

/** The parts of an unpacked file that readers need. */
export interface Content {
  name: string
  chunks(): AsyncIterable<Uint8Array>
}

/** What readers report to. */
export type ReadingSink = Pick<Sink, "reject" | "read" | "warn" | "check">

export interface Line {
  /** Number of the line, from 1. */
  line: number
  text: string
}

/** Returns the encoding of a file. A byte order mark wins over the option. Throws `invalid_encoding` for UTF-16 without one. */
export function encodingOf({ name, bytes }: Pick<FileHead, "name" | "bytes">, option?: string): Encoding {
  const marked = markedEncoding(bytes)
  if (marked) return marked
  if (option === "utf-16" || isUtf16(bytes))
    throw new ImportFault("invalid_encoding", `${name} is UTF-16 without a byte order mark. Save it as UTF-8.`)
  return option === "latin1" ? "latin1" : "utf-8"
}

/** Returns the encoding that a byte order mark names. */
function markedEncoding([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined
}

/** Every other byte of Latin text is 0 in UTF-16. Other files have few: logs after a crash have runs of them. */
function isUtf16(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, 512)
  const zeros = [0, 1].map((parity) => start.filter((byte, index) => byte === 0 && index % 2 === parity).length)
  return start.length >= 4 && Math.max(...zeros) > start.length * 0.4 && Math.min(...zeros) < start.length * 0.1
}

/** Returns the beginning of a file as text, for recognition. Bytes that are no text are replaced. */
export function fileHead(name: string, bytes: Uint8Array, option?: string): FileHead {
  const encoding = markedEncoding(bytes) ?? (option === "latin1" ? "latin1" : "utf-8")
  // A character that the end of the head cuts in half is left out.
  return { name, bytes, text: new TextDecoder(encoding).decode(bytes, { stream: true }) }
}

/** Yields the text of a file. Throws `invalid_encoding` with the line of the first byte that is no text. */
export async function* decoded(file: Content, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  try {
    for await (const chunk of file.chunks()) yield decoder.decode(chunk, { stream: true })
    const rest = decoder.decode()
    if (rest !== "") yield rest
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const line = encoding === "utf-8" ? await firstInvalidLine(file) : undefined
    const place = line === undefined ? file.name : `Line ${line} of ${file.name}`
    const remedy = encoding === "utf-8" ? 'Save it as UTF-8, or set the option encoding to "latin1".' : "Save it as UTF-8."
    throw new ImportFault("invalid_encoding", `${place} is not valid ${encoding.toUpperCase()}. ${remedy}`)
  }
}

/** Finds the line by reading the file again, so that files without a fault need not be counted. */
async function firstInvalidLine(file: Content): Promise<number | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let line = 1
  for await (const chunk of file.chunks()) {
    for (let at = 0; at < chunk.length; ) {
      const feed = chunk.indexOf(LINE_FEED, at)
      const end = feed === -1 ? chunk.length : feed + 1
      try {
        decoder.decode(chunk.subarray(at, end), { stream: true })
      } catch {
        return line
      }
      if (feed !== -1) line++
      at = end
    }
  }
  // The file ends within a character.
  return line
}

/**
 * Yields the lines of a file in groups, without their line ends; empty lines included. A line over `MAX_LINE_BYTES` is counted as read and
 * rejected as `too_long`. The lines that are yielded are counted by the caller, who knows which of them are rows.
 */
export async function* lines(file: Content, encoding: Encoding, sink: ReadingSink): AsyncGenerator<Line[]> {
  let [line, rest, isTooLong] = [1, "", false]
  let end: LineEnd | undefined
  for await (const text of decoded(file, encoding)) {
    sink.check()
    end ??= lineEndOf(text)
    const parts = text.split(end ?? "\n")
    const group: Line[] = []
    for (const [index, part] of parts.entries()) {
      if (!isTooLong) rest += part
      isTooLong ||= exceeds(rest, MAX_LINE_BYTES)
      if (isTooLong) rest = ""
      if (index === parts.length - 1) break
      if (isTooLong) rejectLine(file, line, sink)
      else group.push({ line, text: rest.endsWith("\r") ? rest.slice(0, -1) : rest })
      ;[line, rest, isTooLong] = [line + 1, "", false]
    }
    if (group.length > 0) yield group
  }
  if (isTooLong) rejectLine(file, line, sink)
  else if (rest !== "") yield [{ line, text: rest.endsWith("\r") ? rest.slice(0, -1) : rest }]
}

function rejectLine(file: Content, line: number, sink: ReadingSink): void {
  sink.read(1)
  sink.reject(file.name, line, "too_long", "")
}
