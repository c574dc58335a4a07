import type { EventReader } from "./part.ts"

/** What retention would take of a site. */
export interface OldVisits {
  visits: number
  events: number
  /** Epoch ms of the first of them; null without any. */
  first_at: number | null
}

/** Visits that started before a moment, with all their events. */
export function oldVisits(reader: Pick<EventReader, "snapshot">, siteId: number, before: number): OldVisits {
  const found: OldVisits = { visits: 0, events: 0, first_at: null }
  for (const part of reader.snapshot(siteId).parts) {
    if (part.minStart >= before) continue
    const starts = part.starts()
    const isOld = new Uint8Array(part.visits)
    for (let visit = 0; visit < part.visits; visit++) {
      if (starts[visit]! >= before) continue
      isOld[visit] = 1
      found.visits++
      found.first_at = Math.min(found.first_at ?? Number.POSITIVE_INFINITY, starts[visit]!)
    }
    const visitOf = part.event("visit")
    for (let row = 0; row < part.events; row++) found.events += isOld[visitOf[row]!]!
  }
  return found
}
