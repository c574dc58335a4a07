/**
 * Rows packed column by column into one BLOB, for areas whose reports read many rows: a row table then has one row for hundreds of them.
 * A column of numbers takes 0, 1, 2, 4 or 8 bytes a row, one of texts has a dictionary. Numbers are whole and within ±2^53.
 *
 * Layout: length of the header (4 bytes), header as JSON, padding to 8 bytes, columns.
 */
export type PackedValue = string | number

/** Columns by name. Rows that were packed before a column existed read as 0 or "". */
export interface PackedColumns {
  numbers: readonly string[]
  texts: readonly string[]
}

export interface PackedTexts {
  /** Distinct values. */
  values: readonly string[]
  /** Index of the value of each row. */
  codes: NumberArray
}

export type NumberArray = Uint8Array | Uint16Array | Uint32Array | Float64Array

export interface PackedRows {
  readonly count: number
  /** Returns whether a column is known to have nothing but 0 or "", without reading it. */
  isEmpty(column: string): boolean
  isText(column: string): boolean
  /** Returns the values of a column of numbers. The array is shared between calls. */
  numbers(column: string): Float64Array
  /** Returns the same as stored: each value is `base` plus its offset. Without offsets, every row has the base. */
  offsets(column: string): { base: number; offsets?: NumberArray }
  texts(column: string): PackedTexts
}

interface Header {
  count: number
  /** Width in bytes, smallest value, offset in the body. */
  numbers: Record<string, [width: number, base: number, offset: number]>
  texts: Record<string, [width: number, offset: number, values: string[]]>
}

/** The texts of a column of which every row is "". */
const NO_TEXTS: Header["texts"][string] = [0, 0, [""]]

const ALIGNMENT = 8
const align = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT

/** Rows to pack, column by column. A column that is not named has only 0 or "". */
export interface RowColumns {
  readonly count: number
  readonly columns: Readonly<Record<string, readonly PackedValue[]>>
}

/** Packed rows, and the positions of those that are kept. */
export interface KeptRows {
  packed: PackedRows
  kept: readonly number[]
}

export function packRows(rows: readonly Readonly<Record<string, PackedValue>>[], columns: PackedColumns): Uint8Array {
  const valuesOf = (column: string) => [column, rows.map((row) => row[column]!)] as const // the caller names its columns
  return repackRows([], { count: rows.length, columns: Object.fromEntries([...columns.numbers, ...columns.texts].map(valuesOf)) }, columns)
}

/** Packs the kept rows of packed rows, followed by others. Works on whole columns, without an object for each row. */
export function repackRows(before: readonly KeptRows[], added: RowColumns, { numbers, texts }: PackedColumns): Uint8Array {
  const count = before.reduce((sum, { kept }) => sum + kept.length, added.count)
  const header: Header = { count, numbers: {}, texts: {} }
  const parts: Uint8Array[] = []
  let length = 0
  const place = (width: Width, base = 0): number => {
    const offset = length
    if (width !== 0) {
      const part = bytesOf(values, width, base)
      parts.push(part)
      length += align(part.length)
    }
    return offset
  }
  const values = new Float64Array(count)
  const isEmpty = (column: string) => !added.columns[column] && before.every(({ packed }) => packed.isEmpty(column))
  for (const column of numbers) {
    if (isEmpty(column)) continue
    fillNumbers(values, column, before, added.columns[column])
    const { min, max } = spanOf(values)
    const width = widthOf(max - min)
    header.numbers[column] = [width, min, place(width, width === 8 ? 0 : min)]
  }
  for (const column of texts) {
    if (isEmpty(column)) {
      header.texts[column] = NO_TEXTS
      continue
    }
    const codes = fillCodes(values, column, before, added.columns[column])
    const width = widthOf(codes.length - 1)
    header.texts[column] = [width, place(width), codes]
  }
  const head = new TextEncoder().encode(JSON.stringify(header))
  const start = align(4 + head.length)
  const bytes = new Uint8Array(start + length)
  new DataView(bytes.buffer).setUint32(0, head.length, true)
  bytes.set(head, 4)
  let at = start
  for (const part of parts) {
    bytes.set(part, at)
    at += align(part.length)
  }
  return bytes
}

/** Fills a column of numbers. */
function fillNumbers(into: Float64Array, column: string, before: readonly KeptRows[], added: readonly PackedValue[] | undefined): void {
  let at = 0
  for (const { packed, kept } of before) {
    const { base, offsets } = packed.offsets(column)
    if (offsets) for (let i = 0; i < kept.length; i++) into[at + i] = base + offsets[kept[i]!]!
    else into.fill(base, at, at + kept.length)
    at += kept.length
  }
  if (added)
    for (let i = 0; i < added.length; i++) into[at + i] = added[i] as number // the caller names its columns
  else into.fill(0, at)
}

