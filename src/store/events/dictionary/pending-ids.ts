import type { Hash64 } from "../writer.ts"

/** Number of ids that are sorted together: about a millisecond of work. */
const RUN = 16_384

/**
 * Ids that are in the log but not yet in a table. They are returned in sorted runs, because adjacent rows share pages of the table;
 * in order of arrival, each id would write a page of its own.
 */
export class PendingIds {
  /** Runs that `take` returns. A run is sorted when its first ids are taken. */
  readonly #gathered: BigUint64Array<ArrayBuffer>[] = []
  /** Number of ids that were taken from the first run. */
  #taken = 0
  #latest = new BigUint64Array(64)
  /** A view of `#latest`, to add ids without creating bigints. */
  #halves = new Uint32Array(this.#latest.buffer)
  #count = 0
  /** Number of all pending ids. */
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

  /** Makes the ids added so far available to `take`. */
  gather(): void {
    if (this.#count === 0) return
    this.#gathered.push(this.#latest.slice(0, this.#count))
    this.#latest = new BigUint64Array(64)
    this.#halves = new Uint32Array(this.#latest.buffer)
    this.#count = 0
  }

  /** Removes and returns at most `limit` gathered ids of one run, in ascending order. Returns none when there are no more. */
  take(limit: number): Hash64[] {
    const run = this.#gathered[0]
    if (!run) return []
    if (this.#taken === 0) run.sort()
    const ids = Array.from(run.subarray(this.#taken, this.#taken + limit), (id) => ({
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
