import type { Range } from "../domain/query.ts"

/** Kernels that narrow, in place, a list of completions: rows of events, each with its goal. Each returns the new length. */

interface Pairs {
  rows: Uint32Array
  goals: Uint32Array
  count: number
}

export function keepMarkedPairs({ rows, goals, count }: Pairs, mask: Uint8Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    if (mask[rows[i]!] === 0) continue
    rows[kept] = rows[i]!
    goals[kept++] = goals[i]!
  }
  return kept
}

/** Those whose event, or without offsets whose visit's start, lies in the range. */
export function keepTimedPairs(
  { rows, goals, count }: Pairs,
  { visit, offset, starts }: { visit: Uint32Array; offset: Uint32Array | undefined; starts: Float64Array },
  { from, to }: Range,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const at = starts[visit[row]!]! + (offset ? offset[row]! : 0)
    if (at < from || at >= to) continue
    rows[kept] = row
    goals[kept++] = goals[i]!
  }
  return kept
}
