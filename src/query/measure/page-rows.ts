import { ENGAGEMENT, PAGEVIEW } from "../../domain/dimension.ts"
import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import type { CompiledFilter, Mask } from "../filter/filters.ts"
import type { CompiledGoals } from "../filter/goals.ts"
import type { CodeSource, RowList } from "./codes.ts"
import { groupIndex } from "./group-index.ts"
import { keepInRange, keepMarked, keepMarkedPairs, listMarked } from "./row-lists.ts"
import type { Chosen, Grouped } from "./selection.ts"

/**
 * Events that are measured on their own page (metrics.md 5.2: time on page, scroll depth, web vitals). They have a page, host and
 * title, but no name, goal or property of a custom event: a grouping by one of these puts them into the group of every such event
 * of their visit, so that a row equals the total filtered by its value.
 */
export interface PageRows {
  /** Returns the pageviews and engagement reports in the range that satisfy the filter, by group. */
  pages(part: Part): Grouped
  /** Returns the rows of a sparse column in the range that satisfy the filter, by group. */
  sparse(part: Part, rows: Uint32Array): Grouped
}

/** Creates the rows. `chosen.filter` is compiled from `pageFilter`. `choosing`, compiled from `choosingFilter`, chooses the visits for such groupings. */
export function pageRows(chosen: Chosen, choosing: CompiledFilter): PageRows {
  const rows = new NumberBuffer()
  const group = createGrouping(chosen, choosing)
  const inRange = (part: Part, list: Uint32Array, count: number) => {
    const times = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts() }
    return group(part, { rows: list, count: keepInRange(list, count, times, chosen.range) })
  }
  return {
    pages(part) {
      const list = rows.room(part.events)
      return inRange(part, list, listPageRows(part.event("name"), chosen.filter.rows(part), list))
    },
    sparse(part, sparse) {
      const list = rows.room(sparse.length)
      const mask = chosen.filter.rows(part)
      if (mask === "all") list.set(sparse)
      return inRange(part, list, mask === "all" ? sparse.length : keepMarked(sparse, sparse.length, mask, list))
    },
  }
}

function listPageRows(name: Uint32Array, mask: Mask, out: Uint32Array): number {
  let count = 0
  for (let row = 0; row < name.length; row++) {
    if (name[row] === PAGEVIEW || name[row] === ENGAGEMENT) out[count++] = row
  }
  return mask === "all" ? count : keepMarked(out, count, mask, out)
}

const isBorrowed = ({ grouping }: CodeSource) =>
  grouping.by === "dimension" && (grouping.dimension === "event" || grouping.dimension === "goal" || grouping.dimension === "property")

function createGrouping({ sources, index, goals }: Chosen, choosing: CompiledFilter) {
  const buffers = sources.map(() => new NumberBuffer())
  const groups = new NumberBuffer()
  const borrowed = sources.filter(isBorrowed)
  const borrowing = borrowed.length === 0 ? undefined : createBorrowing(borrowed, choosing, goals)
  return (part: Part, own: RowList): Grouped => {
    const lent = borrowing?.(part, own)
    const list = lent ?? own
    const codes = sources.map((source, i) => {
      const out = buffers[i]!.room(list.count)
      if (lent && isBorrowed(source)) lent.codes(borrowed.indexOf(source), out)
      else source.ofRows(part, list, "event", out)
      return out
    })
    const out = groups.room(list.count)
    index.assign(codes, list.count, out)
    return { rows: list.rows, groups: out, count: list.count }
  }
}

/** Repeats each row for every distinct value that a chosen event of its visit has. */
function createBorrowing(sources: readonly CodeSource[], choosing: CompiledFilter, goals: CompiledGoals | undefined) {
  const index = groupIndex(sources.map((source) => source.width))
  let stamps: Uint32Array = new Uint32Array(0)
  let before = 1
  return (part: Part, own: RowList) => {
    const lenders = lendingRows(part, choosing, goals)
    const codes = sources.map((source) => {
      const out = new Uint32Array(lenders.count)
      source.ofRows(part, lenders, "event", out)
      return out
    })
    const groups = new Uint32Array(lenders.count)
    index.assign(codes, lenders.count, groups)
    stamps = grownNumbers(stamps, index.size)
    const joined = joinByVisit(own, { rows: lenders.rows, groups, count: lenders.count }, part.event("visit"), stamps, before)
    before += part.visits
    return {
      ...joined,
      codes(source: number, out: Uint32Array) {
        for (let i = 0; i < joined.count; i++) out[i] = index.codeOf(joined.lent[i]!, source)
      },
    }
  }
}

function lendingRows(part: Part, choosing: CompiledFilter, goals: CompiledGoals | undefined): RowList {
  if (goals) {
    const { rows, goals: codes, count } = goals.completions(part)
    const list = { rows: rows.slice(0, count), goals: codes.slice(0, count), count }
    const mask = choosing.rows(part)
    return mask === "all" ? list : { ...list, count: keepMarkedPairs(list, mask) }
  }
  const rows = new Uint32Array(part.events)
  return { rows, count: listMarked(choosing.events(part), 1, rows) }
}

/** Joins two lists, both of which are in the order of the visits. */
function joinByVisit(own: RowList, lenders: Grouped, visit: Uint32Array, stamps: Uint32Array, before: number) {
  const rows: number[] = []
  const lent: number[] = []
  let of: number[] = []
  let current = -1
  let at = 0
  for (let i = 0; i < own.count; i++) {
    const row = own.rows[i]!
    const wanted = visit[row]!
    if (wanted !== current) {
      current = wanted
      of = []
      while (at < lenders.count && visit[lenders.rows[at]!]! < wanted) at++
      for (; at < lenders.count && visit[lenders.rows[at]!] === wanted; at++) {
        const group = lenders.groups[at]!
        if (stamps[group] !== wanted + before) of.push(group)
        stamps[group] = wanted + before
      }
    }
    for (const group of of) {
      rows.push(row)
      lent.push(group)
    }
  }
  return { rows: Uint32Array.from(rows), lent, count: rows.length }
}
