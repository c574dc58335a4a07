import { siteOfLane } from "../bytes/lanes.ts"
import { reserveVisitors } from "../import.ts"
import type { Journal } from "../journal.ts"
import { endSpool } from "../spool/spool.ts"
import type { SharedNumbering } from "../spool/visitor-numbers.ts"
import { type RowStatements, rowStatements } from "../tables/row-tables.ts"
import { endTallyChanges } from "../tables/tally-changes.ts"
import { readState, writeState } from "../tail/tails.ts"
import { type AdoptedVisits, VisitAdoption } from "./adoption.ts"

/** Moves the visits of a store to a second engine, which then counts, and back. Each end of a move is one transaction. */
export interface Moves {
  /** Makes the second engine the one that counts, and runs work on the row tables of areas. The store keeps its copy until `releaseSource`. */
  completeMove(work: (rows: RowStatements) => void): void
  /**
   * Makes the store the only one that counts, and runs work on the row tables of areas. `newVisitor` returns the number of a new visitor of a
   * site.
   */
  endShipping(work?: (rows: RowStatements, newVisitor: (siteId: number) => number) => void): void
  /** Lists the sites of which the store has visits or records. */
  storedSites(): number[]
  /** Returns whether the store keeps what was moved to the second engine. */
  keepsSource(): boolean
  /** Lets the store delete what was moved to the second engine, like everything else that the engine has. */
  releaseSource(): void
  /**
   * Creates the function that stores visits of a site that only the second engine has. `paired` returns the number of a visitor, given by
   * ordinal, who has visits on both sides.
   */
  adoption(siteId: number, paired: (ordinal: number) => number | undefined): Promise<Adopt>
  /** Makes the engine get everything again that happened after a moment, at the next start. Resolves with the number of its visits. */
  shipAgain(since: number): number
}

/** The names of a site's visitors and events after a move, by their names before. */
export interface MovedNames {
  /** Returns the pseudonyms of visitors, 16 hex digits each. */
  pseudonyms(names: readonly string[]): string[]
  /** Returns the sequence of an event, or of a visit, which has that of its first event. */
  sequence(sequence: number): number
  /** Returns the numbers of visitors, given by their pseudonyms after the move. */
  numbers(names: readonly string[]): number[]
}

/** Renames visitors and events in row tables. `namesOf` returns undefined for a site that no longer exists. */
export type RenameRows = (rows: RowStatements, namesOf: (siteId: number) => MovedNames | undefined) => void

/** Where the events move to, and the node whose store stays. */
export interface EngineMove {
  to: "clickhouse" | "embedded"
  /** Number of the node. */
  node: number
}

export type Adopt = (visits: AdoptedVisits, now: number) => Promise<void>

export function movesOf(journal: Journal, sharedNumbers: (siteId: number) => Promise<SharedNumbering>): Moves {
  const { db } = journal
  return {
    completeMove(work) {
      journal.commit(() => {
        work(rowStatements(db))
        db.run("delete from state where key = 'moving'")
        writeState(db, "source_kept", 1)
      })
    },
    endShipping(work = () => {}) {
      journal.change(() => {
        const { memory } = journal
        work(rowStatements(db), (siteId) => reserveVisitors(memory, siteId, 1))
        endSpool(db)
        endTallyChanges(db)
        writeState(db, "generation", readState(db, "generation") + 1)
      })
    },
    storedSites() {
      const sealed = db.query<{ siteId: number }, []>("select distinct site_id as siteId from segments where retired_at is null").all()
      const inTails = Array.from(journal.memory.tails.all(), (tail) => siteOfLane(tail.siteId))
      return [...new Set([...sealed.map(({ siteId }) => siteId), ...inTails])].sort((a, b) => a - b)
    },
    keepsSource: () => readState(db, "source_kept") === 1,
    releaseSource: () => journal.commit(() => db.run("delete from state where key = 'source_kept'")),
    async adoption(siteId, paired) {
      const { limit, number } = await sharedNumbers(siteId)
      const adoption = new VisitAdoption(journal, siteId, { limit, number: (ordinal) => paired(ordinal) ?? number(ordinal) })
      return (visits, now) => adoption.add(visits, now)
    },
    shipAgain(since) {
      return journal.commit(() => {
        const again = "select id from segments where retired_at is null and max_at >= ?"
        // Without a record of the log, all visits of a segment are shipped.
        db.query(`update spool set shipped_at = null, floor = null where segment in (${again})`).run(since)
        writeState(db, "shipped_record", 0)
        const sql = "select coalesce(sum(visits), 0) as visits from segments join spool on segment = id where shipped_at is null"
        return db.query<{ visits: number }, []>(sql).get()!.visits + journal.memory.tails.visits // it returns a row
      })
    },
  }
}
