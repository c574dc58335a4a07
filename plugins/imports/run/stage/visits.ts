import type { EnrichedEvent, ImportedVisit, VisitorKind, VisitTraits } from "#plugin"
import { TRAITS, VISIT_EVENTS, VISIT_IDLE_MS, VISIT_LENGTH_MS } from "#plugin/worker"
import type { ExternalSort } from "./sort.ts"

/**
 * An event that waits to be sorted into a visit. Holds the visitor's key, never an address. Traits and event are JSON, because they are only
 * copied until they are written.
 */
export interface SortedEvent {
  /** Keyed hash of the visitor in hex, at least 11 digits. */
  visitor: string
  /** Id of the visit in the source as JSON; "" when visits are rebuilt. */
  visit: string
  at: number
  /** Number of the event in the files. */
  order: number
  kind: VisitorKind
  /** Id of the person for `link_identified_users` as JSON; "" otherwise. */
  userId: string
  name: string
  /** Amount in minor units and currency, such as `1999 EUR`; "" without. */
  revenue: string
  /** The values of `TRAITS`. */
  traits: string
  event: string
  /** Of a stream: time since which the event waits for the rest of its visit. */
  since?: number
}

/** Describes an event for the sort. */
export function sortedEvent(
  { event, traits }: EnrichedEvent,
  { visitor, visit, kind, userId }: Pick<SortedEvent, "visitor" | "visit" | "kind" | "userId">,
): Omit<SortedEvent, "order"> {
  const { at, name, revenue } = event
  return {
    ...{ visitor, visit: jsonOf(visit), at, kind, userId: jsonOf(userId), name },
    revenue: revenue ? `${revenue.amount} ${revenue.currency}` : "",
    traits: jsonOfTraits(traits),
    event: JSON.stringify(event),
  }
}

const knownJson = new WeakMap<VisitTraits, string>()

/** Events of a visit share the object of their traits. */
function jsonOfTraits(traits: VisitTraits): string {
  let json = knownJson.get(traits)
  if (json === undefined) {
    json = JSON.stringify(TRAITS.map((trait) => traits[trait]))
    knownJson.set(traits, json)
  }
  return json
}

const jsonOf = (text: string): string => (text === "" ? "" : JSON.stringify(text))

/** Separates the fields of an event in the sort. JSON escapes it, and ingestion removes it from names. */
const GAP = "\u0001"
/** Digits of a visitor's hash that make up the rank. */
const RANK_DIGITS = 11

/** Adds an event to the sort: by visitor, visit and time. `order` is its number. */
export function addToSort(sort: ExternalSort, event: Omit<SortedEvent, "order">, order: number): void {
  const { visitor, visit, at, kind, userId, name, revenue, since = "", traits } = event
  const rest = `${GAP}${order}${GAP}${kind}${GAP}${userId}${GAP}${name}${GAP}${revenue}${GAP}${since}${GAP}${traits}${GAP}${event.event}`
  sort.add(Number.parseInt(visitor.slice(0, RANK_DIGITS), 16), visitor + GAP + visit + GAP + sortable(at), rest)
}

/** Yields the events of a sort. */
export function* sortedEvents(sort: ExternalSort): Generator<SortedEvent> {
  for (const text of sort.sorted()) {
    const [visitor, visit, at, order, kind, userId, name, revenue, since, traits, event] = text.split(GAP) as Fields // of `addToSort`
    const key = { visitor, visit, at: Number(at) - EARLIEST, order: Number(order) }
    yield { ...key, kind, userId, name, revenue, traits, event, ...(since !== "" && { since: Number(since) }) }
  }
}

type Fields = [string, string, string, string, VisitorKind, string, string, string, string, string, string]

const EARLIEST = 2e15
/** Returns a time as text of fixed width, so that texts have the order of the times. */
const sortable = (at: number): string => String(at + EARLIEST)

/** Half the range of ranks in milliseconds. Visits more than 278 years away from 1970 have the first or last rank. */
const MIDDLE_RANK = 2 ** 43

/** Adds a visit to the sort by start. */
export function addVisitToSort(sort: ExternalSort, visit: readonly SortedEvent[], visitor: ImportedVisit["visitor"], day: string): void {
  const { at, kind, userId, traits } = visit[0]! // a visit has an event
  const named = typeof visitor === "number" ? visitor : `"${visitor}"`
  const events = visit.map(({ event }) => event).join(",")
  const json = `{"visitor":${named},"visitorKind":"${kind}","userId":${userId || '""'},"traits":${traits},"events":[${events}],"day":"${day}"}`
  sort.add(Math.max(0, Math.min(at + MIDDLE_RANK, MIDDLE_RANK * 2 - 1)), "", json)
}

/** Yields the visits of a sort. */
export function* sortedVisits(sort: ExternalSort): Generator<ImportedVisit> {
  for (const text of sort.sorted()) {
    const visit = JSON.parse(text) as Omit<ImportedVisit, "traits"> & { traits: string[] } // written by `addVisitToSort`
    const traits = {} as VisitTraits // every trait is set below
    for (let at = 0; at < TRAITS.length; at++) traits[TRAITS[at]!] = visit.traits[at]!
    yield { ...visit, traits }
  }
}

/**
 * Numbers the visitors of visits, which are ordered by start, by their first visit. The visitors of a period then lie as close together as
 * those that a site itself counts, which makes reports faster and columns smaller.
 */
export function* numberedByVisit(visits: Iterable<ImportedVisit>, visitors: number): Generator<ImportedVisit> {
  // One more than the number, as 0 means none yet.
  const numbers = new Uint32Array(visitors)
  let given = 0
  for (const visit of visits) {
    const visitor = visit.visitor as number // visitors with names are not numbered again
    numbers[visitor] ||= ++given
    yield { ...visit, visitor: numbers[visitor]! - 1 }
  }
}

/**
 * Joins sorted events into visits. Without a visit id of the source the rule of ingestion decides: 30 minutes idle, 24 hours, 10,000 events;
 * given visits are only cut at the last. An engagement joins a visit and does not open one.
 */
export function* visitsOf(events: Iterable<SortedEvent>): Generator<SortedEvent[]> {
  let open: SortedEvent[] = []
  for (const event of events) {
    const [first] = open
    if (first && !belongs(event, first, open)) {
      yield open
      open = []
    }
    if (open.length > 0 || isCounted(event)) open.push(event)
  }
  if (open.length > 0) yield open
}

/** Returns whether an event opens a visit and counts. Engagement and vitals belong to a visit that is open. */
export const isCounted = ({ name }: Pick<SortedEvent, "name">): boolean => name !== "engagement" && name !== "vitals"

function belongs(event: SortedEvent, first: SortedEvent, open: readonly SortedEvent[]): boolean {
  if (event.visitor !== first.visitor || event.visit !== first.visit || open.length >= VISIT_EVENTS) return false
  if (event.visit !== "") return true
  return event.at - open.at(-1)!.at <= VISIT_IDLE_MS && event.at - first.at <= VISIT_LENGTH_MS
}
