import type { Database } from "bun:sqlite"
import type { SaleEvent } from "../../../domain/sale.ts"
import { translateErrors } from "../fault.ts"
import type { ImportedSale } from "../import-segments.ts"
import type { Journal, LaterCommit } from "../journal.ts"
import { type Memory, saveCounters } from "../memory.ts"
import type { Part, VisitOfSale } from "../part.ts"
import { lastOwnSequence, ownSequence, sharedSequence } from "../spool/sequences.ts"
import { readState } from "../tail/tails.ts"
import { insertSale, type SaleRow } from "./sale-rows.ts"

/** Changes of sale events, in the form in which a server has those of all nodes. */
export interface SaleChanges {
  /** Number of the last of these changes. */
  last: number
  /** Sale events that are new or belong to another visit. */
  stored: SaleEvent[]
  /** Sequences of sale events that were removed. */
  removed: number[]
}

/**
 * The events with revenue as rows in storage order, for the revenue area. The transaction of the event writes them into the log. Of a store
 * with a second engine, sequences are those outside the store.
 */
export interface Sales {
  /** Returns the sale events of a site after a sequence, in storage order, without those of runs that were never shown, or that the second engine does not have. */
  salesAfter(siteId: number, sequence: number, limit: number): SaleEvent[]
  /** Returns sale events of a site by sequence, as one of the others has named it. Those that were removed are left out. Also within a transaction. */
  salesBySequence(siteId: number, sequences: readonly number[]): SaleEvent[]
  /** Returns the sale events of visits of a site, given by the sequence of their first event. */
  salesByVisit(siteId: number, visits: readonly number[]): SaleEvent[]
  /**
   * Adds the sale events of imported runs to the end of the storage order, once their run is shown. Resolves with whether there were
   * any. Idempotent.
   */
  showSales(runs: readonly ShownRun[]): Promise<boolean>
  /** Deletes the sale events of visits that were removed from the second engine, given by the sequence of their first event. */
  forgetSales(siteId: number, visits: readonly number[]): Promise<void>
  /** Returns whether `showSales` has something to do. */
  hasHiddenSales(runs: readonly ShownRun[]): boolean
  /** Records from now on which sale events change, beginning with all that are stored. Call it at each start. */
  beginSaleChanges(): void
  /** Returns the next changes, without those that the second engine does not have. Undefined when there are none. */
  saleChanges(limit: number): SaleChanges | undefined
  /** Forgets changes up to a number. What is forgotten again in a power failure is returned once more. */
  forgetSaleChanges(last: number): void
}

/** An import with the last of its runs that is shown. */
interface ShownRun {
  id: number
  run: number
}

/** Number of rows per transaction. */
const SLICE = 2_000

/** Creates the lookups. `shippedBelow` returns the sequence before which the second engine has all events. */
export function salesOf(journal: Journal, shippedBelow: () => number): Sales {
  const { db } = journal
  const hasHiddenSales = (runs: readonly ShownRun[]): boolean => translateErrors(() => runs.some((one) => hasHidden(db, one)))
  /** Reads the table when it has all sales. */
  function complete<T>(read: () => T): T {
    flushSales(journal)
    return translateErrors(read)
  }
  return {
    salesAfter: (siteId, sequence, limit) => complete(() => listAfter(db, siteId, { after: sequence, before: shippedBelow(), limit })),
    salesBySequence: (siteId, sequences) => translateErrors(() => listBySequence(db, siteId, sequences)),
    salesByVisit: (siteId, visits) => complete(() => listByVisit(db, siteId, visits)),
    hasHiddenSales,
    async forgetSales(siteId, visits) {
      const sequences = visits.length === 0 ? [] : complete(() => ownSalesOfVisits(db, siteId, visits))
      const rest = await dropMostSales(db, sequences, journal.appendFree)
      journal.append(() => dropSales(db, rest))
    },
    async showSales(runs) {
      if (!hasHiddenSales(runs)) return false
      for (const one of runs) while (journal.change(() => showSlice(journal, one))) await Bun.sleep(0)
      return true
    },
    beginSaleChanges: () => journal.commit(() => beginChanges(db)),
    saleChanges: (limit) => complete(() => listChanges(db, { before: shippedBelow(), limit })),
    forgetSaleChanges: (last) => journal.append(() => db.query("delete from sale_changes where id <= ?").run(last)),
  }
}

/** Writes the sales that are only in the log into the table. What is on disk later includes them. */
export function flushSales(journal: Journal): void {
  if (!journal.memory.sales.isEmpty) journal.change(() => journal.memory.sales.flush(journal.memory.tails.lastRecord), true)
}

