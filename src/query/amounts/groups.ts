import type { NumberArray, PackedRows } from "../../domain/packed-rows.ts"

/** The value of a row by which it is grouped. */
export type GroupKey = string | number

/** Columns that are not stored but computed for the kept rows. */
export type ComputedColumns = Readonly<Record<string, () => Uint32Array>>

/** Groups are numbered by pairs: the group of the columns before, and the number of the next value. */
const PAIR = 2 ** 26
/** Combined codes below it are looked up in a table, others in a map. */
const TABLE_SIZE = 2 ** 12

/** The groups of rows by the values of some columns, numbered in order of appearance. */
export class RowGroups {
  readonly #columns: readonly { name: string; numbers: Map<GroupKey, number>; keys: GroupKey[]; groups: Map<number, number> }[]
  /** The last column's groups as pairs: group of the columns before, and number of the value. */
  readonly #paths: { before: number; value: number }[][]
  readonly #table = new Int32Array(TABLE_SIZE)

  constructor(by: readonly string[]) {
    this.#columns = by.map((name) => ({ name, numbers: new Map(), keys: [], groups: new Map() }))
    this.#paths = by.map(() => [])
  }

  /** Returns the group of each kept row. */
  numbersOf(rows: PackedRows, kept: Uint32Array, computed: ComputedColumns): Uint32Array {
    const coded = this.#columns.map(({ name }) => codesOf(name, rows, kept, computed))
    const { codes, size } = combined(coded, kept.length)
    const groups = new Uint32Array(kept.length)
    if (size === 1) return kept.length === 0 ? groups : groups.fill(this.#groupOf(coded, 0))
    // The values of a group are looked up once, at its first row.
    const known = size <= TABLE_SIZE ? this.#table.fill(-1, 0, size) : undefined
    const found = new Map<number, number>()
    for (let i = 0; i < groups.length; i++) {
      const code = codes[i]!
      let group = known ? known[code]! : (found.get(code) ?? -1)
      if (group === -1) {
        group = this.#groupOf(coded, i)
        if (known) known[code] = group
        else found.set(code, group)
      }
      groups[i] = group
    }
    return groups
  }

  get size(): number {
    return this.#columns.length === 0 ? 1 : this.#columns.at(-1)!.groups.size
  }

  /** Returns the values of each group, in the order of the columns. */
  keys(): GroupKey[][] {
    return Array.from({ length: this.size }, (_, last) => {
      const keys: GroupKey[] = []
      for (let at = this.#columns.length - 1, group = last; at >= 0; at--) {
        const { before, value } = this.#paths[at]![group]!
        keys.unshift(this.#columns[at]!.keys[value]!)
        group = before
      }
      return keys
    })
  }

  /** Returns the group of the kept row at an index. */
  #groupOf(coded: readonly Coded[], i: number): number {
    let group = 0
    this.#columns.forEach(({ groups, numbers, keys }, at) => {
      const key = coded[at]!.keyAt(i)
      const value = numbers.get(key) ?? keys.length
      if (value === keys.length) {
        numbers.set(key, value)
        keys.push(key)
      }
      const pair = group * PAIR + value
      const known = groups.get(pair) ?? groups.size
      if (known === groups.size) {
        groups.set(pair, known)
        this.#paths[at]!.push({ before: group, value })
      }
      group = known
    })
    return group
  }
}

/** The values of a column of the kept rows as small numbers. Rows with one value have one code. */
interface Coded {
  codes?: NumberArray
  /** Greater than every code. */
  size: number
  keyAt(i: number): GroupKey
}

function codesOf(name: string, rows: PackedRows, kept: Uint32Array, computed: ComputedColumns): Coded {
  if (computed[name]) {
    const codes = computed[name]()
    return { codes, size: sizeOf(codes), keyAt: (i) => codes[i]! }
  }
  if (rows.isText(name)) {
    const { values, codes } = rows.texts(name)
    const keyAt = (i: number) => values[codes[kept[i]!]!]!
    return values.length === 1 ? { size: 1, keyAt } : { codes: chosen(codes, rows, kept), size: values.length, keyAt }
  }
  const { base, offsets } = rows.offsets(name)
  if (!offsets) return { size: 1, keyAt: () => base }
  const codes = offsets instanceof Float64Array ? numbered(chosen(offsets, rows, kept)) : chosen(offsets, rows, kept)
  return { codes, size: sizeOf(codes), keyAt: (i) => base + offsets[kept[i]!]! }
}

/** Returns the codes of the kept rows. */
function chosen(codes: NumberArray, rows: PackedRows, kept: Uint32Array): NumberArray {
  if (kept.length === rows.count) return codes
  const some = codes instanceof Float64Array ? new Float64Array(kept.length) : new Uint32Array(kept.length)
  for (let i = 0; i < kept.length; i++) some[i] = codes[kept[i]!]!
  return some
}

function sizeOf(codes: NumberArray): number {
  let most = 0
  for (let i = 0; i < codes.length; i++) if (codes[i]! > most) most = codes[i]!
  return most + 1
}

/** Numbers codes in order of appearance. */
function numbered(codes: NumberArray): Uint32Array {
  const known = new Map<number, number>()
  const numbers = new Uint32Array(codes.length)
  for (let i = 0; i < codes.length; i++) {
    const number = known.get(codes[i]!) ?? known.size
    if (number === known.size) known.set(codes[i]!, number)
    numbers[i] = number
  }
  return numbers
}

/** Combines the codes of some columns to one for each row. */
function combined(columns: readonly Coded[], count: number): { codes: NumberArray; size: number } {
  let [codes, size]: [NumberArray, number] = [new Uint32Array(0), 1]
  for (const column of columns) {
    if (!column.codes || column.size === 1) continue
    if (size === 1) {
      codes = column.codes
      size = column.size
      continue
    }
    // Numbers are exact up to 2^53, and those of many columns are made dense again.
    const before: NumberArray = size > TABLE_SIZE ? numbered(codes) : codes
    size = (size > TABLE_SIZE ? sizeOf(before) : size) * column.size
    const next = size > 2 ** 32 ? new Float64Array(count) : new Uint32Array(count)
    const added = column.codes
    for (let i = 0; i < count; i++) next[i] = before[i]! * column.size + added[i]!
    codes = next
  }
  return { codes, size }
}
