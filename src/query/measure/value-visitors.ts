import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { isCounted } from "../filter/masks.ts"
import { PairSet } from "./pair-set.ts"

/** Columns of a part with the values and the visitors. */
export interface ValueColumns {
  /** Dictionary number of the value by event row, or by visit. */
  codes: Uint32Array
  /** Visitor by visit. */
  visitor: Uint32Array
}

export interface ValueRows extends ValueColumns {
  /** Visit by event row. */
  visit: Uint32Array
  /** 1 for each event that is counted. Without a mask the event names decide. */
  mask: Uint8Array | undefined
  name: Uint32Array
}

/**
 * Counts distinct visitors by value, exactly, in one pass over as few columns as possible; a grouped report needs several passes. Parts
 * must be ordered (`orderedPart`).
 */
export class ValueVisitors {
  /** Number of visitors with a single visit, by value. */
  private readonly singles: Uint32Array
  private readonly stamps: Uint32Array
  private readonly pairs = new PairSet()
  private readonly pairCodes = new NumberBuffer()
  private readonly pairVisitors = new NumberBuffer()
  private before = 1

  /** `wanted` is 1 for each value to count. `returning` has a bit for each visitor that can have several visits. */
  constructor(
    private readonly wanted: Uint8Array,
    private readonly returning: Int32Array,
  ) {
    this.singles = grownNumbers(new Uint32Array(0), wanted.length)
    this.stamps = grownNumbers(new Uint32Array(0), wanted.length)
  }

  /** Adds events, each of which has its own value. */
  addEvents(part: Part, rows: ValueRows): void {
    const sink = this.sink(rows.codes.length)
    const found = rows.mask ? addMarked(rows, rows.mask, this.wanted, sink, this.before) : addCounted(rows, this.wanted, sink, this.before)
    this.before += part.visits
    this.pairs.add(sink.codes, sink.visitors, found, this.wanted.length)
  }

  /** Adds visits. The mask is 1 for each visit that is counted. */
  addVisits(part: Part, columns: ValueColumns, mask: Uint8Array | undefined): void {
    const sink = this.sink(part.visits)
    const found = addVisits(columns, part.visits, mask ?? EVERY, this.wanted, sink)
    this.pairs.add(sink.codes, sink.visitors, found, this.wanted.length)
  }

  /** Returns the number of distinct visitors by value. */
  counts(): Uint32Array {
    const counts = this.pairs.counts(this.wanted.length)
    for (let code = 0; code < counts.length; code++) counts[code]! += this.singles[code]!
    return counts
  }

  private sink(rows: number): Sink {
    const { singles, stamps, returning } = this
    return { singles, stamps, returning, codes: this.pairCodes.room(rows), visitors: this.pairVisitors.room(rows) }
  }
}

interface Sink {
  singles: Uint32Array
  /** Latest visit by value, numbered over all parts. */
  stamps: Uint32Array
  returning: Int32Array
  codes: Uint32Array
  visitors: Uint32Array
}

/** Stands for a mask of ones, because reading beyond its end gives undefined, which is not 0. */
const EVERY = new Uint8Array(0)

/** Adds counted events. Like the two functions below, it lists the pairs of visitors with several visits and returns their number. */
function addCounted({ codes, visit, visitor, name }: ValueRows, wanted: Uint8Array, sink: Sink, before: number): number {
  const { singles, stamps, returning, codes: outCodes, visitors: outVisitors } = sink
  let found = 0
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!
    const stamp = visit[row]! + before
    if (stamps[code] === stamp || wanted[code] === 0 || isCounted(name[row]!) === 0) continue
    stamps[code] = stamp
    const of = visitor[stamp - before]!
    const again = (returning[of >>> 5]! >>> (of & 31)) & 1
    singles[code]! += 1 - again
    outCodes[found] = code
    outVisitors[found] = of
    found += again
  }
  return found
}

function addMarked({ codes, visit, visitor }: ValueRows, mask: Uint8Array, wanted: Uint8Array, sink: Sink, before: number): number {
  const { singles, stamps, returning, codes: outCodes, visitors: outVisitors } = sink
  let found = 0
  for (let row = 0; row < codes.length; row++) {
    if (mask[row] === 0) continue
    const code = codes[row]!
    const stamp = visit[row]! + before
    if (stamps[code] === stamp || wanted[code] === 0) continue
    stamps[code] = stamp
    const of = visitor[stamp - before]!
    const again = (returning[of >>> 5]! >>> (of & 31)) & 1
    singles[code]! += 1 - again
    outCodes[found] = code
    outVisitors[found] = of
    found += again
  }
  return found
}

function addVisits({ codes, visitor }: ValueColumns, visits: number, mask: Uint8Array, wanted: Uint8Array, sink: Sink): number {
  const { singles, returning, codes: outCodes, visitors: outVisitors } = sink
  let found = 0
  for (let row = 0; row < visits; row++) {
    const code = codes[row]!
    if (mask[row] === 0 || wanted[code] === 0) continue
    const of = visitor[row]!
    const again = (returning[of >>> 5]! >>> (of & 31)) & 1
    singles[code]! += 1 - again
    outCodes[found] = code
    outVisitors[found] = of
    found += again
  }
  return found
}
