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
    this.#values = new Uint32Array(Math.max(64, rows.length))
    for (let at = 0; at < rows.length; at++) this.#values[at] = from.#values[rows[at]!]!
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
    this.#values = new Float64Array(Math.max(64, rows.length))
    for (let at = 0; at < rows.length; at++) this.#values[at] = from.#values[rows[at]!]!
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
