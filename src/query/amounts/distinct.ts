import type { PackedRows } from "../../domain/packed-rows.ts"
import { HashTable } from "../../store/events/dictionary/hash-table.ts"
import { PairSet } from "../measure/pair-set.ts"
import type { RowCondition } from "./amounts.ts"
import type { ComputedColumns, GroupKey, RowGroups } from "./groups.ts"
import { rowsMatching } from "./row-filter.ts"

const SHORT_LIMIT = 2 ** 31

/** Gives numbers of 32 bits to whole numbers below 2^53. Those below 2^31 are their own. */
export class ShortNumbers {
  readonly #long = new HashTable()

  of(number: number): number {
    if (number < SHORT_LIMIT) return number
    const id = { high: Math.floor(number / 2 ** 32), low: number >>> 0 }
    const known = this.#long.get(id) ?? this.#long.size
    this.#long.set(id, known)
    return SHORT_LIMIT + known
  }
}

/** Exact numbers of the distinct values of a column by group. */
export class DistinctCounts {
  readonly #pairs = new PairSet()
  readonly #short = new ShortNumbers()

  constructor(
    private readonly groups: RowGroups,
    private readonly column: string,
    private readonly among: RowCondition | undefined,
  ) {}

  add(rows: PackedRows, kept: Uint32Array, computed: ComputedColumns): void {
    const values = rows.numbers(this.column)
    const groups = this.groups.numbersOf(rows, kept, computed)
    const chosen = this.among && rowsMatching(rows, this.among)
    const numbers = new Uint32Array(kept.length)
    let count = 0
    for (let i = 0; i < kept.length; i++) {
      const value = values[kept[i]!]!
      if (value === 0 || chosen?.[kept[i]!] === 0) continue
      numbers[count] = this.#short.of(value)
      groups[count++] = groups[i]!
    }
    this.#pairs.add(groups, numbers, count, Math.max(1, this.groups.size))
  }

  result(): { keys: GroupKey[]; count: number }[] {
    const counts = this.#pairs.counts(Math.max(1, this.groups.size))
    return this.groups.keys().map((keys, group) => ({ keys, count: counts[group]! }))
  }
}

/** The distinct visitors of the rows that meet a condition. */
export class VisitorList {
  /** By number, if it is below 2^31. */
  #seen = new Uint8Array(0)
  readonly #long = new Set<number>()

  constructor(private readonly among: RowCondition) {}

  add(rows: PackedRows, kept: Uint32Array): void {
    const visitors = rows.numbers("visitor")
    const chosen = rowsMatching(rows, this.among)
    for (const row of kept) {
      const visitor = visitors[row]!
      if (visitor === 0 || chosen?.[row] === 0) continue
      if (visitor > SHORT_LIMIT) {
        this.#long.add(visitor - 1)
        continue
      }
      if (visitor > this.#seen.length) this.#grow(visitor)
      this.#seen[visitor - 1] = 1
    }
  }

  /** Returns the numbers of the visitors, ascending. */
  numbers(): Float64Array {
    let count = 0
    for (const flag of this.#seen) count += flag
    const numbers = new Float64Array(count + this.#long.size)
    for (let number = 0, i = 0; i < count; number++) if (this.#seen[number] === 1) numbers[i++] = number
    numbers.set(Float64Array.from(this.#long).sort(), count)
    return numbers
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, 2 * this.#seen.length, 1_024))
    grown.set(this.#seen)
    this.#seen = grown
  }
}
