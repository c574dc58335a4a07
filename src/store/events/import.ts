import type { NewEvent } from "../../domain/event.ts"
import type { VisitorKind, VisitTraits } from "../../domain/visit.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import { Group } from "./group.ts"
import type { Journal } from "./journal.ts"
import { type Memory, saveCounters } from "./memory.ts"
import type { SiteTail } from "./tail/tail.ts"
import { Tails } from "./tail/tails.ts"

/** A visit of an import. Visitors of an import never merge with native ones. */
export interface ImportedVisit {
  /** Name that identifies the visitor within one call, or within all calls that share `ImportPlace.visitors`. */
  visitor: string
  /** How the other product identified the visitor. Default: `rotating`. */
  visitorKind?: VisitorKind
  traits: VisitTraits
  /** In order of time, at least one of them not an engagement. */
  events: readonly NewEvent[]
  /** The site's local day of the start, under which new values are counted. */
  day: string
}

/** The destination of imported visits. */
export interface ImportPlace {
  siteId: number
  importId: number
  /** The kind of an area's records, each of them a visit with one event. Default: `visits`. */
  kind?: SegmentKind
  /** Ordinals of visitors by name, from earlier calls. New visitors are added to it. */
  visitors?: Map<string, number>
}

/** Approximate number of events per transaction: a few milliseconds of work. */
const SLICE = 1_000

/**
 * Builds a tail of imported visits, separate from the site's tail. The caller seals it at once; it is never in the log. New texts and
 * ordinals become durable slice by slice. If the import is interrupted, they remain unused, which is harmless.
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
  const importMemory: Memory = { ...memory, tails }
  const group = new Group(importMemory, { record: 0, arrivedAt: 0 })
  for (const { visitor, visitorKind = "rotating", traits, events, day } of visits) {
    let ordinal = ordinals.get(visitor)
    if (ordinal === undefined) {
      ordinal = memory.visitors.nextOrdinal(siteId)
      memory.visitors.reserve(siteId, ordinal)
      ordinals.set(visitor, ordinal)
    }
    // New values of an import are counted apart from those that the site itself collects on that day.
    const dayOfImport = `${day} import ${importId}`
    const visitId = group.openVisit(siteId, { rotating: ordinal, visitor: ordinal, visitorKind, traits }, dayOfImport)
    for (const event of events) group.add(siteId, visitId, event, dayOfImport)
  }
  memory.sequence = importMemory.sequence
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
