/**
 * Reads the format `Native`: blocks of rows, column by column. It knows the types that the reader's queries have: whole numbers, `Enum8`,
 * `String`, `LowCardinality(String)`, and arrays of these.
 */

export interface NativeBlock {
  rows: number
  /** By name. */
  columns: ReadonlyMap<string, NativeColumn>
}

interface NativeColumn {
  values: NativeValues
  /** Of an array: the number of values up to the end of each row. */
  ends?: Float64Array
}

/** Numbers of at most 32 bits; numbers of 64 bits; texts. */
export type NativeValues = Uint8Array | Uint16Array | Uint32Array | Wide | Texts

/** Numbers of 64 bits as pairs of their halves, the low one first. */
export interface Wide {
  halves: Uint32Array
  isSigned: boolean
}

/** Texts as places in a list of different ones. */
export interface Texts {
  list: readonly string[]
  places: Uint8Array | Uint16Array | Uint32Array
}

export function readBlocks(bytes: Uint8Array): NativeBlock[] {
  const reader = new BlockReader(bytes)
  const blocks: NativeBlock[] = []
  while (!reader.done) {
    const block = reader.block()
    if (block.rows > 0) blocks.push(block)
  }
  return blocks
}

/** Returns numbers of 64 bits as floating-point numbers, which are exact below 2^53. */
export function wideNumbers({ halves, isSigned }: Wide): Float64Array {
  const numbers = new Float64Array(halves.length / 2)
  for (let at = 0; at < numbers.length; at++) {
    const high = halves[at * 2 + 1]!
    numbers[at] = (isSigned ? high | 0 : high) * 2 ** 32 + halves[at * 2]!
  }
  return numbers
}

const LOW_CARDINALITY = "LowCardinality(String)"

class BlockReader {
  #at = 0
  readonly #bytes: Uint8Array
  readonly #decoder = new TextDecoder()

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  block(): NativeBlock {
    const count = this.#uint()
    const rows = this.#uint()
    const columns = new Map<string, NativeColumn>()
    for (let left = count; left > 0; left--) {
      const name = this.#text()
      columns.set(name, this.#column(this.#text(), rows))
    }
    return { rows, columns }
  }

  #column(type: string, rows: number): NativeColumn {
    const item = /^Array\((.*)\)$/.exec(type)?.[1]
    if (rows > 0 && (item ?? type) === LOW_CARDINALITY) this.#skip(8) // the version of the encoding
    if (item === undefined) return { values: this.#values(type, rows) }
    const ends = wideNumbers({ halves: this.#copy(Uint32Array, rows * 2), isSigned: false })
    return { values: this.#values(item, ends.at(-1) ?? 0), ends }
  }

  #values(type: string, count: number): NativeValues {
    switch (type.replace(/^Enum8\(.*\)$/, "UInt8")) {
      case "UInt8":
        return this.#copy(Uint8Array, count)
      case "UInt16":
        return this.#copy(Uint16Array, count)
      case "UInt32":
        return this.#copy(Uint32Array, count)
      case "UInt64":
        return { halves: this.#copy(Uint32Array, count * 2), isSigned: false }
      case "Int64":
        return { halves: this.#copy(Uint32Array, count * 2), isSigned: true }
      case "String":
        return { list: this.#texts(count), places: Uint32Array.from({ length: count }, (_, place) => place) }
      case LOW_CARDINALITY:
        return count === 0 ? { list: [], places: new Uint8Array(0) } : this.#lowCardinality(count)
      default:
        throw new Error(`The reader does not know the type ${type}`)
    }
  }

  #lowCardinality(count: number): Texts {
    const width = this.#bytes[this.#at]! // the first byte of the flags
    this.#skip(8)
    const list = this.#texts(this.#size())
    const listed = this.#size()
    if (listed !== count) throw new Error("A column of texts has another number of rows than its block")
    return { list, places: this.#places(width, count) }
  }

  #places(width: number, count: number): Texts["places"] {
    if (width === 0) return this.#copy(Uint8Array, count)
    if (width === 1) return this.#copy(Uint16Array, count)
    if (width === 2) return this.#copy(Uint32Array, count)
    throw new Error("A column has more different texts than the reader can number")
  }

  #texts(count: number): string[] {
    const texts: string[] = new Array(count)
    for (let index = 0; index < count; index++) texts[index] = this.#text()
    return texts
  }

  #text(): string {
    const length = this.#uint()
    const from = this.#at
    this.#skip(length)
    return length === 0 ? "" : this.#decoder.decode(this.#bytes.subarray(from, from + length))
  }

  #uint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.#at]!
      this.#skip(1)
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }

  /** Reads a number of 64 bits. */
  #size(): number {
    return wideNumbers({ halves: this.#copy(Uint32Array, 2), isSigned: false })[0]!
  }

  /** Copies numbers, because their place is not aligned. */
  #copy<Numbers extends Uint8Array | Uint16Array | Uint32Array>(
    Type: { new (buffer: ArrayBuffer): Numbers; BYTES_PER_ELEMENT: number },
    count: number,
  ): Numbers {
    const from = this.#at
    this.#skip(count * Type.BYTES_PER_ELEMENT)
    return new Type(this.#bytes.slice(from, this.#at).buffer as ArrayBuffer)
  }

  #skip(count: number): void {
    this.#at += count
    if (this.#at > this.#bytes.length) throw new Error("An answer of ClickHouse is not complete")
  }
}
