import type { Hash64 } from "../writer.ts"

const WIDTH = 3
const LOW = 1
const VALUE = 2

/**
 * A map from 64-bit hashes to whole numbers from 0 to 2^32 − 2. It uses open addressing in a typed array, with 12 bytes per slot and a
 * load of at most two thirds, so that the garbage collector has nothing to trace.
 */
export class HashTable {
  /** Slots of three adjacent numbers: high half, low half, value + 1. A third number of 0 means that the slot is empty. */
  #places = new Uint32Array(64 * WIDTH)
  #mask = 63
  size = 0

  get(id: Hash64): number | undefined {
    const value = this.#places[this.#place(id.high, id.low) + VALUE]!
    return value === 0 ? undefined : value - 1
  }

  /** Sets the value of a hash unless it has one. */
  set(id: Hash64, value: number): void {
    const place = this.#place(id.high, id.low)
    if (this.#places[place + VALUE] !== 0) return
    this.#places[place] = id.high
    this.#places[place + LOW] = id.low
    this.#places[place + VALUE] = value + 1
    this.size++
    if (this.size * 3 > this.#mask * 2) this.#grow()
  }

  *entries(): IterableIterator<[Hash64, number]> {
    const places = this.#places
    for (let place = 0; place < places.length; place += WIDTH) {
      if (places[place + VALUE] !== 0) yield [{ high: places[place]!, low: places[place + LOW]! }, places[place + VALUE]! - 1]
    }
  }

  /** Returns the slot of a hash, or the empty slot where it belongs. */
  #place(high: number, low: number): number {
    const places = this.#places
    for (let at = (low ^ Math.imul(high, 0x9e37_79b1)) & this.#mask; ; at = (at + 1) & this.#mask) {
      const place = at * WIDTH
      if (places[place + VALUE] === 0 || (places[place + LOW] === low && places[place] === high)) return place
    }
  }

  #grow(): void {
    const old = this.#places
    this.#places = new Uint32Array(old.length * 2)
    this.#mask = this.#mask * 2 + 1
    for (let from = 0; from < old.length; from += WIDTH) {
      if (old[from + VALUE] === 0) continue
      const place = this.#place(old[from]!, old[from + LOW]!)
      this.#places[place] = old[from]!
      this.#places[place + LOW] = old[from + LOW]!
      this.#places[place + VALUE] = old[from + VALUE]!
    }
  }
}

/** Converts a hash to eight bytes, big-endian, as stored in the tables. */
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
