/** A value of an mmdb file as its library keeps it: with where the next one begins. */
interface Decoded<Value> {
  value: Value
  offset: number
}

/**
 * The latest entries of a file of places, by where they lie in it: no address is kept. The library decodes an entry whole at
 * every look-up, with all its names in all their languages, which costs as much as the rest of an event. `short` leaves what is
 * asked for, or undefined for what is only a part of an entry.
 *
 * Two generations instead of an order of use, as in `remembered`.
 */
export class PlaceCache<Entry> {
  #young = new Map<number, Decoded<Entry>>()
  #old = new Map<number, Decoded<Entry>>()

  constructor(
    private readonly most: number,
    private readonly short: (value: unknown) => Entry | undefined,
  ) {}

  get(at: string | number): Decoded<Entry> | undefined {
    const found = this.#young.get(Number(at))
    if (found) return found
    const old = this.#old.get(Number(at))
    if (old) this.#keep(Number(at), old)
    return old
  }

  set(at: string | number, { value, offset }: Decoded<unknown>): void {
    const entry = this.short(value)
    if (entry !== undefined) this.#keep(Number(at), { value: entry, offset })
  }

  #keep(at: number, decoded: Decoded<Entry>): void {
    if (this.#young.size >= this.most / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(at, decoded)
  }
}
