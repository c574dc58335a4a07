import { StoreFault } from "../fault.ts"
import { runSteps, runStepsYielding, type Steps } from "../steps.ts"
import { zeros } from "./zeros.ts"

/**
 * The encoding of columns: the differences from a base or from the previous value, in as few bytes as the largest needs, split into planes
 * of bytes with equal weight, compressed.
 *
 * A column by itself: transform (1), width (1), two zero bytes, count (4), base (8), zstd of the planes, checksum (8).
 * A group of columns: zstd of [number of columns (1), the same 16 bytes for each column, the planes of each column], checksum (8).
 */
type Transform = (typeof TRANSFORM)[keyof typeof TRANSFORM]
const TRANSFORM = { base: 0, delta: 1 } as const
const HEADER = 16
const CHECKSUM = 8
const LEVEL = 6

export type Numbers = Uint32Array | Int32Array | Float64Array

/** A group of columns, decompressed but not decoded yet: it is several times smaller than its columns. */
export type PackedColumns = Uint8Array

/** Returns the value of a column whose rows are all equal (0 for no rows), otherwise undefined. */
export function constantOf(values: Numbers): number | undefined {
  const first = values[0] ?? 0
  for (let index = 1; index < values.length; index++) if (values[index] !== first) return undefined
  return first
}

/** Encodes a column of whole numbers within ±2^53. Compresses on another thread. */
export async function encodeColumn(values: Numbers): Promise<Uint8Array> {
  const narrow = narrowest(values)
  const packed = await compressed(planesOf(narrow, new Uint8Array(values.length * narrow.width)))
  const bytes = new Uint8Array(HEADER + packed.length + CHECKSUM)
  writeHeader(bytes, 0, narrow)
  bytes.set(packed, HEADER)
  return sealed(bytes)
}

/** Encodes columns that are read together, each of whole numbers within ±2^53: column by column, with other work in between. Compresses on another thread. */
export async function encodeGroup(columns: readonly Numbers[]): Promise<Uint8Array> {
  const packed = await compressed(await runStepsYielding(packing(columns)))
  const bytes = new Uint8Array(packed.length + CHECKSUM)
  bytes.set(packed)
  return sealed(bytes)
}

/** Returns a group of columns as `openGroup` does. */
export const packColumns = (columns: readonly Numbers[]): Uint8Array<ArrayBuffer> => runSteps(packing(columns))

function* packing(columns: readonly Numbers[]): Steps<Uint8Array<ArrayBuffer>> {
  const narrow: Narrow[] = []
  for (const column of columns) {
    narrow.push(narrowest(column))
    yield
  }
  const size = narrow.reduce((sum, { width, values }) => sum + width * values.length, 1 + HEADER * columns.length)
  const group = new Uint8Array(size)
  group[0] = columns.length
  let at = 1 + HEADER * columns.length
  for (const [index, column] of narrow.entries()) {
    writeHeader(group, 1 + HEADER * index, column)
    const length = column.width * column.values.length
    planesOf(column, group.subarray(at, at + length))
    at += length
    yield
  }
  return group
}

/** Compresses bytes and frees them. The engine itself would let those of many columns pile up. */
async function compressed(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = await Bun.zstdCompress(bytes, { level: LEVEL })
  bytes.buffer.transfer(0)
  return packed
}

function writeHeader(bytes: Uint8Array, at: number, { transform, base, width, values }: Narrow): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  bytes[at] = transform
  bytes[at + 1] = width
  view.setUint32(at + 4, values.length, true)
  view.setFloat64(at + 8, base, true)
}

function sealed(bytes: Uint8Array): Uint8Array {
  const end = bytes.length - CHECKSUM
  new DataView(bytes.buffer).setBigUint64(end, Bun.hash.xxHash64(bytes.subarray(0, end)), true)
  return bytes
}

/** Decodes a column of 32-bit numbers, into the beginning of `buffer` if it is given and long enough. */
export const decodeUint32 = (bytes: Uint8Array, buffer?: Uint32Array): Uint32Array => toUint32(openColumn(bytes), buffer)

/** Decodes a column of larger numbers. */
export const decodeFloat64 = (bytes: Uint8Array): Float64Array => toFloat64(openColumn(bytes))

