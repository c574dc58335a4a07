import type { RetentionQuery } from "../../domain/people.ts"
import { bucketAt } from "../parse/buckets.ts"
import type { RetentionCells } from "./cells.ts"
import { ANY_START, DAY_MS, RETURN, START, type Trails } from "./trails.ts"

/** Called with each start that makes a person belong to a cohort: its cohort, and its place in the order of the events. */
export type ReadStart = (cohort: number, start: number, end: number) => void

/**
 * Finds the starts that count: with `first_time` the first start of a person, with `recurring` the first one in each period. `end` is the
 * place after the person's last event.
 */
export function forEachStart(trails: Trails, query: RetentionQuery, read: ReadStart): void {
  const edges = endlessEdges(query)
  const isFirst = query.mode === "first_time"
  let begin = 0
  for (let person = 0; person < trails.ends.length; person++) {
    const end = trails.ends[person]!
    let last = -1
    for (let i = firstStart(trails, begin, end, query.firstEver); i < end; i++) {
      if ((trails.marks[trails.order[i]!]! & START) === 0) continue
      const cohort = bucketAt(edges, trails.at[trails.order[i]!]!)
      if (cohort >= query.cohorts) break
      if (cohort > last) read(cohort, i, end)
      if (isFirst) break
      last = cohort
    }
    begin = end
  }
}

/** Returns the place of the first start of a person, or `end` without one that counts. */
function firstStart({ marks, order }: Trails, begin: number, end: number, isFirstEver: boolean): number {
  for (let i = begin; i < end; i++) {
    const mark = marks[order[i]!]!
    if ((mark & START) !== 0) return isFirstEver && (mark & ANY_START) === 0 ? end : i
    if ((mark & ANY_START) !== 0) return end
  }
  return end
}

/** Returns the edges with one at the end of time, so that every event since the first edge is in a period. */
const endlessEdges = ({ edges }: RetentionQuery): Float64Array => Float64Array.from([...edges, Number.POSITIVE_INFINITY])

/** Counts the people who return after their start, by period. */
export function countReturns(trails: Trails, query: RetentionQuery, cellsOf: (start: number) => RetentionCells): void {
  const edges = endlessEdges(query)
  const { returnCount, elapsed, isSame, periods } = query
  const isExact = query.counting === "exact"
  const { at, marks, order } = trails
  forEachStart(trails, query, (cohort, start, end) => {
    const cells = cellsOf(start)
    cells.addPerson(cohort)
    if (isSame) cells.addReturn(cohort, 0)
    const since = at[order[start]!]!
    const first = isSame ? 1 : 0
    let [period, returns, last] = [0, 0, -1]
    for (let i = start + 1; i < end; i++) {
      const event = order[i]!
      if ((marks[event]! & RETURN) === 0) continue
      const now = elapsed ? Math.floor((at[event]! - since) / DAY_MS) : bucketAt(edges, at[event]!) - cohort
      if (isExact && now >= periods) break
      returns = now === period ? returns + 1 : 1
      period = now
      if (returns !== returnCount || period < first) continue
      if (isExact) cells.addReturn(cohort, period)
      last = period
    }
    if (!isExact) cells.addReturns(cohort, first, last)
  })
}
