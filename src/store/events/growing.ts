/** A Uint32Array that grows at its end. `view` is valid until the next push. */
export class GrowingUint32 {
  #values = new Uint32Array(64)
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

  /** Whether this value stands at this place; false beyond the end. */
  has(index: number, value: number): boolean {
    return index < this.length && this.#values[index] === value
  }

  put(index: number, value: number): void {
    this.#values[index] = value
  }

  add(index: number, value: number): void {
    this.#values[index]! += value
  }

  /** Holds from now on the chosen values of another one. */
  take(from: GrowingUint32, rows: RowRuns): void {
    this.#values = new Uint32Array(roomFor(rows.count))
    copyRuns(from.#values, rows, this.#values)
    this.length = rows.count
  }

  view(): Uint32Array {
    return this.#values.subarray(0, this.length)
  }
}

/** The same for numbers over 32 bits: times, sequences, amounts. */
export class GrowingFloat64 {
  #values = new Float64Array(64)
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

  put(index: number, value: number): void {
    this.#values[index] = value
  }

  /** Holds from now on the chosen values of another one. */
  take(from: GrowingFloat64, rows: RowRuns): void {
    this.#values = new Float64Array(roomFor(rows.count))
    copyRuns(from.#values, rows, this.#values)
    this.length = rows.count
  }

  view(): Float64Array {
    return this.#values.subarray(0, this.length)
  }
}

/** Growing columns by name. */
export function growingColumns<Name extends string>(names: readonly Name[]): Record<Name, GrowingUint32> {
  // The cast holds because every name is given its column.
  return Object.fromEntries(names.map((name) => [name, new GrowingUint32()])) as Record<Name, GrowingUint32>
}

/** Chosen rows as runs of neighbours, each from its first row to the one after its last. */
export interface RowRuns {
  froms: number[]
  tos: number[]
  /** Rows in all of them. */
  count: number
}

/** The rows that are not marked 1. */
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

/** With room to grow, or the first push would copy it all again. */
const roomFor = (count: number): number => Math.max(64, Math.ceil(count * 1.25))

function copyRuns<Values extends Uint32Array | Float64Array>(from: Values, { froms, tos }: RowRuns, into: Values): void {
  let at = 0
  for (let run = 0; run < froms.length; run++) {
    const [start, end] = [froms[run]!, tos[run]!]
    // A call costs as much as some single values.
    if (end - start > 16) into.set(from.subarray(start, end), at)
    else for (let row = start; row < end; row++) into[at + row - start] = from[row]!
    at += end - start
  }
}
