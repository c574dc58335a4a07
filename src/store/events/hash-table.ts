import type { Hash64 } from "./writer.ts"

/**
 * 64-bit hashes to whole numbers, open addressing in typed arrays: 12 bytes an entry at a load of at most two thirds, and
 * nothing for the collector to trace. Values are 0 to 2^32 − 2.
 */
export class HashTable {
  #highs = new Uint32Array(64)
  #lows = new Uint32Array(64)
  /** Value + 1; 0 is an empty place. */
  #values = new Uint32Array(64)
  size = 0

  get(id: Hash64): number | undefined {
    const value = this.#values[this.#place(id.high, id.low)]!
    return value === 0 ? undefined : value - 1
  }

  /** Keeps the first value of a hash. */
  set(id: Hash64, value: number): void {
    const place = this.#place(id.high, id.low)
    if (this.#values[place] !== 0) return
    this.#highs[place] = id.high
    this.#lows[place] = id.low
    this.#values[place] = value + 1
    this.size++
    if (this.size * 3 > this.#values.length * 2) this.#grow()
  }

  *entries(): IterableIterator<[Hash64, number]> {
    for (let place = 0; place < this.#values.length; place++) {
      if (this.#values[place] !== 0) yield [{ high: this.#highs[place]!, low: this.#lows[place]! }, this.#values[place]! - 1]
    }
  }

  #place(high: number, low: number): number {
    const mask = this.#values.length - 1
    let place = (low ^ Math.imul(high, 0x9e37_79b1)) & mask
    while (this.#values[place] !== 0 && (this.#lows[place] !== low || this.#highs[place] !== high)) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const [highs, lows, values] = [this.#highs, this.#lows, this.#values]
    this.#highs = new Uint32Array(values.length * 2)
    this.#lows = new Uint32Array(values.length * 2)
    this.#values = new Uint32Array(values.length * 2)
    for (let old = 0; old < values.length; old++) {
      if (values[old] === 0) continue
      const place = this.#place(highs[old]!, lows[old]!)
      this.#highs[place] = highs[old]!
      this.#lows[place] = lows[old]!
      this.#values[place] = values[old]!
    }
  }
}

/** Eight bytes, high half first: the form of a hash in the store's tables. */
export function hashBytes({ high, low }: Hash64): Uint8Array {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, high)
  view.setUint32(4, low)
  return bytes
}

export function hashOf(bytes: Uint8Array): Hash64 {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { high: view.getUint32(0), low: view.getUint32(4) }
}
