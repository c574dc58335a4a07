import type { PackedColumns } from "./bytes/codec.ts"

/** What a cache contains: decoded columns, and groups of columns that are decompressed only. */
export type Cached = Uint32Array | Float64Array | PackedColumns

/**
 * Bytes of garbage after which the garbage collector is called, as a share of the cache and at least. It underestimates the memory behind
 * unreachable typed arrays: without the call, a thread that reads many columns grows to several times the size of its cache. A call takes
 * a few milliseconds in a query worker, and 20 to 50 ms on the main thread, which answers events meanwhile and has a large heap: there it
 * runs beside the program.
 */
const GARBAGE_SHARE = 8
const MIN_GARBAGE_BYTES = 8 << 20
/** Bytes of a column per byte of garbage that is left from decoding it. */
const BYTES_PER_GARBAGE = 4

/** Number of random candidates to examine when a column must be evicted. */
const SAMPLES = 8

interface Entry {
  key: string
  column: Cached
  /** Number of the last report that used the column. */
  report: number
}

/**
 * A cache of decoded columns, bounded by their bytes and by what is reserved for results and texts. It prefers to evict columns that the
 * last two reports did not use, and otherwise evicts at random. Eviction of the least recently used column would be worse: the same report
 * is often repeated and reads its columns in the same order, so if they slightly exceed the cache, each eviction would remove the column
 * that is needed next.
 */
export class ColumnCache {
  readonly #places = new Map<string, number>()
  readonly #entries: Entry[] = []
  #bytes = 0
  #garbage = 0
  #report = 0

  /** `waits` says whether the thread can stand still while garbage is collected. */
  constructor(
    readonly limit: number,
    private readonly waits = true,
  ) {}

  /** Marks the start of another report. */
  beginReport(): void {
    this.#report++
  }

  /** Takes memory for something else that belongs to the same limit, or gives it back. */
  reserve(bytes: number): void {
    this.#bytes += bytes
    this.#makeRoom(0)
  }

  get(key: string): Cached | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    const entry = this.#entries[place]!
    entry.report = this.#report
    return entry.column
  }

  set(key: string, column: Cached): void {
    this.#makeRoom(column.byteLength)
    this.#places.set(key, this.#entries.length)
    this.#entries.push({ key, column, report: this.#report })
    this.#bytes += column.byteLength
    this.#garbage += column.byteLength / BYTES_PER_GARBAGE
    if (this.#garbage < Math.max(MIN_GARBAGE_BYTES, this.limit / GARBAGE_SHARE)) return
    this.#garbage = 0
    Bun.gc(this.waits)
  }

  #makeRoom(bytes: number): void {
    while (this.#bytes + bytes > this.limit && this.#entries.length > 0) this.#remove(this.#victim())
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
    this.#garbage += column.byteLength
  }
}
