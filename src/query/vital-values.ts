import { NO_VITAL, type Part } from "../store/events/part.ts"
import { NumberBuffer } from "./buffer.ts"
import { type GroupedValues, groupedValues } from "./grouped-values.ts"
import type { PageRows } from "./page-rows.ts"
import type { Grouped } from "./selection.ts"

export type Vital = "lcp" | "inp" | "fcp" | "ttfb" | "cls"

/** What browsers measured in the range, by group: milliseconds, `cls` in thousandths. */
export interface VitalValues {
  read(part: Part): void
  values: Partial<Record<Vital, GroupedValues>>
}

export function vitalValues(rows: PageRows, vitals: readonly Vital[], size: () => number): VitalValues {
  const values = Object.fromEntries(vitals.map((vital) => [vital, groupedValues()]))
  const [groupBuffer, valueBuffer] = [new NumberBuffer(), new NumberBuffer()]
  return {
    values,
    read(part) {
      const columns = part.vitals()
      if (columns.row.length === 0) return
      const grouped = rows.sparse(part, columns.row)
      const out = { groups: groupBuffer.room(grouped.count), values: valueBuffer.room(grouped.count) }
      for (const vital of vitals) {
        values[vital]!.add(out.groups, out.values, listMeasured(grouped, columns.row, columns[vital], out), size())
      }
    },
  }
}

/** The rows are ascending and some of those of the column: one walk joins them. */
function listMeasured(
  { rows, groups, count }: Grouped,
  row: Uint32Array,
  column: Uint32Array,
  out: { groups: Uint32Array; values: Uint32Array },
): number {
  let at = 0
  let found = 0
  for (let i = 0; i < count; i++) {
    while (row[at]! < rows[i]!) at++
    if (column[at] === NO_VITAL) continue
    out.groups[found] = groups[i]!
    out.values[found++] = column[at]!
  }
  return found
}
