import type { PackedColumns } from "./bytes/codec.ts"

/** What a cache contains: decoded columns, and groups of columns that are decompressed only. */
export type Cached = Uint32Array | Float64Array | PackedColumns

/**
 * Bytes of garbage after which the garbage collector is called, as a share of the cache and at least. It underestimates the memory behind
 * unreachable typed arrays: without the call, a thread that reads many columns grows to several times the size of its cache. A whole
 * collection takes a few milliseconds in a query worker, and 20 to 50 ms on the main thread, which answers events meanwhile and has a large
 * heap. There the engine collects beside the program instead: mostly young objects only, which is what most columns of upkeep are.
 */
const GARBAGE_SHARE = 8
const MIN_GARBAGE_BYTES = 8 << 20
/** Bytes of a column per byte of garbage that is left from decoding it. */
const BYTES_PER_GARBAGE = 4

/** Number of random candidates to examine when a column must be evicted. */
const SAMPLES = 8

/** Room for the columns of work that reads each of them a few times in a row, and its largest share of a small cache. */
const PASSING_BYTES = 16 << 20
const PASSING_SHARE = 2

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
 *
 * What is read in passing, as by exports and by the folding of sales, takes a small share of the cache, from which the least recently used
 * column is evicted. Otherwise a back-fill with sales would fill the cache with columns that no report needs.
 */
export class ColumnCache {
  readonly #places = new Map<string, number>()
  readonly #entries: Entry[] = []
  /** What was read in passing, in the order of its last use. */
  readonly #passing = new Map<string, Cached>()
  #passingBytes = 0
  #isPassing = false
  #bytes = 0
  #garbage = 0
  #report = 0

  /** `waits` says whether the thread can stand still while garbage is collected. */
  constructor(
    readonly limit: number,
    private readonly waits = true,
  ) {}

  /** Marks the start of another report, or of work that reads in passing. */
  beginReport(isPassing = false): void {
    this.#isPassing = isPassing
    if (!isPassing) this.#report++
  }

  /** Takes memory for something else that belongs to the same limit, or gives it back. */
  reserve(bytes: number): void {
    this.#bytes += bytes
    this.#makeRoom(0)
  }

  get(key: string): Cached | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return this.#takePassing(key)
    const entry = this.#entries[place]!
    if (!this.#isPassing) entry.report = this.#report
    return entry.column
  }

  set(key: string, column: Cached): void {
    this.#makeRoom(column.byteLength)
    this.#bytes += column.byteLength
    if (this.#isPassing) this.#pass(key, column)
    else this.#keep(key, column)
    this.#garbage += column.byteLength / BYTES_PER_GARBAGE
    if (this.#garbage < Math.max(MIN_GARBAGE_BYTES, this.limit / GARBAGE_SHARE)) return
    this.#garbage = 0
    Bun.gc(this.waits)
  }

  /** Returns a column that was read in passing. A report that needs it keeps it like any other. */
  #takePassing(key: string): Cached | undefined {
    const column = this.#passing.get(key)
    if (column === undefined) return undefined
    this.#passing.delete(key)
    if (this.#isPassing) this.#passing.set(key, column)
    else {
      this.#passingBytes -= column.byteLength
      this.#keep(key, column)
    }
    return column
  }

  #keep(key: string, column: Cached): void {
    this.#places.set(key, this.#entries.length)
    this.#entries.push({ key, column, report: this.#report })
  }

  #pass(key: string, column: Cached): void {
    this.#passing.set(key, column)
    this.#passingBytes += column.byteLength
    while (this.#passingBytes > Math.min(PASSING_BYTES, this.limit / PASSING_SHARE)) this.#removePassing()
  }

  #makeRoom(bytes: number): void {
    while (this.#bytes + bytes > this.limit && this.#passing.size > 0) this.#removePassing()
    while (this.#bytes + bytes > this.limit && this.#entries.length > 0) this.#remove(this.#victim())
  }

  #removePassing(): void {
    const [key, { byteLength }] = this.#passing.entries().next().value! // it is not empty
    this.#passing.delete(key)
    this.#passingBytes -= byteLength
    this.#bytes -= byteLength
    this.#garbage += byteLength
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
