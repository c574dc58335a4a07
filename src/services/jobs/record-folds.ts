import type { Tally } from "../../domain/query.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { siteFacts } from "../stats/open-report.ts"

/**
 * Position up to which the records of a site in the store of this node are included in an area's counters. The sequence of a record never changes, and later
 * records have higher ones. An area that stores the position in the transaction of its counters therefore counts each record exactly
 * once, even if the work is interrupted.
 */
export interface FoldPosition {
  /** Epoch ms of the last fold. Much older records need not be read. */
  at: number
  /** Highest sequence that is counted. */
  sequence: number
}

export const FOLD_START: FoldPosition = { at: 0, sequence: 0 }

interface Folding {
  site: Site
  kind: RecordKind
  since: FoldPosition
  /** Highest sequence to count. */
  upTo?: number
  /** Epoch ms. */
  now: number
  /** Properties that determine the counter of a record. */
  by: readonly string[]
}

/** Time before the last fold that is read again, because records are stored after they arrive and clocks can be set back. */
const LATE_MS = 600_000

/**
 * Counts the records after a position by their properties. The caller stores the counts and `position` in one transaction, which must
 * fail if another fold has moved the position meanwhile.
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
