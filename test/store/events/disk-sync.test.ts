import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { openDatabase } from "../../../src/store/events/database.ts"
import { DiskSync, logOf } from "../../../src/store/events/disk-sync.ts"
import { Journal } from "../../../src/store/events/journal.ts"
import { temporaryFolder } from "../../kit.ts"

function openJournal() {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const db = openDatabase(path, { now: 0, version: "" })
  const journal = new Journal(db)
  return {
    path,
    journal,
    /** 1 is normal: a commit does not wait for the disk. 2 is full: it does. */
    level: () => db.query<{ synchronous: number }, []>("pragma synchronous").get()!.synchronous,
    [Symbol.dispose]() {
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

test("waits for the disk unless a change is unsynced", () => {
  using it = openJournal()
  expect(it.journal.change(() => it.level())).toBe(2)
  expect(it.journal.change(() => it.level(), true)).toBe(1)
  expect(it.level()).toBe(2)
  expect(it.journal.commit(() => it.level())).toBe(2)
})

test("rolls back a failed unsynced change", () => {
  using it = openJournal()
  const fail = () => {
    throw new Error("made by the test")
  }
  expect(() => it.journal.change(fail, true)).toThrow("made by the test")
  expect(it.level()).toBe(2)
  const other = new Database(it.path)
  other.run("begin immediate")
  expect(() => it.journal.change(() => {}, true)).toThrow("SQLITE_BUSY")
  other.close()
  expect(it.level()).toBe(2)
  expect(it.journal.change(() => it.level(), true)).toBe(1)
})

test("reports a log that cannot be synced", async () => {
  using it = openJournal()
  const disk = new DiskSync(logOf(it.path))
  it.journal.change(() => {}, true)
  await disk.sync()
  disk.syncNow()
  disk.close()
  await expect(disk.sync()).rejects.toMatchObject({ name: "StoreFault", kind: "fsync" })
  expect(() => disk.syncNow()).toThrow(expect.objectContaining({ kind: "fsync" }))
})

test("flushes together what is committed while another flush is running", async () => {
  using it = openJournal()
  const disk = new DiskSync(logOf(it.path))
  const first = disk.sync()
  await Promise.resolve() // the first flush has begun
  const [second, third] = [disk.sync(), disk.sync()]
  expect(second).not.toBe(first)
  expect(third).toBe(second)
  await Promise.all([first, second, third])
  expect(disk.sync()).not.toBe(second)
  await disk.sync()
  disk.close()
})
