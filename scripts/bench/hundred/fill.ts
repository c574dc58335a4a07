/**
 * Fills a store with a hundred million events in minutes: generated traffic is stored once by the production code, and its segments are
 * copied to other times or sites by the code that merges segments. Each copy has visitors and orders of its own, and each later month
 * other articles, so that dictionaries grow as on a real site.
 */
import type { Database } from "bun:sqlite"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../../plugins/index.ts"
import type { DictionaryName } from "../../../src/domain/dimension.ts"
import { pluginFacts } from "../../../src/plugin/load.ts"
import { eventSchemas, openDatabase } from "../../../src/store/events/database.ts"
import { nextNumber, numberOf, propertyDictionary } from "../../../src/store/events/dictionary/texts.ts"
import type { EventReader, Part } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { readState, writeState } from "../../../src/store/events/tail/tails.ts"
import { type BuiltSegment, buildSegments } from "../../../src/store/events/upkeep/build.ts"
import { insertPending, publishSegments } from "../../../src/store/events/upkeep/segments.ts"
import { type BenchVisit, benchData, type DataOptions } from "../stores/data.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS } from "../stores/reports.ts"
import { type Changes, CopiedPart } from "./copied-part.ts"

/** Size of the traffic that is generated, and copied. */
const GENERATED_EVENTS = 1_000_000
/** Copies that are built at the same time, because compression runs on other threads. */
const AT_ONCE = 3
const CACHE_BYTES = 2 ** 30
/** Articles above this number are replaced by new ones in each copy. */
const LASTING_ARTICLES = 120
const ARTICLES = 240
const ORDER = "order_id"

export interface Copied {
  events: number
  visitors: number
  /** Without those for generating. */
  seconds: number
  bytes: number
}

/**
 * Fills the store of a data folder, which no process has open. `days` is the whole range, and `generatedEvents` the number of events that are
 * generated and copied for one site.
 */
export async function fillCopies(path: string, options: DataOptions, generatedEvents = GENERATED_EVENTS): Promise<Copied> {
  const { events, sites, days } = options
  const copies = sites === 1 ? Math.max(1, Math.round(events / generatedEvents)) : sites
  const generatedDays = sites === 1 ? Math.ceil(days / copies) : days
  await using generated = await generate({ ...options, events: Math.round(events / copies), days: generatedDays, sites: 1 })
  const db = openDatabase(path, { now: options.end, version: "" }, eventSchemas(pluginFacts(plugins)))
  for (const pragma of ["synchronous = off", "cache_size = -65536"]) db.run(`pragma ${pragma}`)
  const from = performance.now()
  const parts = generated.reader.snapshot(1).parts
  let stored = 0
  for (let copy = 0; copy < copies; copy++) {
    const changes = sites === 1 ? laterCopy(db, generated, copy, (copies - 1 - copy) * generatedDays) : otherSite(db, generated, copy + 1)
    stored += await store(db, parts, changes)
  }
  writeState(db, "sequence", readState(generated.db, "sequence") * copies)
  db.run("pragma wal_checkpoint(truncate)")
  const seconds = (performance.now() - from) / 1_000
  db.close()
  return { events: stored, visitors: generated.visitors * (sites === 1 ? copies : 1), seconds, bytes: statSync(path).size }
}

interface Generated extends AsyncDisposable {
  db: Database
  reader: EventReader
  visitors: number
}

