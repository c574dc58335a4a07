import type { Numbers } from "./bytes/codec.ts"

/**
 * The collector does not see how much memory waits behind typed arrays that nobody holds any more: left alone, a thread
 * that reads many columns grows to several times its cache. So it is called after this many bytes, which takes half a millisecond.
 */
const COLLECT_AFTER_BYTES = 8 << 20

/** How many candidates to look at when something has to go. */
const SAMPLES = 8

interface Entry {
  key: string
  column: Numbers
  /** The report that used it last. */
  report: number
}

/**
 * Decoded columns by key, at most so many bytes of them. When there is no room, what the last two reports did not use goes
 * first; of the rest chance decides. The same report often comes again, and reads its columns in the same order: if they
 * are a little more than there is room for, throwing out the one used longest ago would throw out just the next ones.
 */
export class ColumnCache {
  readonly #places = new Map<string, number>()
  readonly #entries: Entry[] = []
  #bytes = 0
  #decoded = 0
  #report = 0

  constructor(readonly limit: number) {}

  /** Another report begins. */
  turn(): void {
    this.#report++
  }

  get(key: string): Numbers | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    const entry = this.#entries[place]!
    entry.report = this.#report
    return entry.column
  }

  set(key: string, column: Numbers): void {
    while (this.#bytes + column.byteLength > this.limit && this.#entries.length > 0) this.#remove(this.#victim())
    this.#places.set(key, this.#entries.length)
    this.#entries.push({ key, column, report: this.#report })
    this.#bytes += column.byteLength
    this.#decoded += column.byteLength
    if (this.#decoded < COLLECT_AFTER_BYTES) return
    this.#decoded = 0
    Bun.gc(true)
  }

  #victim(): number {
    let place = 0
    for (let sample = 0; sample < SAMPLES; sample++) {
      place = Math.floor(Math.random() * this.#entries.length)
      if (this.#entries[place]!.report < this.#report - 1) return place
    }
    return place
  }

  #remove(place: number): void {
    const { key, column } = this.#entries[place]!
    const last = this.#entries.pop()!
    if (last.key !== key) {
      this.#entries[place] = last
      this.#places.set(last.key, place)
    }
    this.#places.delete(key)
    this.#bytes -= column.byteLength
  }
}
