import type { Steps } from "../steps.ts"

/** Rows that a new column has room for. A tail has some sixty columns, and with many sites most tails have few rows. */
const FIRST_ROWS = 16

/** A Uint32Array that grows at its end. `view` is valid until the next push. */
export class GrowingUint32 {
  #values = new Uint32Array(FIRST_ROWS)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Uint32Array(this.length * 2)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.length++] = value
  }

  at(index: number): number {
    return this.#values[index]!
  }

  /** Returns the index of the first value that is not below the given one, if the values ascend. */
  firstFrom(value: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#values[middle]! < value) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns whether an index has this value; false beyond the end. */
  has(index: number, value: number): boolean {
    return index < this.length && this.#values[index] === value
  }

  put(index: number, value: number): void {
    this.#values[index] = value
  }

  /** Replaces the values with those of the given rows of another array. */
  take(from: GrowingUint32, rows: RowRuns): void {
    this.#values = new Uint32Array(roomFor(rows.count))
    copyRuns(from.#values, rows, this.#values)
    this.length = rows.count
  }

  view(): Uint32Array {
    return this.#values.subarray(0, this.length)
  }

  release(): void {
    free(this.#values)
  }
}

/** The same for larger numbers: times, sequences, amounts. */
export class GrowingFloat64 {
  #values = new Float64Array(FIRST_ROWS)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Float64Array(this.length * 2)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.length++] = value
  }

  at(index: number): number {
    return this.#values[index]!
  }

  /** Replaces the values with those of the given rows of another array. */
  take(from: GrowingFloat64, rows: RowRuns): void {
    this.#values = new Float64Array(roomFor(rows.count))
    copyRuns(from.#values, rows, this.#values)
    this.length = rows.count
  }

  view(): Float64Array {
    return this.#values.subarray(0, this.length)
  }

  release(): void {
    free(this.#values)
  }
}

/**
 * Columns of equal length, either Uint32 or Float64. They grow together, so that adding a row needs one check for all of them. A new
 * row contains zeros. Growing replaces the arrays, so do not keep references to them.
 */
export class GrowingRows<Narrow extends string, Wide extends string> {
  readonly uint32: Record<Narrow, Uint32Array<ArrayBuffer>>
  readonly float64: Record<Wide, Float64Array<ArrayBuffer>>
  length = 0
  #room = FIRST_ROWS

  constructor(narrow: readonly Narrow[], wide: readonly Wide[]) {
    // The casts hold because every name is given its column.
    this.uint32 = Object.fromEntries(narrow.map((name) => [name, new Uint32Array(FIRST_ROWS)])) as Record<Narrow, Uint32Array<ArrayBuffer>>
    this.float64 = Object.fromEntries(wide.map((name) => [name, new Float64Array(FIRST_ROWS)])) as Record<Wide, Float64Array<ArrayBuffer>>
  }

  /** Adds a row and returns its index. */
  add(): number {
    if (this.length === this.#room) this.#grow()
    return this.length++
  }

  /** Returns the values of a Uint32 column. Valid until the next row is added. */
  view(column: Narrow): Uint32Array {
    return this.uint32[column].subarray(0, this.length)
  }

  /** Returns the values of a Float64 column. Valid until the next row is added. */
  wideView(column: Wide): Float64Array {
    return this.float64[column].subarray(0, this.length)
  }

  /**
   * Replaces all rows with zeros, as many as the given rows of another table, for `take` to fill column by column. There is room for as many
   * as the other table has: they have to be copied to grow, and as many often follow.
   */
  begin(from: GrowingRows<Narrow, Wide>, { count }: RowRuns): void {
    this.#room = Math.max(roomFor(count), from.length)
    this.length = count
    for (const name in this.uint32) this.uint32[name] = new Uint32Array(this.#room)
    for (const name in this.float64) this.float64[name] = new Float64Array(this.#room)
  }

  /** Copies the given rows of a column. */
  take(column: Narrow, from: GrowingRows<Narrow, Wide>, rows: RowRuns): void {
    copyRuns(from.uint32[column], rows, this.uint32[column])
  }

  /** Replaces all rows with the given rows of another table, in steps. */
  *takeAll(from: GrowingRows<Narrow, Wide>, rows: RowRuns): Steps<void> {
    this.begin(from, rows)
    for (const name in this.uint32) {
      copyRuns(from.uint32[name], rows, this.uint32[name])
      yield
    }
    for (const name in this.float64) {
      this.takeWide(name, from, rows)
      yield
    }
  }

  /** Replaces a row with one of another table. */
  takeRow(row: number, from: GrowingRows<Narrow, Wide>, fromRow: number): void {
    for (const name in this.uint32) this.uint32[name][row] = from.uint32[name][fromRow]!
    for (const name in this.float64) this.float64[name][row] = from.float64[name][fromRow]!
  }

  takeWide(column: Wide, from: GrowingRows<Narrow, Wide>, rows: RowRuns): void {
    copyRuns(from.float64[column], rows, this.float64[column])
  }

  release(): void {
    for (const name in this.uint32) free(this.uint32[name])
    for (const name in this.float64) free(this.float64[name])
  }

  #grow(): void {
    this.#room *= 2
    for (const name in this.uint32) {
      const grown = new Uint32Array(this.#room)
      grown.set(this.uint32[name])
      this.uint32[name] = grown
    }
    for (const name in this.float64) {
      const grown = new Float64Array(this.#room)
      grown.set(this.float64[name])
      this.float64[name] = grown
    }
  }
}

/** Frees the memory of an array at once. It is an old object, of which the collector would otherwise let several pile up. */
function free({ buffer }: Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>): void {
  buffer.transfer(0)
}

/** Creates growing columns by name. */
export function growingColumns<Name extends string>(names: readonly Name[]): Record<Name, GrowingUint32> {
  // The cast holds because every name is given its column.
  return Object.fromEntries(names.map((name) => [name, new GrowingUint32()])) as Record<Name, GrowingUint32>
}

/** A selection of rows as runs of adjacent rows, each half-open. */
export interface RowRuns {
  froms: number[]
  tos: number[]
  /** Number of rows in all runs. */
  count: number
}

/** Returns the rows that are not marked with 1. */
export function unmarkedRows(marked: Uint8Array): RowRuns {
  const runs: RowRuns = { froms: [], tos: [], count: 0 }
  for (let row = 0; row < marked.length; ) {
    const from = marked.indexOf(0, row)
    if (from < 0) break
    const end = marked.indexOf(1, from)
    row = end < 0 ? marked.length : end
    runs.froms.push(from)
    runs.tos.push(row)
    runs.count += row - from
  }
  return runs
}

/** Returns the capacity for a number of rows, with room to grow: otherwise the first new row would copy everything. */
const roomFor = (count: number): number => Math.max(FIRST_ROWS, Math.ceil(count * 1.25))

function copyRuns<Values extends Uint32Array | Float64Array>(from: Values, { froms, tos }: RowRuns, into: Values): void {
  let at = 0
  for (let run = 0; run < froms.length; run++) {
    const [start, end] = [froms[run]!, tos[run]!]
    // For short runs, a loop is cheaper than a call of `set`.
    if (end - start > 16) into.set(from.subarray(start, end), at)
    else for (let row = start; row < end; row++) into[at + row - start] = from[row]!
    at += end - start
  }
}
