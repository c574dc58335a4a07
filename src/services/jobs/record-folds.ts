import type { Tally } from "../../domain/query.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { siteFacts } from "../stats/open-report.ts"

/**
 * Up to where the records of a site are in the counters that an area keeps of them. Every record has a number that only grows
 * with what comes later and stays its own for ever; so whoever stores the position in the transaction of the counters counts
 * each record once, whatever cuts the work off.
 */
export interface FoldPosition {
  /** Epoch ms of the last fold: what came long before needs no look. */
  at: number
  /** The highest number that is counted. */
  sequence: number
}

export const FOLD_START: FoldPosition = { at: 0, sequence: 0 }

interface Folding {
  site: Site
  kind: RecordKind
  since: FoldPosition
  /** No record with a higher number. */
  upTo?: number
  /** Epoch ms. */
  now: number
  /** Properties that say what a record is about, and which counter it belongs to. */
  by: readonly string[]
}

/** A record is stored a moment after it came, and clocks are set: so long before the last fold it may have come. */
const LATE_MS = 600_000

/**
 * Counts what came since a position, by what its properties say. Stores nothing: the counts and `position` belong into one
 * transaction, which must refuse when another fold has moved the position meanwhile.
 */
export async function foldRecords(
  engine: Pick<Engine, "tally">,
  { site, kind, since, upTo, now, by }: Folding,
): Promise<Pick<Tally, "groups"> & { position: FoldPosition }> {
  const range = { from: Math.min(since.at, now) - LATE_MS, to: Math.max(since.at, now) + LATE_MS }
  const bounds = { after: since.sequence, ...(upTo !== undefined && { upTo }) }
  const query = { site: siteFacts(site, []), records: kind, range, ...bounds, by }
  const { groups, sequence } = await engine.tally(query, { organizationId: site.organization_id })
  return { groups, position: { at: now, sequence } }
}
