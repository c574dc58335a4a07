/**
 * The event store contains the recorded traffic. Everything that `write` stored is on disk when it returns and included in the next
 * query; what `append` stored is on disk after the next `sync`. There is one writer, on the main thread; readers (reader.ts) have
 * connections of their own.
 *
 * Closed visits move from the log and the tail into columnar segments (`seal`). Upkeep merges, rewrites and deletes segments; each
 * change becomes visible in one transaction.
 */
import type { Database } from "bun:sqlite"
import { statSync } from "node:fs"
import type { MigrationList } from "../migrations.ts"
import { type LogPages, logPages } from "./checkpoint.ts"
import { openDatabase } from "./database.ts"
import { type Identities, identitiesOf } from "./dictionary/identities.ts"
import { DiskSync, logOf } from "./disk-sync.ts"
import { type Extent, extentOf } from "./extent.ts"
import { type FaultKind, StoreFault, translateErrors } from "./fault.ts"
import { Group } from "./group.ts"
import { Journal } from "./journal.ts"
import { LogRecord } from "./log.ts"
import { type Moves, movesOf } from "./moving/moving.ts"
import type { Elsewhere, ElsewhereOf } from "./spool/dropped.ts"
import { type Spool, spoolOf } from "./spool/spool.ts"
import { type SharedNumbering, VisitorNumbers } from "./spool/visitor-numbers.ts"
import { dropForeignSums, type MonthSums, monthSumsOf } from "./tables/month-sums.ts"
import { type RowStatements, rowStatements } from "./tables/row-tables.ts"
import { type Sales, salesOf } from "./tables/sales.ts"
import { SUMS_VERSION } from "./tables/sums-version.ts"
import { type Tallies, talliesOf } from "./tables/tallies.ts"
import { type ChangedTallies, tallyChangesOf } from "./tables/tally-changes.ts"
import { readState, writeState } from "./tail/tails.ts"
import { fillSales } from "./upkeep/fill-sales.ts"
import { createPressure } from "./upkeep/pressure.ts"
import { dropRetired } from "./upkeep/segments.ts"
import { createUpkeep, type Upkeep } from "./upkeep/upkeep.ts"
import type { ExemptValues, Writer } from "./writer.ts"

export interface EventStore extends Upkeep, Extent, Tallies, ChangedTallies, Identities, Sales, Spool, Moves, MonthSums {
  /**
   * Runs one group commit. `arrivedAt` is the time by the server's clock. Throws StoreFault and any error of `work`; nothing was stored
   * then.
   */
  write<T>(arrivedAt: number, work: (writer: Writer) => T): T
  /** The same without waiting for the disk. The caller may acknowledge the events only after `sync` or `syncNow`. */
  append<T>(arrivedAt: number, work: (writer: Writer) => T): T
  /** Resolves when everything appended before is on disk. Rejects with the StoreFault `fsync` when that is uncertain. */
  sync(): Promise<void>
  /** The same, but blocks the thread. */
  syncNow(): void
  /** Runs one transaction on the row tables of areas. Throws any error of `work`; nothing was stored then. */
  rows<T>(work: (rows: RowStatements) => T): T
  /** The same without waiting for the disk. What was changed is on disk after the next `sync`. */
  appendRows<T>(work: (rows: RowStatements) => T): { result: T; isChanged: boolean }
  /** Updates the statistics of the query planner. Reads at most 1,000 rows of each index. */
  analyze(): void
  /** Sets the values that have no daily limit. Called once, as soon as the catalog that names them is read. */
  exempt(values: ExemptValues): void
  checkpoint(mode: "passive" | "truncate"): void
  /** Moves the write-ahead log into the file and empties it, so that what was erased is in neither. It does not wait for the disk on this thread. */
  emptyLog(): Promise<void>
  /** Moves most pages of the write-ahead log into the file on another thread; with `all`, all of them, so that the log starts again. */
  moveLog(share: "most" | "all"): Promise<void>
  /** Resolves when the last pages of the log are moved, for which events should wait. Undefined when they need not. */
  held(): Promise<void> | undefined
  /** Returns the number of pages in the write-ahead log. */
  logPages(): LogPages
  /**
   * Sets the work that is started when the tail should be sealed at once. The store waits for its end before it starts it again. It
   * should report its own faults.
   */
  onSealDue(seal: () => Promise<void>): void
  /** Resolves once sealing has made room for events that their sender can hold back. Undefined when there is room. */
  room(): Promise<void> | undefined
  /** Commits a write without effect. Throws StoreFault when the store cannot be written. */
  probe(): void
  /**
   * Makes the store the source of a second engine, with everything that it contains. Call it at each start, with the function that returns
   * the key of a site's pseudonyms. Sales are then announced when the engine has their events. `elsewhere` tells what the engine has; without it,
   * nothing must be dropped. With `isMove`, the engine's copy does not count before `completeMove`.
   */
  beginShipping(node: number, siteKey: SiteKeyOf, elsewhere?: Elsewhere, isMove?: boolean): void
  /** Returns the numbers by which the second engine knows the visitors of a site. Only after `beginShipping`. */
  sharedNumbers(siteId: number): Promise<SharedNumbering>
  /** Sets the listener that is called after a commit with sales, once for each site. It must not throw. */
  onSales(listener: (siteId: number) => void): void
  close(): void
}

