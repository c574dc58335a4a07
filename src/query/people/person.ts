import { DIMENSIONS, type Dimension, dimensionFacts } from "../../domain/dimension.ts"
import type { PersonQuery, PersonResult, PersonVisit } from "../../domain/people.ts"
import type { Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { isCounted } from "../filter/masks.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { type EventRow, eventReader, eventsOf, type Texts, textsOf } from "../rows/rows.ts"
import { factsOf, readChosen } from "./facts.ts"
import { ALWAYS, type PeopleVisits, peopleVisits } from "./visits.ts"

/** Maximum number of events on a page of visits, except those of its last visit. */
const PAGE_EVENTS = 20_000

/** Returns the facts of a person and a page of visits, newest first, with their events. */
export function person(snapshot: Snapshot, query: PersonQuery, check: () => void): PersonResult {
  const visits = peopleVisits(snapshot, query)
  const ordinal = snapshot.visitors.ordinal(query.visitor)
  if (ordinal === undefined) return { visits: [], hasMore: false }
  const [facts] = factsOf(snapshot, visits, query, [ordinal], check)
  const found = newestVisits(visits, ordinal, query, check)
  const texts = textsOf(snapshot)
  const readers = new Map<Part, ReturnType<typeof visitReader>>()
  const page: PersonVisit[] = []
  let events = 0
  for (const visit of found.slice(0, query.limit)) {
    if (events >= PAGE_EVENTS) break
    check()
    const read = readers.get(visit.part) ?? visitReader(texts, visit.part)
    readers.set(visit.part, read)
    const shown = read(visit)
    page.push(shown)
    events += shown.events.length
  }
  return { ...(facts && { person: facts }), visits: page, hasMore: found.length > page.length }
}

interface FoundVisit {
  part: Part
  row: number
  start: number
  sequence: number
}

/** Returns the visits on a page and the one after it. */
function newestVisits(visits: PeopleVisits, ordinal: number, { limit, before }: PersonQuery, check: () => void): FoundVisit[] {
  let found: FoundVisit[] = []
  const range = { ...ALWAYS, to: before ? before.start + 1 : ALWAYS.to }
  readChosen(visits, [ordinal], range, check, (part, own) => {
    visits.keepActive(part, own)
    const [starts, sequences] = [part.starts(), part.sequences()]
    const more = Array.from(own.rows.subarray(0, own.count), (row) => ({ part, row, start: starts[row]!, sequence: sequences[row]! }))
    const earlier = before ? more.filter((visit) => newestFirst(visit, before) > 0) : more
    found = [...found, ...earlier].sort(newestFirst).slice(0, limit + 1)
  })
  return found
}

const newestFirst = (a: Pick<FoundVisit, "start" | "sequence">, b: Pick<FoundVisit, "start" | "sequence">): number =>
  b.start - a.start || b.sequence - a.sequence

// The keys of a literal. Dimensions of visits are columns under their own names.
const VISIT_DIMENSIONS = (Object.keys(DIMENSIONS) as Dimension[]).filter((name) => dimensionFacts(name).level === "visit") as (Dimension &
  VisitColumn)[]

/** Creates the function that reads the visits of a part by row. */
function visitReader(texts: Texts, unordered: Part): (visit: FoundVisit) => PersonVisit {
  const part = orderedPart(unordered)
  const name = part.event("name")
  const event = eventReader(texts, part)
  return ({ row, start, sequence }) => {
    const value = (dimension: Dimension & VisitColumn) =>
      texts(dimensionFacts(dimension).dictionary!).text(part.visit(dimension)[row]!) || null
    const { from, to } = eventsOf(part, row)
    const counted = Array.from({ length: to - from }, (_, i) => from + i).filter((at) => isCounted(name[at]!) === 1)
    return {
      sequence,
      start,
      durationMs: part.visit("duration")[row]!,
      pageviews: part.visit("pageviews")[row]!,
      values: Object.fromEntries(VISIT_DIMENSIONS.map((dimension) => [dimension, value(dimension)])),
      events: counted.map((at) => shownEvent(event(at))),
    }
  }
}

const shownEvent = ({ at, name, page, props, revenue }: EventRow): PersonVisit["events"][number] => ({
  at,
  name,
  page: page || null,
  properties: Object.fromEntries(props),
  ...(revenue && { revenue: { currency: revenue.currency, amount_minor: revenue.amount } }),
})
