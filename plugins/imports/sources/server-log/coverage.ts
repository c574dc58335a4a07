import type { LineCoverage } from "../../source.ts"

/**
 * What a stream has read: covered intervals of time, and keyed hashes of the lines near their boundaries, because logs are not strictly in
 * order. A line well within an interval was read before; near a boundary only a line with a known hash was. So a rotated or re-read log
 * adds only new lines, and a range that was left out can be read later.
 */
export interface Coverage {
  /** Start and end as epoch milliseconds, both inclusive, in order and apart. */
  intervals: readonly (readonly [from: number, to: number])[]
  /** Records of ten bytes in base64: seconds since 1970 and hash of a line. A line that occurs twice has two. */
  lines: string
}

export const NO_COVERAGE: Coverage = { intervals: [], lines: "" }

/** Distance from a boundary within which lines are compared by their hash. A longer pause ends an interval. */
export const NEAR_MS = 5 * 60_000
/**
 * Pauses of up to an hour are closed once they are 30 days old. Otherwise the log of a quiet site, in which every line is near a boundary,
 * would never be forgotten.
 */
const OLD_MS = 30 * 86_400_000
const OLD_PAUSE_MS = 3_600_000

/** A stretch of a file without a long pause, and the lines near its ends. */
interface Stretch {
  from: number
  to: number
  times: number[]
  hashes: number[]
  /** Number of lines at which those in the middle are left out. */
  pruneAt: number
}

const PRUNE_LINES = 1_024

/** Creates the reader of one run. `key` has 32 bytes and is that of the stream. */
export function coverageReader({ intervals: known, lines }: Coverage, key: Uint8Array): LineCoverage & { finish(): Coverage } {
  let intervals = known
  const marks = unpackLines(lines)
  const hash = lineHash(key)
  let stretches: Stretch[] = []
  let stretch: Stretch | undefined
  /** Known lines that the file has repeated so far: of two equal lines, the second can be new. */
  let repeated = new Map<number, number>()
  let at = 0

  function endFile(): void {
    addLines(marks, stretches)
    intervals = joined([...intervals, ...stretches.map(({ from, to }) => [from, to] as const)])
    keepNear(marks, intervals)
    stretches = []
    stretch = undefined
    repeated = new Map()
  }

  return {
    startFile: endFile,
    isCovered(time, line) {
      const interval = intervals[at]
      // Lines follow each other in time, so it is nearly always the interval of the line before.
      if (!interval || time < interval[0] || time > interval[1]) at = lastBefore(intervals, time)
      const [from, to] = intervals[at] ?? [0, 0]
      if (time - from > NEAR_MS && to - time > NEAR_MS) return true
      const mark = hash(line)
      if (!stretch || time > stretch.to + NEAR_MS || time < stretch.from - NEAR_MS) {
        stretch = { from: time, to: time, times: [], hashes: [], pruneAt: PRUNE_LINES }
        stretches.push(stretch)
      }
      addLine(stretch, time, mark)
      const count = marks.get(mark)?.count
      if (count === undefined) return false
      const repeats = (repeated.get(mark) ?? 0) + 1
      repeated.set(mark, repeats)
      return repeats <= count
    },
    finish() {
      endFile()
      return { intervals, lines: packLines(marks) }
    },
  }
}

/** Returns the end of the newest interval, or undefined before the first run. */
export const coveredTo = ({ intervals }: Coverage): number | undefined => intervals.at(-1)?.[1]

