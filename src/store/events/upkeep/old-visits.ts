import type { Database } from "bun:sqlite"
import { laneOf, SEGMENT_KINDS, type SegmentKind } from "../bytes/lanes.ts"
import type { Part } from "../part.ts"
import { Tails } from "../tail/tails.ts"
import { openSegments } from "./segments.ts"

/** The visits or records of a site that retention would delete, by kind. */
export interface OldVisits {
  kind: SegmentKind
  visits: number
  events: number
  /** Start of the first one in epoch milliseconds; null when there are none. */
  first_at: number | null
}

/**
 * Counts the visits and records that started before a moment, with all their events, by site and kind. Hidden imports count too,
 * because retention deletes them with the rest.
 */
export function oldVisits(db: Database, sites: readonly { id: number; before: number }[]): OldVisits[][] {
  const count = db.transaction(() => {
    const tails = new Tails()
    tails.follow(db)
    return sites.map(({ id, before }) => {
      const segments = openSegments(db, id)
      return SEGMENT_KINDS.map((kind) => {
        const tail = tails.find(laneOf(id, kind))
        const parts = segments.filter((each) => each.kind === kind).map(({ segment }) => segment)
        return { kind, ...countParts(tail && tail.events > 0 ? [...parts, tail] : parts, before) }
      })
    })
  })
  return count()
}

function countParts(parts: readonly Part[], before: number): Omit<OldVisits, "kind"> {
  const found: Omit<OldVisits, "kind"> = { visits: 0, events: 0, first_at: null }
  for (const part of parts) {
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
