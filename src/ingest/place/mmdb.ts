import { Reader } from "mmdb-lib"

/** A decoded value with the offset of the next one, as the library caches it. */
interface Decoded<Value> {
  value: Value
  offset: number
}

/**
 * Caches decoded entries of a geolocation file by their offset in the file, so that no address is kept. Without it the library decodes
 * a whole entry at every look-up, with its names in all languages, which takes as long as the rest of an event. `reduce` returns the
 * fields of an entry that are used, or undefined for a value that is only a part of an entry.
 *
 * Two generations instead of a least-recently-used order, as in `memoize`.
 */
export class PlaceCache<Entry> {
  #young = new Map<number, Decoded<Entry>>()
  #old = new Map<number, Decoded<Entry>>()

  constructor(
    private readonly maxEntries: number,
    private readonly reduce: (value: unknown) => Entry | undefined,
  ) {}

  get(at: string | number): Decoded<Entry> | undefined {
    const found = this.#young.get(Number(at))
    if (found) return found
    const old = this.#old.get(Number(at))
    if (old) this.#add(Number(at), old)
    return old
  }

  set(at: string | number, { value, offset }: Decoded<unknown>): void {
    const entry = this.reduce(value)
    if (entry !== undefined) this.#add(Number(at), { value: entry, offset })
  }

  #add(at: number, decoded: Decoded<Entry>): void {
    if (this.#young.size >= this.maxEntries / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(at, decoded)
  }
}

/** Marks the end of the data and the start of the metadata in every mmdb file. */
const MARKER = Buffer.from([0xab, 0xcd, 0xef, ...Buffer.from("MaxMind.com")])
/** Zeros between the search tree and the data. */
const GAP_BYTES = 16

interface Decoder {
  /** Returns the value at an offset, and the offset of the next value. */
  decode(offset: number): { value: unknown; offset: number }
}

/**
 * Yields the records of an mmdb file in the order of the file. The library can only look up a single address, and cannot list the
 * records. Stops at the first value that cannot be decoded.
 */
export function* recordsOf(file: Buffer): Generator<unknown> {
  // The cache decodes values that several records share only once.
  const reader = new Reader(file, { cache: new Map() })
  const { decoder } = reader as unknown as { decoder: Decoder } // a private member of the library's class
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
    // The library throws errors of several kinds. All of them mean that no record begins here.
    return undefined
  }
}
