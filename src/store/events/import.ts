import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../domain/dimension.ts"
import { DEFAULT_SETTINGS } from "../../domain/site.ts"
import { TRAITS, VISITOR_KINDS } from "../../domain/visit.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import { DISCARDED, type Interner } from "./dictionary/interner.ts"
import { fixedTexts, propertyDictionary } from "./dictionary/texts.ts"
import { translateErrors } from "./fault.ts"
import { Group } from "./group.ts"
import type { PackedText, VisitBatch } from "./import-batch.ts"
import type { Journal } from "./journal.ts"
import { LogRecord } from "./log.ts"
import { type Memory, saveCounters } from "./memory.ts"
import { runStepsYielding, type Steps } from "./steps.ts"
import { importedSale, type SaleRow } from "./tables/sales.ts"
import type { SegmentRows } from "./upkeep/build.ts"
import type { Hash64 } from "./writer.ts"

/** The import and run that rows belong to. */
export interface ImportTarget {
  siteId: number
  importId: number
  /** 1, or for an import that grows the number of the run. Default: 1. */
  run?: number
}

/** Where imported visits are stored. */
export interface ImportPlace extends ImportTarget {
  /** Kind of records to store instead of visits, each as a visit of one event. */
  kind?: SegmentKind
  /** Ordinals of visitors that have names, from earlier calls. New visitors are added. */
  visitors?: Map<string, number>
  /** Ordinal of the visitor with the number 0. */
  firstOrdinal?: number
  /** Returns the person key of a user. Without it, visits of users belong to their own visitors. */
  personOf?: (userId: string) => Hash64
  /** Property with the order id of a sale. Default: that of a new site. */
  orderProperty?: string
  /** Returns the position to store with the rows, in the same transaction. Called when all rows were read. */
  cursor?: () => ImportCursor
}

/** How far a run has come. The counts include the batch that the position is stored with. */
export interface ImportCursor {
  /** JSON of the caller's own. */
  position: string
  visits: number
  rows: number
  batches: number
}

/** Time for which the writer is held before other work gets a turn. */
const SLICE_MS = 2
/** Items between two looks at the clock. */
const UNTIMED = 16
/** Names of visitors that are looked up at once, in about the same time. */
const NAMES = 80

/** A batch with the numbers of the site, and the sales among its events. */
interface NumberedBatch {
  rows: SegmentRows
  sales: readonly SaleRow[]
}

/**
 * Replaces the numbers of a batch by those of the site. New texts and assigned numbers become durable slice by slice; without the segments
 * they have no effect.
 */
export async function numberBatch(journal: Journal, place: ImportPlace, batch: VisitBatch): Promise<NumberedBatch> {
  const { siteId, orderProperty = DEFAULT_SETTINGS.order_property } = place
  const numbers = new SiteNumbers(place)
  await inSlices(journal, batch.texts(), (memory, text) => numbers.add(memory.interner, text))
  const first = journal.change(() => reserveSequences(journal.memory, batch.events), true)
  await numberVisitors(journal, place, batch)
  await runStepsYielding(renumber(batch, numbers))
  const rows = rowsOf(batch, first)
  const [sequences, starts] = [rows.sequences(), rows.starts()]
  const sales = batch.sales().map(({ visit, at, name, ...event }): SaleRow => {
    const sale = importedSale(event, orderProperty)! // only events with revenue are sales
    return { siteId, visitSequence: sequences[visit]!, visitAt: starts[visit]!, at, name, sale }
  })
  return { rows, sales: [...sales] }
}

/** Works on items in transactions of a few milliseconds, with other work in between. None of them waits for the disk. */
async function inSlices<Item>(journal: Journal, items: Iterator<Item>, work: (memory: Memory, item: Item) => void): Promise<void> {
  let next = items.next()
  const workOn = () => {
    const until = performance.now() + SLICE_MS
    while (!next.done && performance.now() < until)
      for (let left = UNTIMED; left > 0 && !next.done; left--) {
        work(journal.memory, next.value)
        next = items.next()
      }
    saveCounters(journal.memory)
  }
  // The commit that publishes the segments waits for the disk, and with it for all commits before.
  for (; !next.done; await Bun.sleep(0)) journal.change(workOn, true)
}

/** The numbers that a site has for the texts of a batch. */
class SiteNumbers {
  readonly #siteId: number
  readonly #importId: number
  readonly #numbers = new Map<DictionaryName, number[]>()
  /** The properties by their number in the batch. */
  readonly #properties: string[] = []