/** Verifies the checksum of a group and decompresses it. Throws `damaged` for a wrong checksum. */
export const openGroup = (bytes: Uint8Array): PackedColumns => Bun.zstdDecompressSync(verified(bytes, CHECKSUM))

/** Decodes a column of a group, as `decodeUint32` does. */
export const groupUint32 = (group: PackedColumns, index: number, buffer?: Uint32Array): Uint32Array =>
  toUint32(columnOf(group, index), buffer)

export const groupFloat64 = (group: PackedColumns, index: number): Float64Array => toFloat64(columnOf(group, index))

/** Returns the number of columns of a group. */
export const columnsIn = (group: PackedColumns): number => group[0]!

/** Returns a column of a group in packed form. */
export const packedColumn = (group: PackedColumns, index: number): PackedColumn | undefined => {
  const { transform, width, base, planes } = columnOf(group, index)
  return transform === TRANSFORM.base && width <= 4 ? new PackedColumn(planes, width, base | 0) : undefined
}

/** A column of 32-bit numbers whose rows are read one by one, without decoding the others. */
export class PackedColumn {
  readonly #planes: Uint8Array
  readonly #rows: number
  readonly #width: number
  readonly #base: number
  readonly #first: number

  constructor(planes: Uint8Array, width: number, base: number, first = 0) {
    this.#planes = planes
    this.#rows = width === 0 ? 0 : planes.length / width
    this.#width = width
    this.#base = base
    this.#first = first
  }

