/**
 * Compact tables for joins over millions of ids, which would take ten times the memory in a `Map` of strings. Ids are compared by a hash of
 * 64 bits: among 90 million different ids, two are taken for the same one with a probability of 1 in 4,000.
 */

import { ImportFault } from "../source.ts"

/** Number of places of the largest table: 90 million ids in 1.6 GB, or 1.1 GB without numbers. Growing to it takes half as much again. */
const MAX_PLACES = 1 << 27
const FIRST_PLACES = 1_024

/** A set of ids, each with a number. Open addressing with linear probing, at most 70 % full. */
export class HashIndex {
  count = 0
  #places = FIRST_PLACES
  #low = new Uint32Array(FIRST_PLACES)
  #high = new Uint32Array(FIRST_PLACES)
  #values: Uint32Array | undefined

  /** `hasValues`: false for a plain set, which takes a third less. */
  constructor(hasValues = true) {
    this.#values = hasValues ? new Uint32Array(FIRST_PLACES) : undefined
  }

  /** Removes all ids, and keeps the room for as many. */
  clear(): void {
    this.count = 0
    this.#low.fill(0)
    this.#high.fill(0)
  }

  /** Adds an id. Returns false if the set contains it already. */
  add(id: string, value = 0): boolean {
    hashInto(id, hash, 0)
    return this.addHash(hash[0]!, hash[1]!, value)
  }

  /** Adds the hash of an id. Returns false if the set contains it already. */
  addHash(low: number, high: number, value = 0): boolean {
    const place = this.#find(low, high)
    if (this.#isUsed(place)) return false
    this.#low[place] = low
    this.#high[place] = high
    if (this.#values) this.#values[place] = value
    if (++this.count > this.#places * 0.7) this.#grow()
    return true
  }

  /** Replaces the number of an id, or adds it. */
  set(id: string, value: number): void {
    if (this.add(id, value)) return
    this.#values![this.#find(hash[0]!, hash[1]!)] = value
  }

  /** Returns the number of an id, or undefined. */
  get(id: string): number | undefined {
    if (this.count === 0) return undefined
    hashInto(id, hash, 0)
    const place = this.#find(hash[0]!, hash[1]!)
    return this.#isUsed(place) ? this.#values![place] : undefined
  }

  #isUsed(place: number): boolean {
    return this.#low[place] !== 0 || this.#high[place] !== 0
  }

  #find(low: number, high: number): number {
    const mask = this.#places - 1
    let place = (low ^ (high >>> 7)) & mask
    while (this.#isUsed(place) && (this.#low[place] !== low || this.#high[place] !== high)) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    if (this.#places === MAX_PLACES) {
      throw new ImportFault(
        "archive_too_large",
        "The export has more than 90 million ids. Export shorter ranges and import them separately.",
      )
    }
    const [lows, highs, values] = [this.#low, this.#high, this.#values]
    this.#places *= 2
    this.#low = new Uint32Array(this.#places)
    this.#high = new Uint32Array(this.#places)
    if (values) this.#values = new Uint32Array(this.#places)
    for (let at = 0; at < lows.length; at++) {
      const [low, high] = [lows[at]!, highs[at]!]
      if (low === 0 && high === 0) continue
      const place = this.#find(low, high)
      this.#low[place] = low
      this.#high[place] = high
      if (values) this.#values![place] = values[at]!
    }
  }
}

/** The last hash. A pair would be an allocation per id. */
const hash = new Uint32Array(2)

/** Writes two hashes of 32 bits into `words`. The pair is never (0, 0), which marks a free place. */
export function hashInto(text: string, words: Uint32Array, at: number): void {
  let [a, b] = [0x9e3779b9, 0x85ebca6b]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    a = Math.imul(((a << 5) | (a >>> 27)) ^ code, 0x9e3779b1)
    b = Math.imul(((b << 13) | (b >>> 19)) ^ code, 0xc2b2ae3d)
  }
  a = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d)
  b = Math.imul(b ^ (b >>> 15), 0x297a2d39)
  words[at] = a ^ (a >>> 12)
  words[at + 1] = b ^ (b >>> 13) ^ text.length
  if (words[at] === 0 && words[at + 1] === 0) words[at + 1] = 1
}

const CHUNK_BYTES = 1 << 24

/** Different texts, stored once each as UTF-8 and named by numbers from 0. */
export class TextTable {
  #index = new HashIndex()
  #chunks: Buffer[] = []
  #used = CHUNK_BYTES
  /** Position of each text: number of the chunk × `CHUNK_BYTES` + offset. */
  #starts = new Float64Array(FIRST_PLACES)
  #lengths = new Uint32Array(FIRST_PLACES)
  #count = 0

  /** Returns the number of a text and stores the text if it is new. */
  add(text: string): number {
    const known = this.#index.get(text)
    if (known !== undefined) return known
    const length = Buffer.byteLength(text)
    if (this.#used + length > CHUNK_BYTES) {
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, length)))
      this.#used = 0
    }
    if (this.#count === this.#starts.length) {
      this.#starts = doubled(this.#starts, Float64Array)
      this.#lengths = doubled(this.#lengths, Uint32Array)
    }
    this.#chunks.at(-1)!.write(text, this.#used)
    this.#starts[this.#count] = (this.#chunks.length - 1) * CHUNK_BYTES + this.#used
    this.#lengths[this.#count] = length
    this.#used += length
    this.#index.add(text, this.#count)
    return this.#count++
  }

  /** Returns the text with a number. */
  text(number: number): string {
    const start = this.#starts[number]!
    const offset = start % CHUNK_BYTES
    return this.#chunks[(start - offset) / CHUNK_BYTES]!.toString("utf8", offset, offset + this.#lengths[number]!)
  }
}

/** Returns an array of twice the length with the same content. */
export function doubled<Numbers extends Uint32Array | Float64Array>(numbers: Numbers, Type: new (length: number) => Numbers): Numbers {
  const larger = new Type(numbers.length * 2)
  larger.set(numbers)
  return larger
}
