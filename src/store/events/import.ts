import type { Database } from "bun:sqlite"
import type { NewEvent } from "../../domain/event.ts"
import { DEFAULT_SETTINGS } from "../../domain/site.ts"
import type { VisitorKind, VisitTraits } from "../../domain/visit.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import { translateErrors } from "./fault.ts"
import { Group } from "./group.ts"
import type { Journal } from "./journal.ts"
import { LogRecord } from "./log.ts"
import { type Memory, saveCounters } from "./memory.ts"
import { importedSale, type SaleRow } from "./tables/sales.ts"
import type { SiteTail } from "./tail/tail.ts"
import { Tails } from "./tail/tails.ts"
import type { Hash64 } from "./writer.ts"

/** A visit from another product's export or a log file. Visitors of an import never merge with native ones, except by person key. */
export interface ImportedVisit {
  /** Distinguishes visitors: a name, or a number below the count that was reserved with `reserveVisitors`. */
  visitor: string | number
  /** Makes the visitor that of `identify()` with this key, whatever its name. */
  person?: Hash64
  /** How the visitor was recognized in the source. Default: rotating. */
  visitorKind?: VisitorKind
  traits: VisitTraits
  /** In order of time; at least one is not an engagement. */
  events: readonly NewEvent[]
  /** The site's local day of the start, by which new values are counted. */
  day: string
}

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

/** Number of events that are read and stored before other work gets a turn: two or three milliseconds. */
const SLICE = 80

/** Visits that are collected for an import, with the sales among their events. */
interface CollectedVisits {
  tail: SiteTail
  sales: readonly SaleRow[]
}

/**
 * Collects visits in a tail apart from the site's, which is turned into segments at once and never logged. New texts and assigned
 * numbers become durable slice by slice; without the segments they have no effect.
 */
export async function importTail(journal: Journal, place: ImportPlace, visits: Iterable<ImportedVisit>): Promise<CollectedVisits> {
  const { siteId, importId, visitors = new Map<string, number>(), firstOrdinal = 0 } = place
  const { orderProperty = DEFAULT_SETTINGS.order_property } = place
  const sales: ImportedSale[] = []
  const record = new LogRecord()
  const importing = { siteId, importId, tails: new Tails(), ordinals: visitors, firstOrdinal, orderProperty, sales, record }
  for (const slice of slicesOf(visits)) {
    // The commit that publishes the segments waits for the disk, and with it for all commits before.
    journal.change(() => addVisits(journal.memory, importing, slice), true)
    await Bun.sleep(0)
  }
  const tail = importing.tails.tail(siteId)
  const rowOf = ({ visitId, ...sale }: ImportedSale): SaleRow => ({
    ...{ ...sale, siteId, visitSequence: tail.firstSequence(visitId), visitAt: tail.start(visitId) },
  })
  return { tail, sales: sales.map(rowOf) }
}

/** A sale of an imported visit, whose first event may still change. */
type ImportedSale = Omit<SaleRow, "siteId" | "visitSequence"> & { visitId: number }

interface Importing {
  siteId: number
  importId: number
  tails: Tails
  ordinals: Map<string, number>
  firstOrdinal: number
  orderProperty: string
  sales: ImportedSale[]
  /** Reused for every slice. Imports are not logged. */
  record: LogRecord
}

function addVisits(memory: Memory, importing: Importing, visits: readonly ImportedVisit[]): void {
  const { siteId, importId, tails } = importing
  const importMemory: Memory = { ...memory, tails }
  const group = new Group(importMemory, { record: 0, arrivedAt: 0 }, importing.record)
  for (const visit of visits) {
    const { visitorKind = "rotating", traits, events, day } = visit
    const ordinal = visit.person ? personOf(group, siteId, visit.person, visit) : ordinalOf(memory, importing, visit.visitor)
    // New values of an import are counted apart from those that the site itself collects on that day.
    const counted = `${day} import ${importId}`
    const visitId = group.openVisit(siteId, { rotating: ordinal, visitor: ordinal, visitorKind, traits }, counted)
    for (const event of events) {
      group.add(siteId, visitId, event, counted)
      const sale = importedSale(event, importing.orderProperty)
      if (sale) importing.sales.push({ visitId, at: event.at, name: event.name, sale })
    }
  }
  memory.sequence = importMemory.sequence
  saveCounters(memory)
}

/** Returns the visitor of `identify()`, who was identified at the start of the visit. */
function personOf(group: Group, siteId: number, key: Hash64, { visitorKind, events }: ImportedVisit): number {
  return group.identified(siteId, { key, kind: visitorKind === "device" ? "device" : "user", userId: "", at: events[0]!.at })
}

function ordinalOf(memory: Memory, { siteId, ordinals, firstOrdinal }: Importing, visitor: string | number): number {
  if (typeof visitor === "number") return firstOrdinal + visitor
  const known = ordinals.get(visitor)
  if (known !== undefined) return known
  const ordinal = memory.visitors.nextOrdinal(siteId)
  memory.visitors.reserve(siteId, ordinal)
  ordinals.set(visitor, ordinal)
  return ordinal
}

/** Reserves ordinals for visitors that are numbered from 0. Returns the first one. In the transaction of the caller. */
export function reserveVisitors(memory: Memory, siteId: number, count: number): number {
  const first = memory.visitors.nextOrdinal(siteId)
  if (count > 0) memory.visitors.reserve(siteId, first + count - 1)
  saveCounters(memory)
  return first
}

function* slicesOf(visits: Iterable<ImportedVisit>): Generator<ImportedVisit[]> {
  let slice: ImportedVisit[] = []
  let events = 0
  for (const visit of visits) {
    slice.push(visit)
    events += visit.events.length
    if (events < SLICE) continue
    yield slice
    slice = []
    events = 0
  }
  if (slice.length > 0) yield slice
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
  for (let at = 0; at < names.length; at += SLICE) {
    const slice = names.slice(at, at + SLICE)
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
