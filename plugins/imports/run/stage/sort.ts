import { closeSync, mkdirSync, openSync, readSync, rmSync } from "node:fs"
import { join } from "node:path"
import { ByteWriter, MAX_BYTES_PER_CHAR, release } from "../files.ts"

/**
 * An external sort of texts in bounded memory: one buffer, whose records are written to a folder in sorted chunks and merged when they are
 * read. Everything lies in buffers that are reused or released explicitly, because an engine that is free to collect garbage later takes
 * many times as much. Runs in a worker, so files are read and written synchronously.
 */
export class ExternalSort {
  readonly #folder: string
  readonly #chunkBytes: number
  readonly #fanIn: number
  #buffer = Buffer.alloc(0)
  #used = 0
  #count = 0
  /** Rank and number of each record, in one integer by which they are sorted, and its position. */
  #order = new BigUint64Array(0)
  #words = new Uint32Array(0)
  #starts = new Uint32Array(0)
  #chunks: string[] = []
  #written = 0

  /** `fanIn`: number of chunks that are merged at once. */
  constructor(folder: string, { chunkBytes = CHUNK_BYTES, fanIn = FAN_IN } = {}) {
    this.#folder = folder
    this.#chunkBytes = chunkBytes
    this.#fanIn = fanIn
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /**
   * Adds a text of two parts. Texts are ordered by `rank`, an integer from 0 to below 2^44, then by the bytes of the first part, then as they
   * were added.
   */
  add(rank: number, tie: string, rest: string): void {
    this.#reserve(HEADER_BYTES + (tie.length + rest.length) * MAX_BYTES_PER_CHAR)
    const start = this.#used
    const tieBytes = this.#buffer.write(tie, start + HEADER_BYTES)
    const restBytes = this.#buffer.write(rest, start + HEADER_BYTES + tieBytes)
    this.#buffer.writeUInt32LE(tieBytes, start)
    this.#buffer.writeUInt32LE(restBytes, start + 4)
    this.#buffer.writeDoubleLE(rank, start + 8)
    this.#used = start + HEADER_BYTES + tieBytes + restBytes
    this.#starts[this.#count] = start
    this.#words[this.#count * 2] = (rank % RANKS_IN_LOW) * MAX_RECORDS + this.#count
    this.#words[this.#count * 2 + 1] = Math.floor(rank / RANKS_IN_LOW)
    this.#count++
  }

  /** Yields the texts in order. Can be called once. */
  *sorted(): Generator<string> {
    if (this.#chunks.length === 0) {
      for (const start of this.#sortedStarts()) {
        yield this.#buffer.toString("utf8", start + HEADER_BYTES, endOf(this.#buffer, start))
      }
      this.remove()
      return
    }
    this.#writeChunk()
    this.#release()
    while (this.#chunks.length > this.#fanIn) this.#mergeChunks()
    for (const chunk of merged(this.#chunks)) yield chunk.text()
    this.remove()
  }

  /** Deletes the chunks and releases the memory. */
  remove(): void {
    this.#release()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Makes room for a record. */
  #reserve(bytes: number): void {
    if (this.#count === MAX_RECORDS || (this.#used > 0 && this.#used + bytes > this.#chunkBytes)) this.#writeChunk()
    if (this.#used + bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(Math.min(this.#buffer.length * 2, this.#chunkBytes), this.#used + bytes, FIRST_BYTES))
      this.#buffer.copy(larger, 0, 0, this.#used)
      release(this.#buffer)
      this.#buffer = larger
    }
    if (this.#count < this.#starts.length) return
    const [order, starts] = [new BigUint64Array(Math.max(FIRST_RECORDS, this.#count * 2)), this.#starts]
    order.set(this.#order)
    this.#order = order
    this.#words = new Uint32Array(order.buffer)
    this.#starts = new Uint32Array(order.length)
    this.#starts.set(starts)
  }

  #writeChunk(): void {
    if (this.#count === 0) return
    const path = join(this.#folder, String(this.#written++))
    const writer = new ByteWriter(path)
    for (const start of this.#sortedStarts()) writer.copy(this.#buffer, start, endOf(this.#buffer, start))
    writer.close()
    this.#chunks.push(path)
    this.#used = 0
    this.#count = 0
  }

  /** Merges neighbouring chunks, so that few enough are left to be read at the same time. */
  #mergeChunks(): void {
    const chunks = this.#chunks
    this.#chunks = []
    for (let at = 0; at < chunks.length; at += this.#fanIn) {
      const group = chunks.slice(at, at + this.#fanIn)
      const path = join(this.#folder, String(this.#written++))
      const writer = new ByteWriter(path)
      for (const { buffer, start, end } of merged(group)) writer.copy(buffer, start, end)
      writer.close()
      for (const chunk of group) rmSync(chunk)
      this.#chunks.push(path)
    }
  }

  /** Sorts by rank natively, then records of the same rank by comparing them. */
  #sortedStarts(): Uint32Array {
    this.#order.subarray(0, this.#count).sort()
    const starts = new Uint32Array(this.#count)
    for (let at = 0; at < this.#count; at++) starts[at] = this.#starts[this.#words[at * 2]! % MAX_RECORDS]!
    for (let from = 0; from < this.#count; ) {
      const to = this.#endOfRank(from)
      if (to - from > 1) starts.subarray(from, to).sort((a, b) => compareTies(this.#buffer, a, this.#buffer, b) || a - b)
      from = to
    }
    return starts
  }

  /** Returns the end of the records that have the same rank as one. */
  #endOfRank(from: number): number {
    const [low, high] = [this.#words[from * 2]! >>> RECORD_BITS, this.#words[from * 2 + 1]!]
    let to = from + 1
    while (to < this.#count && this.#words[to * 2 + 1] === high && this.#words[to * 2]! >>> RECORD_BITS === low) to++
    return to
  }

  #release(): void {
    release(this.#buffer)
    this.#buffer = Buffer.alloc(0)
    this.#order = new BigUint64Array(0)
    this.#words = new Uint32Array(0)
    this.#starts = new Uint32Array(0)
    this.#used = 0
    this.#count = 0
  }
}

/** A chunk holds fewer records than this, so that a rank of 44 bits and the number of a record fit into 64 bits. */
const RECORD_BITS = 20
const MAX_RECORDS = 1 << RECORD_BITS
const RANKS_IN_LOW = 1 << (32 - RECORD_BITS)
const CHUNK_BYTES = 8 << 20
const FIRST_BYTES = 64 << 10
const FIRST_RECORDS = 1_024
const FAN_IN = 512
/** Bytes that are read at once of each chunk. All chunks of a merge together take some megabytes. */
const CHUNK_BUFFER_BYTES = 8 << 10
/** Bytes of the two parts, and the rank. */
const HEADER_BYTES = 16

const endOf = (buffer: Buffer, start: number): number => start + HEADER_BYTES + buffer.readUInt32LE(start) + buffer.readUInt32LE(start + 4)

function compareTies(left: Buffer, leftStart: number, right: Buffer, rightStart: number): number {
  const [leftAt, rightAt] = [leftStart + HEADER_BYTES, rightStart + HEADER_BYTES]
  return left.compare(right, rightAt, rightAt + right.readUInt32LE(rightStart), leftAt, leftAt + left.readUInt32LE(leftStart))
}

/** Merges sorted chunks. With equal keys the earlier chunk comes first, so that the sort is stable. Yields each chunk at its next record. */
function* merged(paths: readonly string[]): Generator<ChunkReader> {
  const readers = paths.map((path, number) => new ChunkReader(path, number))
  try {
    // A binary heap: no reader precedes the one at half its place.
    const heap = readers.filter((reader) => reader.next())
    for (let at = heap.length >> 1; at >= 0; at--) siftDown(heap, at)
    while (heap.length > 0) {
      const [first] = heap
      yield first!
      if (!first!.next()) {
        const last = heap.pop()!
        if (heap.length > 0) heap[0] = last
      }
      siftDown(heap, 0)
    }
  } finally {
    for (const reader of readers) reader.close()
  }
}

function siftDown(heap: ChunkReader[], from: number): void {
  const moved = heap[from]
  if (!moved) return
  let at = from
  for (;;) {
    let child = at * 2 + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]!.precedes(heap[child]!)) child++
    if (!heap[child]!.precedes(moved)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = moved
}

/** Reads the records of a chunk one after another. */
class ChunkReader {
  buffer = Buffer.allocUnsafeSlow(CHUNK_BUFFER_BYTES)
  /** Place of the current record in the buffer. */
  start = 0
  end = 0
  #rank = 0
  #filled = 0
  readonly #file: number
  readonly #number: number

  constructor(path: string, number: number) {
    this.#file = openSync(path, "r")
    this.#number = number
  }

  /** Moves to the next record. Returns false at the end. */
  next(): boolean {
    this.start = this.end
    if (!this.#fill(HEADER_BYTES)) return false
    this.#fill(endOf(this.buffer, this.start) - this.start)
    this.end = endOf(this.buffer, this.start)
    this.#rank = this.buffer.readDoubleLE(this.start + 8)
    return true
  }

  text(): string {
    return this.buffer.toString("utf8", this.start + HEADER_BYTES, this.end)
  }

  precedes(other: ChunkReader): boolean {
    if (this.#rank !== other.#rank) return this.#rank < other.#rank
    const compared = compareTies(this.buffer, this.start, other.buffer, other.start)
    return compared === 0 ? this.#number < other.#number : compared < 0
  }

  close(): void {
    closeSync(this.#file)
    release(this.buffer)
  }

  /** Reads until the buffer has some bytes from the start of the record on. Returns false if the file ends before. */
  #fill(bytes: number): boolean {
    if (this.#filled - this.start >= bytes) return true
    const target = bytes > this.buffer.length ? Buffer.allocUnsafeSlow(bytes) : this.buffer
    this.buffer.copy(target, 0, this.start, this.#filled)
    if (target !== this.buffer) release(this.buffer)
    this.buffer = target
    this.#filled -= this.start
    this.start = 0
    for (let length = -1; length !== 0 && this.#filled < bytes; this.#filled += length) {
      length = readSync(this.#file, target, this.#filled, target.length - this.#filled, null)
    }
    return this.#filled >= bytes
  }
}
