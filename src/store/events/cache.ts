import type { Numbers } from "./codec.ts"

/** Decoded columns by key, at most so many bytes of them; the one used longest ago goes first. */
export class ColumnCache {
  readonly #columns = new Map<string, Numbers>()
  #bytes = 0

  constructor(readonly limit: number) {}

  get(key: string): Numbers | undefined {
    const column = this.#columns.get(key)
    if (column === undefined) return undefined
    // A Map keeps the order of insertion: put back, the entry is the youngest again.
    this.#columns.delete(key)
    this.#columns.set(key, column)
    return column
  }

  set(key: string, column: Numbers): void {
    this.#columns.set(key, column)
    this.#bytes += column.byteLength
    for (const [oldest, { byteLength }] of this.#columns) {
      if (this.#bytes <= this.limit || oldest === key) return
      this.#columns.delete(oldest)
      this.#bytes -= byteLength
    }
  }
}
