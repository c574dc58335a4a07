import { VISIT_IDLE_MS } from "../../../domain/visit.ts"
import {
  ARRIVAL_UNIT_MS,
  type EngagementColumns,
  type EventColumn,
  type Part,
  type PropColumns,
  type RevenueColumns,
  type VisitColumn,
  type VitalColumns,
} from "../../events/part.ts"
import type { ReadColumn } from "./layout.ts"
import type { Slice } from "./slices.ts"

/** Returns a column of a slice, after reading the unit that it belongs to. */
type ReadSlice = (slice: Slice, unit: string, column: string) => ReadColumn

/** A slice as a part of a snapshot. Columns are read when they are first requested. */
export class SlicePart implements Part {
  readonly id: number
  readonly importId: number
  readonly visits: number
  readonly events: number
  readonly minStart: number
  readonly maxStart: number
  readonly minAt: number
  readonly maxAt: number
  readonly lastArrival: number
  readonly #slice: Slice
  readonly #read: ReadSlice

  constructor(
    readonly siteId: number,
    slice: Slice,
    read: ReadSlice,
  ) {
    this.id = slice.id
    this.importId = slice.importId
    this.visits = slice.visits
    this.events = slice.events
    this.minStart = slice.minStart
    this.maxStart = slice.maxStart
    this.minAt = slice.minStart // a visit starts with its first event
    this.maxAt = slice.maxAt
    this.lastArrival = slice.lastArrival
    this.#slice = slice
    this.#read = read
  }

  get run(): number {
    return this.#slice.run
  }

  starts(): Float64Array {
    return this.#read(this.#slice, "starts", "starts") as Float64Array // see `decodeUnits`, also below
  }
  sequences(): Float64Array {
    return this.#read(this.#slice, "sequences", "sequences") as Float64Array
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#uint32(`visit ${column}`)
  }
  event(column: EventColumn): Uint32Array {
    return this.#uint32(`event ${column}`)
  }
  order(): null {
    return null
  }
  isOpen(row: number, now: number): boolean {
    if (this.#uint32("visit closed")[row] === 1) return false
    const lastArrival = this.starts()[row]! + (this.visit("arrival")[row]! + 1) * ARRIVAL_UNIT_MS
    return Math.abs(now - lastArrival) <= VISIT_IDLE_MS
  }
  props(): PropColumns {
    return { row: this.#of("props", "row"), key: this.#of("props", "key"), value: this.#of("props", "value") }
  }
  revenue(): RevenueColumns {
    const amount = this.#read(this.#slice, "revenue", "revenue amount") as Float64Array
    return { row: this.#of("revenue", "row"), amount, currency: this.#of("revenue", "currency") }
  }
  engagement(): EngagementColumns {
    return {
      row: this.#of("engagement", "row"),
      engaged: this.#of("engagement", "engaged"),
      scroll: this.#of("engagement", "scroll"),
    }
  }
  vitals(): VitalColumns {
    const column = (name: string) => this.#of("vitals", name)
    return { row: column("row"), lcp: column("lcp"), inp: column("inp"), fcp: column("fcp"), ttfb: column("ttfb"), cls: column("cls") }
  }

  #of(unit: string, name: string): Uint32Array {
    return this.#uint32(`${unit} ${name}`, unit)
  }

  #uint32(column: string, unit = column): Uint32Array {
    return this.#read(this.#slice, unit, column) as Uint32Array
  }
}
