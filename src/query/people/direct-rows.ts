import { ENGAGEMENT, VITALS } from "../../domain/dimension.ts"
import type { Condition, Filter } from "../../domain/filter.ts"
import type { SiteFacts } from "../../domain/query.ts"
import type { Part, PropColumns, Snapshot } from "../../store/events/part.ts"
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
 * Returns a function that lists the events of a part that satisfy a filter on an event name, page or property, as most conditions of sets
 * have. They are found with one look-up per event, or per property, and what else the filter tests is computed only in parts that have
 * one. Returns undefined for other filters.
 */
export function directRows(snapshot: Snapshot, filter: Filter, site: SiteFacts): ((part: Part) => EventRows) | undefined {
  const members = membersOf(filter)
  const [names, pages] = [testsOn("event", members), testsOn("page", members)]
  const property = members.find(isProperty)
  // Reports of the scroll depth count as events where a goal is named.
  if ((names.length + pages.length === 0 && !property) || hasLeafOf(filter, ["goal"])) return undefined
  const direct = [...names, ...pages].map(({ member }) => member)
  const others = members.filter((member) => !direct.includes(member) && member !== property)
  const rest = others.length > 0 ? compileFilter(snapshot, { op: "and", filters: others }, site) : undefined
  const nameMask = countedNames(snapshot, names)
  const pageMask = pages.length > 0 ? maskOf(snapshot, "page", pages) : undefined
  const listProperty = property && propertyRows(snapshot, property)
  const buffer = new NumberBuffer()
  return (part) => {
    const rows = buffer.room(part.events)
    let count = listProperty
      ? keepByValue(rows, listProperty(part, rows), part.event("name"), nameMask)
      : listByValue(part.event("name"), nameMask, part.events, rows)
    if (pageMask && count > 0) count = keepByValue(rows, count, part.event("page"), pageMask)
    const mask = rest && count > 0 ? rest.rows(part) : "all"
    return { rows, count: mask === "all" ? count : keep(rows, count, mask) }
  }
}

/** Returns the members of an `and`, including those of nested ones; any other filter is its only member. */
const membersOf = (filter: Filter): readonly Filter[] => (filter.op === "and" ? filter.filters.flatMap(membersOf) : [filter])

const isProperty = (filter: Filter): filter is Condition => "dimension" in filter && filter.dimension === "property" && !filter.missing

/** A member that tests the event name or page, or the opposite of such a test. */
interface ValueTest {
  member: Filter
  condition: Condition
  isNegative: boolean
}

function testsOn(dimension: "event" | "page", members: readonly Filter[]): ValueTest[] {
  return members.flatMap((member) => {
    const isNegative = member.op === "not"
    const condition = member.op === "not" ? member.filter : member
    return "dimension" in condition && condition.dimension === dimension ? [{ member, condition, isNegative }] : []
  })
}

function countedNames(snapshot: Snapshot, tests: readonly ValueTest[]): ValueMask {
  const mask = maskOf(snapshot, "name", tests)
  for (const name of [ENGAGEMENT, VITALS]) if (name < mask.length) mask[name] = 0
  return mask
}

/** Returns the values that pass all tests; without any, every value. */
function maskOf(snapshot: Snapshot, dictionary: "name" | "page", tests: readonly ValueTest[]): ValueMask {
  const values = snapshot.dictionary(dictionary)
  const masks = tests.map(({ condition, isNegative }) => ({ mask: valueMask(values, condition), passing: isNegative ? 0 : 1 }))
  return Uint8Array.from({ length: Math.max(1, values.size) }, (_, id) =>
    masks.every(({ mask, passing }) => mask[id] === passing) ? 1 : 0,
  )
}

function propertyRows(snapshot: Snapshot, condition: Condition): (part: Part, rows: Uint32Array) => number {
  const key = snapshot.dictionary("property").find(condition.property ?? "")
  if (!key) return () => 0
  const values = valueMask(snapshot.dictionary(`property:${key}`), condition)
  return (part, rows) => listByProperty(part.props(), key, values, rows)
}

function listByProperty({ row, key, value }: PropColumns, wanted: number, values: ValueMask, rows: Uint32Array): number {
  let count = 0
  for (let i = 0; i < row.length; i++) {
    if (key[i] === wanted && values[value[i]!] === 1) rows[count++] = row[i]!
  }
  return count
}

function listByValue(column: Uint32Array, values: ValueMask, events: number, rows: Uint32Array): number {
  let count = 0
  for (let row = 0; row < events; row++) {
    rows[count] = row
    count += values[column[row]!]!
  }
  return count
}

function keepByValue(rows: Uint32Array, count: number, column: Uint32Array, values: ValueMask): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    rows[kept] = row
    kept += values[column[row]!]!
  }
  return kept
}

function keep(rows: Uint32Array, count: number, mask: Uint8Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    rows[kept] = rows[i]!
    kept += mask[rows[i]!]!
  }
  return kept
}
