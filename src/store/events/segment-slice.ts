import { firstAtLeast } from "./bytes/ascending.ts"
import { addSteps, valuesOf, visitsOf } from "./bytes/event-codes.ts"
import { type ItemRows, type Items, LazyItems } from "./bytes/items.ts"
import type { EventColumn, Part, Steps, VisitColumn } from "./part.ts"
import type { Segment } from "./segment.ts"

/** The rows of a slice: visits from `first` up to, but not including, `end`. */
export interface SliceRows {
  first: number
  end: number
}

/** Number of events up to which a slice decodes its own. The few visits that last across an end of the range need no more. */
const MAX_DECODED_EVENTS = 4_096

/** The earliest and the latest time of a part, as in `Part`. */
export type SliceTimes = Pick<Part, "minStart" | "maxStart" | "minAt" | "maxAt">

/**
 * Adjacent visits of a segment as a part of its own. A range that cuts a segment then leaves a part that is inside as a whole, which
 * the kernels read several times as fast as rows whose times have to be compared. Nearly all columns are views of those of the segment.
 */
export class SegmentSlice implements Part {
  readonly siteId: number
  readonly importId: number
  readonly visits: number
  readonly events: number
  readonly minStart: number
  readonly maxStart: number
  readonly minAt: number
  readonly maxAt: number
  readonly lastArrival: number
  readonly #segment: Segment
  readonly #rows: SliceRows
  /** The same for events. */
  readonly #events: SliceRows
  readonly #visitsOfItems: (rows: ItemRows) => Uint32Array
  #items: ItemRows | undefined
  #visitOf: Uint32Array | undefined

  /** `visitsOfItems` returns what `packVisits` returns of the items of the slice, and may keep it. */
  constructor(
    segment: Segment,
    rows: SliceRows,
    { times, visitsOfItems }: { times: SliceTimes; visitsOfItems(rows: ItemRows): Uint32Array },
  ) {
    this.#segment = segment
    this.#rows = rows
    this.#visitsOfItems = visitsOfItems
    const { firsts } = segment.items()
    this.#events = { first: firsts[rows.first]!, end: firsts[rows.end]! }
    this.siteId = segment.siteId
    this.importId = segment.importId
    this.visits = rows.end - rows.first
    this.events = this.#events.end - this.#events.first
    this.minStart = times.minStart
    this.maxStart = times.maxStart
    this.minAt = times.minAt
    this.maxAt = times.maxAt
    this.lastArrival = segment.lastArrival
  }

  starts(): Float64Array {
    return this.#segment.starts().subarray(this.#rows.first, this.#rows.end)
  }
  sequences(): Float64Array {
    return this.#segment.sequences().subarray(this.#rows.first, this.#rows.end)
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#segment.visit(column).subarray(this.#rows.first, this.#rows.end)
  }
  event(column: EventColumn): Uint32Array {
    if (column === "visit") {
      this.#visitOf ??= visitsOf(this.#itemRows().firsts)
      return this.#visitOf
    }
    if (this.events <= MAX_DECODED_EVENTS) {
      const own = this.#decoded(column)
      if (own) return own
    }
    return this.#segment.event(column).subarray(this.#events.first, this.#events.end)
  }
  order(): null {
    return null
  }
  isOpen(row: number, now: number): boolean {
    return this.#segment.isOpen(this.#rows.first + row, now)
  }
  items(): Items {
    const rows = () => this.#itemRows()
    return new LazyItems({ rows, table: () => this.#segment.items(), visits: () => this.#visitsOfItems(rows()) })
  }
  lacks(column: VisitColumn | EventColumn, values: Uint8Array): boolean {
    return this.#segment.lacks(column, values)
  }
  steps(): Steps | undefined {
    return this.#segment.steps()?.from(this.#events.first)
  }
  props() {
    return this.#sparse(this.#segment.props())
  }
  revenue() {
    return this.#sparse(this.#segment.revenue())
  }
  engagement() {
    return this.#sparse(this.#segment.engagement())
  }
  vitals() {
    return this.#sparse(this.#segment.vitals())
  }

  /** Returns a column of which the segment need not decode all events. */
  #decoded(column: EventColumn): Uint32Array | undefined {
    const { names, pages, itemOf, firsts } = this.#itemRows()
    if (column === "name") return valuesOf(names, itemOf)
    if (column === "page") return valuesOf(pages, itemOf)
    const steps = column === "offset" ? this.steps() : undefined
    return (
      steps &&
      addSteps(
        Uint32Array.from(itemOf, (_, row) => steps.at(row)),
        firsts,
      )
    )
  }

  #itemRows(): ItemRows {
    this.#items ??= this.#cutItems()
    return this.#items
  }

  #cutItems(): ItemRows {
    const { names, pages, itemOf, firsts } = this.#segment.items()
    const { first, end } = this.#events
    const cut = firsts.slice(this.#rows.first, this.#rows.end + 1)
    for (let visit = 0; visit < cut.length; visit++) cut[visit]! -= first
    return { names, pages, itemOf: itemOf.subarray(first, end), firsts: cut }
  }

  /** Returns the rows of sparse columns that belong to events of the slice, renumbered. */
  #sparse<Columns extends { row: Uint32Array }>(columns: Columns): Columns {
    const { first, end } = this.#events
    const [from, to] = [firstAtLeast(columns.row, first), firstAtLeast(columns.row, end)]
    const cut = ([name, column]: [string, Uint32Array | Float64Array]) => {
      const values = column.subarray(from, to)
      return [name, name === "row" ? values.map((row) => row - first) : values]
    }
    // The same columns, under the same names.
    return Object.fromEntries(Object.entries(columns).map(cut)) as Columns
  }
}
