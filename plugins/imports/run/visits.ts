import { type EnrichedEvent, VISIT_EVENTS, VISIT_IDLE_MS, VISIT_LENGTH_MS, type VisitorKind, type VisitTraits } from "#plugin"

/** An event that waits to be sorted into a visit. Holds the visitor's key, never an address. */
export interface SortedEvent {
  /** Keyed hash of the visitor. */
  visitor: string
  /** Id of the visit in the source; "" when visits are rebuilt. */
  visit: string
  kind: VisitorKind
  userId: string
  event: EnrichedEvent["event"]
  traits: VisitTraits
  /** Of a stream: time since which the event waits for the rest of its visit. */
  since?: number
}

/** A visit as it waits to be written. */
export interface StagedVisit {
  /** Number within the import; of a stream the name, which other runs know too. */
  visitor: number | string
  kind: VisitorKind
  /** Id of the person for `link_identified_users`; "" otherwise. */
  userId: string
  traits: VisitTraits
  events: EnrichedEvent["event"][]
  day: string
}

/** Returns the key by which events are sorted: visitor, visit, time, then order in the files. */
export const eventKey = ({ visitor, visit, event: { at } }: SortedEvent, order: number): string =>
  `${visitor} ${JSON.stringify(visit)} ${sortable(at)} ${sortable(order)}`

/** Returns a number as text of fixed width, so that texts have the order of the numbers. Negative times lie before 1970. */
export const sortable = (number: number): string => String(number + 1e15).padStart(17, "0")

/**
 * Joins events, in the order of `eventKey`, into visits. Without a visit id of the source the rule of ingestion decides: 30 minutes idle, 24
 * hours, 10,000 events; given visits are only cut at the last. An engagement joins a visit and does not open one.
 */
export function* visitsOf(events: Iterable<SortedEvent>): Generator<{ visitor: string; isNewVisitor: boolean; visit: SortedEvent[] }> {
  let open: SortedEvent[] = []
  let visitor: string | undefined
  let isNewVisitor = false
  for (const event of events) {
    const [first] = open
    if (first && !belongs(event, first, open)) {
      yield { visitor: first.visitor, isNewVisitor, visit: open }
      isNewVisitor = false
      open = []
    }
    if (event.visitor !== visitor) {
      visitor = event.visitor
      isNewVisitor = true
    }
    if (open.length > 0 || isCounted(event.event)) open.push(event)
  }
  const [first] = open
  if (first) yield { visitor: first.visitor, isNewVisitor, visit: open }
}

/** Returns whether an event opens a visit and counts. Engagement and vitals belong to a visit that is open. */
export const isCounted = ({ name }: Pick<EnrichedEvent["event"], "name">): boolean => name !== "engagement" && name !== "vitals"

function belongs(event: SortedEvent, first: SortedEvent, open: readonly SortedEvent[]): boolean {
  if (event.visitor !== first.visitor || event.visit !== first.visit || open.length >= VISIT_EVENTS) return false
  if (event.visit !== "") return true
  const idle = event.event.at - open.at(-1)!.event.at
  return idle <= VISIT_IDLE_MS && event.event.at - first.event.at <= VISIT_LENGTH_MS
}
