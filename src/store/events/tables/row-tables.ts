import type { Database } from "bun:sqlite"
import type { Sql } from "../../sql.ts"

/** Statements on the row tables of an area, inside one transaction of the writer. They do not wait for anything. */
export interface RowStatements {
  all<Row>(statement: Sql): Row[]
  get<Row>(statement: Sql): Row | undefined
  run(statement: Sql): void
}

/** Prepared statements are kept by the connection, by their texts. */
export function rowStatements(db: Database): RowStatements {
  const all = <Row>({ text, values }: Sql) => db.query(text).all(...values) as Row[] // the statement's author knows its columns
  return { all, get: <Row>(statement: Sql) => all<Row>(statement)[0], run: (statement) => void all(statement) }
}

/** A statement as it travels to another thread. */
export type SentStatement = Pick<Sql, "text" | "values">

/** How often `check` is asked. */
const ROWS_BETWEEN = 1_000

/** Reads at most so many rows, one more when there are more; `check` throws when nobody waits any more. */
export function readRows(db: Database, { text, values }: SentStatement, most: number, check: () => void): object[] {
  const rows: object[] = []
  for (const row of db.query(text).iterate(...values)) {
    if (rows.length % ROWS_BETWEEN === 0) check()
    rows.push(row as object)
    if (rows.length > most) break
  }
  return rows
}
