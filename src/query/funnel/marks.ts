import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import type { FunnelQuery } from "../../domain/query.ts"
import { VISITOR_KINDS } from "../../domain/visit.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import { compileFilter } from "../filter/filters.ts"
import { ruleMask } from "../filter/masks.ts"
import { BREAKS } from "./chain.ts"

/**
 * The first `count` of `rows` are the events of a part that match a step, by visit and time; `marks` are the steps they match.
 * Under `strict` those that only end chains are among them.
 */
export interface MarkedEvents {
  rows: Uint32Array
  marks: Uint32Array
  count: number
}

/** What it gives is overwritten by the next call; marks of 0 may be among it. */
export type StepMarker = (part: Part) => MarkedEvents

const ROTATING = VISITOR_KINDS.indexOf("rotating")

/** Text is compared once, with the dictionaries: what remains per event is one look-up. Few events match, and only those go on. */
export function stepMarker(snapshot: Snapshot, query: FunnelQuery): StepMarker {
  const pages = stepsByValue(snapshot, query, "page")
  const names = stepsByValue(snapshot, query, "event")
  // A pageview is matched by its page; engagement and vitals are no steps.
  names.fill(0, PAGEVIEW, Math.max(ENGAGEMENT, VITALS) + 1)
  const filter = query.filter && compileFilter(snapshot, query.filter, query.site)
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

/** Bits of the steps that each number of the dictionary matches. */
function stepsByValue(snapshot: Snapshot, { steps }: FunnelQuery, type: "page" | "event"): Uint32Array {
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

/** Every event is written and the next one over it when it matches nothing: no branch to guess wrongly. */
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

/** The same under `strict`: pageviews and interactive custom events that match no step end chains. */
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

/** The filter tests the first step only. */
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
