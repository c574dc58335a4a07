import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import type { FunnelQuery } from "../../domain/query.ts"
import { VISITOR_KINDS } from "../../domain/visit.ts"
import { type Items, MAX_ROWS, rowOf, visitOf } from "../../store/events/bytes/items.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import { compileFilter } from "../filter/filters.ts"
import { differs, ruleMask } from "../filter/masks.ts"
import { BREAKS } from "./chain.ts"

/**
 * The events of a part that match a step, by visit and time: the first `count` of `rows`, with their visits and the steps they match.
 * With strict order they include events that only break chains.
 */
export interface MarkedEvents {
  rows: Uint32Array
  visits: Uint32Array
  marks: Uint32Array
  count: number
}

/** Returns the marked events of a part. They may include marks of 0, and are overwritten by the next call. */
export type StepMarker = (part: Part) => MarkedEvents

const ROTATING = VISITOR_KINDS.indexOf("rotating")

/** Creates the marker of a funnel. Text is compared with the dictionaries once, so that each event needs a single look-up. */
export function stepMarker(snapshot: Snapshot, query: FunnelQuery): StepMarker {
  const pages = stepsByValue(snapshot, query, "page")
  const names = stepsByValue(snapshot, query, "event")
  // Pageviews are matched by their page, and engagement and vitals never match.
  names.fill(0, PAGEVIEW, Math.max(ENGAGEMENT, VITALS) + 1)
  const filter = query.filter && compileFilter(snapshot, query.filter, query.site)
  const buffers = { rows: new NumberBuffer(), visits: new NumberBuffer(), marks: new NumberBuffer() }
  const spread = new SpreadMarks()
  return (part) => {
    const room = part.events
    const marked = { rows: buffers.rows.room(room), visits: buffers.visits.room(room), marks: buffers.marks.room(room), count: 0 }
    const items = query.order === "strict" ? undefined : part.items?.()
    if (items) markItems(marked, part, items, { names, pages }, spread)
    else {
      if (query.order === "strict") markWithBreaks(marked, part, names, pages)
      else markSteps(marked, part, names, pages)
      addVisits(marked, part.event("visit"))
    }
    if (filter && marked.count > 0) keepFirstSteps(marked, filter.events(part))
    if (query.identifiedOnly) dropRotating(marked, part.visit("visitor_kind"))
    if (part.minAt < query.range.from || part.maxAt >= query.range.to) dropOutside(marked, part, query.range)
    return marked
  }
}

/** Returns the steps that each dictionary number matches, as bits. */
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

/** The marks of a part by event row, two in a word, and the visits of the marked rows. All marks are 0 between two parts. */
class SpreadMarks {
  readonly marks = new Uint16Array(MAX_ROWS)
  readonly words = new Int32Array(this.marks.buffer)
  readonly visits = new Uint16Array(MAX_ROWS)
}

/** Marks the events of the items that match a step, then lists them in the order of their rows. */
function markItems(
  marked: MarkedEvents,
  part: Part,
  items: Items,
  { names, pages }: Record<"names" | "pages", Uint32Array>,
  spread: SpreadMarks,
): void {
  for (let item = 0; item < items.names.length; item++) {
    const mark = items.names[item] === PAGEVIEW ? pages[items.pages[item]!]! : names[items.names[item]!]!
    if (mark !== 0) spreadItem(items.events, items.starts[item]!, items.starts[item + 1]!, mark, spread)
  }
  collectMarks(spread, part.events, marked)
}

function spreadItem(events: Uint32Array, from: number, to: number, mark: number, { marks, visits }: SpreadMarks): void {
  for (let at = from; at < to; at++) {
    const event = events[at]!
    marks[rowOf(event)] = mark
    visits[rowOf(event)] = visitOf(event)
  }
}

/** Lists the marked rows and clears their marks. Both rows of a word are written, and overwritten when they have no mark. */
function collectMarks({ words, visits }: SpreadMarks, events: number, marked: MarkedEvents): void {
  const { rows, visits: outVisits, marks } = marked
  let count = 0
  for (let row = 0; row < events; row += 2) {
    const word = words[row >>> 1]!
    if (word === 0) continue
    words[row >>> 1] = 0
    const [first, second] = [word & 0xffff, word >>> 16]
    rows[count] = row
    outVisits[count] = visits[row]!
    marks[count] = first
    count += differs(first, 0)
    rows[count] = row + 1
    outVisits[count] = visits[row + 1]!
    marks[count] = second
    count += differs(second, 0)
  }
  marked.count = count
}

function addVisits({ rows, visits, count }: MarkedEvents, visit: Uint32Array): void {
  for (let i = 0; i < count; i++) visits[i] = visit[rows[i]!]!
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

function dropRotating({ visits, marks, count }: MarkedEvents, kind: Uint32Array): void {
  for (let i = 0; i < count; i++) if (kind[visits[i]!] === ROTATING) marks[i] = 0
}

function dropOutside({ rows, visits, marks, count }: MarkedEvents, part: Part, { from, to }: FunnelQuery["range"]): void {
  const [starts, offset] = [part.starts(), part.event("offset")]
  for (let i = 0; i < count; i++) {
    const at = starts[visits[i]!]! + offset[rows[i]!]!
    if (at < from || at >= to) marks[i] = 0
  }
}
