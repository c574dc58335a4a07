import type { Database } from "bun:sqlite"
import type { Sql, Value } from "../../sql.ts"
import { translateErrors } from "../fault.ts"

/** Synchronous statements on the row tables of areas, inside one transaction of the writer. */
export interface RowStatements {
  all<Row>(statement: Sql): Row[]
  get<Row>(statement: Sql): Row | undefined
  run(statement: Sql): void
  /** Runs a statement once for each list of values. */
  runEach(text: string, lists: Iterable<readonly Value[]>): void
}

/** Creates statements on a connection, which caches prepared statements by their text. */
export function rowStatements(db: Database): RowStatements {
  const all = <Row>({ text, values }: Sql) => db.query(text).all(...values) as Row[] // the statement's author knows its columns
  return {
    all,
    get: <Row>(statement: Sql) => all<Row>(statement)[0],
    run: (statement) => void all(statement),
    runEach(text, lists) {
      const statement = db.query(text)
      for (const values of lists) statement.run(...values)
    },
  }
}

/** A statement in the form in which it is sent to another thread. */
export type SentStatement = Pick<Sql, "text" | "values">

/** Reads row tables of areas, in a query worker. */
export interface RowTables {
  /**
   * Returns at most `limit` rows, or more to indicate that there are more. `check` is called at intervals and throws when the query was
   * cancelled.
   */
  rows(statement: SentStatement, limit: number, check: () => void): object[]
  /** `take` receives one row after another. */
  eachRow(statement: SentStatement, take: (row: object) => void): void
  close(): void
}

/** Returns the row tables of an event store. They are closed with its connection. */
export const rowTablesOf = (db: Database): RowTables => ({
  rows: (statement, limit, check) => translateErrors(() => readRows(db, statement, limit, check)),
  eachRow: (statement, take) => translateErrors(() => forEachRow(db, statement, take)),
  close() {},
})

/** Reads rows one after another, so that only one is in memory. */
function forEachRow(db: Database, { text, values }: SentStatement, take: (row: object) => void): void {
  for (const row of db.query(text).iterate(...values)) take(row as object)
}

/** Number of rows between two calls of `check`. */
const ROWS_BETWEEN_CHECKS = 1_000

/** Reads at most `limit` rows, or `limit` + 1 to indicate that there are more. `check` throws when the query was cancelled. */
function readRows(db: Database, { text, values }: SentStatement, limit: number, check: () => void): object[] {
  const rows: object[] = []
  for (const row of db.query(text).iterate(...values)) {
    if (rows.length % ROWS_BETWEEN_CHECKS === 0) check()
    rows.push(row as object)
    if (rows.length > limit) break
  }
  return rows
}
