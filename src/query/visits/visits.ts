import type { ListedVisit, VisitBounds, VisitListQuery, VisitListResult, VisitPlace } from "../../domain/visit-list.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import type { Mask } from "../filter/filters.ts"
import { compileGoals } from "../filter/goals.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { rowChoice } from "../rows/choice.ts"
import { firstVisitFrom, visitOrder } from "../rows/cursor.ts"
import { textsOf } from "../rows/rows.ts"
import { listedVisitReader } from "./listed-visit.ts"

/** A visit that was found, and where it is stored. */
interface FoundVisit extends VisitPlace {
  part: Part
  row: number
}

/**
 * Returns a page of the newest recorded visits, by start and sequence. Parts are read from the latest start backward, and the read ends
 * when no earlier part can contain a visit of the page, so the first page of a large site costs as much as that of a small one.
 */
export function visitList(snapshot: Snapshot, query: VisitListQuery, check: () => void): VisitListResult {
  const choice = rowChoice(snapshot, { ...query, of: "visits" })
  let found: FoundVisit[] = []
  let total = 0
  for (const part of recordedParts(snapshot)) {
    if (!choice.isIn(part)) continue
    const last = found.length > query.limit ? found.at(-1) : undefined
    if (last && part.maxStart < last.start && !query.count) break
    check()
    const ordered = orderedPart(part)
    const marks = chosenVisits(ordered, choice.visits(ordered), query)
    if (query.count) total += marks.count()
    const more = newestOf(ordered, marks, query)
    if (more.length > 0) found = [...found, ...more].sort(newestFirst).slice(0, query.limit + 1)
  }
  return {
    visits: listed(snapshot, query, found.slice(0, query.limit)),
    hasMore: found.length > query.limit,
    ...(query.count && { total }),
  }
}

/** Returns the parts with visits that this instance recorded, the one with the latest start first. */
export const recordedParts = ({ parts }: Snapshot): Part[] =>
  parts.filter(({ visits, importId }) => visits > 0 && importId === 0).sort((a, b) => b.maxStart - a.maxStart)

interface Marks {
  has(visit: number): boolean
  count(): number
}

/** Returns the visits of a part that start in the range and satisfy the filter and the bounds. */
function chosenVisits(part: Part, mask: Mask, { range, bounds }: VisitListQuery): Marks {
  const starts = part.starts()
  const isWithin = boundsTest(part, bounds)
  const has = (visit: number): boolean =>
    starts[visit]! >= range.from && starts[visit]! < range.to && (mask === "all" || mask[visit] === 1) && isWithin(visit)
  return {
    has,
    count() {
      let count = 0
      for (let visit = 0; visit < part.visits; visit++) if (has(visit)) count++
      return count
    },
  }
}

function boundsTest(part: Part, { minDurationMs = 0, minPageviews = 0, hasRevenue = false }: VisitBounds): (visit: number) => boolean {
  const duration = minDurationMs > 0 ? part.visit("duration") : undefined
  const pageviews = minPageviews > 0 ? part.visit("pageviews") : undefined
  const priced = hasRevenue ? visitsWithRevenue(part) : undefined
  return (visit) =>
    (!duration || duration[visit]! >= minDurationMs) &&
    (!pageviews || pageviews[visit]! >= minPageviews) &&
    (!priced || priced[visit] === 1)
}

function visitsWithRevenue(part: Part): Uint8Array {
  const mask = new Uint8Array(part.visits)
  const visits = part.event("visit")
  for (const row of part.revenue().row) mask[visits[row]!] = 1
  return mask
}

/** Returns the newest chosen visits of a part before a place: those of a page, and the one after it. */
function newestOf(part: Part, marks: Marks, { limit, before, range }: VisitListQuery): FoundVisit[] {
  const [starts, sequences] = [part.starts(), part.sequences()]
  const order = visitOrder(starts, sequences)
  const found: FoundVisit[] = []
  const end = before ?? { start: range.to, sequence: -1 }
  for (let at = firstVisitFrom(end, starts, sequences, order) - 1; at >= 0 && found.length <= limit; at--) {
    const row = order?.[at] ?? at
    if (starts[row]! < range.from) break
    if (marks.has(row)) found.push({ part, row, start: starts[row]!, sequence: sequences[row]! })
  }
  return found
}

const newestFirst = (a: VisitPlace, b: VisitPlace): number => b.start - a.start || b.sequence - a.sequence

/** Reads the facts of the visits on a page. Only the parts that contain them are decoded. */
function listed(snapshot: Snapshot, { site }: VisitListQuery, page: readonly FoundVisit[]): ListedVisit[] {
  const texts = textsOf(snapshot)
  const goals = compileGoals(snapshot, site.goals)
  const shown = new Array<ListedVisit>(page.length)
  for (const [part, positions] of Map.groupBy(page.keys(), (i) => page[i]!.part)) {
    const read = listedVisitReader(texts, part, goals, snapshot.visitors)
    for (const i of positions) shown[i] = read(page[i]!.row)
  }
  return shown
}
