/**
 * DuckDB in the layout that suits these reports: numbers of the narrowest type, the visit's columns repeated on every event so that
 * no report needs a join, and rows in order of site and time so that ranges skip row groups.
 */
import { statSync } from "node:fs"
import {
  BIGINT,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBType,
  UINTEGER,
  USMALLINT,
  UTINYINT,
} from "@duckdb/node-api"
import type { Contender } from "./contender.ts"
import { EVENT_COLUMNS, RowMaker, VISIT_COLUMNS } from "./rows.ts"
import { answerInSql, type Dialect } from "./sql.ts"

const CHUNK_ROWS = 2048
const TYPES: Record<string, DuckDBType> = {
  ...{ at_ms: BIGINT, start: BIGINT, visit_start: BIGINT, amount: BIGINT },
  ...{ id: UINTEGER, visit: UINTEGER, visitor: UINTEGER, duration: UINTEGER, engaged: UINTEGER, page: UINTEGER, title: UINTEGER },
  ...{ entry_page: UINTEGER, exit_page: UINTEGER, referrer: UINTEGER, value: UINTEGER, scroll: UTINYINT, interactive: USMALLINT },
}
const typeOf = (column: string): DuckDBType => TYPES[column] ?? USMALLINT

export interface Duckdb extends Contender {
  use(threads: 1 | 2): Promise<void>
  all: Dialect["all"]
}

export async function openDuckdb(folder: string, threads: 1 | 2): Promise<Duckdb> {
  const path = `${folder}/rows.duckdb`
  const instance = await DuckDBInstance.create(path, { memory_limit: "8GB" })
  const connection = await instance.connect()
  await connection.run(`set threads = ${threads}`)
  await connection.run(`create temp table raw (${columns(EVENT_COLUMNS)})`)
  await connection.run(`create table visits (${columns(VISIT_COLUMNS)})`)
  await connection.run("create table texts (dictionary varchar, id uinteger, text varchar)")
  const maker = new RowMaker()
  const events = await appender(connection, "raw", EVENT_COLUMNS, "temp")
  const visits = await appender(connection, "visits", VISIT_COLUMNS)
  const all = async (sql: string) => (await connection.runAndReadAll(sql)).getRows() as (string | number | bigint | null)[][] // no other types are selected

  return {
    name: "DuckDB",
    load(batch) {
      const rows = maker.rows(batch)
      events.add(rows.events)
      visits.add(rows.visits)
    },
    async finish() {
      events.close()
      visits.close()
      await addTexts(connection, maker)
      const own = new Set<string>(["id", ...EVENT_COLUMNS])
      const traits = VISIT_COLUMNS.filter((column) => !own.has(column)).map((column) => `v.${column}`)
      await connection.run(
        `create table events as select e.*, ${traits} from raw e join visits v on v.id = e.visit order by e.site_id, e.at_ms`,
      )
      await connection.run("drop table raw")
      await connection.run("checkpoint")
    },
    bytes: () => statSync(path).size,
    answer: (siteId, report, range) => answerInSql({ wide: true, all }, siteId, report, range),
    all,
    use: async (count) => void (await connection.run(`set threads = ${count}`)),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

const columns = (names: readonly string[]): string => names.map((name) => `${name} ${typeOf(name)} not null`).join(", ")

/** Appends rows in chunks of columns, the fastest way to insert. */
async function appender(connection: DuckDBConnection, table: string, names: readonly string[], catalog?: string) {
  const target = await connection.createAppender(table, "main", catalog)
  const types = names.map(typeOf)
  const wide = types.map((type) => type === BIGINT)
  let waiting: number[][] = []
  function flush(rows: readonly number[][]): void {
    const chunk = DuckDBDataChunk.create(types, rows.length)
    chunk.setColumns(types.map((_, column) => rows.map((row) => (wide[column] ? BigInt(row[column]!) : row[column]!))))
    target.appendDataChunk(chunk)
  }
  return {
    add(rows: readonly number[][]): void {
      waiting = waiting.concat(rows)
      for (; waiting.length >= CHUNK_ROWS; waiting = waiting.slice(CHUNK_ROWS)) flush(waiting.slice(0, CHUNK_ROWS))
    },
    close(): void {
      if (waiting.length > 0) flush(waiting)
      target.closeSync()
    },
  }
}

async function addTexts(connection: DuckDBConnection, maker: RowMaker): Promise<void> {
  const target = await connection.createAppender("texts")
  for (const [dictionary, id, text] of maker.texts.all()) {
    target.appendVarchar(dictionary)
    target.appendUInteger(id)
    target.appendVarchar(text)
    target.endRow()
  }
  target.closeSync()
}
