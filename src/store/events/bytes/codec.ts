import { StoreFault } from "../fault.ts"

/**
 * The encoding of a column: the differences from a base or from the previous value, in 1, 2, 4 or 8 bytes each, split into planes of
 * bytes with equal weight, compressed. Columns with a single value are not encoded but stored in the segment's header.
 *
 * Layout: transform (1), width (1), two zero bytes, count (4), base (8), zstd of the bytes, checksum (8).
 */
type Transform = (typeof TRANSFORM)[keyof typeof TRANSFORM]
const TRANSFORM = { base: 0, delta: 1 } as const
const HEADER = 16
const CHECKSUM = 8
const LEVEL = 6

export type Numbers = Uint32Array | Float64Array

/** Returns the value of a column whose rows are all equal (0 for no rows), otherwise undefined. */
export function constantOf(values: Numbers): number | undefined {
  const first = values[0] ?? 0
  for (let index = 1; index < values.length; index++) if (values[index] !== first) return undefined
  return first
}

/** Encodes a column of whole numbers within ±2^53. Compresses on another thread. */
export async function encodeColumn(values: Numbers): Promise<Uint8Array> {
  const { transform, base, width, differences } = narrowest(values)
  const planes = new Uint8Array(values.length * width)
  split(differences, width, planes)
  const packed = await Bun.zstdCompress(planes, { level: LEVEL })
  const bytes = new Uint8Array(HEADER + packed.length + CHECKSUM)
  const view = new DataView(bytes.buffer)
  bytes[0] = transform
  bytes[1] = width
  view.setUint32(4, values.length, true)
  view.setFloat64(8, base, true)
  bytes.set(packed, HEADER)
  view.setBigUint64(bytes.length - CHECKSUM, Bun.hash.xxHash64(bytes.subarray(0, bytes.length - CHECKSUM)), true)
  return bytes
}

/** Decodes a column of 32-bit numbers, into the beginning of `buffer` if it is given and long enough. */
export function decodeUint32(bytes: Uint8Array, buffer?: Uint32Array): Uint32Array {
  const { view, planes, count, width } = openColumn(bytes)
  const out = buffer && buffer.length >= count ? buffer.subarray(0, count) : new Uint32Array(count)
  join32(planes, count, Math.min(width, 4), out)
  // A number of 32 bits, so that the loops need no floating point.
  const base = view.getFloat64(8, true) | 0
  if (bytes[0] === TRANSFORM.delta) undelta32(out, base)
  else if (base !== 0) for (let index = 0; index < count; index++) out[index] = (out[index]! + base) | 0
  return out
}

/** Decodes a column of larger numbers. */
export function decodeFloat64(bytes: Uint8Array): Float64Array {
  const { view, planes, count, width } = openColumn(bytes)
  const out = new Float64Array(count)
  const low = new Uint32Array(count)
  join32(planes, count, Math.min(width, 4), low)
  const high = new Uint32Array(count)
  if (width === 8) join32(planes.subarray(count * 4), count, 4, high)
  const base = view.getFloat64(8, true)
  if (bytes[0] === TRANSFORM.base) for (let index = 0; index < count; index++) out[index] = base + high[index]! * 2 ** 32 + low[index]!
  else undelta64(high, low, base, out)
  return out
}

/** Verifies the checksum of a column and decompresses it. Throws `damaged` for a wrong checksum. */
function openColumn(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length - CHECKSUM
  if (end < HEADER || view.getBigUint64(end, true) !== Bun.hash.xxHash64(bytes.subarray(0, end))) {
    throw new StoreFault("damaged", "A column of the event store is damaged")
  }
  const planes = Bun.zstdDecompressSync(bytes.subarray(HEADER, end))
  return { view, planes, count: view.getUint32(4, true), width: bytes[1]! }
}

/** Applies the transform that needs fewer bytes per value. The differences are whole numbers from 0. */
function narrowest(values: Numbers): { transform: Transform; base: number; width: 1 | 2 | 4 | 8; differences: Float64Array } {
  const count = values.length
  let min = values[0]!
  let max = min
  let largestStep = 0
  for (let index = 1; index < count; index++) {
    const value = values[index]!
    if (value < min) min = value
    if (value > max) max = value
    const step = zigzag(value - values[index - 1]!)
    if (step > largestStep) largestStep = step
  }
  const differences = new Float64Array(count)
  if (widthOf(largestStep) < widthOf(max - min)) {
    for (let index = 1; index < count; index++) differences[index] = zigzag(values[index]! - values[index - 1]!)
    return { transform: TRANSFORM.delta, base: values[0]!, width: widthOf(largestStep), differences }
  }
  for (let index = 0; index < count; index++) differences[index] = values[index]! - min
  return { transform: TRANSFORM.base, base: min, width: widthOf(max - min), differences }
}

const widthOf = (largest: number): 1 | 2 | 4 | 8 => (largest < 2 ** 8 ? 1 : largest < 2 ** 16 ? 2 : largest < 2 ** 32 ? 4 : 8)
const zigzag = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2)

/** Splits values into planes of bytes with equal weight. Nearly all high bytes are 0, so their planes compress to almost nothing. */
function split(values: Float64Array, width: number, planes: Uint8Array): void {
  const count = values.length
  for (let index = 0; index < count; index++) {
    const value = values[index]!
    const high = Math.floor(value / 2 ** 32)
    const low = value - high * 2 ** 32
    for (let byte = 0; byte < width; byte++) planes[byte * count + index] = byte < 4 ? low >>> (byte * 8) : high >>> ((byte - 4) * 8)
  }
}

/** Joins planes of bytes, by one loop for each width. Copying with `set` takes several times as long between arrays of different types. */
function join32(planes: Uint8Array, count: number, width: number, out: Uint32Array): void {
  const [second, third, fourth] = [count, 2 * count, 3 * count]
  if (width === 1) for (let i = 0; i < count; i++) out[i] = planes[i]!
  else if (width === 2) for (let i = 0; i < count; i++) out[i] = planes[i]! | (planes[second + i]! << 8)
  else if (width === 4) {
    for (let i = 0; i < count; i++)
      out[i] = planes[i]! | (planes[second + i]! << 8) | (planes[third + i]! << 16) | (planes[fourth + i]! << 24)
  }
}

function undelta32(out: Uint32Array, base: number): void {
  let value = base
  for (let index = 0; index < out.length; index++) {
    const step = out[index]!
    value = (value + ((step >>> 1) ^ -(step & 1))) | 0
    out[index] = value
  }
}

function undelta64(high: Uint32Array, low: Uint32Array, base: number, out: Float64Array): void {
  let value = base
  for (let index = 0; index < out.length; index++) {
    const step = high[index]! * 2 ** 32 + low[index]!
    value += step % 2 === 1 ? -(step + 1) / 2 : step / 2
    out[index] = value
  }
}
