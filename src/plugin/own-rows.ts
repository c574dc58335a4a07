import type { Asker } from "../query/pool.ts"
import type { Sql } from "../store/catalog/sql.ts"
import type { EventStore } from "../store/events/events.ts"
import type { RowStatements } from "../store/events/row-tables.ts"
import { foreignTable } from "../store/own-tables.ts"

/**
 * A plugin's own row tables in the event store, for what grows with data. Writes go through the one writer, on this thread, and
 * are on disk when `write` returns; reads run in a query worker, see what was committed before they were asked, and have the
 * bounds of a report: 15 s, and a place among those of the organization.
 */
export interface OwnRows {
  /** All or nothing, and short: it holds up the events that come in. A long piece of work is many of them. Nothing in it waits. */
  write<T>(work: (rows: RowStatements) => T): T
  /** At most 10,000 rows; more go in slices. Numbers above 2^53 belong into a BLOB. */
  read<Row>(statement: Sql, asker: Asker): Promise<Row[]>
}

/** What answers questions about row tables. */
export interface RowReader {
  rowTables(statement: Sql, most: number, asker: Asker): Promise<object[]>
}

const MOST_ROWS = 10_000

export function ownRows(events: Pick<EventStore, "rows">, reader: RowReader, pluginId: string): OwnRows {
  /** A statement that reaches further is a bug of the plugin, so it is no `AppError`. */
  const judged = (statement: Sql): Sql => {
    const fault = foreignTable(statement.text, `${pluginId}_`)
    if (fault !== undefined) throw new Error(`A statement of the plugin ${pluginId} was refused: ${fault}`)
    return statement
  }
  return {
    write: (work) =>
      events.rows((rows) =>
        work({
          all: (statement) => rows.all(judged(statement)),
          get: (statement) => rows.get(judged(statement)),
          run: (statement) => rows.run(judged(statement)),
        }),
      ),
    async read<Row>(statement: Sql, asker: Asker) {
      const rows = await reader.rowTables(judged(statement), MOST_ROWS, asker)
      if (rows.length > MOST_ROWS) throw new Error(`A statement of the plugin ${pluginId} reads more than ${MOST_ROWS} rows: read slices`)
      return rows as Row[] // the statement's author knows its columns
    },
  }
}
