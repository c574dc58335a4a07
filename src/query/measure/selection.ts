import type { Range } from "../../domain/query.ts"
import { zeros } from "../../store/events/bytes/zeros.ts"
import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import type { CompiledFilter, Mask } from "../filter/filters.ts"
import type { CompiledGoals, Completions } from "../filter/goals.ts"
import { type Clock, isInside } from "../parts/ranges.ts"
import type { CodeSource, RowList } from "./codes.ts"
import { type CountedEvents, countByItem, countSplit } from "./counted-events.ts"
import type { GroupIndex } from "./group-index.ts"
import {
  divideVisits,
  everyRow,
  keepInRange,
  keepMarked,
  keepMarkedPairs,
  keepStartedInRange,
  keepStarts,
  keepTimedPairs,
  listAll,
  listCounted,
  listEventsOf,
  listMarked,
} from "./row-lists.ts"

/** Rows of events or visits, ascending, each with a group. A row occurs once per group that it belongs to. */
export interface Grouped {
  rows: Uint32Array
  groups: Uint32Array
  count: number
}

export interface Chosen {
  filter: CompiledFilter
  /** Present when one of the sources is the goal: the events are then completions of these goals. */
  goals: CompiledGoals | undefined
  sources: readonly CodeSource[]
  index: GroupIndex
  range: Range
  /** Edges of the buckets, or the two ends of the range without a time grouping. */
  edges: Float64Array
  /** Whether events of any name are selected, engagement included, and no visits (metrics.md section 14). */
  anyName?: boolean
}

/** The events of a part that a query selects, with their groups (metrics.md 5.1). */
export interface Selection {
  readonly isGrouped: boolean
  /** Number of groups so far. */
  size(): number
  /**
   * Returns the visits whose counted events are all in E and in one bucket: their totals suffice, and no event column is read.
   * Undefined when events must be read.
   */
  whole(part: Part): Grouped | undefined
  /** Returns the events of E except those of `whole`, counted by item. Undefined when that is impossible. */
  counted(part: Part): CountedEvents | undefined
  /** Returns the events of E except those of `whole`. */
  events(part: Part): Grouped
}

export interface VisitSelection {
  readonly isGrouped: boolean
  size(): number
  /** Returns V by group, in one or two lists. A visit occurs once for each group of its events. */
  visits(part: Part): readonly Grouped[]
}

/** Creates the selection of a query. Parts must be ordered (`orderedPart`). Results remain valid until another part is read. */
export function selection(chosen: Chosen): Selection & VisitSelection {
  const { filter, sources, index, range, edges } = chosen
  const isOfVisits = sources.every((source) => source.isOfVisits)
  const isTimed = sources.some((source) => source.grouping.by === "time")
  const [eventLists, visitLists, wholeLists] = [groupedLists(chosen), groupedLists(chosen), groupedLists(chosen)]
  const once = createOnce()
  // Evaluated with the first part, because a filter is compiled when it is first needed.
  const byVisit = () => isOfVisits && !filter.hasEventConditions() && !chosen.anyName

  const byItem = countByItem(chosen)
  const divided = ofLatest((part) => divide(part, chosen, wholeLists))
  const counted = ofLatest((part) => {
    if (!byVisit()) return byItem(part)
    return liesInOneBucket(part, edges) ? undefined : countSplit(part, divided(part).split, chosen)
  })
  const whole = ofLatest((part) => {
    if (!byVisit()) return undefined
    return wholeLists.grouped(part, liesInOneBucket(part, edges) ? allVisits(part, filter, wholeLists) : divided(part).whole)
  })
  const events = ofLatest((part) => {
    const list = byVisit() ? splitEvents(part, chosen, divided, eventLists) : matchingEvents(part, chosen, eventLists)
    return eventLists.grouped(part, list, "event")
  })
  const started = (part: Part): Grouped => {
    // When no grouping is by time and the whole part is in the range, the events of V are those of E.
    if (!isTimed && isInside(part, range, "event") && isInside(part, range, "visit")) return events(part)
    return visitLists.grouped(part, matchingEvents(part, chosen, visitLists, "visit"), "visit")
  }
  const visits = (part: Part): readonly Grouped[] => {
    const inItems = byVisit() ? undefined : counted(part)
    if (inItems) return [inItems.visits]
    if (!isOfVisits) return [once(part, started(part), () => index.size)]
    const inWhole = whole(part)
    if (!inWhole) return [visitLists.grouped(part, startedVisits(part, chosen, visitLists))]
    if (liesInOneBucket(part, edges)) return [inWhole]
    const { rows, count } = divided(part).split
    const list = { rows: visitLists.rows.room(count), count: 0 }
    list.rows.set(rows.subarray(0, count))
    list.count = keepStarts(list.rows, count, part.starts(), range)
    return [inWhole, visitLists.grouped(part, list)]
  }
  return { isGrouped: sources.length > 0, size: () => index.size, whole, counted, events, visits }
}

