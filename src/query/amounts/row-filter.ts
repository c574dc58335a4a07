import { type Condition, type Filter, textTest } from "../../domain/filter.ts"
import type { VisibleImport } from "../../domain/imported.ts"
import type { PackedRows } from "../../domain/packed-rows.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { RowCondition } from "./amounts.ts"

/** Keeps those of the first `count` rows of a list that are native or of a visible import, in place. Returns their number. */
export function keepVisible(rows: PackedRows, imports: readonly VisibleImport[], list: Uint32Array, count: number): number {
  const { base, offsets } = rows.offsets("import_id")
  if (base === 0 && !offsets) return count
  const ids = rows.numbers("import_id")
  const at = rows.numbers("import_at")
  const spans = new Map(imports.map((one) => [one.id, one.spans]))
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = list[i]!
    if (ids[row] === 0 || spans.get(ids[row]!)?.some(({ from, to }) => at[row]! >= from && at[row]! < to)) list[kept++] = row
  }
  return kept
}

/** Keeps those of the first `count` rows of a list that meet a condition, in place. Returns their number. */
export function keepMatching(rows: PackedRows, condition: RowCondition, list: Uint32Array, count: number): number {
  const meets = rowsMatching(rows, condition)
  if (meets === undefined) return count
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = list[i]!
    list[kept] = row
    kept += meets[row]!
  }
  return kept
}

/** Returns 1 for each row that meets a condition, undefined if all do. */
export function rowsMatching(rows: PackedRows, condition: RowCondition): Uint8Array | undefined {
  const { column } = condition
  if (!("bits" in condition) && rows.isText(column)) {
    const { values, codes } = rows.texts(column)
    const matches = Uint8Array.from(values, (value) => (condition.values.includes(value) ? 1 : 0))
    return matches.includes(0) ? flagged(rows, (row) => matches[codes[row]!]!) : undefined
  }
  const { base, offsets } = rows.offsets(column)
  const wanted = "bits" in condition ? undefined : new Set(condition.values)
  const bits = "bits" in condition ? condition.bits : 0
  const isWanted = (value: number) => (wanted ? wanted.has(value) : (value & bits) !== 0)
  if (!offsets) return isWanted(base) ? undefined : new Uint8Array(rows.count)
  const numbers = rows.numbers(column)
  return flagged(rows, wanted ? (row) => (wanted.has(numbers[row]!) ? 1 : 0) : (row) => ((numbers[row]! & bits) === 0 ? 0 : 1))
}

function flagged({ count }: PackedRows, flag: (row: number) => number): Uint8Array {
  const flags = new Uint8Array(count)
  for (let row = 0; row < count; row++) flags[row] = flag(row)
  return flags
}

/** State of the people who belong to a set. */
const IN = 2

/** Returns 1 for each row that satisfies a filter. Conditions are tested once for each text of a dictionary. */
export function rowMask(snapshot: Snapshot, rows: PackedRows, filter: Filter): Uint8Array {
  switch (filter.op) {
    case "and":
      return combined(snapshot, rows, filter.filters, true)
    case "or":
      return combined(snapshot, rows, filter.filters, false)
    case "not":
      return rowMask(snapshot, rows, filter.filter).map((flag) => 1 - flag)
    case "people": {
      // A query that names people has the sets of its snapshot.
      const states = snapshot.people!(filter.set)
      const { ordinal } = snapshot.visitors
      return Uint8Array.from(rows.numbers("visitor"), (visitor) => (visitor > 0 && states[ordinal(visitor - 1) ?? -1] === IN ? 1 : 0))
    }
    case "has_done":
      throw new Error("Packed rows can't be filtered by what happened in a visit")
    default:
      return conditionMask(rows, filter)
  }
}

function combined(snapshot: Snapshot, rows: PackedRows, filters: readonly Filter[], isAnd: boolean): Uint8Array {
  const mask = new Uint8Array(rows.count).fill(isAnd ? 1 : 0)
  for (const filter of filters) {
    const other = rowMask(snapshot, rows, filter)
    for (let row = 0; row < mask.length; row++) mask[row] = isAnd ? mask[row]! & other[row]! : mask[row]! | other[row]!
  }
  return mask
}

function conditionMask(rows: PackedRows, condition: Condition): Uint8Array {
  const matches = textTest(condition)
  const { values, codes } = rows.texts(condition.dimension)
  const flags = values.map((value) => ((value === "" ? condition.missing : matches(value)) ? 1 : 0))
  return flagged(rows, (row) => flags[codes[row]!]!)
}
