import { type PackedRows, unpackRows } from "../../domain/packed-rows.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { SentStatement } from "../../store/events/tables/row-tables.ts"
import type { RowCondition } from "../amounts/amounts.ts"
import { keepMatching } from "../amounts/row-filter.ts"

/**
 * Sums columns over the packed rows of an area by the values of one column, and returns one page of the groups. SQLite would sort or hash
 * each row as a whole; the rows of a day are packed together instead, and only the columns of the query are read.
 */
export interface SumsQuery {
  site: { id: number }
  /** Rows with the column `rows`, packed by `packRows`, and further columns that hold for all packed rows, such as a day. */
  statement: SentStatement
  /** What rows must have. */
  keep: readonly RowCondition[]
  /** Column whose values are the groups: of the packed rows, or of the statement. Without one, only the totals are returned. */
  by?: string
  /** Columns that are added up. Sums are exact up to 2^53. */
  columns: readonly string[]
  order: SumsOrder
  limit: number
  /** Place of the last group of the page before. */
  after?: SumsPlace
}

/** Order of the groups: by a sum, by a sum per another, or by the key. Groups with equal values are in the order of their keys. */
export interface SumsOrder {
  of: number | "key"
  /** Index of the sum by which the first one is divided. */
  per?: number
  descending: boolean
}

export interface SumsPlace {
  /** Value by which groups are ordered; 0 if they are ordered by key. */
  value: number
  key: string | number
}

export interface SumsGroup extends SumsPlace {
  sums: number[]
}

export interface SumsResult {
  totals: number[]
  groups: SumsGroup[]
  hasMore: boolean
}

export function sums(snapshot: Snapshot, query: SumsQuery, check: () => void): SumsResult {
  const { columns, by } = query
  const groups = new GroupSums(columns.length)
  const totals = columns.map(() => 0)
  snapshot.eachRow(query.statement, (read) => {
    check()
    const row = read as Record<string, unknown> & { rows: Uint8Array } // the author of the statement names its column so
    const rows = unpackRows(row.rows)
    const kept = keptRows(rows, query.keep)
    const values = columns.map((column) => rows.numbers(column))
    values.forEach((list, i) => {
      totals[i]! += sumOf(list, kept)
    })
    if (by === undefined) return
    if (by in row) groups.addAll(row[by] as string | number, values, kept, rows.count)
    else groups.add(rows, by, values, kept)
  })
  return { totals, ...pageOf(groups, query) }
}

/** Returns the indexes of the rows that count, undefined for all. */
function keptRows(rows: PackedRows, keep: readonly RowCondition[]): Uint32Array | undefined {
  if (keep.length === 0) return undefined
  const kept = Uint32Array.from({ length: rows.count }, (_, row) => row)
  let count = rows.count
  for (const condition of keep) count = keepMatching(rows, condition, kept, count)
  return kept.subarray(0, count)
}

function sumOf(values: Float64Array, kept: Uint32Array | undefined): number {
  let sum = 0
  if (kept) for (const row of kept) sum += values[row]!
  else for (const value of values) sum += value
  return sum
}

/** Keys below this number are looked up in an array, which is several times faster than a map. */
const MAX_SLOTS = 2 ** 23

/** Sums by key, in columns. */
class GroupSums {
  readonly keys: (string | number)[] = []
  readonly sums: number[][]
  readonly #groups = new Map<string | number, number>()
  /** Group plus 1 of each small number, 0 without one. */
  #slots = new Int32Array(1_024)

  constructor(columns: number) {
    this.sums = Array.from({ length: columns }, () => [])
  }

