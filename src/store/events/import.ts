import type { NewEvent } from "../../domain/event.ts"
import type { VisitTraits } from "../../domain/visit.ts"
import { Group } from "./group.ts"
import type { Memory } from "./memory.ts"
import type { SiteTail } from "./tail.ts"
import { Tails } from "./tails.ts"

/** A visit from elsewhere: an export, a log file. Visitors of an import never merge with native ones. */
export interface ImportedVisit {
  /** Tells visitors of one call apart. */
  visitor: string
  traits: VisitTraits
  /** At least one that is no engagement, in order of time. */
  events: readonly NewEvent[]
  /** The site's local day of its start, by which new values are counted. */
  day: string
}

/** A tail of its own, apart from the site's: it is sealed at once and never in the log. */
export function importTail(memory: Memory, siteId: number, importId: number, visits: Iterable<ImportedVisit>): SiteTail {
  const apart: Memory = { ...memory, tails: new Tails() }
  const group = new Group(apart, { record: 0, arrivedAt: 0 })
  const ordinals = new Map<string, number>()
  for (const { visitor, traits, events, day } of visits) {
    let ordinal = ordinals.get(visitor)
    if (ordinal === undefined) {
      ordinal = memory.visitors.nextOrdinal(siteId)
      memory.visitors.passed(siteId, ordinal)
      ordinals.set(visitor, ordinal)
    }
    const counted = `${day} import ${importId}`
    const visitId = group.openVisit(siteId, { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits }, counted)
    for (const event of events) group.add(siteId, visitId, event, counted)
  }
  memory.sequence = apart.sequence
  return apart.tails.tail(siteId)
}
