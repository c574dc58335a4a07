import type { Range } from "../../domain/query.ts"
import { type Items, LazyItems, packVisits } from "./bytes/items.ts"
import type { EventColumn, Part, VisitColumn } from "./part.ts"
import type { Segment } from "./segment.ts"

/**
 * Some visits of a segment as a part of its own. Used for imports some of whose days are excluded, and for segments from which visits
 * were taken back; the kernels then need no rule for them. Columns are copied when they are requested.
 */
export class MaskedPart implements Part {
  readonly siteId: number
  readonly importId: number
  readonly visits: number
  readonly events: number
  readonly minStart: number
  readonly maxStart: number
  readonly minAt: number
  readonly maxAt: number
  readonly lastArrival: number
  readonly #part: Part
  readonly #visits: Uint32Array
  readonly #events: Uint32Array
  /** New row of each visit and event of the part, counted from 1; 0 for those that are left out. */
  readonly #newVisit: Uint32Array
  readonly #newEvent: Uint32Array
  readonly #columns = new Map<string, Uint32Array>()
  #items: Items | undefined

  constructor(part: Part, isKept: (visit: number) => boolean) {
    this.#part = part
    this.siteId = part.siteId
    this.importId = part.importId
    const starts = part.starts()
    this.#newVisit = new Uint32Array(part.visits)
    this.#visits = rowsWhere(part.visits, isKept, this.#newVisit)
    const visitOf = part.event("visit")
    this.#newEvent = new Uint32Array(part.events)
    this.#events = rowsWhere(part.events, (row) => this.#newVisit[visitOf[row]!] !== 0, this.#newEvent)
    this.visits = this.#visits.length
    this.events = this.#events.length
    // Visits of a segment are ordered by start, and no event comes before its visit. A late `maxAt` only costs time.
    this.minStart = starts[this.#visits[0] ?? 0]!
    this.maxStart = starts[this.#visits.at(-1) ?? 0]!
    this.minAt = this.minStart
    this.maxAt = part.maxAt
    this.lastArrival = part.lastArrival
  }

  starts(): Float64Array {
    const starts = this.#part.starts()
    return Float64Array.from(this.#visits, (visit) => starts[visit]!)
  }
  sequences(): Float64Array {
    const sequences = this.#part.sequences()
    return Float64Array.from(this.#visits, (visit) => sequences[visit]!)
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#picked(`visit ${column}`, this.#visits, () => this.#part.visit(column))
  }
  event(column: EventColumn): Uint32Array {
    if (column !== "visit") return this.#picked(`event ${column}`, this.#events, () => this.#part.event(column))
    const known = this.#columns.get("event visit")
    if (known) return known
    const visitOf = this.#part.event("visit")
    const renumbered = this.#events.map((row) => this.#newVisit[visitOf[row]!]! - 1)
    this.#columns.set("event visit", renumbered)
    return renumbered
  }
  order(): null {
    return null
  }
  isOpen(row: number, now: number): boolean {
    return this.#part.isOpen(this.#visits[row]!, now)
  }
  items(): Items | undefined {
    const items = this.#part.items?.()
    if (items) this.#items ??= this.#kept(items)
    return this.#items
  }
  lacks(column: VisitColumn | EventColumn, values: Uint8Array): boolean {
    return this.#part.lacks?.(column, values) ?? false
  }
  props() {
    return this.#sparse(this.#part.props())
  }
  revenue() {
    return this.#sparse(this.#part.revenue())
  }
  engagement() {
    return this.#sparse(this.#part.engagement())
  }
  vitals() {
    return this.#sparse(this.#part.vitals())
  }

  /** Returns the items of the kept events. Some items have none. */
  #kept({ names, pages, itemOf, firsts }: Items): Items {
    const kept = new Uint32Array(this.visits + 1)
    this.#visits.forEach((visit, row) => {
      kept[row + 1] = kept[row]! + firsts[visit + 1]! - firsts[visit]!
    })
    const rows = { names, pages, itemOf: Uint16Array.from(this.#events, (row) => itemOf[row]!), firsts: kept }
    return new LazyItems({ table: () => rows, rows: () => rows, visits: () => packVisits(rows) })
  }

  #picked(key: string, rows: Uint32Array, read: () => Uint32Array): Uint32Array {
    const known = this.#columns.get(key)
    if (known) return known
    const column = read()
    const picked = rows.map((row) => column[row]!)
    this.#columns.set(key, picked)
    return picked
  }

  /** Picks the rows of kept events from sparse columns and renumbers them. */
  #sparse<Columns extends { row: Uint32Array }>(columns: Columns): Columns {
    const kept = rowsWhere(columns.row.length, (at) => this.#newEvent[columns.row[at]!] !== 0)
    const pick = ([name, column]: [string, Uint32Array | Float64Array]) => {
      if (name === "row") return [name, kept.map((at) => this.#newEvent[column[at]!]! - 1)]
      return [name, column instanceof Float64Array ? Float64Array.from(kept, (at) => column[at]!) : kept.map((at) => column[at]!)]
    }
    // The same columns, under the same names.
    return Object.fromEntries(Object.entries(columns).map(pick)) as Columns
  }
}

/** Returns the rows that satisfy a test. `numbers` receives the new number of each, counted from 1. */
function rowsWhere(count: number, test: (row: number) => boolean, numbers?: Uint32Array): Uint32Array {
  const rows = new Uint32Array(count)
  let kept = 0
  for (let row = 0; row < count; row++) {
    if (!test(row)) continue
    rows[kept++] = row
    if (numbers) numbers[row] = kept
  }
  return rows.slice(0, kept)
}

const isIn = (at: number, spans: readonly Range[]): boolean => spans.some(({ from, to }) => at >= from && at < to)

/** Returns the parts of an import that are visible on the given spans: whole, masked, or not at all. */
export function visiblePart(part: Part, spans: readonly Range[]): Part | undefined {
  const { minStart, maxStart } = part
  if (spans.some(({ from, to }) => minStart >= from && maxStart < to)) return part
  if (!spans.some(({ from, to }) => minStart < to && maxStart >= from)) return undefined
  const starts = part.starts()
  return new MaskedPart(part, (visit) => isIn(starts[visit]!, spans))
}

/** Returns a segment without the visits that were taken back, which are given by their first sequences with the last segment that has them. */
export function withoutTaken(segment: Segment, taken: ReadonlyMap<number, number>): Part {
  if (segment.openUntil === undefined || taken.size === 0) return segment
  const sequences = segment.sequences()
  const isKept = (visit: number) => (taken.get(sequences[visit]!) ?? 0) < segment.id
  for (let visit = 0; visit < segment.visits; visit++) if (!isKept(visit)) return new MaskedPart(segment, isKept)
  return segment
}
