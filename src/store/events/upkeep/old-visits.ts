import type { Database } from "bun:sqlite"
import { dayNumber } from "../../../domain/imported.ts"
import { laneOf, SEGMENT_KINDS, type SegmentKind } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import type { Part } from "../part.ts"
import { Tails } from "../tail/tails.ts"
import { openTotals } from "../totals.ts"
import { openSegments } from "./segments.ts"

/** The visits, records or imported totals of a site that retention would delete. */
export interface OldVisits {
  kind: SegmentKind | "imported_totals"
  /** Number of visits, records, or rows of totals. */
  visits: number
  events: number
  /** Number of days from the oldest of them to the cutoff. */
  days: number
  /** Approximate size of imported totals. That of visits follows from their events. */
  bytes: number
}

/** The cutoff of a site. */
export interface SiteLimit {
  id: number
  /** Visits and records that started before it are deleted. Epoch milliseconds. */
  before: number
  /** First local day that is kept, such as `2026-11-21`, for imported totals. */
  day: string
}

const DAY_MS = 86_400_000
/** Each column is read once. */
const TOTALS_CACHE_BYTES = 1 << 20

/**
 * Counts the visits and records that started before a moment, with all their events, and the imported totals of earlier days, by site
 * and kind. Hidden imports count too, because retention deletes them with the rest.
 */
export function oldVisits(db: Database, sites: readonly SiteLimit[]): OldVisits[][] {
  const count = db.transaction(() => {
    const tails = new Tails()
    tails.follow(db)
    return sites.map(({ id, before, day }) => {
      const segments = [...openSegments(db, id, { startsBefore: before })]
      const ofVisits = SEGMENT_KINDS.map((kind) => {
        const tail = tails.find(laneOf(id, kind))
        const parts = segments.filter((each) => each.kind === kind).map(({ part }) => part)
        return { kind, ...countParts(tail && tail.events > 0 ? [...parts, tail] : parts, before) }
      })
      return [...ofVisits, oldTotals(db, id, dayNumber(day))]
    })
  })
  return count()
}

function oldTotals(db: Database, siteId: number, firstKept: number): OldVisits {
  const found: OldVisits = { kind: "imported_totals", visits: 0, events: 0, days: 0, bytes: 0 }
  for (const totals of openTotals(db, siteId, new ColumnCache(TOTALS_CACHE_BYTES, false))) {
    if (totals.firstDay >= firstKept) continue
    const old = totals.days().reduce((sum, day) => sum + Number(day < firstKept), 0)
    found.visits += old
    found.days = Math.max(found.days, firstKept - totals.firstDay)
    found.bytes += Math.round((totals.bytes * old) / totals.rows)
  }
  return found
}

function countParts(parts: readonly Part[], before: number): Omit<OldVisits, "kind"> {
  const found: Omit<OldVisits, "kind"> = { visits: 0, events: 0, days: 0, bytes: 0 }
  for (const part of parts) {
    if (part.minStart >= before) continue
    const starts = part.starts()
    const isOld = new Uint8Array(part.visits)
    for (let visit = 0; visit < part.visits; visit++) {
      if (starts[visit]! >= before) continue
      isOld[visit] = 1
      found.visits++
      found.days = Math.max(found.days, Math.ceil((before - starts[visit]!) / DAY_MS))
    }
    const visitOf = part.event("visit")
    for (let row = 0; row < part.events; row++) found.events += isOld[visitOf[row]!]!
  }
  return found
}
