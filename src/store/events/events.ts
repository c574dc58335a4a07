/**
 * The event store contains the recorded traffic. Everything that `write` stored is on disk when it returns, and part of the next
 * answer; what `append` stored is on disk after the next `sync`. There is one writer, on the main thread; readers (reader.ts) use
 * their own file handles.
 *
 * Closed visits move from the log and the tail into columnar segments (`seal`); all upkeep works on segments, each change
 * in one transaction.
 */
import type { MigrationList } from "../migrations.ts"
import { openDatabase } from "./database.ts"
import { DiskSync } from "./disk-sync.ts"
import { type Extent, extentOf } from "./extent.ts"
import { translated } from "./fault.ts"
import { Group } from "./group.ts"
import { Journal } from "./journal.ts"
import { LogRecord } from "./log.ts"
import { type RowStatements, rowStatements } from "./tables/row-tables.ts"
import { type Tallies, talliesOf } from "./tables/tallies.ts"
import { readState, writeState } from "./tail/tails.ts"
import { type Upkeep, upkeepRuns } from "./upkeep/runs.ts"
import { dropRetired } from "./upkeep/upkeep.ts"
import type { KeptValues, Writer } from "./writer.ts"

export interface EventStore extends Upkeep, Extent, Tallies {
  /** One group commit. `arrivedAt` is the server's clock. Throws StoreFault, and whatever `work` throws; then nothing was stored. */
  write<T>(arrivedAt: number, work: (writer: Writer) => T): T
  /** The same without waiting for the disk: nothing of it may be acknowledged before `sync` or `syncNow`. */
  append<T>(arrivedAt: number, work: (writer: Writer) => T): T
  /** Resolves when everything appended before is on disk. Rejects with the StoreFault `fsync`: then nobody knows. */
  sync(): Promise<void>
  /** The same, while the caller waits. */
  syncNow(): void
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
  return storeOver(new Journal(db, keptValues))
}

function storeOver(journal: Journal): EventStore {
  const { db } = journal
  const disk = new DiskSync(db.filename)
  /** Used again for every group commit. */
  const logRecord = new LogRecord()

  function groupCommit<T>(arrivedAt: number, work: (writer: Writer) => T): T {
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
    return result
  }

  return {
    ...upkeepRuns(journal),
    ...extentOf(journal),
    ...talliesOf(journal),
    write: (arrivedAt, work) => journal.change(() => groupCommit(arrivedAt, work)),
    append: (arrivedAt, work) => journal.change(() => groupCommit(arrivedAt, work), true),
    sync: () => disk.later(),
    syncNow: () => disk.now(),
    rows: (work) => journal.commit(() => work(rowStatements(db))),
    analyze() {
      journal.commit(() => {
        db.run("pragma analysis_limit = 1000")
        db.run("analyze")
      })
    },
    checkpoint(mode) {
      translated(() => db.run(`pragma wal_checkpoint(${mode})`))
    },
    probe() {
      journal.commit(() => writeState(db, "generation", readState(db, "generation")))
    },
    close() {
      disk.close()
      db.close()
    },
  }
}
