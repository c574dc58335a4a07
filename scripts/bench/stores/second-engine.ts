/**
 * The second engine: the same visits in the embedded store and on ClickHouse, and the same reports from both, one thread each. ClickHouse runs
 * as a library behind a bridge on the same machine.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Clickhouse, type ClickhouseServer, createClickhouse } from "../../../src/store/clickhouse/client.ts"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { type Channel, openChannel } from "../../../src/store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../../src/store/clickhouse/read/reader.ts"
import { ROW_COLUMNS, RowWriter } from "../../../src/store/clickhouse/row-binary.ts"
import { ChangeReader } from "../../../src/store/clickhouse/ship/changes.ts"
import type { VisitRow } from "../../../src/store/clickhouse/visit-row.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { sendDirectly } from "../../../test/store/clickhouse/chdb.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../../test/store/clickhouse/server.ts"
import { count, ms, table, times } from "../table.ts"
import { geometricMean, quantile } from "../timing.ts"
import { answerFrom } from "./answers.ts"
import { benchData, type DataOptions, KNOWN } from "./data.ts"
import { CACHE_BYTES, openFootfall, SCHEMAS } from "./footfall.ts"
import { measureMove } from "./move.ts"
import { DAY_MS, lastDays, reportsOver } from "./reports.ts"

const BARS = { reports: 20, parts: 1.6, bytes: 24, flat: 0.6 } as const
/** Number of parts that a month has between two merges. */
const PARTS = 25
/** How often a report is asked of a new reader, and of each. */
const FIRSTS = 5
const LATERS = 15
const SITE = 1
/** Number of events that are moved to ClickHouse. */
const MOVED_EVENTS = 200_000

