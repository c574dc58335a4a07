import { Reader } from "mmdb-lib"

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
