import type { Collector } from "../../ingest/collect/collect.ts"
import type { AmountsQuery, AmountsResult } from "../../query/amounts/amounts.ts"
import type { Caller } from "../../query/engine/pool.ts"
import type { SumsQuery, SumsResult } from "../../query/sums/sums.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { RowStatements } from "../../store/events/tables/row-tables.ts"
import { forbiddenTable } from "../../store/own-tables.ts"
import type { Sql } from "../../store/sql.ts"

/**
 * Row tables of a plugin in the event store, for data that grows with traffic. Writes use the only writer, on this thread, and are on
 * disk when `write` resolves. Reads run in a query worker, see everything committed before them, and have the limits of a report:
 * 15 seconds, and a query slot of the organization.
 */
export interface OwnRows {
  /**
   * Runs a transaction. `work` is synchronous and should be short, because incoming events wait for it. Split long work into several
   * transactions.
   */
  write<T>(work: (rows: RowStatements) => T): Promise<T>
  /** The same, but what it writes is on disk only after the next `sync`, together with everything before it. For the steps of long work. */
  append<T>(work: (rows: RowStatements) => T): T
  /** Resolves when everything that was appended is on disk. Incoming events do not wait for it. */
  sync(): Promise<void>
  /** Reads at most 10,000 rows. Read longer lists in slices. Store numbers above 2^53 as a BLOB. */
  read<Row>(statement: Sql, caller: Caller): Promise<Row[]>
  /** Sums amounts over packed rows, by several groupings at once. */
  amounts(query: OwnAmountsQuery, caller: Caller): Promise<AmountsResult>
  /** Sums columns over packed rows by one of them, and returns a page of the groups. */
  sums(query: OwnSumsQuery, caller: Caller): Promise<SumsResult>
}

export type OwnSumsQuery = Omit<SumsQuery, "statement"> & { statement: Sql }
export type OwnAmountsQuery = Omit<AmountsQuery, "statement"> & { statement: Sql }

/** Query engine for row tables. */
export interface RowReader {
  rowTables(statement: Sql, most: number, caller: Caller): Promise<object[]>
  amounts(query: AmountsQuery, caller: Caller): Promise<AmountsResult>
  sums(query: SumsQuery, caller: Caller): Promise<SumsResult>
}

const MAX_ROWS = 10_000

interface OwnRowsParts {
  events: Pick<EventStore, "appendRows" | "sync">
  collector: Pick<Collector, "commit">
  reader: RowReader
}

export function ownRows({ events, collector, reader }: OwnRowsParts, pluginId: string): OwnRows {
  /** Checks that a statement only uses tables of the plugin. Other statements are a bug, so this is not an `AppError`. */
  const judge = (text: string): void => {
    const fault = forbiddenTable(text, `${pluginId}_`)
    if (fault !== undefined) throw new Error(`A statement of the plugin ${pluginId} was refused: ${fault}`)
  }
  const judged = (statement: Sql): Sql => {
    judge(statement.text)
    return statement
  }
  const append = <T>(work: (rows: RowStatements) => T) => {
    // Events that wait for their group would have to wait for this work as well. Now they go to the disk meanwhile.
    collector.commit()
    return events.appendRows((rows) =>
      work({
        all: (statement) => rows.all(judged(statement)),
        get: (statement) => rows.get(judged(statement)),
        run: (statement) => rows.run(judged(statement)),
        runEach(text, lists) {
          judge(text)
          rows.runEach(text, lists)
        },
      }),
    )
  }
  return {
    async write(work) {
      const { result, isChanged } = append(work)
      if (isChanged) await events.sync()
      return result
    },
    append: (work) => append(work).result,
    sync: () => events.sync(),
    async read<Row>(statement: Sql, caller: Caller) {
      const rows = await reader.rowTables(judged(statement), MAX_ROWS, caller)
      if (rows.length > MAX_ROWS) throw new Error(`A statement of the plugin ${pluginId} reads more than ${MAX_ROWS} rows: read slices`)
      return rows as Row[] // the author of the statement knows its columns
    },
    async amounts(query, caller) {
      const { text, values } = judged(query.statement)
      return reader.amounts({ ...query, statement: { text, values } }, caller)
    },
    async sums(query, caller) {
      const { text, values } = judged(query.statement)
      return reader.sums({ ...query, statement: { text, values } }, caller)
    },
  }
}