  constructor({ siteId, importId }: ImportTarget) {
    this.#siteId = siteId
    this.#importId = importId
  }

  /** Adds the next text of a dictionary. */
  add(interner: Interner, { name, property, text, day }: PackedText): void {
    const numbers = this.of(name)
    // New values of an import are counted apart from those that the site itself collects on that day.
    const counted = `${day} import ${this.#importId}`
    const number = (of: DictionaryName, key?: string) => interner.number(this.#siteId, of, text, counted, ignoreLimit, key)
    if (property === undefined) {
      if (name === "property") this.#properties[numbers.length] = text
      numbers.push(number(name))
      return
    }
    const key = this.of("property")[property]!
    numbers.push(key === DISCARDED ? DISCARDED : number(propertyDictionary(key), this.#properties[property]))
  }

  of(name: DictionaryName): number[] {
    let numbers = this.#numbers.get(name)
    if (!numbers) {
      numbers = fixedTexts(name).map((_, number) => number)
      this.#numbers.set(name, numbers)
    }
    return numbers
  }
}

/** Values over the limit of a day are stored as `(other)`. An import does not report how many it had. */
const ignoreLimit = (): void => {}

/** Returns the first of a number of sequences, which are reserved. In the transaction of the caller. */
function reserveSequences(memory: Memory, count: number): number {
  const first = memory.sequence
  memory.sequence += count
  saveCounters(memory)
  return first
}

/** Replaces the visitors of a batch by ordinals of the site. */
async function numberVisitors(journal: Journal, place: ImportPlace, batch: VisitBatch): Promise<void> {
  const { siteId, visitors = new Map<string, number>(), firstOrdinal = 0, personOf } = place
  const [column, kinds] = [batch.column("visitor"), batch.column("visitor_kind")]
  const names = batch.names()
  if (names.length > 0) {
    const ordinals: number[] = []
    await inSlices(journal, names.values(), (memory, name) => void ordinals.push(ordinalOf(memory, siteId, visitors, name)))
    for (let visit = 0; visit < column.length; visit++) column[visit] = ordinals[column[visit]!]!
  } else for (let visit = 0; visit < column.length; visit++) column[visit]! += firstOrdinal
  if (!personOf) return
  const record = new LogRecord()
  const starts = batch.starts()
  await inSlices(journal, batch.people(), (memory, { visit, userId }) => {
    const kind = VISITOR_KINDS[kinds[visit]!] === "device" ? "device" : "user"
    // The visitor was identified at the start of the visit. Imports are not logged.
    const group = new Group(memory, { record: 0, arrivedAt: 0 }, record)
    column[visit] = group.identified(siteId, { key: personOf(userId), kind, userId: "", at: starts[visit]! })
  })
}

function ordinalOf(memory: Memory, siteId: number, ordinals: Map<string, number>, name: string): number {
  const known = ordinals.get(name)
  if (known !== undefined) return known
  const ordinal = memory.visitors.nextOrdinal(siteId)
  memory.visitors.reserve(siteId, ordinal)
  ordinals.set(name, ordinal)
  return ordinal
}

/** Replaces the numbers of texts, column by column. */
function* renumber(batch: VisitBatch, numbers: SiteNumbers): Steps<void> {
  const replace = (column: string, name: DictionaryName) => {
    const [values, known] = [batch.column(column), numbers.of(name)]
    for (let row = 0; row < values.length; row++) values[row] = known[values[row]!]!
  }
  for (const trait of TRAITS) {
    replace(trait, trait)
    yield
  }
  for (const column of ["entry_page", "exit_page"]) replace(column, "page")
  for (const column of ["entry_page_hostname", "exit_page_hostname"]) replace(column, "hostname")
  yield
  for (const name of ["name", "page", "hostname", "title"] as const) {
    replace(`event.${name}`, name)
    yield
  }
  replace("revenue.currency", "currency")
  const [keys, values] = [batch.column("props.key"), batch.column("props.value")]
  // `DISCARDED` is no unsigned number, so it becomes the largest one.
  for (let row = 0; row < values.length; row++) values[row] = numbers.of(propertyDictionary(keys[row]!))[values[row]!]!
  yield
  replace("props.key", "property")
}

/** Returns the rows of a batch as they are stored. Properties over the limit of their site are left out. */
function rowsOf(batch: VisitBatch, firstSequence: number): SegmentRows {
  const sequences = new Float64Array(batch.visits)
  const visitOf = batch.column("event.visit")
  for (let row = visitOf.length - 1; row >= 0; row--) sequences[visitOf[row]!] = firstSequence + row
  const keys = batch.column("props.key")
  const isKept = (_: number, row: number) => keys[row] !== DISCARDED >>> 0
  const kept = (name: string) => batch.column(name).filter(isKept)
  const props = { row: kept("props.row"), key: kept("props.key"), value: kept("props.value") }
  const column = (name: string) => batch.column(name)
  const revenue = { row: column("revenue.row"), amount: batch.amounts(), currency: column("revenue.currency") }
  const engagement = { row: column("engagement.row"), engaged: column("engagement.engaged"), scroll: column("engagement.scroll") }
  const vital = (name: string) => column(`vitals.${name}`)
  const vitals = { row: vital("row"), lcp: vital("lcp"), inp: vital("inp"), fcp: vital("fcp"), ttfb: vital("ttfb"), cls: vital("cls") }
  return {
    visits: batch.visits,
    events: batch.events,
    starts: () => batch.starts(),
    sequences: () => sequences,
    visit: column,
    event: (name) => column(`event.${name}`),
    props: () => props,
    revenue: () => revenue,
    engagement: () => engagement,
    vitals: () => vitals,
  }
}

/** Reserves ordinals for visitors that are numbered from 0. Returns the first one. In the transaction of the caller. */
export function reserveVisitors(memory: Memory, siteId: number, count: number): number {
  const first = memory.visitors.nextOrdinal(siteId)
  if (count > 0) memory.visitors.reserve(siteId, first + count - 1)
  saveCounters(memory)
  return first
}

/** Stores how far a run has come. In the transaction of the caller. */
export function writeCursor(
  db: Database,
  { siteId, importId, run = 1 }: ImportTarget,
  { position, visits, rows, batches }: ImportCursor,
): void {
  const sql = `insert into import_cursors (import_id, run, site_id, position, visits, rows, batches) values (?, ?, ?, ?, ?, ?, ?)
    on conflict do update set position = excluded.position, visits = excluded.visits, rows = excluded.rows, batches = excluded.batches`
  db.query(sql).run(importId, run, siteId, position, visits, rows, batches)
}

export function readCursor(db: Database, importId: number, run: number): ImportCursor | undefined {
  const sql = "select position, visits, rows, batches from import_cursors where import_id = ? and run = ?"
  return db.query<ImportCursor, [number, number]>(sql).get(importId, run) ?? undefined
}

/**
 * Returns the ordinals of visitors of an import that grows. Their names are hashes in hex. New ones get the next ordinals and are stored
 * with the run, a slice at a time.
 */
export async function nameVisitors(
  journal: Journal,
  { siteId, importId, run = 1 }: ImportTarget,
  names: readonly string[],
): Promise<Map<string, number>> {
  const ordinals = new Map<string, number>()
  for (let at = 0; at < names.length; at += NAMES) {
    const slice = names.slice(at, at + NAMES)
    const unknown = translateErrors(() => slice.filter((name) => !readVisitor(journal.db, importId, name, ordinals)))
    if (unknown.length > 0)
      journal.change(() => {
        const first = reserveVisitors(journal.memory, siteId, unknown.length)
        const insert = journal.db.query("insert into import_visitors (import_id, key, ordinal, run) values (?, ?, ?, ?)")
        for (const [index, name] of unknown.entries()) {
          insert.run(importId, Buffer.from(name, "hex"), first + index, run)
          ordinals.set(name, first + index)
        }
      })
    await Bun.sleep(0)
  }
  return ordinals
}

/** Adds the ordinal of a stored visitor. Returns false for a new one. */
function readVisitor(db: Database, importId: number, name: string, ordinals: Map<string, number>): boolean {
  const find = db.query<{ ordinal: number }, [number, Buffer]>("select ordinal from import_visitors where import_id = ? and key = ?")
  const found = find.get(importId, Buffer.from(name, "hex"))
  if (found) ordinals.set(name, found.ordinal)
  return found !== null
}

/** Returns the number of visitors that a run of an import was the first to have. */
export const countVisitors = (db: Database, importId: number, run: number): number =>
  db.query<{ n: number }, [number, number]>("select count(*) as n from import_visitors where import_id = ? and run = ?").get(importId, run)!
    .n
