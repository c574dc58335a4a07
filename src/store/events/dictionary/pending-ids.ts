import type { Hash64 } from "../writer.ts"

/** Ids that are sorted together; a millisecond's work. */
const RUN = 65_536

/**
 * Ids that only the log knows, on their way into a table. They are given out in runs of ascending order: rows that lie beside
 * each other are written with a few pages of a table, where the same ids as they came would touch a page each.
 */
export class PendingIds {
  /** What `take` gives out; the first run is sorted when it is begun. */
  readonly #gathered: BigUint64Array<ArrayBuffer>[] = []
  /** Taken of the first run. */
  #taken = 0
  #latest = new BigUint64Array(64)
  /** The same memory: ids are put in without a bigint, for every event. */
  #halves = new Uint32Array(this.#latest.buffer)
  #count = 0
  /** All of them. */
  size = 0

  add({ high, low }: Hash64): void {
    if (this.#count === RUN) this.gather()
    if (this.#count === this.#latest.length) {
      const grown = new BigUint64Array(this.#count * 4)
      grown.set(this.#latest)
      this.#latest = grown
      this.#halves = new Uint32Array(grown.buffer)
    }
    this.#halves[this.#count * 2] = low
    this.#halves[this.#count * 2 + 1] = high
    this.#count++
    this.size++
  }

  /** What was added before this is given out before what comes later. */
  gather(): void {
    if (this.#count === 0) return
    this.#gathered.push(this.#latest.slice(0, this.#count))
    this.#latest = new BigUint64Array(64)
    this.#halves = new Uint32Array(this.#latest.buffer)
    this.#count = 0
  }

  /** Some of the ids that were gathered, of one run and in order; none when there are no more. */
  take(most: number): Hash64[] {
    const run = this.#gathered[0]
    if (!run) return []
    if (this.#taken === 0) run.sort()
    const ids = Array.from(run.subarray(this.#taken, this.#taken + most), (id) => ({
      high: Number(id >> 32n),
      low: Number(id & 0xffff_ffffn),
    }))
    this.#taken += ids.length
    this.size -= ids.length
    if (this.#taken === run.length) {
      this.#gathered.shift()
      this.#taken = 0
    }
    return ids
  }
}
