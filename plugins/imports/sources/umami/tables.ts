import { type ColumnRules, delimited, headerOf, Row } from "../../reading/delimited.ts"
import { dumpRows, isPlainDump } from "../../reading/pg-dump.ts"
import { type FileHead, ImportFault, type InputFile, type ReadOptions, type Recognition, type Sink, type SourceFile } from "../../source.ts"

/**
 * The tables of Umami: which columns they have, how their files are recognized, and how their rows are read from CSV files and from
 * database dumps, which hold several of them.
 */

const TAGS = ["utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"]
const CLICK_IDS = ["gclid", "fbclid", "msclkid", "ttclid", "li_fat_id", "twclid"]
const VISITOR = ["browser", "os", "device", "screen", "language", "country", "region", "city"]

export const TABLES = {
  website_event: {
    required: ["event_id", "website_id", "session_id", "created_at", "event_type"],
    optional: ["visit_id", "url_path", "url_query", "referrer_domain", "referrer_path", "referrer_query", "page_title", "hostname"]
      .concat(["event_name", "tag", ...TAGS, ...CLICK_IDS, "distinct_id", ...VISITOR])
      .concat(["lcp", "inp", "cls", "fcp", "ttfb", "job_id"]),
  },
  session: {
    required: ["session_id"],
    optional: ["website_id", ...VISITOR, "distinct_id", "created_at", "hostname", "subdivision1", "subdivision2"],
    aliases: { subdivision1: "region" },
  },
  event_data: {
    required: ["event_id", "data_key", "data_type"],
    optional: ["website_id", "string_value", "number_value", "date_value", "event_data_id", "session_id", "url_path", "event_name"].concat([
      "created_at",
      "job_id",
    ]),
    aliases: { website_event_id: "event_id" },
  },
  revenue: {
    required: ["event_id", "currency", "revenue"],
    optional: ["revenue_id", "website_id", "session_id", "event_name", "created_at"],
  },
} as const satisfies Record<string, ColumnRules>
export type UmamiTable = keyof typeof TABLES

export const UMAMI_FILES: readonly SourceFile[] = Object.entries(TABLES).map(([name, { required, optional }]) => ({
  name: `${name}.csv`,
  required,
  optional,
}))

/** Columns by which a file is recognized although others are missing, and how many of them it must have. */
const MARKS: readonly (readonly [table: UmamiTable, needed: number, columns: readonly string[]])[] = [
  ["event_data", 3, ["data_key", "string_value", "number_value", "data_type", "website_event_id"]],
  ["revenue", 2, ["revenue_id", "currency", "revenue"]],
  ["website_event", 3, ["event_id", "session_id", "visit_id", "event_type", "url_path", "url_query", "referrer_domain", "event_name"]],
  ["session", 3, ["session_id", "browser", "os", "screen", "language", "device"]],
]

const DUMP_COMMAND =
  "pg_dump --data-only --table=website_event --table=session --table=event_data --table=revenue --file=umami.sql <database>"
/** Writes a table of a MySQL database as CSV. */
const MYSQL_COMMAND = [
  'mysql --batch --default-character-set=utf8mb4 --execute="select * from website_event" umami',
  `sed 's/"/""/g; s/\\t/","/g; s/^/"/; s/$/"/' > website_event.csv`,
].join(" | ")

/** Recognizes a file of an Umami export by its content. File names do not matter. */
export function recognizeUmami(file: FileHead): Recognition | undefined {
  const { name, text } = file
  if (text.startsWith("PGDMP")) {
    const message = `${name} is a PostgreSQL dump in the custom format. Convert it with pg_restore --file=umami.sql ${name}, or make a plain one: ${DUMP_COMMAND}`
    return { confidence: 0.9, refusal: { code: "unsupported_version", message } }
  }
  if (hasInserts(text)) return { confidence: 0.9, refusal: { code: "unsupported_version", message: insertMessage(file) } }
  if (isPlainDump(text)) return { confidence: /\b(website_event|event_data)\b/.test(text) ? 0.95 : 0.5, table: "pg_dump" }
  return recognizeTable(file)
}

const hasInserts = (text: string): boolean =>
  (/^INSERT INTO\b/im.test(text) && !/^COPY .* FROM stdin;$/m.test(text)) || /^-- (MySQL|MariaDB|phpMyAdmin SQL) dump\b/i.test(text)

function insertMessage({ name, text }: FileHead): string {
  const command = /^-- PostgreSQL|^SET standard_conforming_strings/m.test(text)
    ? `pg_dump without --inserts: ${DUMP_COMMAND}`
    : `this command, also for the tables session, event_data and revenue: ${MYSQL_COMMAND}`
  return `${name} is a dump of INSERT statements, which isn't read. Make the files with ${command}`
}

