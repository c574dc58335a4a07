import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"

/**
 * An external sort: lines with a key, written to a folder in sorted chunks and merged when they are read. Lines with equal keys keep their
 * order. Runs in a worker, so files are read and written synchronously.
 */
export class ExternalSort {
  readonly #folder: string
  readonly #chunkBytes: number
  #lines: Line[] = []
  #bytes = 0
  #chunks: string[] = []

  constructor(folder: string, chunkBytes = CHUNK_BYTES) {
    this.#folder = folder
    this.#chunkBytes = chunkBytes
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** Adds a line. Neither key nor text contains a tab or a line break, which JSON escapes. */
  add(key: string, text: string): void {
    this.#lines.push({ key, text })
    this.#bytes += key.length + text.length + OVERHEAD
    if (this.#bytes >= this.#chunkBytes) this.#writeChunk()
  }

  /** Yields the texts in order of their keys. Can be called once. */
  *sorted(): Generator<string> {
    if (this.#chunks.length === 0) {
      for (const { text } of inOrder(this.#lines)) yield text
      this.#lines = []
      return
    }
    if (this.#lines.length > 0) this.#writeChunk()
    yield* merged(this.#chunks)
    this.remove()
  }

  /** Deletes the chunks. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #writeChunk(): void {
    const path = join(this.#folder, String(this.#chunks.length))
    const writer = new LineWriter(path)
    for (const { key, text } of inOrder(this.#lines)) writer.write(`${key}\t${text}`)
    writer.close()
    this.#chunks.push(path)
    this.#lines = []
    this.#bytes = 0
  }
}

interface Line {
  key: string
  text: string
}

const CHUNK_BYTES = 48 << 20
/** Approximate size of a line in memory in addition to its characters. */
const OVERHEAD = 64
const BUFFER_BYTES = 256 << 10

const inOrder = (lines: Line[]): Line[] => lines.sort((a, b) => compare(a.key, b.key))
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Merges sorted chunks. With equal keys the earlier chunk comes first, so that the sort is stable. */
function* merged(paths: readonly string[]): Generator<string> {
  const heads = paths.flatMap((path) => {
    const lines = linesOf(path)
    const { value, done } = lines.next()
    return done ? [] : [{ lines, ...splitLine(value) }]
  })
  while (heads.length > 0) {
    let least = 0
    for (let at = 1; at < heads.length; at++) if (heads[at]!.key < heads[least]!.key) least = at
    const head = heads[least]!
    yield head.text
    const { value, done } = head.lines.next()
    if (done) heads.splice(least, 1)
    else Object.assign(head, splitLine(value))
  }
}

function splitLine(line: string): Line {
  const tab = line.indexOf("\t")
  return { key: line.slice(0, tab), text: line.slice(tab + 1) }
}

/** Writes lines to a new private file. */
export class LineWriter {
  readonly #file: number
  #waiting: string[] = []
  #length = 0

  constructor(path: string) {
    this.#file = openSync(path, "w", 0o600)
  }

  write(line: string): void {
    this.#waiting.push(line)
    this.#length += line.length + 1
    if (this.#length >= BUFFER_BYTES) this.#flush()
  }

  close(): void {
    this.#flush()
    closeSync(this.#file)
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const bytes = Buffer.from(`${this.#waiting.join("\n")}\n`)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.#waiting = []
    this.#length = 0
  }
}

/** Yields the lines of a file that `LineWriter` wrote. */
export function* linesOf(path: string): Generator<string> {
  const file = openSync(path, "r")
  try {
    const buffer = Buffer.alloc(BUFFER_BYTES)
    let rest = Buffer.alloc(0)
    for (;;) {
      const length = readSync(file, buffer, 0, BUFFER_BYTES, null)
      if (length === 0) return
      const bytes = Buffer.concat([rest, buffer.subarray(0, length)])
      let from = 0
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
        yield bytes.toString("utf8", from, end)
        from = end + 1
      }
      rest = bytes.subarray(from)
    }
  } finally {
    closeSync(file)
  }
}
