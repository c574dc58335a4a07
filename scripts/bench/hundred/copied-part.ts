import type { EventColumn, Part, PropColumns, VisitColumn } from "../../../src/store/events/part.ts"

/** The differences between the rows of a part and those of its copy. */
export interface Changes {
  siteId: number
  /** Added to all times, in ms. */
  laterMs: number
  /** Added to sequences and ordinals, so that the copy has its own. */
  sequences: number
  visitors: number
  /** The numbers of pages and titles in the copy, by their number in the part. */
  pages: Uint32Array
  titles: Uint32Array
  /** Added to the values of the property with a key, so that the copy has its own. */
  values: { key: number; by: number }
}

/** A copy of a part at another time, with other visitors, and with pages and order ids that the part does not have. */
export class CopiedPart implements Part {
  readonly siteId: number
  readonly importId = 0
  readonly #part: Part
  readonly #changes: Changes

  constructor(part: Part, changes: Changes) {
    this.#part = part
    this.#changes = changes
    this.siteId = changes.siteId
  }

  get visits() {
    return this.#part.visits
  }
  get events() {
    return this.#part.events
  }
  get minStart() {
    return this.#part.minStart + this.#changes.laterMs
  }
  get maxStart() {
    return this.#part.maxStart + this.#changes.laterMs
  }
  get minAt() {
    return this.#part.minAt + this.#changes.laterMs
  }
  get maxAt() {
    return this.#part.maxAt + this.#changes.laterMs
  }
  get lastArrival() {
    return this.#part.lastArrival + this.#changes.laterMs
  }

  starts(): Float64Array {
    const { laterMs } = this.#changes
    return this.#part.starts().map((start) => start + laterMs)
  }
  sequences(): Float64Array {
    const { sequences } = this.#changes
    return this.#part.sequences().map((sequence) => sequence + sequences)
  }
  visit(column: VisitColumn): Uint32Array {
    const values = this.#part.visit(column)
    const { visitors, pages } = this.#changes
    if (column === "visitor") return values.map((ordinal) => ordinal + visitors)
    return column === "entry_page" || column === "exit_page" ? values.map((page) => pages[page]!) : values
  }
  event(column: EventColumn): Uint32Array {
    const values = this.#part.event(column)
    const { pages, titles } = this.#changes
    if (column === "page") return values.map((page) => pages[page]!)
    return column === "title" ? values.map((title) => titles[title]!) : values
  }
  props(): PropColumns {
    const { row, key, value } = this.#part.props()
    const { values } = this.#changes
    return { row, key, value: value.map((number, at) => (key[at] === values.key ? number + values.by : number)) }
  }
  order(): null {
    return null
  }
  isOpen(): boolean {
    return false
  }
  revenue() {
    return this.#part.revenue()
  }
  engagement() {
    return this.#part.engagement()
  }
  vitals() {
    return this.#part.vitals()
  }
}