/** Returns the place of the last interval that starts at or before a time, or 0. */
function lastBefore(intervals: Coverage["intervals"], time: number): number {
  let [low, high] = [0, intervals.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (intervals[middle]![0] <= time) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

function addLine(stretch: Stretch, time: number, mark: number): void {
  if (time > stretch.to) stretch.to = time
  if (time < stretch.from) stretch.from = time
  stretch.times.push(time)
  stretch.hashes.push(mark)
  if (stretch.times.length < stretch.pruneAt) return
  const { from, to, times, hashes } = stretch
  const near = [...times.keys()].filter((index) => times[index]! - from <= NEAR_MS || to - times[index]! <= NEAR_MS)
  stretch.times = near.map((index) => times[index]!)
  stretch.hashes = near.map((index) => hashes[index]!)
  stretch.pruneAt = Math.max(PRUNE_LINES, near.length * 2)
}

/** A line near a boundary. */
interface Mark {
  at: number
  count: number
}

/** Adds the lines of a file. Those that are known are not counted again. */
function addLines(marks: Map<number, Mark>, stretches: readonly Stretch[]): void {
  const found = new Map<number, Mark>()
  for (const { times, hashes } of stretches) {
    for (const [index, mark] of hashes.entries()) found.set(mark, { at: times[index]!, count: (found.get(mark)?.count ?? 0) + 1 })
  }
  for (const [mark, { at, count }] of found) marks.set(mark, { at, count: Math.max(count, marks.get(mark)?.count ?? 0) })
}

/** Joins intervals between which there is no long pause. */
function joined(intervals: readonly (readonly [from: number, to: number])[]): (readonly [from: number, to: number])[] {
  const newest = intervals.reduce((latest, [, to]) => Math.max(latest, to), 0)
  const apart: [from: number, to: number][] = []
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    const last = apart.at(-1)
    const pause = from < newest - OLD_MS ? OLD_PAUSE_MS : NEAR_MS
    if (last && from <= last[1] + pause) last[1] = Math.max(last[1], to)
    else apart.push([from, to])
  }
  return apart
}

/** Forgets lines that are no longer near a boundary. */
function keepNear(marks: Map<number, Mark>, intervals: Coverage["intervals"]): void {
  for (const [mark, { at }] of marks) {
    const [from, to] = intervals[lastBefore(intervals, at)]!
    // Stored times are in whole seconds.
    if (at - from > NEAR_MS && to - at > NEAR_MS + 1_000) marks.delete(mark)
  }
}

const RECORD_BYTES = 10
const HASH_BYTES = 6

function packLines(marks: ReadonlyMap<number, Mark>): string {
  const records = [...marks].flatMap(([mark, { at, count }]) => Array.from({ length: count }, () => ({ mark, at })))
  const bytes = Buffer.alloc(records.length * RECORD_BYTES)
  for (const [index, { mark, at }] of records.entries()) {
    bytes.writeUInt32BE(Math.floor(at / 1_000), index * RECORD_BYTES)
    bytes.writeUIntBE(mark, index * RECORD_BYTES + RECORD_BYTES - HASH_BYTES, HASH_BYTES)
  }
  return bytes.toString("base64")
}

function unpackLines(lines: string): Map<number, Mark> {
  const bytes = Buffer.from(lines, "base64")
  const marks = new Map<number, Mark>()
  for (let place = 0; place < bytes.length; place += RECORD_BYTES) {
    const mark = bytes.readUIntBE(place + RECORD_BYTES - HASH_BYTES, HASH_BYTES)
    marks.set(mark, { at: bytes.readUInt32BE(place) * 1_000, count: (marks.get(mark)?.count ?? 0) + 1 })
  }
  return marks
}

/** Creates the keyed hash of lines: 48 bits, of which nothing can be learned about a line without the key. */
function lineHash(key: Uint8Array): (line: string) => number {
  let message = Buffer.alloc(4_096)
  message.set(key)
  const digest = Buffer.alloc(32)
  return (line) => {
    const maxBytes = key.length + line.length * 3
    if (maxBytes > message.length) {
      message = Buffer.alloc(maxBytes * 2)
      message.set(key)
    }
    const end = key.length + message.write(line, key.length)
    Bun.SHA256.hash(message.subarray(0, end), digest)
    return digest.readUIntBE(0, HASH_BYTES)
  }
}