/** Negative sequences are those of imports that were never shown. */
const RECORD_CHANGES = `
  create table sale_changes (id integer primary key, sequence integer not null) strict;
  insert into sale_changes (sequence) select sequence from sale_events where sequence > 0 order by sequence;
  create trigger sale_changes_by_insert after insert on sale_events when new.sequence > 0 begin
    insert into sale_changes (sequence) values (new.sequence);
  end;
  create trigger sale_changes_by_update after update on sale_events when new.sequence > 0 begin
    insert into sale_changes (sequence) values (new.sequence);
  end;
  create trigger sale_changes_by_delete after delete on sale_events when old.sequence > 0 begin
    insert into sale_changes (sequence) values (old.sequence);
  end;`

function beginChanges(db: Database): void {
  if (db.query("select 1 from sqlite_schema where name = 'sale_changes'").get() === null) db.run(RECORD_CHANGES)
}

function listChanges(db: Database, { before, limit }: Omit<Between, "after">): SaleChanges | undefined {
  const sql = `select id, change.sequence, sale.visit_sequence as visit from sale_changes as change
    left join sale_events as sale on sale.sequence = change.sequence order by id limit ?`
  const changes = db.query<{ id: number; sequence: number; visit: number | null }, [number]>(sql).all(limit)
  // A visit is known by its first event, which may be the last one that arrived.
  const waiting = changes.findIndex(({ sequence, visit }) => visit !== null && Math.max(sequence, visit) >= before)
  const ready = waiting === -1 ? changes : changes.slice(0, waiting)
  if (ready.length === 0) return undefined
  const node = readState(db, "node")
  const sequences = new Set(ready.map(({ sequence }) => sequence))
  const listed = `select ${COLUMNS} from sale_events where sequence in (select value from json_each(?)) order by sequence`
  return {
    last: ready.at(-1)!.id,
    stored: readSales(db, db.query<StoredSale, [string]>(listed).all(JSON.stringify([...sequences]))),
    removed: ready.filter(({ visit }) => visit === null).map(({ sequence }) => sharedSequence(sequence, node)),
  }
}

const COLUMNS = `sequence, site_id, visit_sequence, import_id, coalesce(visit_at, at) as import_at, at, amount_minor, currency, order_id, name,
  trust, repeated as is_repeated`

type StoredSale = Omit<SaleEvent, "is_repeated" | "place"> & { is_repeated: number }

/** Converts rows in place. */
function readSales(db: Database, rows: readonly StoredSale[]): SaleEvent[] {
  const node = readState(db, "node")
  return rows.map((row) =>
    Object.assign(row, {
      sequence: sharedSequence(row.sequence, node),
      place: sharedSequence(row.sequence, node),
      visit_sequence: sharedSequence(row.visit_sequence, node),
      is_repeated: row.is_repeated === 1,
    }),
  )
}

/** Returns the sequences within this store of a list as JSON, without those of other nodes. */
function ownSequences(db: Database, sequences: readonly number[]): string {
  const node = readState(db, "node")
  return JSON.stringify(sequences.flatMap((sequence) => ownSequence(sequence, node) ?? []))
}

interface Between {
  after: number
  before: number
  limit: number
}

function listAfter(db: Database, siteId: number, { after, before, limit }: Between): SaleEvent[] {
  const own = lastOwnSequence(after, readState(db, "node"))
  const sql = `select ${COLUMNS} from sale_events indexed by sale_events_site
    where site_id = ? and sequence > ? and sequence < ? order by sequence limit ?`
  return readSales(db, db.query<StoredSale, [number, number, number, number]>(sql).all(siteId, Math.max(0, own), before, limit))
}

function listBySequence(db: Database, siteId: number, sequences: readonly number[]): SaleEvent[] {
  // The plus keeps the planner from reading all sale events of the site, of which it expects few.
  const sql = `select ${COLUMNS} from sale_events where sequence in (select value from json_each(?)) and +site_id = ? order by sequence`
  return readSales(db, db.query<StoredSale, [string, number]>(sql).all(ownSequences(db, sequences), siteId))
}

/** Returns the visits of sale events of a site by the event's sequence. */
export function listVisitsOfSales(db: Database, siteId: number, sequences: readonly number[]): VisitOfSale[] {
  // The plus as above.
  const sql = `select sequence, visit_sequence as visit, at from sale_events
    where sequence in (select value from json_each(?)) and +site_id = ?`
  const node = readState(db, "node")
  const rows = db.query<VisitOfSale, [string, number]>(sql).all(ownSequences(db, sequences), siteId)
  return rows.map((row) => ({ ...row, sequence: sharedSequence(row.sequence, node), visit: sharedSequence(row.visit, node) }))
}

