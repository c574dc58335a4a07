import { closeSync, openSync, readSync, writeSync } from "node:fs"

/** Files of staged rows. They are read and written synchronously, through one buffer each. */

export const BUFFER_BYTES = 64 << 10
export const MAX_BYTES_PER_CHAR = 3
const FEED = 10

/** Frees the memory of a buffer at once, instead of when garbage is collected. */
export function release({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) buffer.transfer(0)
}

/** Writes bytes to a new private file. */
export class ByteWriter {
  readonly #file: number
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #used = 0

  constructor(path: string) {
    this.#file = openSync(path, "w", 0o600)
  }

  copy(source: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const length = source.copy(this.#buffer, this.#used, at, end)
      at += length
      this.#used += length
      if (this.#used === this.#buffer.length) this.#flush()
    }
  }

  /** Writes a text. */
  text(text: string): void {
    const bytes = text.length * MAX_BYTES_PER_CHAR
    if (this.#used + bytes > this.#buffer.length) this.#flush()
    if (bytes > this.#buffer.length) writeAll(this.#file, Buffer.from(text))
    else this.#used += this.#buffer.write(text, this.#used)
  }

  close(): void {
    this.#flush()
    closeSync(this.#file)
    release(this.#buffer)
  }

  #flush(): void {
    writeAll(this.#file, this.#buffer, this.#used)
    this.#used = 0
  }
}

/** Writes all bytes, which the system may take in several pieces. */
export function writeAll(file: number, bytes: Uint8Array, length = bytes.length): void {
  for (let at = 0; at < length; ) at += writeSync(file, bytes, at, length - at)
}

/** Writes lines to a new private file. */
export class LineWriter {
  readonly #writer: ByteWriter

  constructor(path: string) {
    this.#writer = new ByteWriter(path)
  }

  write(line: string): void {
    this.#writer.text(`${line}\n`)
  }

  close(): void {
    this.#writer.close()
  }
}

/** Yields the lines of a file that `LineWriter` wrote. */
export function* linesOf(path: string): Generator<string> {
  const file = openSync(path, "r")
  try {
    let buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
    let filled = 0
    for (;;) {
      if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
      const length = readSync(file, buffer, filled, buffer.length - filled, null)
      if (length === 0) return
      const searched = filled
      filled += length
      let from = 0
      for (let end = buffer.indexOf(FEED, searched); end >= 0 && end < filled; end = buffer.indexOf(FEED, from)) {
        yield buffer.toString("utf8", from, end)
        from = end + 1
      }
      buffer.copyWithin(0, from, filled)
      filled -= from
    }
  } finally {
    closeSync(file)
  }
}
