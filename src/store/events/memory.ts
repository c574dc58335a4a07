import type { Database } from "bun:sqlite"
import { COLLECT } from "../../domain/limits.ts"
import { Interner } from "./dictionary/interner.ts"
import { Uses } from "./dictionary/uses.ts"
import { Visitors } from "./dictionary/visitors.ts"
import { EarlyVisits } from "./early-visits.ts"
import { EventIds } from "./event-ids.ts"
import type { Replayer } from "./log.ts"
import { LoggedSales } from "./tables/sale-rows.ts"
import { readState, Tails, writeState } from "./tail/tails.ts"
import type { ExemptValues } from "./writer.ts"

/** The writer's state in memory. It can be rebuilt from the tables and the log at any time, which happens after a failed commit. */
export interface Memory {
  readonly db: Database
  readonly tails: Tails
  readonly early: EarlyVisits
  readonly visitors: Visitors
  readonly eventIds: EventIds
  readonly interner: Interner
  readonly sales: LoggedSales
  readonly uses: Uses
  /** The number of the next event. */
  sequence: number
}

/** Saves the next numbers to assign and the numbers of new values, in the caller's transaction. */
export function saveCounters({ db, visitors, interner, sequence }: Memory): void {
  visitors.saveOrdinals()
  interner.saveCounts()
  writeState(db, "sequence", sequence)
}

export function loadMemory(db: Database, exemptValues: ExemptValues): Memory {
  const uses = new Uses()
  const memory: Memory = {
    db,
    tails: new Tails(),
    early: new EarlyVisits(db),
    visitors: new Visitors(db, uses),
    eventIds: new EventIds(db, COLLECT.eventIdHours),
    interner: new Interner(db, exemptValues, uses),
    sales: new LoggedSales(db),
    uses,
    sequence: Math.max(1, readState(db, "sequence")),
  }
  const all: Omit<Replayer, "tail"> = {
    person: (siteId, ordinal) => memory.visitors.reserve(siteId, ordinal),
    event: (sequence) => {
      if (sequence >= memory.sequence) memory.sequence = sequence + 1
    },
  }
  const stored: typeof all = {
    ...all,
    visitor: (siteId, period, _, ordinal, record) => memory.visitors.rememberStored(siteId, period, ordinal, record),
  }
  const onlyInLog: typeof all = {
    ...all,
    visitor: (siteId, period, id, ordinal, record) => memory.visitors.remember(siteId, period, id, ordinal, record),
    eventId: (id, arrivedAt) => memory.eventIds.add(id, arrivedAt),
  }
  const sales: Partial<Replayer> = {
    moved: (siteId, former, sequence) => memory.sales.moveLogged(siteId, former, sequence),
    sale: (siteId, visitId, { sequence, ...sale }) =>
      memory.sales.add(sequence, { siteId, visitSequence: memory.tails.tail(siteId).firstSequence(visitId), ...sale }),
  }
  const [idsFloor, salesFloor] = [readState(db, "ids_floor"), readState(db, "sales_floor")]
  memory.tails.follow(db, (record) => ({ ...(record <= idsFloor ? stored : onlyInLog), ...(record > salesFloor && sales) }))
  return memory
}
