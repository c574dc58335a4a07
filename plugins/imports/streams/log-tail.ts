import { type FileHandle, open, stat } from "node:fs/promises"
import { basename } from "node:path"
import { fileHead } from "../reading/text.ts"
import { detectFormat, type LogFormat } from "../sources/server-log/formats.ts"
import type { NewFile } from "../staging.ts"

/**
 * Follows a log file by its path: returns what was appended, in whole lines, and goes on with the new file after a rotation. The old file is
 * read until nothing more is appended to it, because a web server writes to it until it reopens its logs.
 */
export class LogTail {
  readonly #path: string
  /** Rotated files, then the one at the path. */
  #files: OpenLog[] = []

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Returns what was appended since the last call of `advance`, as files to stage. Empty if nothing was, or while the file is missing
   * between two steps of a rotation.
   */
  async appended(): Promise<NewFile[]> {
    const found = await stat(this.#path).catch(() => undefined)
    if (found && found.ino !== this.#files.at(-1)?.ino) await this.#open()
    for (const file of this.#files) file.to = await endOfLines(file)
    const name = basename(this.#path)
    return this.#files.filter(({ from, to }) => to > from).map((file) => ({ name, copyTo: (path) => copyLines(file, path) }))
  }

  /** Notes that what `appended` has returned was imported. */
  async advance(): Promise<void> {
    const current = this.#files.at(-1)
    const [ended, open] = [[] as OpenLog[], [] as OpenLog[]]
    for (const file of this.#files) {
      const isEnded = file !== current && file.to === file.from
      file.from = file.to
      ;(isEnded ? ended : open).push(file)
    }
    this.#files = open
    for (const { handle } of ended) await handle.close()
  }

  /** Detects the format by the beginning of the file: the lines that are appended within a minute may be too few. */
  async format(): Promise<LogFormat | undefined> {
    const current = this.#files.at(-1)
    if (!current) return undefined
    return detectFormat(fileHead(basename(this.#path), await bytesAt(current, 0, HEAD_BYTES)))?.format
  }

  async close(): Promise<void> {
    for (const { handle } of this.#files) await handle.close()
    this.#files = []
  }

  async #open(): Promise<void> {
    const handle = await open(this.#path, "r").catch(() => undefined)
    if (!handle) return
    this.#files.push({ handle, ino: (await handle.stat()).ino, from: 0, to: 0 })
  }
}

interface OpenLog {
  handle: FileHandle
  ino: number
  /** Bytes that were imported. */
  from: number
  /** End of the last complete line. */
  to: number
}

const HEAD_BYTES = 65_536
const BUFFER_BYTES = 256 << 10
const FEED = 10
const HASH = 35

/** Returns the end of the last complete line. A file that has become shorter was emptied, and is read from its start. */
async function endOfLines(file: OpenLog): Promise<number> {
  const { size } = await file.handle.stat()
  if (size < file.from) file.from = 0
  for (let end = size; end > file.from; ) {
    const start = Math.max(file.from, end - BUFFER_BYTES)
    const at = (await bytesAt(file, start, end)).lastIndexOf(FEED)
    if (at >= 0) return start + at + 1
    end = start
  }
  return file.from
}

/** Copies the appended lines to a new private file, behind the comments at the beginning of the log, which can name its columns. */
async function copyLines(file: OpenLog, path: string): Promise<void> {
  const target = await open(path, "wx", 0o600)
  try {
    if (file.from > 0) await target.write(leadingComments(await bytesAt(file, 0, HEAD_BYTES)))
    for (let at = file.from; at < file.to; ) {
      const bytes = await bytesAt(file, at, Math.min(file.to, at + BUFFER_BYTES))
      if (bytes.length === 0) return // emptied meanwhile
      await target.write(bytes)
      at += bytes.length
    }
  } finally {
    await target.close()
  }
}

function leadingComments(head: Buffer): Buffer {
  let end = 0
  while (head[end] === HASH) {
    const feed = head.indexOf(FEED, end)
    if (feed < 0) break
    end = feed + 1
  }
  return head.subarray(0, end)
}

async function bytesAt({ handle }: OpenLog, from: number, to: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from)
  return buffer.subarray(0, bytesRead)
}