/** Measures reports over four weeks of one month, so that they read one partition, and prints what each bar is about. */
export async function measureSecondEngine(options: Omit<DataOptions, "days" | "sites">): Promise<void> {
  if (!hasClickhouse()) return
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  await using server = await startClickhouse()
  try {
    // All days are in one month.
    const month = new Date(options.end)
    const end = Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), 1)
    const days = 28
    const data = { ...options, end, days, sites: 1 }
    const path = await fillEmbedded(folder, data)
    const rows = await shippedRows(path)
    const events = rows.reduce((sum, { steps }) => sum + steps.length, 0)
    const one = await fillClickhouse(server, "one", rows, 1)
    const many = await fillClickhouse(server, "many", rows, PARTS)
    console.log(`\n### The second engine: ${count(events)} events of ${days} days\n`)
    const engines = {
      embedded: () => openEventReader(path, { cacheBytes: CACHE_BYTES }),
      one: () => openReader(one.server, path),
      many: () => openReader(many.server, path),
    }
    const range = lastDays(days, end)
    const lines = reportsOver(KNOWN).map((report) => {
      const ask = (reader: EventReader) => answerFrom(reader, SITE, report, range)
      return { name: report.name, embedded: race(engines.embedded, ask), one: race(engines.one, ask), many: race(engines.many, ask) }
    })
    for (const { name, embedded, one, many } of lines)
      for (const other of [one, many]) if (!Bun.deepEquals(embedded.answer, other.answer)) throw new Error(`The answers to ${name} differ`)
    const cells = lines.map(({ name, embedded, one, many }) => [
      ...[name, ms(embedded.later), ms(one.later), ms(embedded.first), ms(one.first), ms(many.first)],
      ...[times(one.later / embedded.later), times(one.first / embedded.first), times(many.first / one.first)],
    ])
    const head = [
      "Report",
      "embedded ms",
      "ClickHouse ms",
      "first",
      "first",
      `first, ${PARTS} parts`,
      "÷ embedded",
      "first ÷ first",
      "parts ÷ one",
    ]
    console.log(`${table(head, cells)}\n`)
    const mean = (of: (line: (typeof lines)[number]) => number) => geometricMean(lines.map(of))
    const bytes = await bytesOf(one.clickhouse, "visits")
    const flat = await flatBytes(one.clickhouse)
    const figures = {
      "reports ÷ embedded, geometric mean": [mean(({ one, embedded }) => one.later / embedded.later), BARS.reports],
      "first answers ÷ first answers": [mean(({ one, embedded }) => one.first / embedded.first), BARS.reports],
      "first answers ÷ later answers of the embedded store": [mean(({ one, embedded }) => one.first / embedded.later), BARS.reports],
      [`first answers over ${PARTS} parts ÷ one part`]: [mean(({ one, many }) => many.first / one.first), BARS.parts],
      "bytes per event": [bytes / events, BARS.bytes],
      "bytes ÷ events and visits in two tables": [bytes / flat, BARS.flat],
    }
    for (const [name, [value, bar]] of Object.entries(figures) as [string, [number, number]][])
      console.log(`${name}: ${value.toFixed(2)} (bar: ${bar}, ${value <= bar ? "holds" : "does not hold"})`)
    console.log(`\n${table(["Column", "Bytes per event"], await columnBytes(one.clickhouse, events))}`)
    await measureMove(server, { ...data, events: Math.min(MOVED_EVENTS, data.events) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fillEmbedded(folder: string, data: DataOptions): Promise<string> {
  const footfall = openFootfall(folder, data.end - data.days * DAY_MS)
  for (const visits of benchData(data)) footfall.load(visits)
  await footfall.finish()
  return footfall.path
}

/** Returns what a store ships. */
async function shippedRows(path: string): Promise<VisitRow[]> {
  const store = openEventStore(path, { now: Date.now(), schemas: SCHEMAS })
  store.beginShipping(1, async () => new Uint8Array(32))
  const reader = new ChangeReader(path, 1)
  const rows: VisitRow[] = []
  for (let after = 0; ; ) {
    const { segment } = reader.read(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, after)
    if (!segment) break
    const { visits, open } = segment.read()
    rows.push(...visits.map(open(new Uint8Array(32))))
    after = segment.id
  }
  reader.close()
  store.close()
  return rows
}

/** Fills a database whose partitions have a number of parts. */
async function fillClickhouse(running: TestServer, database: string, rows: readonly VisitRow[], parts: number) {
  await running.clickhouse.run(`create database ${database}`)
  const server = { ...running.server, database }
  const clickhouse = createClickhouse(server, sendDirectly)
  await migrateClickhouse(clickhouse, { version: "1.0.0", now: 1 })
  await clickhouse.run("system stop merges visits")
  for (let part = 0; part < parts; part++) {
    const writer = new RowWriter()
    for (const [index, row] of rows.entries()) if (index % parts === part) writer.add(row)
    await clickhouse.insert("visits", ROW_COLUMNS, writer.finish())
  }
  if (parts > 1) return { server, clickhouse }
  await clickhouse.run("system start merges visits")
  await clickhouse.run("optimize table visits final")
  return { server, clickhouse }
}

function openReader(server: ClickhouseServer, path: string): EventReader {
  const channel = openChannel(new URL("../../../test/store/clickhouse/network-thread.ts", import.meta.url).href, server)
  const single: Channel = {
    ...channel,
    send: (sql, options) => channel.send(sql, { ...options, settings: { ...options.settings, max_threads: 1 } }),
  }
  // The thread of the channel is there before the first report.
  channel.send("select 1 as one", {}).receive(() => {})
  return openClickhouseReader({
    ...{ channel: single, cacheBytes: CACHE_BYTES, check() {} },
    local: openEventReader(path, { cacheBytes: 1 << 20 }),
  })
}

/** Returns the median times of the first answers of new readers, and of later answers of one. */
function race<Answer>(open: () => EventReader, ask: (reader: EventReader) => Answer) {
  const timed = (reader: EventReader) => {
    const from = performance.now()
    ask(reader)
    return performance.now() - from
  }
  const firsts = Array.from({ length: FIRSTS }, () => {
    const reader = open()
    const first = timed(reader)
    reader.close()
    return first
  })
  const reader = open()
  const answer = ask(reader)
  const laters = Array.from({ length: LATERS }, () => timed(reader))
  reader.close()
  return { answer, first: quantile(firsts, 0.5), later: quantile(laters, 0.5) }
}

async function bytesOf(clickhouse: Clickhouse, name: string): Promise<number> {
  const sql = "select sum(bytes_on_disk) as bytes from system.parts where active and database = currentDatabase() and table = {name:String}"
  const [row] = await clickhouse.rows<{ bytes: string }>(sql, { parameters: { name } })
  return Number(row!.bytes) // it returns a row
}

async function columnBytes(clickhouse: Clickhouse, events: number): Promise<[string, string][]> {
  const sql = `select name, data_compressed_bytes as bytes from system.columns
    where database = currentDatabase() and table = 'visits' order by bytes desc limit 20`
  const rows = await clickhouse.rows<{ name: string; bytes: string }>(sql)
  return rows.map(({ name, bytes }) => [name, (Number(bytes) / events).toFixed(2)])
}

/** Columns of a visit in both tables of the usual layout, and those of an event. */
const VISIT = "site_id, visit, visitor, visitor_kind"
const TRAITS = `source, referrer, channel, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, country, region, city,
  device, size, browser, browser_version, os, os_version, language`

/** Returns the size of the same data as a table of events, on which the columns of the visit are repeated, and a table of visits. */
async function flatBytes(clickhouse: Clickhouse): Promise<number> {
  const layout = (order: string) => `engine = MergeTree partition by toYYYYMM(fromUnixTimestamp64Milli(at, 'UTC')) order by ${order}`
  await clickhouse.run(`create table flat_events ${layout("(site_id, toDate(intDiv(at, 1000)), visitor, at)")} as
    select ${VISIT}, started_at + offset as at, name, page, hostname, title, interactive, ${TRAITS},
      arrayFilter((key, event) -> event = place, \`p.key\`, \`p.event\`) as keys,
      arrayFilter((value, event) -> event = place, \`p.value\`, \`p.event\`) as values,
      \`r.amount\`[indexOf(\`r.event\`, place)] as amount, \`r.currency\`[indexOf(\`r.event\`, place)] as currency,
      \`g.engaged\`[indexOf(\`g.event\`, place)] as engaged, \`g.scroll\`[indexOf(\`g.event\`, place)] as scroll
    from visits final array join \`e.offset\` as offset, \`e.name\` as name, \`e.page\` as page, \`e.hostname\` as hostname,
      \`e.title\` as title, \`e.interactive\` as interactive,
      arrayMap(at -> toUInt16(at - 1), arrayEnumerate(\`e.offset\`)) as place`)
  await clickhouse.run(`create table flat_visits ${layout("(site_id, toDate(intDiv(at, 1000)), visitor, visit)")} as
    select ${VISIT}, started_at as at, duration, pageviews, events, interactive, engaged,
      entry_page, exit_page, entry_page_hostname, exit_page_hostname, ${TRAITS} from visits final`)
  for (const name of ["flat_events", "flat_visits"]) await clickhouse.run(`optimize table ${name} final`)
  return (await bytesOf(clickhouse, "flat_events")) + (await bytesOf(clickhouse, "flat_visits"))
}
