import type { Range, SiteFacts } from "../../domain/query.ts"
import type { RecordKind } from "../../domain/record.ts"
import { type LinkClick, TOUCH_DIMENSIONS, type Touch } from "../../domain/sale.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberMap } from "../../store/events/tail/number-map.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { eventReader, eventsOf, textsOf } from "../rows/rows.ts"
import { numbersOfPseudonyms } from "../show/pseudonyms.ts"
import { dimensionsReader, visitsBetween } from "./sale-visits.ts"

/** A query for the visit starts and link clicks of many visitors. */
export interface TouchesQuery {
  site: SiteFacts
  siteKey: Uint8Array
  /** Pseudonyms. Unknown ones have neither touches nor clicks. */
  visitors: readonly string[]
  range: Range
  alongside: Extract<RecordKind, "clicks">
}

export interface Touches {
  /** By visitor in the order of the query, then by time and sequence. */
  touches: Touch[]
  /** By visitor in the order of the query, then by time. */
  clicks: LinkClick[]
}

/** Returns the touches and clicks of visitors in a range, in one pass over the parts. */
export function touches(snapshot: Snapshot, query: TouchesQuery, check: () => void): Touches {
  const places = placesOf(snapshot, query)
  const inOrder = <Each extends { visitor: string; at: number }>(found: Found<Each>[]): Each[] =>
    found.sort((a, b) => a.place - b.place || a.value.at - b.value.at).map(({ value }) => value)
  const visits = readVisits(snapshot, query, places, check)
  // Sorting is stable, and equal times are ordered by sequence.
  visits.sort((a, b) => a.value.sequence - b.value.sequence)
  return { touches: inOrder(visits), clicks: inOrder(readClicks(snapshot, query, places, check)) }
}

/** Something of a visitor, with the visitor's position in the query. */
interface Found<Each> {
  place: number
  value: Each
}

/** Returns the position of each visitor in the query, counted from 1, by ordinal. */
function placesOf(snapshot: Snapshot, { siteKey, visitors }: TouchesQuery): NumberMap {
  const places = new NumberMap()
  for (const [index, number] of numbersOfPseudonyms(siteKey, "visitor")(visitors).entries()) {
    const ordinal = snapshot.visitors.ordinal(number)
    if (ordinal !== undefined) places.set(ordinal, index + 1)
  }
  return places
}

function readVisits(snapshot: Snapshot, { visitors, range }: TouchesQuery, places: NumberMap, check: () => void): Found<Touch>[] {
  const texts = textsOf(snapshot)
  const found: Found<Touch>[] = []
  for (const part of snapshot.parts) {
    if (!isInside(part, range)) continue
    const sequences = part.sequences()
    const dimensions = dimensionsReader(texts, part, TOUCH_DIMENSIONS)
    forEachChosen(part, range, places, check, (place, row, at) => {
      found.push({ place, value: { visitor: visitors[place]!, sequence: sequences[row]!, at, ...dimensions(row) } })
    })
  }
  return found
}

/** The properties of a click by which it belongs to a link and to a person. */
const LINK = "link_id"
const HUMAN = "human"

function readClicks(snapshot: Snapshot, { visitors, range }: TouchesQuery, places: NumberMap, check: () => void): Found<LinkClick>[] {
  const texts = textsOf(snapshot)
  const found: Found<LinkClick>[] = []
  for (const unordered of snapshot.alongside ?? []) {
    if (!isInside(unordered, range)) continue
    const part = orderedPart(unordered)
    const event = eventReader(texts, part)
    forEachChosen(unordered, range, places, check, (place, row, at) => {
      const { name, props } = event(eventsOf(part, row).from)
      const { [LINK]: link, [HUMAN]: human } = Object.fromEntries(props)
      if (name === "link_click" && link !== undefined && human === "1")
        found.push({ place, value: { visitor: visitors[place]!, at, link_id: Number(link) } })
    })
  }
  return found
}

/** Returns whether visits of a part can start in a range. */
const isInside = ({ visits, minStart, maxStart }: Part, { from, to }: Range): boolean => visits > 0 && maxStart >= from && minStart < to

/** Calls `take` for each visit of the visitors that starts in the range. */
function forEachChosen(
  part: Part,
  range: Range,
  places: NumberMap,
  check: () => void,
  take: (place: number, row: number, at: number) => void,
): void {
  check()
  const { first, last } = visitsBetween(part, range)
  const [starts, visitor] = [part.starts(), part.visit("visitor")]
  for (let row = first; row < last; row++) {
    const place = places.get(visitor[row]!)
    if (place !== 0 && starts[row]! >= range.from && starts[row]! < range.to) take(place - 1, row, starts[row]!)
  }
}
