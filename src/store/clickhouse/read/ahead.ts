import type { SentQuery } from "./channel.ts"
import type { Slice } from "./slices.ts"

/** A request for columns of adjacent slices. */
export interface AskedSlices {
  slices: readonly Slice[]
  units: readonly string[]
  query: SentQuery
}

/** Slices that were asked for before the query needs them, so that the server works while the columns of others are decoded. */
export class ReadAhead {
  /** By the id of each slice. */
  readonly #asked = new Map<number, AskedSlices>()

  add(asked: AskedSlices): void {
    for (const { id } of asked.slices) this.#asked.set(id, asked)
  }

  has({ id }: Slice): boolean {
    return this.#asked.has(id)
  }

  /** Returns the request for a unit of a slice, if there is one. Its other slices are those of the caller, too. */
  take({ id }: Slice, unit: string): AskedSlices | undefined {
    const asked = this.#asked.get(id)
    if (!asked) return undefined
    for (const slice of asked.slices) this.#asked.delete(slice.id)
    if (asked.units.includes(unit)) return asked
    asked.query.cancel()
    return undefined
  }

  /** Cancels what no query needed. */
  clear(): void {
    for (const { query } of this.#asked.values()) query.cancel()
    this.#asked.clear()
  }
}
