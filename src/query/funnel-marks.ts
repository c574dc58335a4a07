import { ENGAGEMENT, PAGEVIEW, VITALS } from "../domain/dimension.ts"
import type { FunnelQuery } from "../domain/query.ts"
import { VISITOR_KINDS } from "../domain/visit.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import { NumberBuffer } from "./buffer.ts"
import { compileFilter } from "./filters.ts"
import { BREAKS } from "./funnel-chain.ts"
import { ruleMask } from "./value-mask.ts"

/** Marks the events of a part by the steps they match, 0 where none; overwritten by the next call. */
export type StepMarker = (part: Part) => Uint32Array

const ROTATING = VISITOR_KINDS.indexOf("rotating")

/** Text is compared once, with the dictionaries: what remains per event is one look-up. */
export function stepMarker(snapshot: Snapshot, query: FunnelQuery): StepMarker {
  const pages = stepsByValue(snapshot, query, "page")
  const names = stepsByValue(snapshot, query, "event")
  // A pageview is matched by its page; engagement and vitals are no steps.
  names.fill(0, PAGEVIEW, Math.max(ENGAGEMENT, VITALS) + 1)
  const filter = query.filter && compileFilter(snapshot, query.filter, query.site)
  const buffer = new NumberBuffer()
  return (part) => {
    const marks = buffer.room(part.events)
    const columns = { name: part.event("name"), page: part.event("page") }
    markSteps(marks, part.events, columns, names, pages)
    if (filter) keepFirstSteps(marks, filter.events(part))
    if (query.order === "strict") markBreaks(marks, part.events, columns.name, part.event("interactive"))
    if (query.identifiedOnly) dropRotating(marks, part.event("visit"), part.visit("visitor_kind"), part.events)
    if (part.minAt < query.range.from || part.maxAt >= query.range.to) dropOutside(marks, part, query.range)
    return marks
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

interface NameAndPage {
  name: Uint32Array
  page: Uint32Array
}

function markSteps(marks: Uint32Array, length: number, { name, page }: NameAndPage, names: Uint32Array, pages: Uint32Array): void {
  for (let row = 0; row < length; row++) marks[row] = name[row] === PAGEVIEW ? pages[page[row]!]! : names[name[row]!]!
}

/** The filter tests the first step only. */
function keepFirstSteps(marks: Uint32Array, mask: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) if (mask[row] === 0) marks[row] = marks[row]! & ~1
}

/** Pageviews and interactive custom events end chains that do not take them. */
function markBreaks(marks: Uint32Array, length: number, name: Uint32Array, interactive: Uint32Array): void {
  for (let row = 0; row < length; row++) {
    const id = name[row]!
    if (id === PAGEVIEW || (interactive[row] === 1 && id !== ENGAGEMENT && id !== VITALS)) marks[row] = marks[row]! | BREAKS
  }
}

function dropRotating(marks: Uint32Array, visit: Uint32Array, kind: Uint32Array, length: number): void {
  for (let row = 0; row < length; row++) if (kind[visit[row]!] === ROTATING) marks[row] = 0
}

function dropOutside(marks: Uint32Array, part: Part, { from, to }: FunnelQuery["range"]): void {
  const [starts, visit, offset] = [part.starts(), part.event("visit"), part.event("offset")]
  for (let row = 0; row < part.events; row++) {
    const at = starts[visit[row]!]! + offset[row]!
    if (at < from || at >= to) marks[row] = 0
  }
}
