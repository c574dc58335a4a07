import { Reader } from "mmdb-lib"

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

/** Ends the data and begins the metadata of every mmdb file. */
const MARKER = Buffer.from([0xab, 0xcd, 0xef, ...Buffer.from("MaxMind.com")])
/** Zeros between the tree of addresses and the data. */
const GAP_BYTES = 16

interface Decoder {
  /** The value that begins at the offset, and where the next one does. */
  decode(offset: number): { value: unknown; offset: number }
}

/**
 * Every record of an mmdb file, in the order in which they lie there. The library finds a record by its address, and nobody
 * knows which addresses there are. A file with something else between its records ends where that begins.
 */
export function* recordsOf(file: Buffer): Generator<unknown> {
  // What records share is read once.
  const reader = new Reader(file, { cache: new Map() })
  const { decoder } = reader as unknown as { decoder: Decoder } // private there
  const end = file.lastIndexOf(MARKER)
  for (let at = reader.metadata.searchTreeSize + GAP_BYTES; at < end; ) {
    const record = recordAt(decoder, at)
    if (!record || record.offset > end) return
    yield record.value
    at = record.offset
  }
}

function recordAt(decoder: Decoder, offset: number): ReturnType<Decoder["decode"]> | undefined {
  try {
    return decoder.decode(offset)
  } catch {
    // Whatever it throws, there is no record here.
    return undefined
  }
}
