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
  take(from: GrowingUint32, rows: Uint32Array): void {
    const [source, values] = [from.#values, new Uint32Array(Math.max(64, rows.length))]
    for (let at = 0; at < rows.length; at++) values[at] = source[rows[at]!]!
    this.#values = values
    this.length = rows.length
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
  take(from: GrowingFloat64, rows: Uint32Array): void {
    const [source, values] = [from.#values, new Float64Array(Math.max(64, rows.length))]
    for (let at = 0; at < rows.length; at++) values[at] = source[rows[at]!]!
    this.#values = values
    this.length = rows.length
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

/** The rows below `count` that are chosen, for `take`. */
export function rowsWhere(count: number, isChosen: (row: number) => boolean): Uint32Array {
  const rows = new Uint32Array(count)
  let chosen = 0
  for (let row = 0; row < count; row++) if (isChosen(row)) rows[chosen++] = row
  return rows.subarray(0, chosen)
}