interface EventStoreOptions {
  now: number
  /** The program's version, which is recorded with applied migrations. */
  version?: string
  /** Default: the core's migrations without those of plugins. */
  schemas?: readonly MigrationList[]
  /** Memory for what is not sealed, here and in each reader. Default: 32 MiB. */
  tailBytes?: number
  /** Runs `movePages` on another thread. Default: the log is moved on this thread. */
  moveLog?: MoveLog
}

type SiteKeyOf = (siteId: number) => Promise<Uint8Array>

/** Moves pages from the log of a store into its file, as `movePages` does. */
export type MoveLog = (path: string, beforeLast?: () => void, isEmptied?: boolean) => Promise<FaultKind | null>

const TAIL_BYTES = 32 << 20

/** Pauses between the attempts to empty the log, together as long as a reader may keep it. The copy of a backup keeps it longer. */
const EMPTYING_PAUSES_MS = [50, 200, 500, 1_250, 3_000]

export function openEventStore(
  path: string,
  { now, version = "", schemas, tailBytes = TAIL_BYTES, moveLog }: EventStoreOptions,
): EventStore {
  const db = openDatabase(path, { now, version }, schemas)
  // There are no readers yet, so segments that were replaced or left unfinished before the last stop can be deleted.
  const dropUnused = () => {
    dropRetired(db, Number.POSITIVE_INFINITY)
    dropForeignSums(db, SUMS_VERSION)
  }
  db.transaction(dropUnused).immediate()
  const journal = new Journal(db)
  fillSales(journal)
  return createStore(journal, { tailBytes, moveLog })
}

const noKeys = () => Promise.reject(new Error("A store with a spool needs the keys of sites"))

interface StoreOptions {
  tailBytes: number
  moveLog: MoveLog | undefined
}

