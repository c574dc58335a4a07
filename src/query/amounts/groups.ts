import type { PackedRows } from "../../domain/packed-rows.ts"

/** The value of a row by which it is grouped. */
export type GroupKey = string | number

/** Columns that are not stored but computed for the kept rows. */
export type ComputedColumns = Readonly<Record<string, () => Uint32Array>>

/** Numbers are combined in pairs of a group so far and the number of the next value. */
const PAIR = 2 ** 26

/** The groups of rows by the values of some columns, numbered in order of appearance. */
export class RowGroups {
  readonly #columns: readonly { name: string; numbers: Map<GroupKey, number>; keys: GroupKey[]; groups: Map<number, number> }[]
  /** The last column's groups as pairs: group of the columns before, and number of the value. */
  readonly #paths: { before: number; value: number }[][]

  constructor(by: readonly string[]) {
    this.#columns = by.map((name) => ({ name, numbers: new Map(), keys: [], groups: new Map() }))
    this.#paths = by.map(() => [])
  }

  /** Returns the group of each kept row. */
  numbersOf(rows: PackedRows, kept: Uint32Array, computed: ComputedColumns): Uint32Array {
    let groups = new Uint32Array(kept.length)
    this.#columns.forEach(({ name, groups: known }, at) => {
      const values = computed[name] ? this.#numbers(at, computed[name]()) : this.#values(at, rows, kept)
      const paths = this.#paths[at]!
      const next = new Uint32Array(kept.length)
      let [lastPair, lastGroup] = [-1, 0]
      for (let i = 0; i < kept.length; i++) {
        const pair = groups[i]! * PAIR + values[i]!
        // Neighbouring rows are often in the same group.
        if (pair !== lastPair) {
          lastPair = pair
          const found = known.get(pair)
          lastGroup = found ?? known.size
          if (found === undefined) {
            known.set(pair, lastGroup)
            paths.push({ before: groups[i]!, value: values[i]! })
          }
        }
        next[i] = lastGroup
      }
      groups = next
    })
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

  /** Returns the numbers of the values of a column. Texts are looked up once in each dictionary. */
  #values(at: number, rows: PackedRows, kept: Uint32Array): Uint32Array {
    const { name } = this.#columns[at]!
    if (!rows.isText(name)) {
      const numbers = rows.numbers(name)
      return this.#numbers(at, kept.length === rows.count ? numbers : Float64Array.from(kept, (row) => numbers[row]!))
    }
    const { values, codes } = rows.texts(name)
    const found = values.map(() => -1)
    return kept.map((row) => {
      const code = codes[row]!
      if (found[code] === -1) found[code] = this.#numberOf(at, values[code]!)
      return found[code]!
    })
  }

  #numbers(at: number, values: ArrayLike<number>): Uint32Array {
    const numbers = new Uint32Array(values.length)
    let [lastValue, lastNumber] = [Number.NaN, 0]
    for (let i = 0; i < values.length; i++) {
      if (values[i] !== lastValue) {
        lastValue = values[i]!
        lastNumber = this.#numberOf(at, lastValue)
      }
      numbers[i] = lastNumber
    }
    return numbers
  }

  #numberOf(at: number, value: GroupKey): number {
    const { numbers, keys } = this.#columns[at]!
    const found = numbers.get(value)
    if (found !== undefined) return found
    numbers.set(value, keys.length)
    keys.push(value)
    return keys.length - 1
  }
}
