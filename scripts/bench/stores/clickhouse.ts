/**
 * ClickHouse in this process, in the layout that suits these reports: texts as `LowCardinality`, the visit's columns repeated on every
 * event so that no report needs a join, and rows in order of site and time. It is several hundred megabytes and therefore not among the
 * dependencies; `INSTALL` puts it beside the build.
 */
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { TRAITS } from "../../../src/domain/visit.ts"
import { answerInClickhouse } from "./clickhouse-sql.ts"
import type { Contender } from "./contender.ts"
import { EVENT_COLUMNS, RowMaker, VISIT_COLUMNS } from "./rows.ts"

const ROOT = join(import.meta.dir, "../../..")
const FOLDER = "dist/rivals"
const INSTALL = "bun scripts/chdb/install.ts"

/** The part of `chdb` that is used. */
interface Session {
  query(sql: string, format?: string): string
  insert(rows: { table: string; values: Buffer; format: "TSV" }): Promise<unknown>
  close(): void
}
type Chdb = { Session: new (path: string) => Session }

/** Returns why there is no ClickHouse to compare with, or undefined when there is. */
export const clickhouseMissing = (): string | undefined =>
  existsSync(join(ROOT, FOLDER, "node_modules/chdb"))
    ? undefined
    : `ClickHouse was not found, so it is not part of the comparison. To install it: ${INSTALL}`

/** Columns whose texts the visits repeat on each event, and the dictionary of each column with texts. */
const DICTIONARIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(TRAITS.map((trait) => [trait, trait])),
  ...Object.fromEntries(["name", "page", "hostname", "title", "currency", "property"].map((name) => [name, name])),
  entry_page: "page",
  exit_page: "page",
}
const NARROW: Readonly<Record<string, string>> = { interactive: "UInt16", pageviews: "UInt16", events: "UInt16", scroll: "UInt8" }
/** Adjacent rows differ little in these columns. */
const TIMES = ["at_ms", "start", "visit_start"]

const BATCH_ROWS = 250_000

export async function openClickhouse(folder: string): Promise<Contender> {
  // The types of an optional package are not there when it is not installed.
  const { Session } = createRequire(join(ROOT, FOLDER, "package.json"))("chdb") as Chdb
  const session = new Session(`${folder}/clickhouse`)
  const run = (sql: string): void => void session.query(sql)
  const all = (sql: string): (string | number | null)[][] =>
    session
      .query(sql, "JSONCompactEachRow")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
  run("create database bench engine = Atomic")
  run("use bench")
  run("set max_threads = 1, max_insert_threads = 1")
  for (const [table, columns] of [
    ["raw_events", EVENT_COLUMNS],
    ["raw_visits", VISIT_COLUMNS],
  ] as const)
    run(`create table ${table} (${columns.map((name) => `${name} ${numberType(name)}`).join(", ")}) engine = MergeTree order by tuple()`)
  run("create table texts (dictionary String, id UInt32, text String) engine = MergeTree order by (dictionary, id)")
  const maker = new RowMaker()
  const events = inserter(session, "raw_events")
  const visits = inserter(session, "raw_visits")

  return {
    name: "ClickHouse",
    async load(batch) {
      const rows = maker.rows(batch)
      await events.add(rows.events)
      await visits.add(rows.visits)
    },
    async finish() {
      await events.close()
      await visits.close()
      const texts = inserter(session, "texts")
      await texts.add([...maker.texts.all()].map(([dictionary, id, text]) => [escaped(dictionary), id, escaped(text)]))
      await texts.close()
      createTables(run)
      for (const table of ["raw_events", "raw_visits", "texts"]) run(`drop table ${table} sync`)
      for (const table of ["events", "visits"]) run(`optimize table ${table} final`)
    },
    bytes: () => Number(all("select sum(bytes_on_disk) from system.parts where active and database = 'bench'")[0]![0]),
    answer: async (siteId, report, range) => answerInClickhouse(all, siteId, report, range),
    close: () => session.close(),
  }
}

/** The type of a column while its texts are numbers. */
const numberType = (name: string): string => NARROW[name] ?? (TIMES.includes(name) || name === "amount" ? "Int64" : "UInt32")

const typeOf = (name: string): string => {
  if (name in DICTIONARIES) return "LowCardinality(String)"
  return TIMES.includes(name) ? "Int64 codec(Delta, LZ4)" : numberType(name)
}

/** Collects rows, because ClickHouse creates a part on the disk for each insert. */
function inserter(session: Session, table: string) {
  let lines: string[] = []
  const flush = async () => {
    if (lines.length > 0) await session.insert({ table: `bench.${table}`, values: Buffer.from(`${lines.join("\n")}\n`), format: "TSV" })
    lines = []
  }
  return {
    async add(rows: readonly (readonly (string | number)[])[]): Promise<void> {
      for (const row of rows) lines.push(row.join("\t"))
      if (lines.length >= BATCH_ROWS) await flush()
    },
    close: flush,
  }
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n")

/** Creates the two tables of the reports from the raw ones. */
function createTables(run: (sql: string) => void): void {
  const own = new Set<string>(["id", ...EVENT_COLUMNS])
  const repeated = VISIT_COLUMNS.filter((name) => !own.has(name))
  const eventColumns = EVENT_COLUMNS.filter((name) => name !== "value")
  const declared = (names: readonly string[]) => names.map((name) => `${name} ${typeOf(name)}`).join(", ")
  run(`create table events (${declared([...eventColumns, ...repeated])}) engine = MergeTree order by (site_id, at_ms)`)
  run(`create table visits (${declared(VISIT_COLUMNS)}) engine = MergeTree order by (site_id, start)`)
  run(`insert into visits select ${VISIT_COLUMNS.map((name) => withText(name, name)).join(", ")} from raw_visits`)
  const values = [...eventColumns.map((name) => withText(name, `e.${name}`)), ...repeated.map((name) => withText(name, `v.${name}`))]
  run(`insert into events select ${values.join(", ")} from raw_events e join raw_visits v on v.id = e.visit`)
}

/** Returns the text of a number. The texts of a dictionary are a constant array, in which a look-up costs little. */
function withText(name: string, number: string): string {
  const dictionary = DICTIONARIES[name]
  if (dictionary === undefined) return number
  return `(select groupArray(text) from (select text from texts where dictionary = '${dictionary}' order by id))[${number} + 1]`
}
