import { StoreFault } from "../fault.ts"
import { ByteReader, ByteWriter, unseal } from "./bytes.ts"
import { groupFloat64, groupUint32, type Numbers, packColumns } from "./codec.ts"

/** The types of arrays that can be packed. */
const KINDS = { Uint32Array, Int32Array, Float64Array }
type Kind = keyof typeof KINDS

const kindOf = (value: unknown): Kind | undefined => (Object.keys(KINDS) as Kind[]).find((kind) => value instanceof KINDS[kind]) // the keys of a literal

/**
 * Encodes a value of objects, lists, texts and numbers with at most 255 arrays of whole numbers within ±2^53: the arrays as the columns of
 * a group (`codec.ts`), and the rest as JSON, in which an array is the name of its kind and its number.
 */
export function packValues(value: unknown): Uint8Array {
  const columns: Numbers[] = []
  const text = JSON.stringify(value, (_, each) => {
    const kind = kindOf(each)
    return kind ? { [kind]: columns.push(each) - 1 } : each
  })
  const values = new ByteWriter()
  values.text(text)
  values.bytes(packColumns(columns))
  const packed = new ByteWriter()
  packed.bytes(Bun.zstdCompressSync(values.content()))
  return packed.seal()
}

/** Returns a value that `packValues` has encoded. Throws `damaged` for a wrong checksum. */
export function unpackValues(bytes: Uint8Array): unknown {
  const packed = unseal(bytes) as Uint8Array<ArrayBuffer> | undefined // no value is in shared memory
  if (!packed) throw new StoreFault("damaged", "Sums of a month are damaged")
  const values = new ByteReader(Bun.zstdDecompressSync(packed))
  const text = values.text()
  const group = values.rest()
  return JSON.parse(text, (_, each) => {
    if (typeof each !== "object" || each === null) return each
    if ("Uint32Array" in each) return groupUint32(group, each.Uint32Array)
    if ("Int32Array" in each) return new Int32Array(groupUint32(group, each.Int32Array).buffer)
    return "Float64Array" in each ? groupFloat64(group, each.Float64Array) : each
  })
}

/** Returns the bytes in memory of a value that can be packed. */
export function bytesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  if (ArrayBuffer.isView(value)) return value.byteLength + BYTES_PER_ARRAY
  return Object.values(value).reduce((bytes: number, each) => bytes + bytesOf(each), 0)
}

/** Memory of an array without its numbers. */
const BYTES_PER_ARRAY = 128