/** Fills a column of texts with the codes of its values. Returns the values. */
function fillCodes(into: Float64Array, column: string, before: readonly KeptRows[], added: readonly PackedValue[] | undefined): string[] {
  const codes = new Map<string, number>()
  const codeOf = (text: string): number => {
    const known = codes.get(text)
    if (known !== undefined) return known
    codes.set(text, codes.size)
    return codes.size - 1
  }
  let at = 0
  for (const { packed, kept } of before) {
    const { values, codes: former } = packed.texts(column)
    if (values.length === 1 && kept.length > 0) into.fill(codeOf(values[0]!), at, at + kept.length)
    else {
      const renumbered = new Int32Array(values.length).fill(-1)
      for (let i = 0; i < kept.length; i++) {
        const code = former[kept[i]!]!
        if (renumbered[code] === -1) renumbered[code] = codeOf(values[code]!)
        into[at + i] = renumbered[code]!
      }
    }
    at += kept.length
  }
  if (added)
    for (let i = 0; i < added.length; i++) into[at + i] = codeOf(added[i] as string) // the caller names its columns
  else if (at < into.length) into.fill(codeOf(""), at)
  return [...codes.keys()]
}

/** Returns the smallest and the largest value. */
function spanOf(values: Float64Array): { min: number; max: number } {
  let [min, max] = [values[0] ?? 0, values[0] ?? 0]
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

export function unpackRows(packed: Uint8Array): PackedRows {
  // Views of typed arrays need aligned bytes, which those of a database are not always.
  const bytes = packed.byteOffset % ALIGNMENT === 0 ? packed : packed.slice()
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const { count, numbers, texts } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Header // written by packRows
  const start = bytes.byteOffset + align(4 + length)
  const view = (width: number, offset: number) => new ARRAYS[width as 1](bytes.buffer as ArrayBuffer, start + offset, count)
  const unpacked = new Map<string, Float64Array>()
  function numbersOf(column: string): Float64Array {
    const [width, base, offset] = numbers[column] ?? [0, 0, 0]
    const values = new Float64Array(count)
    if (width === 0) return values.fill(base)
    values.set(view(width, offset))
    if (width < 8 && base !== 0) for (let i = 0; i < count; i++) values[i]! += base
    return values
  }
  return {
    count,
    isEmpty(column) {
      const [width, , values] = texts[column] ?? NO_TEXTS
      return !Object.hasOwn(numbers, column) && width === 0 && values[0] === ""
    },
    isText: (column) => Object.hasOwn(texts, column),
    numbers(column) {
      const known = unpacked.get(column) ?? numbersOf(column)
      unpacked.set(column, known)
      return known
    },
    offsets(column) {
      const [width, base, offset] = numbers[column] ?? [0, 0, 0]
      return width === 0 ? { base } : { base: width === 8 ? 0 : base, offsets: view(width, offset) }
    },
    texts(column) {
      const [width, offset, values] = texts[column] ?? NO_TEXTS
      return { values, codes: width === 0 ? new Uint8Array(count) : view(width, offset) }
    },
  }
}

/** Returns the rows as objects, for changing some of them. */
export function packedObjects(packed: PackedRows, { numbers, texts }: PackedColumns): Record<string, PackedValue>[] {
  const rows: Record<string, PackedValue>[] = Array.from({ length: packed.count }, () => ({}))
  for (const column of numbers) {
    const values = packed.numbers(column)
    rows.forEach((row, i) => {
      row[column] = values[i]!
    })
  }
  for (const column of texts) {
    const { values, codes } = packed.texts(column)
    rows.forEach((row, i) => {
      row[column] = values[codes[i]!]!
    })
  }
  return rows
}

const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const
type Width = 0 | keyof typeof ARRAYS

const widthOf = (largest: number): Width => (largest <= 0 ? 0 : largest < 2 ** 8 ? 1 : largest < 2 ** 16 ? 2 : largest < 2 ** 32 ? 4 : 8)

/** Returns the bytes of values less their base, which are changed in place. */
function bytesOf(values: Float64Array, width: keyof typeof ARRAYS, base: number): Uint8Array {
  if (base !== 0) for (let i = 0; i < values.length; i++) values[i]! -= base
  return new Uint8Array(new ARRAYS[width](values).buffer)
}
