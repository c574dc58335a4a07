import type { LastMatchQuery } from "../domain/query.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import { compileGoals } from "./goals.ts"

/** When a goal was last completed, epoch ms; undefined when it never was. The parts that can be youngest are looked at first. */
export function lastMatch(snapshot: Snapshot, { goal }: LastMatchQuery, check: () => void): number | undefined {
  const goals = compileGoals(snapshot, [goal])
  let latest: number | undefined
  for (const part of snapshot.parts.filter(({ events }) => events > 0).toSorted((a, b) => b.maxAt - a.maxAt)) {
    if (latest !== undefined && part.maxAt <= latest) break
    check()
    const { rows, count } = goals.completions(part)
    latest = latestOf(part, rows.subarray(0, count), latest)
  }
  return latest
}

function latestOf(part: Part, rows: Uint32Array, before: number | undefined): number | undefined {
  const [starts, visit, offset] = [part.starts(), part.event("visit"), part.event("offset")]
  let latest = before
  for (const row of rows) {
    const at = starts[visit[row]!]! + offset[row]!
    if (latest === undefined || at > latest) latest = at
  }
  return latest
}