function createStore(journal: Journal, { tailBytes, moveLog }: StoreOptions): EventStore {
  const { db } = journal
  const disk = new DiskSync(logOf(db.filename))
  /** Reused for every group commit. */
  const logRecord = new LogRecord()
  let siteKey: SiteKeyOf = noKeys
  let numbers: VisitorNumbers | undefined
  let elsewhere: ElsewhereOf | undefined
  const spool = spoolOf(journal)
  /** Sites with sales that the second engine may not have, with the sequence before which these are. */
  const unannounced = new Map<number, number>()
  let announceSales: (siteId: number) => void = () => {}
  const pressure = createPressure({ tailBytes })
  let latestMove: Promise<void> = Promise.resolve()

  const sharedNumbers = (siteId: number) => numbers?.numbering(siteId) ?? Promise.reject(new Error("There is no second engine"))
  const ordinalsOf = async (siteId: number, wanted: readonly number[]) => (await numbers?.ordinals(siteId, wanted)) ?? wanted

  const checkpoint = (mode: "passive" | "truncate") => translateErrors(() => db.run(`pragma wal_checkpoint(${mode})`))

  const logBytes = () => statSync(logOf(db.filename)).size

  /** Moves the log into the file. Events wait while the last pages are moved, unless only most are, and while the log is emptied. */
  async function moveIntoFile(move: MoveLog, share: "most" | "all", isEmptied = false): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const hold = () => {
      journal.held = promise
      journal.isEmptying = isEmptied
    }
    try {
      const fault = await move(db.filename, share === "all" ? hold : undefined, isEmptied)
      if (fault) throw new StoreFault(fault, "The log of the event store could not be moved into its file")
    } finally {
      journal.held = undefined
      journal.isEmptying = false
      resolve()
    }
  }

  async function moveShare(share: "most" | "all"): Promise<void> {
    if (!moveLog) checkpoint("passive")
    else if (translateErrors(() => logPages(db)).left > 0) await moveIntoFile(moveLog, share)
  }

  /** Empties the log on another thread, because this one would wait for the file system, and tries again while a reader prevents it. */
  async function emptyLog(): Promise<void> {
    if (!moveLog) return void checkpoint("truncate")
    for (const pause of EMPTYING_PAUSES_MS) {
      if (logBytes() > 0) await moveIntoFile(moveLog, "all", true)
      if (logBytes() === 0) return
      await Bun.sleep(pause)
    }
  }

  /** Two threads of ours that move the log would lock each other out. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const result = latestMove.then(work)
    latestMove = result.catch(() => {})
    return result
  }

  function commitGroup<T>(arrivedAt: number, work: (writer: Writer) => T, unsynced = false): T {
    const { result, soldOn } = journal.change(() => groupCommit(arrivedAt, work), unsynced)
    for (const siteId of soldOn) unannounced.set(siteId, journal.memory.sequence)
    if (unannounced.size > 0) announceShipped()
    pressure.update(journal.memory)
    return result
  }

  function announceShipped(): void {
    const below = spool.shippedBelow()
    for (const [siteId, sequence] of unannounced) {
      if (sequence > below) continue
      unannounced.delete(siteId)
      announceSales(siteId)
    }
  }

  function groupCommit<T>(arrivedAt: number, work: (writer: Writer) => T): { result: T; soldOn: ReadonlySet<number> } {
    const { memory } = journal
    const record = memory.tails.lastRecord + 1
    const group = new Group(memory, { record, arrivedAt }, logRecord)
    const result = work(group)
    const sealed = group.finish()
    if (sealed) {
      const sql = "insert into log (id, arrived_at, first_sequence, record) values (?, ?, ?, ?)"
      db.query(sql).run(record, arrivedAt, group.firstSequence, sealed)
      memory.tails.lastRecord = record
    }
    return { result, soldOn: group.soldOn }
  }

  return {
    ...createUpkeep(journal, {
      tailBytes,
      siteKey: (siteId) => siteKey(siteId),
      ordinalsOf,
      sync: () => disk.sync(),
      counted: spool.positions,
      elsewhere: () => elsewhere,
    }),
    ...extentOf(journal),
    ...talliesOf(journal),
    ...tallyChangesOf(journal),
    ...identitiesOf(journal, () => numbers),
    ...monthSumsOf(journal, SUMS_VERSION),
    ...salesOf(journal, spool.shippedBelow),
    ...spool,
    ...movesOf(journal, sharedNumbers),
    sharedNumbers,
    confirmShipped(record, segments, now) {
      spool.confirmShipped(record, segments, now)
      announceShipped()
    },
    write: (arrivedAt, work) => commitGroup(arrivedAt, work),
    append: (arrivedAt, work) => commitGroup(arrivedAt, work, true),
    sync: () => disk.sync(),
    syncNow: () => disk.syncNow(),
    rows: (work) => journal.commit(() => work(rowStatements(db))),
    appendRows(work) {
      const before = changesOf(db)
      const result = journal.append(() => work(rowStatements(db)))
      return { result, isChanged: changesOf(db) !== before }
    },
    analyze() {
      journal.commit(() => {
        db.run("pragma analysis_limit = 1000")
        db.run("analyze")
      })
    },
    exempt: (values) => journal.exempt(values),
    checkpoint,
    emptyLog: () => inTurn(emptyLog),
    moveLog: (share) => inTurn(() => moveShare(share)),
    held: () => journal.held,
    logPages: () => translateErrors(() => logPages(db)),
    onSealDue: pressure.onSealDue,
    room: pressure.room,
    probe() {
      journal.commit(() => writeState(db, "generation", readState(db, "generation")))
    },
    beginShipping(node, given, engine, isMove = false) {
      siteKey = given
      const shared = new VisitorNumbers(journal, node, given)
      numbers = shared
      elsewhere = engine && {
        texts: engine.texts,
        async visitors(siteId, ordinals) {
          const ofSite = await shared.of(siteId, ordinals)
          const found = await engine.visitors(siteId, ofSite)
          return ordinals.filter((_, at) => found.has(ofSite[at]!))
        },
      }
      spool.begin(node, isMove)
    },
    onSales(listener) {
      announceSales = listener
    },
    close() {
      disk.close()
      db.close()
    },
  }
}

/** Returns the number of rows that the connection has changed since it was opened. */
const changesOf = (db: Database): number => db.query<{ n: number }, []>("select total_changes() as n").get()!.n // it returns a row
