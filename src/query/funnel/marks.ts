import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import type { FunnelQuery } from "../../domain/query.ts"
import { VISITOR_KINDS } from "../../domain/visit.ts"
import type { Items } from "../../store/events/bytes/items.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import type { CompiledFilter } from "../filter/filters.ts"
import { ruleMask } from "../filter/masks.ts"
import { BREAKS } from "./chain.ts"

/**
 * The events of a part that match a step, by visit and time: the first `count` of `rows`, with the steps they match in `marks`. With
 * strict order they include events that only break chains.
 */
export interface MarkedEvents {
  rows: Uint32Array
  marks: Uint32Array
  count: number
}

/** Returns the marked events of a part. They may include marks of 0, and are overwritten by the next call. */
export type StepMarker = (part: Part) => MarkedEvents

const ROTATING = VISITOR_KINDS.indexOf("rotating")

/** The steps that match each dictionary number, as bits. Text is compared with the dictionaries once, so that each event needs a single look-up. */
export interface StepsByValue {
  names: Uint32Array
  pages: Uint32Array
}

export function stepsByValue(snapshot: Snapshot, query: FunnelQuery): StepsByValue {
  const names = stepsOf(snapshot, query, "event")
  // Pageviews are matched by their page, and engagement and vitals never match.
  names.fill(0, PAGEVIEW, Math.max(ENGAGEMENT, VITALS) + 1)
  return { names, pages: stepsOf(snapshot, query, "page") }
}

/** Returns the marks of all events of each item. */
export const marksOfItems = ({ names, pages }: Items, steps: StepsByValue): Uint32Array =>
  names.map((name, item) => (name === PAGEVIEW ? steps.pages[pages[item]!]! : steps.names[name]!))

/** Creates the marker of a funnel. */
export function stepMarker(query: FunnelQuery, { names, pages }: StepsByValue, filter: CompiledFilter | undefined): StepMarker {
  const buffers = { rows: new NumberBuffer(), marks: new NumberBuffer() }
  return (part) => {
    const marked = { rows: buffers.rows.room(part.events), marks: buffers.marks.room(part.events), count: 0 }
    if (query.order === "strict") markWithBreaks(marked, part, names, pages)
    else markSteps(marked, part, names, pages)
    if (filter && marked.count > 0) keepFirstSteps(marked, filter.events(part))
    if (query.identifiedOnly) dropRotating(marked, part.event("visit"), part.visit("visitor_kind"))
    if (part.minAt < query.range.from || part.maxAt >= query.range.to) dropOutside(marked, part, query.range)
    return marked
  }
}

function stepsOf(snapshot: Snapshot, { steps }: FunnelQuery, type: "page" | "event"): Uint32Array {
  const dictionary = snapshot.dictionary(type === "page" ? "page" : "name")
  const bits = new Uint32Array(Math.max(dictionary.size, VITALS + 1))
  steps.forEach((step, index) => {
    if (step.type !== type) return
    ruleMask(dictionary, step).forEach((matches, id) => {
      if (matches === 1) bits[id] = bits[id]! | (1 << index)
    })
  })
  return bits
}

/** Marks the events that match a step. Every event is written, and overwritten when it matches nothing, which avoids a mispredicted branch. */
function markSteps(marked: MarkedEvents, part: Part, names: Uint32Array, pages: Uint32Array): void {
  const [name, page, order] = [part.event("name"), part.event("page"), part.order()]
  const { rows, marks } = marked
  let count = 0
  for (let i = 0; i < part.events; i++) {
    const row = order === null ? i : order[i]!
    const mark = name[row] === PAGEVIEW ? pages[page[row]!]! : names[name[row]!]!
    rows[count] = row
    marks[count] = mark
    count += mark === 0 ? 0 : 1
  }
  marked.count = count
}

/** Marks the events for strict order, in which pageviews and interactive custom events break chains. */
function markWithBreaks(marked: MarkedEvents, part: Part, names: Uint32Array, pages: Uint32Array): void {
  const [name, page, order] = [part.event("name"), part.event("page"), part.order()]
  const interactive = part.event("interactive")
  const { rows, marks } = marked
  let count = 0
  for (let i = 0; i < part.events; i++) {
    const row = order === null ? i : order[i]!
    const id = name[row]!
    const steps = id === PAGEVIEW ? pages[page[row]!]! : names[id]!
    const breaks = id === PAGEVIEW || (interactive[row] === 1 && id !== ENGAGEMENT && id !== VITALS)
    const mark = breaks ? steps | BREAKS : steps
    rows[count] = row
    marks[count] = mark
    count += mark === 0 ? 0 : 1
  }
  marked.count = count
}

/** Clears the first step of events that do not satisfy the filter, which applies to the first step only. */
function keepFirstSteps({ rows, marks, count }: MarkedEvents, mask: Uint8Array): void {
  for (let i = 0; i < count; i++) if (mask[rows[i]!] === 0) marks[i] = marks[i]! & ~1
}

function dropRotating({ rows, marks, count }: MarkedEvents, visit: Uint32Array, kind: Uint32Array): void {
  for (let i = 0; i < count; i++) if (kind[visit[rows[i]!]!] === ROTATING) marks[i] = 0
}

function dropOutside({ rows, marks, count }: MarkedEvents, part: Part, { from, to }: FunnelQuery["range"]): void {
  const [starts, visit, offset] = [part.starts(), part.event("visit"), part.event("offset")]
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const at = starts[visit[row]!]! + offset[row]!
    if (at < from || at >= to) marks[i] = 0
  }
}
