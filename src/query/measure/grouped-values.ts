import { NO_VITAL, type Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { differs } from "../filter/masks.ts"
import type { PageRows } from "./page-rows.ts"
import type { Grouped } from "./selection.ts"

/** All numbers of each group, which exact medians and percentiles need. */
export interface GroupedValues {
  /** Adds the first `count` of both arrays. Zeros, which are frequent, are only counted and removed from the arrays. */
  add(groups: Uint32Array, values: Uint32Array, count: number, groupLimit: number): void
  /** Sorts the numbers. Called once all have been added. */
  sorted(groupLimit: number): SortedValues
}

interface SortedValues {
  count(group: number): number
  /** Returns the number at a position of a group, ascending from 0. */
  at(group: number, place: number): number
}

export function groupedValues(): GroupedValues {
  const chunks: { groups: Uint32Array; values: Uint32Array }[] = []
  let zeros: Uint32Array = new Uint32Array(0)
  return {
    add(groups, values, count, groupLimit) {
      zeros = grownNumbers(zeros, groupLimit)
      const kept = takeZeros(groups, values, count, zeros)
      if (kept > 0) chunks.push({ groups: groups.slice(0, kept), values: values.slice(0, kept) })
    },
    sorted(groupLimit) {
      const { starts, values } = sortedChunks(chunks, groupLimit)
      const zerosOf = (group: number) => zeros[group] ?? 0
      return {
        count: (group) => zerosOf(group) + starts[group + 1]! - starts[group]!,
        at: (group, place) => (place < zerosOf(group) ? 0 : values[starts[group]! + place - zerosOf(group)]!),
      }
    },
  }
}

function takeZeros(groups: Uint32Array, values: Uint32Array, count: number, zeros: Uint32Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const isValue = differs(values[i]!, 0)
    zeros[groups[i]!]! += 1 - isValue
    groups[kept] = groups[i]!
    values[kept] = values[i]!
    kept += isValue
  }
  return kept
}

/** Sorts the values of all groups. Those of group g are at `starts[g]` up to, but not including, `starts[g + 1]`. */
function sortedChunks(chunks: readonly { groups: Uint32Array; values: Uint32Array }[], groupLimit: number) {
  const starts = new Uint32Array(groupLimit + 1)
  for (const { groups } of chunks) countNext(groups, starts)
  for (let group = 0; group < groupLimit; group++) starts[group + 1]! += starts[group]!
  const values = new Uint32Array(starts[groupLimit]!)
  const ends = starts.slice()
  for (const chunk of chunks) place(chunk, ends, values)
  for (let group = 0; group < groupLimit; group++) {
    if (starts[group + 1]! > starts[group]! + 1) values.subarray(starts[group], starts[group + 1]).sort()
  }
  return { starts, values }
}

function countNext(groups: Uint32Array, starts: Uint32Array): void {
  for (let i = 0; i < groups.length; i++) starts[groups[i]! + 1]!++
}

function place({ groups, values }: { groups: Uint32Array; values: Uint32Array }, ends: Uint32Array, out: Uint32Array): void {
  for (let i = 0; i < groups.length; i++) out[ends[groups[i]!]!++] = values[i]!
}

export type Vital = "lcp" | "inp" | "fcp" | "ttfb" | "cls"

/** Web vitals in the range by group, in milliseconds; `cls` in thousandths. */
export interface VitalValues {
  read(part: Part): void
  values: Partial<Record<Vital, GroupedValues>>
  /** Number of page loads that were measured. */
  loads(group: number): number
}

export function vitalValues(rows: PageRows, vitals: readonly Vital[], size: () => number): VitalValues {
  const values = Object.fromEntries(vitals.map((vital) => [vital, groupedValues()]))
  const [groupBuffer, valueBuffer] = [new NumberBuffer(), new NumberBuffer()]
  let loads: Uint32Array = new Uint32Array(0)
  return {
    values,
    loads: (group) => loads[group] ?? 0,
    read(part) {
      const columns = part.vitals()
      if (columns.row.length === 0) return
      const grouped = rows.sparse(part, columns.row)
      loads = grownNumbers(loads, size())
      for (let i = 0; i < grouped.count; i++) loads[grouped.groups[i]!]!++
      const out = { groups: groupBuffer.room(grouped.count), values: valueBuffer.room(grouped.count) }
      for (const vital of vitals) {
        values[vital]!.add(out.groups, out.values, listMeasured(grouped, columns.row, columns[vital], out), size())
      }
    },
  }
}

/** Lists the measured values. The rows are ascending and a subset of those of the column, so one pass joins them. */
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
