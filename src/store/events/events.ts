/**
 * The event store: what visitors did. Everything `write` did is on disk when it returns, and part of the next answer. One
 * writer, on the main thread; readers (reader.ts) follow beside it with handles of their own.
 *
 * Closed visits move from the log and the tail into columnar segments (`seal`); all upkeep works on segments, each change
 * in one transaction.
 */
import type { Database } from "bun:sqlite"
import { buildSegments } from "./build.ts"
import { openDatabase } from "./database.ts"
import { type DropRow, forgetDays, listDropSamples, listDrops } from "./drops.ts"
import { translated } from "./fault.ts"
import { Group } from "./group.ts"
import { type ImportedVisit, importTail } from "./import.ts"
import { Journal } from "./journal.ts"
import { LogRecord } from "./log.ts"
import type { Memory } from "./memory.ts"
import { buildPlan, planSeal, rewriteLog, sealableRecord, trimLog } from "./seal.ts"
import { blankUnreferenced, findReferences } from "./sweep.ts"
import type { SiteTail } from "./tail.ts"
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

/** Rows that one transaction of upkeep writes at most: a pause of some milliseconds. */
const SLICE = 2_000
/** Ids that only the log knows, at most, before they go into their tables also when nothing is sealed: they take memory. */
const PENDING_IDS = 50_000
/** A replaced segment stays this long: longer than any report runs. */
const RETIRED_MS = 20_000

export interface EventStore {
  /** One group commit. `arrivedAt` is the server's clock. Throws StoreFault, and whatever `work` throws; then nothing was stored. */
  write<T>(arrivedAt: number, work: (writer: Writer) => T): T
  /** Moves closed visits into segments where enough has gathered, or where it is a day old; with `all`, wherever there are any. */
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
  /** Destroys the lookup from rotating ids to visitors, with the salt of the period: in the table, in memory and in the log. */
  forgetVisitors(siteId: number, period: string): void
  /** Removes segments that were replaced so long ago that no report reads them. */
  dropRetired(now: number): Promise<void>
  /** Epoch ms of the site's first visit, hidden imports left out; undefined without any. */
  firstAt(siteId: number): number | undefined
  drops(siteId: number, fromDay: string, toDay: string): DropRow[]
  dropSamples(siteId: number): DropSample[]
  /** Forgets drop counts of days before this one. */
  forgetDays(before: string): void
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
}