function recognizeTable(file: FileHead): Recognition | undefined {
  const header = headerOf(file)
  if (!header) return undefined
  const { name } = file
  if (header.names.length === 2 && header.has("x") && header.has("y")) {
    const message = `${name} comes from Umami's export button and has no dates. Export the table website_event instead: in Umami Cloud under Settings > Data, on your own server with ${DUMP_COMMAND}`
    return { confidence: 0.9, refusal: { code: "needs_date_dimension", message } }
  }
  const complete = (table: UmamiTable) =>
    TABLES[table].required.every((column) => header.has(column) || (column === "event_id" && header.has("website_event_id")))
  for (const [table, needed, columns] of MARKS) {
    if (columns.filter((column) => header.has(column)).length >= needed) return { confidence: complete(table) ? 0.95 : 0.6, table }
  }
  const unused = (table: string, what: string): Recognition => ({
    confidence: 0.3,
    table,
    refusal: { code: "nothing_to_import", message: `${name} holds ${what}, which isn't imported.` },
  })
  if (header.has("session_id") && header.has("data_key")) return unused("session_data", "properties of visitors")
  if (header.has("website_id") && header.has("domain")) return unused("website", "the list of websites")
  return undefined
}

/** Rows of a table. */
export interface TableRows {
  table: UmamiTable
  file: string
  /** Whether the file has columns of the visitor, as exports of Umami Cloud do. */
  hasVisitor: boolean
  rows: readonly Row[]
}

/** Yields the rows of some tables in groups. Throws `missing_columns`. */
export async function* umamiRows(
  files: readonly InputFile[],
  tables: readonly UmamiTable[],
  options: ReadOptions,
  sink: Sink,
): AsyncGenerator<TableRows> {
  for (const file of files) {
    const { table } = file.recognition
    if (table === "pg_dump") yield* rowsOfDump(file, tables, sink)
    const own = tables.find((name) => name === table)
    if (own === undefined) continue
    const hasVisitor = headerOf(file, options)?.has("browser") ?? false
    for await (const rows of delimited(file, TABLES[own], options, sink)) yield { table: own, file: file.name, hasVisitor, rows }
  }
}

/** Tables of Umami 1, which had other columns. */
const OLD_TABLES = ["pageview", "event"]

async function* rowsOfDump(file: InputFile, tables: readonly UmamiTable[], sink: Sink): AsyncGenerator<TableRows> {
  const found = new Set<string>()
  for await (const { table, columns, rows } of dumpRows(file, new Set<string>([...tables, ...OLD_TABLES]), sink)) {
    found.add(table)
    const own = tables.find((name) => name === table)
    if (own === undefined) continue
    const numbers = columnNumbers(file.name, table, columns, TABLES[own])
    sink.read(rows.length)
    const even = rows.filter(({ line, cells }) => {
      if (cells.length === columns.length) return true
      sink.reject(file.name, line, "wrong_column_count", `${cells.length} columns instead of ${columns.length}`)
      return false
    })
    const tableRows = even.map(({ line, cells }) => new Row(line, cells, numbers))
    yield { table: own, file: file.name, hasVisitor: numbers.has("browser"), rows: tableRows }
  }
  if (!tables.includes("website_event") || found.has("website_event")) return
  if (OLD_TABLES.some((table) => found.has(table))) {
    const message = `${file.name} is a dump of Umami 1. Update Umami to version 2 or later, which converts its tables, and make the dump again.`
    throw new ImportFault("unsupported_version", message)
  }
  throw new ImportFault("unrecognized_source", `${file.name} has no rows of the table website_event. Make the dump with ${DUMP_COMMAND}`)
}

function columnNumbers(file: string, table: string, columns: readonly string[], rules: ColumnRules): Map<string, number> {
  const numbers = new Map(columns.map((column, number) => [column, number]))
  for (const [alias, column] of Object.entries(rules.aliases ?? {})) {
    const number = numbers.get(alias)
    if (number !== undefined && !numbers.has(column)) numbers.set(column, number)
  }
  const missing = rules.required.filter((column) => !numbers.has(column))
  if (missing.length === 0) return numbers
  const message = `The table ${table} in ${file} lacks ${missing.join(", ")}. Make the dump of the whole table, from Umami 2 or later.`
  throw new ImportFault("missing_columns", message, { columns: missing })
}

/** Returns the value of a column. Database clients write null as `\N` or `NULL`. */
export const cellOf = (row: Row, column: string): string => known(row.get(column))

/** Returns the value at a place, "" at -1. */
export const cellAt = ({ cells }: Row, place: number): string => (place < 0 ? "" : known(cells[place]!))

const known = (value: string): string => (value === "NULL" || value === "\\N" ? "" : value)
