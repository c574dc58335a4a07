import type { NewEvent } from "../../domain/event.ts"
import type { VisitorKind, VisitTraits } from "../../domain/visit.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import { Group } from "./group.ts"
import type { Journal } from "./journal.ts"
import { type Memory, saveCounters } from "./memory.ts"
import type { SiteTail } from "./tail/tail.ts"
import { Tails } from "./tail/tails.ts"

/** A visit from elsewhere: an export, a log file. Visitors of an import never merge with native ones. */
export interface ImportedVisit {
  /** Tells visitors apart: of one call, or of all calls that share their visitors. */
  visitor: string
  /** How the visitor was known there; rotating unless said. */
  visitorKind?: VisitorKind
  traits: VisitTraits
  /** At least one that is no engagement, in order of time. */
  events: readonly NewEvent[]
  /** The site's local day of its start, by which new values are counted. */
  day: string
}

/** Where visits from elsewhere go. */
export interface ImportPlace {
  siteId: number
  importId: number
  /** Records of an area in place of visits, each a visit of one event. */
  kind?: SegmentKind
  /** Visitors of earlier calls by name: theirs are taken up, new ones are added to it. */
  visitors?: Map<string, number>
}

/** Events of one transaction, about: a pause of some milliseconds. */
const SLICE = 1_000

/**
 * A tail of its own, apart from the site's: it is sealed at once and never in the log. New texts and the numbers that are
 * given out become durable slice by slice; cut off, they are of no account.
 */
export async function importTail(journal: Journal, place: ImportPlace, visits: Iterable<ImportedVisit>): Promise<SiteTail> {
  const { siteId, importId, visitors = new Map<string, number>() } = place
  const importing = { siteId, importId, tails: new Tails(), ordinals: visitors }
  for (const slice of slicesOf(visits)) {
    journal.change(() => addVisits(journal.memory, importing, slice))
    await Bun.sleep(0)
  }
  return importing.tails.tail(siteId)
}

interface Importing {
  siteId: number
  importId: number
  tails: Tails
  ordinals: Map<string, number>
}

function addVisits(memory: Memory, { siteId, importId, tails, ordinals }: Importing, visits: readonly ImportedVisit[]): void {
  const apart: Memory = { ...memory, tails }
  const group = new Group(apart, { record: 0, arrivedAt: 0 })
  for (const { visitor, visitorKind = "rotating", traits, events, day } of visits) {
    let ordinal = ordinals.get(visitor)
    if (ordinal === undefined) {
      ordinal = memory.visitors.nextOrdinal(siteId)
      memory.visitors.passed(siteId, ordinal)
      ordinals.set(visitor, ordinal)
    }
    const counted = `${day} import ${importId}`
    const visitId = group.openVisit(siteId, { rotating: ordinal, visitor: ordinal, visitorKind, traits }, counted)
    for (const event of events) group.add(siteId, visitId, event, counted)
  }
  memory.sequence = apart.sequence
  saveCounters(memory)
}

function* slicesOf(visits: Iterable<ImportedVisit>): Generator<ImportedVisit[]> {
  let slice: ImportedVisit[] = []
  let events = 0
  for (const visit of visits) {
    slice.push(visit)
    events += visit.events.length
    if (events < SLICE) continue
    yield slice
    slice = []
    events = 0
  }
  if (slice.length > 0) yield slice
}
