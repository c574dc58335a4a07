import type { PropertyKeyCount, PropertyKeysQuery } from "../domain/query.ts"
import type { Snapshot } from "../store/events/part.ts"
import { compareCodePoints } from "./code-points.ts"
import { compileFilter } from "./filters.ts"
import { orderedPart } from "./ordered-part.ts"

/** The keys of properties that events of the range which satisfy the filter carry, with how many do; most first, then by name. */
export function propertyKeys(snapshot: Snapshot, { range, filter, site }: PropertyKeysQuery, check: () => void): PropertyKeyCount[] {
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
  const found = Array.from(counts, (events, id) => ({ property: dictionary.text(id), events })).filter(
    ({ property, events }) => events > 0 && property !== "",
  )
  return found.sort((a, b) => b.events - a.events || compareCodePoints(a.property, b.property))
}

/** A key stands once at most on an event. */
function countKeys(
  { row, key }: { row: Uint32Array; key: Uint32Array },
  events: Uint8Array,
  { visit, offset, starts }: { visit: Uint32Array; offset: Uint32Array; starts: Float64Array },
  { from, to }: PropertyKeysQuery["range"],
  counts: Float64Array,
): void {
  for (let i = 0; i < row.length; i++) {
    const event = row[i]!
    if (events[event] === 0) continue
    const at = starts[visit[event]!]! + offset[event]!
    if (at >= from && at < to) counts[key[i]!]!++
  }
}
