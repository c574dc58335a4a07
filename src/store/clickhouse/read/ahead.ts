import type { SentQuery } from "./channel.ts"
import type { Slice } from "./slices.ts"

/** A request for columns of a slice. */
export interface AskedSlice {
  units: readonly string[]
  query: SentQuery
}

/** Slices that were asked for before the query needs them, so that the server works while the columns of others are decoded. */
export class ReadAhead {
  readonly #asked = new Map<number, AskedSlice>()

  /** Asks for a slice unless that was done. */
  add({ id }: Slice, ask: () => AskedSlice): void {
    if (!this.#asked.has(id)) this.#asked.set(id, ask())
  }

  /** Returns the request for a unit of a slice, if there is one. */
  take({ id }: Slice, unit: string): AskedSlice | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (!asked || asked.units.includes(unit)) return asked
    asked.query.cancel()
    return undefined
  }

  /** Cancels what no query needed. */
  clear(): void {
    for (const { query } of this.#asked.values()) query.cancel()
    this.#asked.clear()
  }
}
