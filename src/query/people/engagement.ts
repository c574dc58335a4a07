import type { EngagementPoint, EngagementQuery, EngagementResult } from "../../domain/people.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { bucketAt } from "../parse/buckets.ts"
import { coverage } from "./coverage.ts"
import { ACTIVE, NOT_COUNTED, type Stretch, sweep } from "./sweep.ts"
import { peopleVisits } from "./visits.ts"

/** Days of the windows of `wau` and `mau`. */
const WEEK = 7
const MONTH = 28

/**
 * Counts active, new, returning, resurrected and dormant people by point. The visits are read in order of time, so that three numbers per
 * person suffice: the latest active day, the latest active point, and the point in which the person was first seen.
 */
export function engagement(snapshot: Snapshot, query: EngagementQuery, check: () => void): EngagementResult {
  const [days, points] = [Float64Array.from(query.days), Float64Array.from(query.edges)]
  const end = points.at(-1)!
  const counts = createCounts(days.length - 1, points.length - 1)
  const people = createPeople(snapshot.visitorLimit)
  const edges = [...new Set([...days, ...points])].filter((edge) => edge <= end).sort((a, b) => a - b)
  sweep(peopleVisits(snapshot, query), edges, check, (visits, index) => {
    const start = index === -1 ? Number.NEGATIVE_INFINITY : edges[index]!
    markSeen(visits, people.seen, start < points[0]! ? BEFORE : FIRST + bucketAt(points, start))
    if (start >= days[0]!) addDay(visits, bucketAt(days, start), people.day, counts)
    if (start >= points[0]!) addPoint(visits, bucketAt(points, start), people, counts)
  })
  const [weekly, monthly] = [sumsOf(counts.weekly), sumsOf(counts.monthly)]
  return {
    points: query.edges.slice(2).map((to, i): EngagementPoint => {
      const last = bucketAt(days, Math.min(to - 1, query.scope.now))
      const point = i + 1
      return {
        dau: counts.daily[last]!,
        wau: weekly[last]!,
        mau: monthly[last]!,
        new: counts.new[point]!,
        returning: counts.returning[point]!,
        resurrected: counts.active[point]! - counts.new[point]! - counts.returning[point]!,
        dormant: counts.active[i]! - counts.returning[point]!,
      }
    }),
    coverage: coverage(snapshot, query.scope, coveredEdges(query), check),
  }
}

/** Returns the edges of the windows for which people must be recognized: the whole range, or its days. */
function coveredEdges({ edges, days, daysOnly }: EngagementQuery): number[] {
  const [from, to] = [edges[1]!, edges.at(-1)!]
  return daysOnly ? [from, ...days.filter((day) => day > from && day < to), to] : [from, to]
}

/** The numbers of each person. 0 is none, FIRST the first day or point. */
interface People {
  day: Uint16Array
  point: Uint16Array
  /** Point in which the person was first seen, and BEFORE the first one. */
  seen: Uint16Array
}

const BEFORE = 1
const FIRST = 2

const createPeople = (limit: number): People => ({
  day: new Uint16Array(limit),
  point: new Uint16Array(limit),
  seen: new Uint16Array(limit),
})

interface Counts {
  /** Active people by day. */
  daily: Uint32Array
  /** People who begin to belong to the windows that end on a day, minus those who end to. */
  weekly: Int32Array
  monthly: Int32Array
  /** By point. */
  active: Uint32Array
  new: Uint32Array
  returning: Uint32Array
}

const createCounts = (days: number, points: number): Counts => ({
  daily: new Uint32Array(days),
  weekly: new Int32Array(days + WEEK),
  monthly: new Int32Array(days + MONTH),
  active: new Uint32Array(points),
  new: new Uint32Array(points),
  returning: new Uint32Array(points),
})

/** Returns the running sums of an array. */
function sumsOf(changes: Int32Array): Int32Array {
  let sum = 0
  return changes.map((change) => {
    sum += change
    return sum
  })
}

/** Notes for each person who has no number yet that they were first seen now. */
function markSeen({ visitor, order, marks, from, to }: Stretch, seen: Uint16Array, number: number): void {
  for (let at = from; at < to; at++) {
    const row = order === undefined ? at : order[at]!
    const person = visitor[row]!
    if (marks[row] !== NOT_COUNTED && seen[person] === 0) seen[person] = number
  }
}

/**
 * Counts the people who are active on a day. A person belongs to the windows that end on the active day and on the days after it, except
 * those that the previous active day already counts for.
 */
function addDay({ visitor, order, marks, from, to }: Stretch, day: number, latest: Uint16Array, { daily, weekly, monthly }: Counts): void {
  const number = FIRST + day
  let people = 0
  for (let at = from; at < to; at++) {
    const row = order === undefined ? at : order[at]!
    const person = visitor[row]!
    const before = latest[person]!
    if (marks[row] !== ACTIVE || before === number) continue
    latest[person] = number
    people++
    const since = before === 0 ? MONTH : number - before
    weekly[day + Math.max(0, WEEK - since)]!++
    monthly[day + Math.max(0, MONTH - since)]!++
  }
  daily[day]! += people
  weekly[day + WEEK]! -= people
  monthly[day + MONTH]! -= people
}

/** Counts the people who are active in a point. */
function addPoint({ visitor, order, marks, from, to }: Stretch, point: number, { point: latest, seen }: People, counts: Counts): void {
  const number = FIRST + point
  let [active, fresh, returning] = [0, 0, 0]
  for (let at = from; at < to; at++) {
    const row = order === undefined ? at : order[at]!
    const person = visitor[row]!
    const before = latest[person]!
    if (marks[row] !== ACTIVE || before === number) continue
    latest[person] = number
    active++
    if (seen[person] === number) fresh++
    else if (before === number - 1) returning++
  }
  counts.active[point]! += active
  counts.new[point]! += fresh
  counts.returning[point]! += returning
}