  /** Returns the same column, whose rows are counted from one of them. */
  from(row: number): PackedColumn {
    return new PackedColumn(this.#planes, this.#width, this.#base, this.#first + row)
  }

  /** Returns the number in a row, as a signed one. */
  at(row: number): number {
    const planes = this.#planes
    const rows = this.#rows
    const at = this.#first + row
    let value = this.#base
    if (this.#width > 0) value += planes[at]!
    if (this.#width > 1) value += planes[rows + at]! << 8
    if (this.#width > 2) value += planes[2 * rows + at]! << 16
    if (this.#width > 3) value += planes[3 * rows + at]! << 24
    return value | 0
  }
}

/** Returns whether all values of a column of a group are 0. */
export function isZero(group: PackedColumns, index: number): boolean {
  const { width, base } = columnOf(group, index)
  return width === 0 && base === 0
}

/** An encoded column, decompressed. */
interface Planes {
  transform: number
  width: number
  base: number
  count: number
  planes: Uint8Array
}

function openColumn(bytes: Uint8Array): Planes {
  const content = verified(bytes, HEADER + CHECKSUM)
  return { ...readHeader(content, 0), planes: Bun.zstdDecompressSync(content.subarray(HEADER)) }
}

function columnOf(group: PackedColumns, index: number): Planes {
  let from = 1 + HEADER * group[0]!
  for (let before = 0; before < index; before++) {
    const { width, count } = readHeader(group, 1 + HEADER * before)
    from += width * count
  }
  const header = readHeader(group, 1 + HEADER * index)
  return { ...header, planes: group.subarray(from, from + header.width * header.count) }
}

function readHeader(bytes: Uint8Array, at: number): Omit<Planes, "planes"> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { transform: bytes[at]!, width: bytes[at + 1]!, count: view.getUint32(at + 4, true), base: view.getFloat64(at + 8, true) }
}

function verified(bytes: Uint8Array, least: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length - CHECKSUM
  const content = bytes.subarray(0, Math.max(0, end)) as Uint8Array<ArrayBuffer> // no column is in shared memory
  if (bytes.length < least || view.getBigUint64(end, true) !== Bun.hash.xxHash64(content)) {
    throw new StoreFault("damaged", "A column of the event store is damaged")
  }
  return content
}

function toUint32({ transform, width, base, count, planes }: Planes, buffer?: Uint32Array): Uint32Array {
  const out = buffer && buffer.length >= count ? buffer.subarray(0, count) : new Uint32Array(count)
  // A number of 32 bits, so that the loops need no floating point.
  const from = base | 0
  if (width === 0) return out.fill(from)
  join32(planes, count, Math.min(width, 4), out)
  if (transform === TRANSFORM.delta) undelta32(out, from)
  else if (from !== 0) for (let index = 0; index < count; index++) out[index] = (out[index]! + from) | 0
  return out
}

function toFloat64({ transform, width, base, count, planes }: Planes): Float64Array {
  const out = new Float64Array(count)
  const low = new Uint32Array(count)
  join32(planes, count, Math.min(width, 4), low)
  const high = width === 8 ? new Uint32Array(count) : zeros(count)
  if (width === 8) join32(planes.subarray(count * 4), count, 4, high)
  if (transform === TRANSFORM.base) for (let index = 0; index < count; index++) out[index] = base + high[index]! * 2 ** 32 + low[index]!
  else if (width === 8) undelta64(high, low, base, out)
  else undeltaShort(low, base, out)
  return out
}

interface Narrow {
  transform: Transform
  base: number
  width: Width
  values: Numbers
}

/** Chooses the transform that needs fewer bits. The differences are whole numbers from 0. */
function narrowest(values: Numbers): Narrow {
  const count = values.length
  let min = values[0] ?? 0
  let max = min
  let largestStep = 0
  for (let index = 1; index < count; index++) {
    const value = values[index]!
    if (value < min) min = value
    if (value > max) max = value
    const step = zigzag(value - values[index - 1]!)
    if (step > largestStep) largestStep = step
  }
  if (widthOf(largestStep) <= widthOf(max - min) && stepsAreShorter(values, min))
    return { transform: TRANSFORM.delta, base: values[0]!, width: widthOf(largestStep), values }
  return { transform: TRANSFORM.base, base: min, width: widthOf(max - min), values }
}

/** Share of the bits that steps must not exceed. Steps between numbers in no order have as many bits as the numbers, and are more random. */
const DELTA_SHARE = 0.8

function stepsAreShorter(values: Numbers, min: number): boolean {
  let bits = 0
  let stepBits = 0
  for (let index = 1; index < values.length; index++) {
    bits += bitsOf(values[index]! - min)
    stepBits += bitsOf(zigzag(values[index]! - values[index - 1]!))
  }
  return stepBits < bits * DELTA_SHARE
}

const bitsOf = (value: number): number => (value < 2 ** 32 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / 2 ** 32))

type Width = 0 | 1 | 2 | 3 | 4 | 8
const widthOf = (largest: number): Width =>
  largest < 1 ? 0 : largest < 2 ** 8 ? 1 : largest < 2 ** 16 ? 2 : largest < 2 ** 24 ? 3 : largest < 2 ** 32 ? 4 : 8
const zigzag = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2)

/**
 * Splits the differences of a column into planes of bytes with equal weight. Nearly all high bytes are 0, so their planes compress to
 * almost nothing.
 */
function planesOf({ transform, base, width, values }: Narrow, planes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const count = values.length
  const isDelta = transform === TRANSFORM.delta
  let before = base
  for (let index = 0; index < count; index++) {
    const value = values[index]!
    const difference = isDelta ? zigzag(value - before) : value - base
    before = value
    const high = Math.floor(difference / 2 ** 32)
    const low = difference - high * 2 ** 32
    for (let byte = 0; byte < width; byte++) planes[byte * count + index] = byte < 4 ? low >>> (byte * 8) : high >>> ((byte - 4) * 8)
  }
  return planes
}

/** Joins planes of bytes, by one loop for each width. Copying with `set` takes several times as long between arrays of different types. */
function join32(planes: Uint8Array, count: number, width: number, out: Uint32Array): void {
  const [second, third, fourth] = [count, 2 * count, 3 * count]
  if (width === 1) for (let i = 0; i < count; i++) out[i] = planes[i]!
  else if (width === 2) for (let i = 0; i < count; i++) out[i] = planes[i]! | (planes[second + i]! << 8)
  else if (width === 3) for (let i = 0; i < count; i++) out[i] = planes[i]! | (planes[second + i]! << 8) | (planes[third + i]! << 16)
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

/** Does the same as `undelta64` for steps of 32 bits, in whole numbers. */
function undeltaShort(steps: Uint32Array, base: number, out: Float64Array): void {
  let value = base
  for (let index = 0; index < out.length; index++) {
    const step = steps[index]!
    value += (step >>> 1) ^ -(step & 1)
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
