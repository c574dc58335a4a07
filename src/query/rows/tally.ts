import type { PropertyKeyCount, Range, Tally, TallyGroup, TallyQuery } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { compileFilter } from "../filter/filters.ts"
import { type ImportedLookup, importedPropertyEvents } from "../imported/lookups.ts"
import { orderedPart } from "../measure/ordered-part.ts"

/** Counts records by their properties in one pass over the columns. The groups are in no particular order. */
export function tally(snapshot: Snapshot, { range, after, upTo = Number.POSITIVE_INFINITY, by }: TallyQuery, check: () => void): Tally {
  const keys = by.map((key) => snapshot.dictionary("property").find(key))
  const groups = new Map<string, { codes: number[]; count: number; lastAt: number }>()
  let highest = after
  for (const part of snapshot.parts) {
    if (part.events === 0 || part.maxStart < range.from || part.minStart >= range.to) continue
    check()
    const [visits, starts, sequences] = [part.event("visit"), part.starts(), part.sequences()]
    const columns = keys.map((key) => valuesOf(part, key))
    for (let row = 0; row < part.events; row++) {
      const visit = visits[row]!
      const [at, sequence] = [starts[visit]!, sequences[visit]!]
      if (at < range.from || at >= range.to || sequence <= after || sequence > upTo) continue
      if (sequence > highest) highest = sequence
      const codes = columns.map((column) => column[row]!)
      const name = codes.join()
      const group = groups.get(name)
      if (!group) groups.set(name, { codes, count: 1, lastAt: at })
      else {
        group.count++
        if (at > group.lastAt) group.lastAt = at
      }
    }
  }
  const texts = keys.map((key) => key !== undefined && snapshot.dictionary(`property:${key}`))
  const withTexts = ({ codes, ...group }: { codes: number[]; count: number; lastAt: number }): TallyGroup => {
    return { ...group, values: codes.map((code, at) => (texts[at] ? texts[at].text(code) : "")) }
  }
  return { groups: Array.from(groups.values(), withTexts), sequence: highest }
}

/** Returns the values of a property by event row, 0 for events without it. */
function valuesOf(part: Part, wanted: number | undefined): Uint32Array {
  const values = new Uint32Array(part.events)
  if (wanted === undefined) return values
  const { row, key, value } = part.props()
  for (let at = 0; at < row.length; at++) if (key[at] === wanted) values[row[at]!] = value[at]!
  return values
}

/**
 * Returns the property keys of the events in the range that satisfy the filter, with the number of events: most first, then by name.
 * Imported totals are added where they fit.
 */
export function propertyKeys(snapshot: Snapshot, query: ImportedLookup, check: () => void): PropertyKeyCount[] {
  const { range, filter, site } = query
  const filtered = compileFilter(snapshot, filter, site)
  const dictionary = snapshot.dictionary("property")
  const counts = new Float64Array(Math.max(1, dictionary.size))
  for (const unordered of snapshot.parts) {
    if (unordered.events === 0 || unordered.maxAt < range.from || unordered.minAt >= range.to) continue
    check()
    const part = orderedPart(unordered)
    const columns = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts() }
    countKeys(part.props(), filtered.events(part), columns, range, counts)
  }
  for (const [key, events] of importedPropertyEvents(snapshot, query)) counts[key]! += events
  const found = Array.from(counts, (events, id) => ({ property: dictionary.text(id), events })).filter(
    ({ property, events }) => events > 0 && property !== "",
  )
  return found.sort((a, b) => b.events - a.events || compareCodePoints(a.property, b.property))
}

/** Counts the events by key. An event has a key at most once. */
function countKeys(
  { row, key }: { row: Uint32Array; key: Uint32Array },
  events: Uint8Array,
  { visit, offset, starts }: { visit: Uint32Array; offset: Uint32Array; starts: Float64Array },
  { from, to }: Range,
  counts: Float64Array,
): void {
  for (let i = 0; i < row.length; i++) {
    const event = row[i]!
    if (events[event] === 0) continue
    const at = starts[visit[event]!]! + offset[event]!
    if (at >= from && at < to) counts[key[i]!]!++
  }
}