/** Stores generated traffic of one site in a temporary store. Each order has an id. */
async function generate(options: DataOptions): Promise<Generated> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const store = openFootfall(folder, options.end - options.days * DAY_MS)
  let orders = 0
  const withOrder = (event: BenchVisit["events"][number]) =>
    event.name === "purchase" ? { ...event, props: [...event.props, [ORDER, `2026-${++orders}`] as const] } : event
  for (const visits of benchData(options)) await store.load(visits.map((visit) => ({ ...visit, events: visit.events.map(withOrder) })))
  await store.finish()
  const db = openDatabase(store.path, { now: options.end, version: "" }, eventSchemas(pluginFacts(plugins)))
  const reader = openEventReader(store.path, { cacheBytes: CACHE_BYTES })
  const { visitorLimit } = reader.snapshot(1)
  return {
    ...{ db, reader, visitors: visitorLimit },
    async [Symbol.asyncDispose]() {
      reader.close()
      db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function store(db: Database, parts: readonly Part[], changes: Changes): Promise<number> {
  const built: BuiltSegment[] = []
  const waiting = parts.map((part) => new CopiedPart(part, changes))
  const build = async () => {
    for (let part = waiting.shift(); part; part = waiting.shift())
      for await (const segment of buildSegments([{ part }])) built.push(segment)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, build))
  built.sort((left, right) => left.min_start - right.min_start)
  db.transaction(() => {
    const ids = built.map((segment) => insertPending(db, changes.siteId, 0, segment))
    publishSegments(db, ids, [], 0)
    const visitors = built.reduce((limit, { visitor_limit }) => Math.max(limit, visitor_limit), 0)
    db.query("insert or replace into ordinals (site_id, next) values (?, ?)").run(changes.siteId, visitors)
  }).immediate()
  db.run("pragma wal_checkpoint(passive)")
  return built.reduce((sum, { events }) => sum + events, 0)
}

/** Adds the texts of a site of its own. Its rows are those of the generated traffic, under other sequences. */
function otherSite(db: Database, generated: Generated, siteId: number): Changes {
  copyTexts(db, generated.db, siteId)
  const sequences = readState(generated.db, "sequence") * (siteId - 1)
  const same = (name: DictionaryName) => Uint32Array.from({ length: nextNumber(db, siteId, name) }, (_, number) => number)
  return { siteId, laterMs: 0, sequences, visitors: 0, pages: same("page"), titles: same("title"), values: { key: 0, by: 0 } }
}

/** Adds the texts of a copy of site 1 that ends `days` before the generated traffic. */
function laterCopy(db: Database, generated: Generated, copy: number, days: number): Changes {
  if (copy === 0) copyTexts(db, generated.db, 1)
  const key = numberOf(generated.db, 1, "property", ORDER) ?? 0
  const orders = propertyDictionary(key)
  const count = nextNumber(generated.db, 1, orders) - 1
  return {
    siteId: 1,
    laterMs: -days * DAY_MS,
    sequences: readState(generated.db, "sequence") * copy,
    visitors: generated.visitors * copy,
    pages: renamed(db, generated.db, "page", (number) => `/magazine/${newArticle(number, copy)}`, /^\/magazine\/(\d+)$/),
    titles: renamed(db, generated.db, "title", (number) => `Magazine no. ${newArticle(number, copy)}`, /^Magazine no\. (\d+)$/),
    values: { key, by: copy === 0 ? 0 : addTexts(db, orders, count, (order) => `2026-${copy * count + order + 1}`) - 1 },
  }
}

const newArticle = (number: number, copy: number): number =>
  number <= LASTING_ARTICLES ? number : number + copy * (ARTICLES - LASTING_ARTICLES)

interface TextRow {
  name: DictionaryName
  id: number
  value: string
}

const INSERT = "insert into dictionary (site_id, name, id, value) values (?, ?, ?, ?)"

function copyTexts(db: Database, from: Database, siteId: number): void {
  const rows = from.query<TextRow, []>("select name, id, value from dictionary where site_id = 1").all()
  const insert = db.query(INSERT)
  db.transaction(() => {
    for (const { name, id, value } of rows) insert.run(siteId, name, id, value)
  }).immediate()
}

/** Adds texts to a dictionary of site 1. Returns the number of the first. */
function addTexts(db: Database, name: DictionaryName, count: number, textOf: (index: number) => string): number {
  const first = nextNumber(db, 1, name)
  const insert = db.query(INSERT)
  db.transaction(() => {
    for (let index = 0; index < count; index++) insert.run(1, name, first + index, textOf(index))
  }).immediate()
  return first
}

/** Returns the number of each generated text in the store, where those that match have another text in each copy. */
function renamed(db: Database, from: Database, name: DictionaryName, textOf: (number: number) => string, pattern: RegExp): Uint32Array {
  const rows = from.query<TextRow, [string]>("select name, id, value from dictionary where site_id = 1 and name = ? order by id").all(name)
  const numbers = new Uint32Array(nextNumber(from, 1, name))
  for (const { id, value } of rows) {
    const [, number] = pattern.exec(value) ?? []
    const text = number === undefined ? value : textOf(Number(number))
    numbers[id] = numberOf(db, 1, name, text) ?? addTexts(db, name, 1, () => text)
  }
  return numbers
}
