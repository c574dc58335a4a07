import { grownNumbers } from "./buffer.ts"
import { differs } from "./flags.ts"

/** Numbers kept for each group, for medians and percentiles: exact ones need every number. */
export interface GroupedValues {
  /** The first `count` of both arrays. Zeros, which are many, are only counted and taken out of the arrays. */
  add(groups: Uint32Array, values: Uint32Array, count: number, groupLimit: number): void
  /** Once all numbers are there. */
  sorted(groupLimit: number): SortedValues
}

interface SortedValues {
  count(group: number): number
  /** The number at a place of the group's, ascending, counted from 0. */
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

/** Those of group g lie from `starts[g]` to before `starts[g + 1]`. */
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