  #groupOf(key: string | number): number {
    const found = this.#groups.get(key)
    if (found !== undefined) return found
    const group = this.#newGroup(key)
    this.#groups.set(key, group)
    return group
  }

  #newGroup(key: string | number): number {
    this.keys.push(key)
    for (const column of this.sums) column.push(0)
    return this.keys.length - 1
  }

  #numberedGroup(key: number): number {
    if (key < 0 || key >= MAX_SLOTS) return this.#groupOf(key)
    if (key >= this.#slots.length) {
      const grown = new Int32Array(Math.min(MAX_SLOTS, 2 ** Math.ceil(Math.log2(key + 1))))
      grown.set(this.#slots)
      this.#slots = grown
    }
    const found = this.#slots[key]!
    if (found > 0) return found - 1
    const group = this.#newGroup(key)
    this.#slots[key] = group + 1
    return group
  }

  /** Adds all rows to one group. */
  addAll(key: string | number, values: readonly Float64Array[], kept: Uint32Array | undefined, count: number): void {
    if ((kept?.length ?? count) === 0) return
    const group = this.#groupOf(key)
    values.forEach((list, i) => {
      this.sums[i]![group]! += sumOf(list, kept)
    })
  }

  /** Adds each row to the group of its value. */
  add(rows: PackedRows, column: string, values: readonly Float64Array[], kept: Uint32Array | undefined): void {
    const groups = this.#groupsOf(rows, column, kept)
    values.forEach((list, i) => {
      const sums = this.sums[i]!
      if (kept) for (let at = 0; at < groups.length; at++) sums[groups[at]!]! += list[kept[at]!]!
      else for (let row = 0; row < groups.length; row++) sums[groups[row]!]! += list[row]!
    })
  }

  #groupsOf(rows: PackedRows, column: string, kept: Uint32Array | undefined): Uint32Array {
    const count = kept?.length ?? rows.count
    const groups = new Uint32Array(count)
    const rowAt = (at: number): number => (kept ? kept[at]! : at)
    if (rows.isText(column)) {
      const { values, codes } = rows.texts(column)
      const known = new Int32Array(values.length).fill(-1)
      for (let at = 0; at < count; at++) {
        const code = codes[rowAt(at)]!
        if (known[code] === -1) known[code] = this.#groupOf(values[code]!)
        groups[at] = known[code]!
      }
      return groups
    }
    const numbers = rows.numbers(column)
    for (let at = 0; at < count; at++) groups[at] = this.#numberedGroup(numbers[rowAt(at)]!)
    return groups
  }
}

/** Returns the groups of a page. Only that many are kept in order, because there can be a million. */
function pageOf({ keys, sums: columns }: GroupSums, { order, limit, after }: SumsQuery): Pick<SumsResult, "groups" | "hasMore"> {
  const { of, per, descending } = order
  const sortValue = (group: number): number => {
    if (of === "key") return 0
    const sum = columns[of]![group]!
    if (per === undefined) return sum
    const divisor = columns[per]![group]!
    return divisor === 0 ? 0 : sum / divisor
  }
  const isDescendingKey = of === "key" && descending
  const compare = (a: SumsPlace, b: SumsPlace): number => {
    if (a.value !== b.value) return a.value < b.value === descending ? 1 : -1
    if (a.key === b.key) return 0
    return a.key < b.key === isDescendingKey ? 1 : -1
  }
  const page: (SumsPlace & { group: number })[] = []
  for (let group = 0; group < keys.length; group++) {
    const value = sortValue(group)
    const last = page.length > limit ? page.at(-1) : undefined
    if (last && (descending ? value < last.value : value > last.value)) continue
    const place = { value, key: keys[group]!, group }
    if (after && compare(place, after) <= 0) continue
    if (last && compare(place, last) >= 0) continue
    let [low, high] = [0, page.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(page[middle]!, place) < 0) low = middle + 1
      else high = middle
    }
    page.splice(low, 0, place)
    if (page.length > limit + 1) page.pop()
  }
  return {
    groups: page.slice(0, limit).map(({ group, ...place }) => ({ ...place, sums: columns.map((column) => column[group]!) })),
    hasMore: page.length > limit,
  }
}
