import type { ColumnCache } from "./cache.ts"
import type { ResultCache } from "./part.ts"

interface Entry {
  version: string
  result: unknown
  bytes: number
}

/** Results of reports, bounded by their bytes, which they take from the cache of columns. The least recently used ones are dropped first. */
export class Results implements ResultCache {
  /** In order of use. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(
    readonly limit: number,
    private readonly cache: Pick<ColumnCache, "reserve">,
  ) {}

  get(key: string, version: string): unknown {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#remove(key, entry)
    if (entry.version !== version) return undefined
    this.#add(key, entry)
    return entry.result
  }

  set(key: string, version: string, result: unknown, bytes: number): void {
    const former = this.#entries.get(key)
    if (former) this.#remove(key, former)
    if (bytes > this.limit) return
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes + bytes <= this.limit) break
      this.#remove(oldest, entry)
    }
    this.#add(key, { version, result, bytes })
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
    this.#change(entry.bytes)
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#change(-entry.bytes)
  }

  #change(bytes: number): void {
    this.#bytes += bytes
    this.cache.reserve(bytes)
  }
}