/** Keeps the result for the latest part. */
function ofLatest<Result>(compute: (part: Part) => Result): (part: Part) => Result {
  let known: { part: Part; result: Result } | undefined
  return (part) => {
    if (known?.part !== part) known = { part, result: compute(part) }
    return known.result
  }
}

/** Creates the arrays of one list and its groups, which are reused for every part. */
export function groupedLists({ sources, index }: Pick<Chosen, "sources" | "index">) {
  const [rows, goals, groups, spare] = [new NumberBuffer(), new NumberBuffer(), new NumberBuffer(), new NumberBuffer()]
  const columns = sources.map(() => new NumberBuffer())
  return {
    rows,
    goals,
    spare,
    /** Returns the groups of a list of visits, or of events if there is a clock. */
    grouped(part: Part, list: RowList, clock?: Clock): Grouped {
      // With an empty list, groupings would read columns for nothing.
      if (list.count === 0 || sources.length === 0) return { rows: list.rows, groups: zeros(list.count), count: list.count }
      const codes = sources.map((source, i) => {
        if (list.isEvery && source.column) return source.column(part)
        const out = columns[i]!.room(list.count)
        if (clock) source.ofRows(part, list, clock, out)
        else source.ofVisits(part, list, out)
        return out
      })
      if (index.isDirect) return { rows: list.rows, groups: codes[0]!, count: list.count }
      const out = groups.room(list.count)
      index.assign(codes, list.count, out)
      return { rows: list.rows, groups: out, count: list.count }
    },
  }
}
type Lists = ReturnType<typeof groupedLists>

/** Lists the events that satisfy the filter and are in the range (`event`: E), or whose visit starts in it (`visit`: the events that make V). */
function matchingEvents(part: Part, { filter, goals, range, anyName }: Chosen, lists: Lists, clock: Clock = "event"): RowList {
  if (goals) return matchingCompletions(part, filter.rows(part), goals, lists, { range, clock })
  const rows = lists.rows.room(part.events)
  const count = anyName ? listAnyName(part, filter.rows(part), rows) : listEvents(part, filter, rows)
  if (isInside(part, range, clock)) return { rows, count }
  const times = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts() }
  return { rows, count: clock === "event" ? keepInRange(rows, count, times, range) : keepStartedInRange(rows, count, times, range) }
}

const listAnyName = (part: Part, mask: Mask, rows: Uint32Array): number =>
  mask === "all" ? listAll(part.events, rows) : listMarked(mask, 1, rows)

const listEvents = (part: Part, filter: CompiledFilter, rows: Uint32Array): number =>
  filter.rows(part) === "all" ? listCounted(part.event("name"), rows) : listMarked(filter.events(part), 1, rows)

/** Lists the completions of goals whose event satisfies the filter, by the same clock. */
export function matchingCompletions(
  part: Part,
  mask: Mask,
  goals: CompiledGoals,
  lists: Pick<Lists, "rows" | "goals">,
  { range, clock }: { range: Range; clock: Clock },
): Completions {
  const all = goals.completions(part)
  const kept = { rows: lists.rows.room(all.count), goals: lists.goals.room(all.count), count: all.count }
  kept.rows.set(all.rows.subarray(0, all.count))
  kept.goals.set(all.goals.subarray(0, all.count))
  if (mask !== "all") kept.count = keepMarkedPairs(kept, mask)
  if (isInside(part, range, clock)) return kept
  const offset = clock === "event" ? part.event("offset") : undefined
  kept.count = keepTimedPairs(kept, { visit: part.event("visit"), offset, starts: part.starts() }, range)
  return kept
}