function listByVisit(db: Database, siteId: number, visits: readonly number[]): SaleEvent[] {
  const sql = `select ${COLUMNS} from sale_events
    where site_id = ? and visit_sequence in (select value from json_each(?)) order by sequence`
  return readSales(db, db.query<StoredSale, [number, string]>(sql).all(siteId, ownSequences(db, visits)))
}

function ownSalesOfVisits(db: Database, siteId: number, visits: readonly number[]): number[] {
  const sql = "select sequence from sale_events where site_id = ? and visit_sequence in (select value from json_each(?)) order by sequence"
  const rows = db.query<{ sequence: number }, [number, string]>(sql).all(siteId, ownSequences(db, visits))
  return rows.map(({ sequence }) => sequence)
}

const HIDDEN = "from sale_events indexed by sale_events_pending where import_id = ? and run <= ? and sequence < 0"

const hasHidden = (db: Database, { id, run }: ShownRun): boolean => db.query(`select 1 ${HIDDEN} limit 1`).get(id, run) !== null

/** Gives some sale events of shown runs the next sequences. Returns whether more are left. In the transaction of the caller. */
function showSlice({ db, memory }: Journal, { id, run }: ShownRun): boolean {
  const sql = `select sequence ${HIDDEN} order by sequence desc limit ${SLICE}`
  const rows = db.query<{ sequence: number }, [number, number]>(sql).all(id, run)
  const show = db.query("update sale_events set sequence = ? where sequence = ?")
  for (const { sequence } of rows) show.run(memory.sequence++, sequence)
  if (rows.length > 0) saveCounters(memory)
  return rows.length === SLICE
}

/** Adds the sales of imported events, in the transaction that publishes their segments. */
export function insertSales(memory: Memory, { importId, run = 1 }: { importId: number; run?: number }, sales: readonly SaleRow[]): void {
  if (sales.length === 0) return
  for (const sale of sales) insertSale(memory.db, memory.sequence++, sale, { importId, run })
  saveCounters(memory)
}

/**
 * Returns the sequences of the sales of visits that are about to be removed, 1 in the mask. The visits must be closed. Reads in slices,
 * with other work in between.
 */
export async function salesOfVisits(db: Database, part: Part, chosen: Uint8Array): Promise<number[]> {
  const { siteId } = part
  if (db.query("select 1 from sale_events where site_id = ? limit 1").get(siteId) === null) return []
  const sql = `select sequence from sale_events
    where site_id = ? and visit_sequence in (select value from json_each(?)) order by sequence`
  const find = db.query<{ sequence: number }, [number, string]>(sql)
  const sequences = part.sequences().filter((_, visit) => chosen[visit] === 1)
  const found: number[] = []
  for (let at = 0; at < sequences.length; at += SLICE) {
    const slice = Array.from(sequences.subarray(at, at + SLICE))
    for (const { sequence } of find.all(siteId, JSON.stringify(slice))) found.push(sequence)
    await Bun.sleep(0)
  }
  return found
}

/** Returns the sequences of the sales of an import, or of one of its runs. */
export const salesOfImport = (db: Database, importId: number, run?: number): number[] =>
  db
    .query<{ sequence: number }, [number, number | null]>(
      "select sequence from sale_events where import_id = ?1 and import_id > 0 and (?2 is null or run = ?2)",
    )
    .all(importId, run ?? null)
    .map(({ sequence }) => sequence)

/**
 * Deletes sales whose visits are about to be removed, until few are left, and returns these: they are deleted in the transaction that
 * removes the visits. Deleted rows are overwritten, which takes time. An interrupted removal of many visits is repeated by its caller.
 */
export async function dropMostSales(db: Database, sequences: readonly number[], commit: LaterCommit): Promise<number[]> {
  let at = 0
  for (; sequences.length - at > SLICE; at += SLICE) {
    const slice = sequences.slice(at, at + SLICE)
    await commit(() => dropSales(db, slice))
    await Bun.sleep(0)
  }
  return sequences.slice(at)
}

/** Deletes sales, in the transaction of the caller. */
export function dropSales(db: Database, sequences: readonly number[]): void {
  if (sequences.length === 0) return
  db.query("delete from sale_events where sequence in (select value from json_each(?))").run(JSON.stringify(sequences))
}

/** Returns the sale of an imported event, which is trusted no more than a browser. */
export function importedSale(siteId: number, { props, revenue, ...row }: ImportedSale, orderProperty: string): SaleRow {
  const orderId = props.find(([key]) => key === orderProperty)?.[1] ?? ""
  return { siteId, ...row, sale: { ...revenue, orderId, trust: "client", isRepeated: false } }
}