export function openEventStore(path: string, { now, version = "", keptValues = () => false }: EventStoreOptions): EventStore {
  const db = openDatabase(path, { now, version })
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

  seal(now: number, all = false): Promise<void> {
    return this.#queued(async () => {
      const memory = this.#memory
      const epoch = readState(this.#db, "log_epoch")
      const floor = sealableRecord(this.#db, now)
      const plans = planSeal(memory.tails, floor, now, all)
      const { visitors, eventIds } = memory
      if (plans.length > 0 || visitors.pending + eventIds.pending > PENDING_IDS) await this.#flushIds(now)
      if (plans.length === 0) return
      const added = await buildPlan(this.#db, plans, this.#journal.commit)
      // Meanwhile a failed commit may have rebuilt memory, or a forgotten period the log: then the plan speaks of what is
      // gone, nobody sees the segments built for it, and the next seal makes a new one.
      if (memory !== this.#memory || epoch !== readState(this.#db, "log_epoch")) return
      const closed = new Map(plans.map((plan) => [plan.tail, plan.closed]))
      const kept = this.#journal.change(() => {
        turnGeneration(this.#db, added, [], now)
        this.#saveCounters()
        return rewriteLog(this.#db, memory.tails, floor, (tail, visit) => closed.get(tail)?.[visit] !== 1)
      })
      memory.tails.dropSealed(floor, kept)
      await this.#trimLog()
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
      await this.#flushIds(now)
      const fromTail = this.#eraseFromTail(siteId, choose)
      await this.#trimLog()
      const fromSegments = await eraseVisits(this.#db, siteId, choose, startsBefore, now, this.#journal.commit)
      if (fromTail + fromSegments > 0) await this.#sweep(siteId)
      return fromTail + fromSegments
    })
  }

  importVisits(siteId: number, importId: number, visits: Iterable<ImportedVisit>): Promise<void> {
    return this.#queued(async () => {
      const tail = this.#journal.change(() => {
        const imported = importTail(this.#memory, siteId, importId, visits)
        this.#saveCounters()
        return imported
      })
      const added: number[] = []
      for await (const segment of buildSegments([{ part: tail }])) {
        added.push(this.#journal.commit(() => insertPending(this.#db, siteId, importId, segment)))
      }
      this.#journal.commit(() => turnGeneration(this.#db, added, [], 0))
    })
  }

  dropImport(siteId: number, importId: number, now: number): Promise<void> {
    return this.#queued(async () => {
      this.#journal.commit(() => dropImport(this.#db, siteId, importId, now))
      await this.#sweep(siteId)
    })
  }

  hideImport(siteId: number, importId: number, hidden: boolean): void {
    this.#journal.commit(() => hideImport(this.#db, siteId, importId, hidden))
  }

  forgetVisitors(siteId: number, period: string): void {
    const { visitors } = this.#memory
    const isLogged = visitors.lastRecord(siteId, period) > readState(this.#db, "log_floor")
    // What no file knows is forgotten without a transaction, which might fail.
    if (isTransient(period)) visitors.forget(siteId, period)
    else this.#journal.change(() => visitors.forget(siteId, period))
    // Rare: a site that was quiet for a day, so that its visitors were never sealed.
    if (isLogged) this.#rewriteTail(() => true)
  }

  dropRetired(now: number): Promise<void> {
    return this.#queued(() => dropRetiredInTurn(this.#db, now - RETIRED_MS, this.#journal.commit))
  }

  /** Epoch ms of the site's first visit, hidden imports left out; undefined without any. */
  firstAt(siteId: number): number | undefined
  firstAt(siteId: number): number | undefined {
    const sql = `select min(min_start) as start from segments
      where site_id = ? and kind = 'visits' and retired_at is null and hidden = 0`
    const sealed = translated(() => this.#db.query<{ start: number | null }, [number]>(sql).get(siteId)?.start)
    const first = Math.min(sealed ?? Number.POSITIVE_INFINITY, this.#memory.tails.find(siteId)?.minStart ?? Number.POSITIVE_INFINITY)
    return first === Number.POSITIVE_INFINITY ? undefined : first
  }

  drops(siteId: number, fromDay: string, toDay: string): DropRow[] {
    return translated(() => listDrops(this.#db, siteId, fromDay, toDay))
  }

  dropSamples(siteId: number): DropSample[] {
    return translated(() => listDropSamples(this.#db, siteId))
  }

  forgetDays(before: string): void {
    this.#journal.commit(() => forgetDays(this.#db, before))
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

  /** Visits in the tail go by leaving them out when the log is written anew. */
  #eraseFromTail(siteId: number, choose: Choose): number {
    const { tails } = this.#memory
    const tail = tails.find(siteId)
    const chosen = tail ? choose(tail) : new Uint8Array(0)
    const count = chosen.reduce((sum, each) => sum + each, 0)
    if (count === 0) return 0
    this.#rewriteTail((each, visit) => each !== tail || chosen[visit] !== 1)
    return count
  }

  /** Writes the whole log anew, without what does not stay. What only the log knew goes into its tables with it. */
  #rewriteTail(stays: (tail: SiteTail, visit: number) => boolean): void {
    const { tails, visitors, eventIds } = this.#memory
    const floor = tails.lastRecord
    const kept = this.#journal.change(() => {
      visitors.flush(visitors.pending)
      eventIds.flush(eventIds.pending)
      this.#saveCounters()
      return rewriteLog(this.#db, tails, floor, stays)
    })
    tails.dropSealed(floor, kept)
  }

  async #sweep(siteId: number): Promise<void> {
    const references = await findReferences(this.#db, siteId)
    this.#journal.change(() => {
      blankUnreferenced(this.#db, this.#memory.tails, siteId, references)
      this.#memory.interner.forget(siteId)
    })
  }

  /** What only the log knew of visitors and event ids goes into their tables, in short transactions. */
  async #flushIds(now: number): Promise<void> {
    const { visitors, eventIds } = this.#memory
    for (let left = visitors.pending; left > 0; left -= SLICE) {
      this.#journal.change(() => visitors.flush(Math.min(left, SLICE)))
      await Bun.sleep(0)
    }
    for (let left = eventIds.pending; left > 0; left -= SLICE) {
      this.#journal.change(() => eventIds.flush(Math.min(left, SLICE)))
      await Bun.sleep(0)
    }
    this.#journal.change(() => {
      // What has come in meanwhile: an instance that is never idle has to forget hours too.
      eventIds.flush(eventIds.pending)
      eventIds.turnHours(now)
    })
  }

  async #trimLog(): Promise<void> {
    while (this.#journal.commit(() => trimLog(this.#db))) await Bun.sleep(0)
  }

  #saveCounters(): void {
    this.#memory.visitors.saveOrdinals()
    writeState(this.#db, "sequence", this.#memory.sequence)
  }

  #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#upkeep.then(work)
    this.#upkeep = result.catch(() => {})
    return result
  }
}
