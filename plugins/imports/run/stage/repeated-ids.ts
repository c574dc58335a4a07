import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { HashIndex, hashInto } from "../../sources/hash-index.ts"
import { release } from "../files.ts"

/**
 * Finds events whose id occurred before, in bounded memory: hashes of the ids are divided among files, which are searched one by one at the
 * end. A million ids take a few MiB.
 */
export class RepeatedIds {
  readonly #folder: string
  readonly #parts: Part[] = []
  #count = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Adds the id of an event with a number below 2^32. Numbers ascend. */
  add(id: string, number: number): void {
    hashInto(id, entry, 0)
    entry[2] = number
    const place = entry[1]! % PARTS
    this.#parts[place] ??= new Part(join(this.#folder, String(place)))
    this.#parts[place].add(entry)
    this.#count = number + 1
  }

  /** Returns the function that tells whether the event with a number repeats the id of an earlier one. Removes the files. */
  find(): (number: number) => boolean {
    const repeated = new Uint8Array(Math.ceil(this.#count / 8))
    // The parts share a table, because the engine would keep those of all parts for a while, hundreds of megabytes for ten million ids.
    const ids = new HashIndex(false)
    for (const part of this.#parts) {
      ids.clear()
      const entries = part?.entries() ?? []
      for (let at = 0; at < entries.length; at += ENTRY_WORDS) {
        const number = entries[at + 2]!
        if (!ids.addHash(entries[at]!, entries[at + 1]!)) repeated[number >>> 3]! |= 1 << (number & 7)
      }
      part?.release()
    }
    this.remove()
    return (number) => ((repeated[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0
  }

  remove(): void {
    for (const part of this.#parts) part?.close()
    this.#parts.length = 0
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const PARTS = 64
/** Two words of the hash, and the number. */
const ENTRY_WORDS = 3
const entry = new Uint32Array(ENTRY_WORDS)
const BUFFERED_WORDS = 1_024 * ENTRY_WORDS

/** The entries of a part of all hashes. Those that do not fit into the buffer are in a file. */
class Part {
  readonly #path: string
  readonly #buffer = new Uint32Array(BUFFERED_WORDS)
  #used = 0
  #file: number | undefined
  #read: Buffer | undefined

  constructor(path: string) {
    this.#path = path
  }

  add(added: Uint32Array): void {
    if (this.#used === this.#buffer.length) this.#flush()
    this.#buffer.set(added, this.#used)
    this.#used += ENTRY_WORDS
  }

  entries(): Uint32Array {
    if (this.#file === undefined) return this.#buffer.subarray(0, this.#used)
    this.#flush()
    this.#read = readFileSync(this.#path)
    const { buffer, byteOffset, length } = this.#read
    return new Uint32Array(buffer, byteOffset, length / Uint32Array.BYTES_PER_ELEMENT)
  }

  /** Frees the entries that were read. */
  release(): void {
    if (this.#read) release(this.#read)
    this.#read = undefined
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #flush(): void {
    if (this.#file === undefined) {
      mkdirSync(join(this.#path, ".."), { recursive: true, mode: 0o700 })
      this.#file = openSync(this.#path, "w", 0o600)
    }
    const bytes = new Uint8Array(this.#buffer.buffer, 0, this.#used * Uint32Array.BYTES_PER_ELEMENT)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.#used = 0
  }
}
