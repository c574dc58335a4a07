/**
 * The event store: what visitors did. Everything `write` did is on disk when it returns, and part of the next answer. One
 * writer, on the main thread; readers (reader.ts) follow beside it with handles of their own.
 *
 * Closed visits move from the log and the tail into columnar segments (`seal`); all upkeep works on segments, each change
 * in one transaction.
 */
import type { Database } from "bun:sqlite"
import type { DropReason } from "../../domain/event.ts"
import type { MigrationList } from "../migrations.ts"
import { buildSegments } from "./build.ts"
import { appliedMigrations, openDatabase } from "./database.ts"
import { type DropRow, forgetDays, latestDropSamples, listDropSamples, listDrops } from "./drops.ts"
import { translated } from "./fault.ts"
import { flushIds, forgetPeriod } from "./flush.ts"
import { Group } from "./group.ts"
import { type ImportedVisit, importTail } from "./import.ts"
import { addIngestMinutes, type IngestMinute, listIngestMinutes, oldestRecordAt } from "./ingest-minutes.ts"
import { Journal } from "./journal.ts"
import { lanesOf } from "./lanes.ts"
import { LogRecord } from "./log.ts"
import type { Memory } from "./memory.ts"
import { type RowStatements, rowStatements } from "./row-tables.ts"
import { eraseFromTail, rewriteTail, sealClosed } from "./sealing.ts"
import { forgiveSweep, owedSweeps, oweSweep, owesSweep, sweep } from "./sweep.ts"
import { readState, writeState } from "./tails.ts"
import {
  type Choose,
  dropImport,
  dropRetired,
  dropRetiredInTurn,
  eraseVisits,
  hideImport,
  insertPending,
  mergeableSites,
  mergeSite,
  turnGeneration,
} from "./upkeep.ts"
import { isTransient } from "./visitors.ts"
import type { DropSample, KeptValues, Writer } from "./writer.ts"

/** A replaced segment stays this long: longer than any report runs. */
const RETIRED_MS = 20_000

export interface EventStore {
  /** One group commit. `arrivedAt` is the server's clock. Throws StoreFault, and whatever `work` throws; then nothing was stored. */
  write<T>(arrivedAt: number, work: (writer: Writer) => T): T
  /**
   * Moves closed visits into segments where enough has gathered, or where it is a day old; with `all`, wherever there are any.
   * Goes on with what a stop has cut off of an erasure.
   */
  seal(now: number, all?: boolean): Promise<void>
  /** Joins small neighbouring segments. */
  merge(now: number): Promise<void>
  /** Removes whole visits that started before the cutoff (epoch ms). Returns how many. */
  retain(siteId: number, cutoff: number, now: number): Promise<number>
  /** Removes the chosen visits (1 in the mask) with all their events. Returns how many. */
  erase(siteId: number, choose: Choose, now: number): Promise<number>
  /** Stores visits from elsewhere, apart under their import. */
  importVisits(siteId: number, importId: number, visits: Iterable<ImportedVisit>): Promise<void>
  dropImport(siteId: number, importId: number, now: number): Promise<void>
  hideImport(siteId: number, importId: number, hidden: boolean): void
  /**
   * Destroys the lookup from rotating ids to visitors, with the salt of the period: in memory at once, in the table and in the
   * log when it resolves. Cut off it has to be called again, so the salt has to outlive it.
   */
  forgetVisitors(siteId: number, period: string): Promise<void>
  /** Removes segments that were replaced so long ago that no report reads them. */
  dropRetired(now: number): Promise<void>
  /** Epoch ms of the site's first visit, hidden imports left out; undefined without any. */
  firstAt(siteId: number): number | undefined
  /** Epoch ms of the site's youngest event of its own, imports left out; undefined without any. */
  lastAt(siteId: number): number | undefined
  drops(siteId: number, fromDay: string, toDay: string): DropRow[]
  dropSamples(siteId: number): DropSample[]
  /** The youngest over all sites, the instance's own included, with the site; at most `limit`. */
  latestDropSamples(reason: DropReason | undefined, limit: number): (DropSample & { site_id: number })[]
  /** Forgets drop counts of days before this one. */
  forgetDays(before: string): void
  /** Adds to the counts of minutes, and forgets those before an epoch minute. */
  addIngestMinutes(rows: readonly IngestMinute[], forgetBefore: number): void
  /** Epoch minutes, both ends included; of all sites together, or of one. */
  ingestMinutes(range: { from: number; to: number; siteId: number | undefined }): Omit<IngestMinute, "site_id">[]
  /** Epoch ms at which the oldest of what is not sealed yet arrived. */
  oldestUnsealedAt(): number | undefined
  /** Names of the migrations it has, columnar segments in use, and events that are in none yet. */
  facts(): { schema: string[]; segments: number; hotRows: number }
  /** One transaction on row tables of areas. Throws what `work` throws; then nothing was stored. */
  rows<T>(work: (rows: RowStatements) => T): T
  /** Counts how values are spread, for the planner; looks at a thousand rows of each index at most. */
  analyze(): void
  checkpoint(mode: "passive" | "truncate"): void
  /** Throws StoreFault while nothing can be written; a write that changes nothing. */
  probe(): void
  close(): void
}

