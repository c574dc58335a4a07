/** Plain rows in SQLite with indexes for these reports. */
import { Database } from "bun:sqlite"
import { statSync } from "node:fs"
import type { Contender } from "./contender.ts"
import { EVENT_COLUMNS, RowMaker, VISIT_COLUMNS } from "./rows.ts"
import { answerInSql } from "./sql.ts"

const INDEXES = [
  "create index events_site_at on events (site_id, at_ms, name, page, visitor, visit, visit_start)",
  "create index events_site_page on events (site_id, page, at_ms, name, visitor, visit, visit_start)",
  "create index events_visit on events (visit, at_ms, name, page, visitor)",
  "create index visits_site_start on visits (site_id, start, pageviews, duration, interactive, entry_page)",
  "create index visits_site_country on visits (site_id, country, start, pageviews, duration, interactive)",
  "create index visits_site_source on visits (site_id, source, device, start, pageviews, duration, interactive)",
]

export function openSqlite(folder: string): Contender {
  const path = `${folder}/rows.sqlite`
  const db = new Database(path, { create: true, strict: true })
  for (const pragma of ["journal_mode=wal", "synchronous=full", "cache_size=-262144", "temp_store=memory"]) db.run(`pragma ${pragma}`)
  db.run(`create table events (${columns(EVENT_COLUMNS)}) strict`)
  db.run(`create table visits (${columns(VISIT_COLUMNS).replace("id integer not null", "id integer primary key")}) strict`)
  db.run("create table texts (dictionary text not null, id integer not null, text text not null, primary key (dictionary, id)) strict")
  const maker = new RowMaker()
  const insertEvent = db.query(insertInto("events", EVENT_COLUMNS))
  const insertVisit = db.query(insertInto("visits", VISIT_COLUMNS))

  return {
    name: "SQLite rows",
    load: db.transaction((visits) => {
      const rows = maker.rows(visits)
      for (const row of rows.visits) insertVisit.run(...row)
      for (const row of rows.events) insertEvent.run(...row)
    }),
    async finish() {
      const insertText = db.query("insert into texts values (?, ?, ?)")
      db.transaction(() => {
        for (const text of maker.texts.all()) insertText.run(...text)
      })()
      for (const index of INDEXES) db.run(index)
      db.run("analyze")
      db.run("pragma wal_checkpoint(truncate)")
    },
    bytes: () => statSync(path).size,
    answer: (siteId, report, range) =>
      answerInSql({ wide: false, all: async (sql) => db.query(sql).values() as (string | number | null)[][] }, siteId, report, range),
    close: () => db.close(),
  }
}

const columns = (names: readonly string[]): string => names.map((name) => `${name} integer not null`).join(", ")
const insertInto = (table: string, names: readonly string[]): string => `insert into ${table} values (${names.map(() => "?").join(", ")})`
