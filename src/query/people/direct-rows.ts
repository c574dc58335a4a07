import { ENGAGEMENT, VITALS } from "../../domain/dimension.ts"
import type { Condition, Filter } from "../../domain/filter.ts"
import type { SiteFacts } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import { hasLeafOf } from "../filter/filter-variants.ts"
import { compileFilter } from "../filter/filters.ts"
import { type ValueMask, valueMask } from "../filter/masks.ts"

/** Rows of events, ascending: the first `count`. Overwritten by the next call. */
export interface EventRows {
  rows: Uint32Array
  count: number
}

/**
 * Returns a function that lists the events of a part that satisfy a filter on an event name or page, which most conditions have. They are
 * found with one look-up per event, and what else the filter tests is computed only in parts that have one. Returns undefined for
 * other filters.
 */
export function directRows(snapshot: Snapshot, filter: Filter, site: SiteFacts): ((part: Part) => EventRows) | undefined {
  const members = membersOf(filter)
  const [names, pages] = [members.filter(isOn("event")), members.filter(isOn("page"))]
  // Reports of the scroll depth count as events where a goal is named.
  if (names.length + pages.length === 0 || hasLeafOf(filter, ["goal"])) return undefined
  const others = members.filter((member) => !isOn("event")(member) && !isOn("page")(member))
  const rest = others.length > 0 ? compileFilter(snapshot, { op: "and", filters: others }, site) : undefined
  const nameMask = countedNames(snapshot, names)
  const pageMask = pages.length > 0 ? maskOf(snapshot, "page", pages) : undefined
  const buffer = new NumberBuffer()
  return (part) => {
    const rows = buffer.room(part.events)
    const count = pageMask
      ? listByBoth(part.event("name"), nameMask, part.event("page"), pageMask, part.events, rows)
      : listByName(part.event("name"), nameMask, part.events, rows)
    const mask = rest && count > 0 ? rest.rows(part) : "all"
    return { rows, count: mask === "all" ? count : keep(rows, count, mask) }
  }
}

/** Returns the members of an `and`, including those of nested ones; any other filter is its only member. */
const membersOf = (filter: Filter): readonly Filter[] => (filter.op === "and" ? filter.filters.flatMap(membersOf) : [filter])

const isOn =
  (dimension: "event" | "page") =>
  (filter: Filter): filter is Condition =>
    "dimension" in filter && filter.dimension === dimension

function countedNames(snapshot: Snapshot, conditions: readonly Condition[]): ValueMask {
  const mask = maskOf(snapshot, "name", conditions)
  for (const name of [ENGAGEMENT, VITALS]) if (name < mask.length) mask[name] = 0
  return mask
}

/** Returns the values that satisfy all conditions; without any, every value. */
function maskOf(snapshot: Snapshot, dictionary: "name" | "page", conditions: readonly Condition[]): ValueMask {
  const values = snapshot.dictionary(dictionary)
  const masks = conditions.map((condition) => valueMask(values, condition))
  return Uint8Array.from({ length: Math.max(1, values.size) }, (_, id) => (masks.every((mask) => mask[id] === 1) ? 1 : 0))
}

function listByName(name: Uint32Array, names: ValueMask, events: number, rows: Uint32Array): number {
  let count = 0
  for (let row = 0; row < events; row++) {
    rows[count] = row
    count += names[name[row]!]!
  }
  return count
}

function listByBoth(name: Uint32Array, names: ValueMask, page: Uint32Array, pages: ValueMask, events: number, rows: Uint32Array): number {
  let count = 0
  for (let row = 0; row < events; row++) {
    rows[count] = row
    count += names[name[row]!]! & pages[page[row]!]!
  }
  return count
}

function keep(rows: Uint32Array, count: number, mask: Uint8Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    rows[kept] = rows[i]!
    kept += mask[rows[i]!]!
  }
  return kept
}