interface EventStoreOptions {
  now: number
  /** Of this Footfall, for the record of migrations. */
  version?: string
  keptValues?: KeptValues
  /** The core's own unless those of plugins are given with them. */
  schemas?: readonly MigrationList[]
}

export function openEventStore(path: string, { now, version = "", keptValues = () => false, schemas }: EventStoreOptions): EventStore {
  const db = openDatabase(path, { now, version }, schemas)
  // Nothing reads yet: what upkeep replaced, or left half-written, before the last stop can go.
  db.transaction(() => dropRetired(db, Number.POSITIVE_INFINITY)).immediate()
  return new Store(new Journal(db, keptValues))
}

class Store implements EventStore {
  readonly #journal: Journal
  /** Used again for every group commit. */
  readonly #record = new LogRecord()
  /** Upkeep runs one after another: each reads what the one before has written. */
  #upkeep: Promise<unknown> = Promise.resolve()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get #db(): Database {
    return this.#journal.db
  }
  get #memory(): Memory {
    return this.#journal.memory
  }

  write<T>(arrivedAt: number, work: (writer: Writer) => T): T {
    return this.#journal.change(() => {
      const { tails } = this.#memory
      const record = tails.lastRecord + 1
      const group = new Group(this.#memory, { record, arrivedAt }, this.#record)
      const result = work(group)
      const sealed = group.finish()
      if (sealed) {
        const sql = "insert into log (id, arrived_at, first_sequence, record) values (?, ?, ?, ?)"
        this.#db.query(sql).run(record, arrivedAt, group.firstSequence, sealed)
        tails.lastRecord = record
      }
      return result
    })
  }

  async seal(now: number, all = false): Promise<void> {
    await this.#queued(() => sealClosed(this.#journal, now, all))
    // Apart: a sweep that cannot be done must not hold up sealing.
    await this.#queued(async () => {
      for (const siteId of owedSweeps(this.#db)) await sweep(this.#journal, siteId)
    })
  }

  merge(now: number): Promise<void> {
    return this.#queued(async () => {
      for (const siteId of mergeableSites(this.#db)) await mergeSite(this.#db, siteId, now, this.#journal.commit)
    })
  }

  retain(siteId: number, cutoff: number, now: number): Promise<number> {
    return this.erase(siteId, (part) => Uint8Array.from(part.starts(), (start) => (start < cutoff ? 1 : 0)), now, cutoff)
  }

  erase(siteId: number, choose: Choose, now: number, startsBefore = Number.POSITIVE_INFINITY): Promise<number> {
    return this.#queued(async () => {
      const wasOwed = owesSweep(this.#db, siteId)
      this.#journal.commit(() => oweSweep(this.#db, siteId))
      await flushIds(this.#journal, now)
      let fromTail = 0
      for (const lane of lanesOf(siteId)) fromTail += await eraseFromTail(this.#journal, lane, choose)
      const fromSegments = await eraseVisits(this.#db, siteId, choose, startsBefore, now, this.#journal.commit)
      if (wasOwed || fromTail + fromSegments > 0) await sweep(this.#journal, siteId)
      else this.#journal.commit(() => forgiveSweep(this.#db, siteId))
      return fromTail + fromSegments
    })
  }

  importVisits(siteId: number, importId: number, visits: Iterable<ImportedVisit>): Promise<void> {
    return this.#queued(async () => {
      const tail = await importTail(this.#journal, siteId, importId, visits)
      const added: number[] = []
      for await (const segment of buildSegments([{ part: tail }])) {
        added.push(this.#journal.commit(() => insertPending(this.#db, siteId, importId, segment)))
      }
      this.#journal.commit(() => turnGeneration(this.#db, added, [], 0))
    })
  }

  dropImport(siteId: number, importId: number, now: number): Promise<void> {
    return this.#queued(async () => {
      this.#journal.commit(() => {
        dropImport(this.#db, siteId, importId, now)
        oweSweep(this.#db, siteId)
      })
      await sweep(this.#journal, siteId)
    })
  }

  hideImport(siteId: number, importId: number, hidden: boolean): void {
    this.#journal.commit(() => hideImport(this.#db, siteId, importId, hidden))
  }

  async forgetVisitors(siteId: number, period: string): Promise<void> {
    const lastRecord = this.#memory.visitors.lastRecord(siteId, period)
    this.#memory.visitors.forget(siteId, period)
    // What no file knows is forgotten without a transaction, which might fail.
    if (isTransient(period)) return
    await this.#queued(async () => {
      await forgetPeriod(this.#journal, siteId, period)
      // Rare: a site that was quiet for a day, so that its visitors were never sealed.
      if (lastRecord > readState(this.#db, "log_floor")) await rewriteTail(this.#journal, () => true)
    })
  }

  dropRetired(now: number): Promise<void> {
    return this.#queued(() => dropRetiredInTurn(this.#db, now - RETIRED_MS, this.#journal.commit))
  }

  /** Epoch ms of the site's first visit, hidden imports left out; undefined without any. */
  firstAt(siteId: number): number | undefined {
    const sql = `select min(min_start) as start from segments
      where site_id = ? and kind = 'visits' and retired_at is null and hidden = 0`
    const sealed = translated(() => this.#db.query<{ start: number | null }, [number]>(sql).get(siteId)?.start)
    const first = Math.min(sealed ?? Number.POSITIVE_INFINITY, this.#memory.tails.find(siteId)?.minStart ?? Number.POSITIVE_INFINITY)
    return first === Number.POSITIVE_INFINITY ? undefined : first
  }

  lastAt(siteId: number): number | undefined {
    const sql = `select max(max_at) as at from segments where site_id = ? and kind = 'visits' and import_id = 0 and retired_at is null`
    const sealed = translated(() => this.#db.query<{ at: number | null }, [number]>(sql).get(siteId)?.at)
    const last = Math.max(sealed ?? 0, this.#memory.tails.find(siteId)?.maxAt ?? 0)
    return last === 0 ? undefined : last
  }

  drops(siteId: number, fromDay: string, toDay: string): DropRow[] {
    return translated(() => listDrops(this.#db, siteId, fromDay, toDay))
  }

  dropSamples(siteId: number): DropSample[] {
    return translated(() => listDropSamples(this.#db, siteId))
  }

  latestDropSamples(reason: DropReason | undefined, limit: number): (DropSample & { site_id: number })[] {
    return translated(() => latestDropSamples(this.#db, reason, limit))
  }

  addIngestMinutes(rows: readonly IngestMinute[], forgetBefore: number): void {
    this.#journal.commit(() => addIngestMinutes(this.#db, rows, forgetBefore))
  }

  ingestMinutes(range: { from: number; to: number; siteId: number | undefined }): Omit<IngestMinute, "site_id">[] {
    return translated(() => listIngestMinutes(this.#db, range))
  }

  oldestUnsealedAt(): number | undefined {
    return translated(() => oldestRecordAt(this.#db))
  }

  forgetDays(before: string): void {
    this.#journal.commit(() => forgetDays(this.#db, before))
  }

  facts(): { schema: string[]; segments: number; hotRows: number } {
    return translated(() => ({
      schema: appliedMigrations(this.#db).map(({ name }) => name),
      segments: this.#db.query<{ n: number }, []>("select count(*) as n from segments where retired_at is null").get()!.n,
      hotRows: [...this.#memory.tails.all()].reduce((sum, tail) => sum + tail.events, 0),
    }))
  }

  rows<T>(work: (rows: RowStatements) => T): T {
    return this.#journal.commit(() => work(rowStatements(this.#db)))
  }

  analyze(): void {
    this.#journal.commit(() => {
      this.#db.run("pragma analysis_limit = 1000")
      this.#db.run("analyze")
    })
  }

  checkpoint(mode: "passive" | "truncate"): void {
    translated(() => this.#db.run(`pragma wal_checkpoint(${mode})`))
  }

  probe(): void {
    this.#journal.commit(() => writeState(this.#db, "generation", readState(this.#db, "generation")))
  }

  close(): void {
    this.#db.close()
  }

  #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#upkeep.then(work)
    this.#upkeep = result.catch(() => {})
    return result
  }
}