function startedVisits(part: Part, { filter, range }: Chosen, lists: Lists): RowList {
  const list = allVisits(part, filter, lists)
  if (isInside(part, range, "visit")) return list
  const rows = lists.rows.room(part.visits)
  if (list.isEvery) listAll(part.visits, rows)
  return { rows, count: keepStarts(rows, list.count, part.starts(), range) }
}

/** Lists the visits that satisfy the filter. */
function allVisits(part: Part, filter: CompiledFilter, lists: Lists): RowList {
  const mask = filter.visits(part)
  if (mask === "all") return { rows: everyRow(part.visits), count: part.visits, isEvery: true }
  const rows = lists.rows.room(part.visits)
  return { rows, count: listMarked(mask, 1, rows) }
}

interface Divided {
  /** Visits whose counted events are all in one bucket. */
  whole: RowList
  /** Visits that an edge splits. */
  split: RowList
}

function divide(part: Part, { filter, edges }: Chosen, lists: Lists): Divided {
  const [whole, split] = [lists.rows.room(part.visits), lists.spare.room(part.visits)]
  const counts = divideVisits(part.starts(), part.visit("duration"), edges, whole, split)
  const mask = filter.visits(part)
  return {
    whole: { rows: whole, count: keepVisits(whole, counts.whole, mask) },
    split: { rows: split, count: keepVisits(split, counts.split, mask) },
  }
}

/** Lists the counted events in the range of visits that an edge splits. */
function splitEvents(part: Part, { edges, range }: Chosen, divided: (part: Part) => Divided, lists: Lists): RowList {
  if (liesInOneBucket(part, edges)) return { rows: lists.rows.room(0), count: 0 }
  const { split } = divided(part)
  if (split.count === 0) return { rows: lists.rows.room(0), count: 0 }
  const rows = lists.rows.room(part.events)
  const times = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts() }
  const count = listEventsOf(split.rows, split.count, times.visit, part.event("name"), rows)
  return { rows, count: isInside(part, range, "event") ? count : keepInRange(rows, count, times, range) }
}

const keepVisits = (rows: Uint32Array, count: number, mask: Mask): number => (mask === "all" ? count : keepMarked(rows, count, mask, rows))

function liesInOneBucket({ minAt, maxAt }: Part, edges: Float64Array): boolean {
  for (let bucket = 0; bucket + 1 < edges.length; bucket++) {
    if (minAt >= edges[bucket]! && minAt < edges[bucket + 1]!) return maxAt < edges[bucket + 1]!
  }
  return false
}

/** Converts events by group to visits by group, each pair once. The events of a visit are contiguous. */
function createOnce() {
  const [visits, groups] = [new NumberBuffer(), new NumberBuffer()]
  let stamps: Uint32Array = new Uint32Array(0)
  let before = 1
  return (part: Part, events: Grouped, size: () => number): Grouped => {
    stamps = grownNumbers(stamps, size())
    const once = { rows: visits.room(events.count), groups: groups.room(events.count), count: 0 }
    once.count = keepFirsts(events, part.event("visit"), stamps, before, once)
    before += part.visits
    return once
  }
}

/** Keeps the first event of each visit and group. `stamps` contains the latest visit of each group, numbered over all parts from `before`. */
function keepFirsts(
  { rows, groups, count }: Grouped,
  visit: Uint32Array,
  stamps: Uint32Array,
  before: number,
  out: { rows: Uint32Array; groups: Uint32Array },
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    const stamp = visit[rows[i]!]! + before
    if (stamps[group] === stamp) continue
    stamps[group] = stamp
    out.rows[kept] = visit[rows[i]!]!
    out.groups[kept++] = group
  }
  return kept
}
