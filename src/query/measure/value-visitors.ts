import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { isCounted } from "../filter/masks.ts"
import { PairSet } from "./pair-set.ts"

/** Rows of a part by the number of their value, and whose they are. */
export interface ValueColumns {
  /** By event row, or by visit. */
  codes: Uint32Array
  /** By visit. */
  visitor: Uint32Array
}

export interface ValueRows extends ValueColumns {
  /** By event row. */
  visit: Uint32Array
  /** By event row, 1 where the event counts; without it names say so. */
  mask: Uint8Array | undefined
  name: Uint32Array
}

/**
 * Distinct visitors by value, exact, in one walk over as few columns as there can be: what a grouped report makes in several. Parts
 * come in order (`orderedPart`).
 */
export class ValueVisitors {
  /** Visitors that come with one visit only, by value. */
  private readonly singles: Uint32Array
  private readonly stamps: Uint32Array
  private readonly pairs = new PairSet()
  private readonly pairCodes = new NumberBuffer()
  private readonly pairVisitors = new NumberBuffer()
  private before = 1

  /** `wanted` holds 1 for each value to count; `returning` a bit for each visitor that may have several visits. */
  constructor(
    private readonly wanted: Uint8Array,
    private readonly returning: Int32Array,
  ) {
    this.singles = grownNumbers(new Uint32Array(0), wanted.length)
    this.stamps = grownNumbers(new Uint32Array(0), wanted.length)
  }

  /** Events, each with a value of its own. */
  addEvents(part: Part, rows: ValueRows): void {
    const sink = this.sink(rows.codes.length)
    const found = rows.mask ? addMarked(rows, rows.mask, this.wanted, sink, this.before) : addCounted(rows, this.wanted, sink, this.before)
    this.before += part.visits
    this.pairs.add(sink.codes, sink.visitors, found, this.wanted.length)
  }

  /** Visits; a mask holds 1 for those that count. */
  addVisits(part: Part, columns: ValueColumns, mask: Uint8Array | undefined): void {
    const sink = this.sink(part.visits)
    const found = addVisits(columns, part.visits, mask ?? EVERY, this.wanted, sink)
    this.pairs.add(sink.codes, sink.visitors, found, this.wanted.length)
  }

  /** By value. */
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
  /** By value the visit last seen with it, counted over all parts. */
  stamps: Uint32Array
  returning: Int32Array
  codes: Uint32Array
  visitors: Uint32Array
}

/** Instead of a mask of ones: a mask that is too short says nothing. */
const EVERY = new Uint8Array(0)

/** Each returns how many pairs of visitors that may come again it has listed. */
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
