import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { movePages } from "../../../src/store/events/checkpoint.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { StoreFault } from "../../../src/store/events/fault.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const DAY = "2026-11-21"

/** Stores events with long titles. */
function write(store: EventStore, events: number): void {
  store.write(NOON, (writer) => {
    const visitor = writer.visitor(1, DAY, { high: 1, low: 1 })
    const id = writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
    for (let number = 0; number < events; number++)
      writer.add(1, id, event({ at: NOON + number, title: `${number}`.padEnd(500, "-") }), DAY)
  })
}

const size = (path: string): number => statSync(`${path}-wal`).size

test("another thread moves the log and empties it, for which events wait", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const sizes: number[] = []
  const store: EventStore = openEventStore(path, {
    now: NOON,
    moveLog: async (file, beforeLast, isEmptied) => {
      const fault = await movePages(file, beforeLast && (async () => beforeLast()), isEmptied)
      sizes.push(size(path))
      expect(store.held()).toBeDefined()
      return fault
    },
  })
  write(store, 5_000)
  expect(store.logPages().left).toBeGreaterThan(500)
  await store.emptyLog()
  expect([sizes, size(path), store.held()]).toEqual([[0], 0, undefined])
  write(store, 1)
  await store.emptyLog()
  expect([sizes, size(path)]).toEqual([[0, 0], 0])
  store.close()
})

test("the other thread empties the log once a reader no longer prevents it", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  using reader = new Database(path, { create: true })
  const sizes: number[] = []
  const store: EventStore = openEventStore(path, {
    now: NOON,
    moveLog: async (file, beforeLast, isEmptied) => {
      const isRead = sizes.length === 0
      const during = async () => {
        beforeLast?.()
        if (!isRead) return
        write(store, 1)
        reader.run("begin")
        reader.query("select count(*) from log").get()
      }
      const fault = await movePages(file, beforeLast && during, isEmptied)
      sizes.push(size(path))
      if (isRead) reader.run("rollback")
      return fault
    },
  })
  write(store, 5_000)
  await store.emptyLog()
  expect(sizes).toEqual([expect.any(Number), 0])
  expect(sizes[0]).toBeGreaterThan(0)
  expect([size(path), store.held()]).toEqual([0, undefined])
  store.close()
})

test("a write waits until the other thread has emptied the log", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store: EventStore = openEventStore(path, {
    now: NOON,
    moveLog: async (file, beforeLast, isEmptied) => {
      beforeLast?.()
      // Longer than the writer waits for any other lock, in another process because the wait blocks this thread.
      const code = `const { Database } = require("bun:sqlite"); const db = new Database(process.argv[1]); db.run("begin immediate");
        console.log("locked"); setTimeout(() => { db.run("rollback"); db.close() }, 1_000)`
      const child = Bun.spawn([process.execPath, "-e", code, path], { stdout: "pipe" })
      await child.stdout.getReader().read()
      write(store, 1)
      await child.exited
      return movePages(file, async () => {}, isEmptied)
    },
  })
  write(store, 10)
  await store.emptyLog()
  expect(store.facts().hotRows).toBe(11)
  store.close()
})

test("a removal waits while another thread empties the log that it is writing", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const store: EventStore = openEventStore(path, {
    now: NOON,
    moveLog: async (file, beforeLast, isEmptied) => {
      beforeLast?.()
      begun.resolve()
      await goOn.promise
      return movePages(file, async () => {}, isEmptied)
    },
  })
  write(store, 5_000)
  await store.seal(NOON + 2 * 86_400_000, true)
  const emptied = store.emptyLog()
  await begun.promise
  let isOver = false
  const removed = store.eraseSite(1, NOON).finally(() => {
    isOver = true
  })
  await Bun.sleep(100)
  const pages = store.logPages().all
  await Bun.sleep(100)
  // It stands still instead of writing while the log is emptied.
  expect([isOver, store.logPages().all]).toEqual([false, pages])
  goOn.resolve()
  await emptied
  expect([await removed, store.held()]).toEqual([1, undefined])
  store.close()
})

test("a log is emptied although more is written than another thread has moved", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  let asked = 0
  const store: EventStore = openEventStore(path, {
    now: NOON,
    moveLog: (file, beforeLast, isEmptied) => {
      // A reader keeps the pages until events wait, as a fast removal does by adding more.
      using reader = new Database(file, { readonly: true })
      reader.run("begin")
      reader.query("select count(*) from log").get()
      write(store, 5_000)
      return movePages(
        file,
        beforeLast &&
          (async () => {
            asked++
            beforeLast()
          }),
        isEmptied,
      )
    },
  })
  write(store, 10)
  await store.emptyLog()
  expect([asked, size(path)]).toEqual([1, 0])
  store.close()
})

test("events need not wait until few pages are left, and only until these are moved", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const left: number[] = []
  const waits: boolean[] = []
  const store = openEventStore(path, {
    now: NOON,
    moveLog: (file, beforeLast) =>
      movePages(
        file,
        beforeLast &&
          (async () => {
            waits.push(store.held() !== undefined)
            beforeLast()
            waits.push(store.held() !== undefined)
            left.push(store.logPages().left)
          }),
      ),
  })
  write(store, 5_000)
  await store.moveLog("most")
  expect([waits, store.logPages().left]).toEqual([[], 0])
  write(store, 5_000)
  await store.moveLog("all")
  expect([waits, store.held(), store.logPages().left]).toEqual([[false, true], undefined, 0])
  expect(left[0]).toBeLessThanOrEqual(500)
  // The log starts again with the next write.
  write(store, 1)
  expect(store.logPages().all).toBeLessThan(500)
  store.close()
})

test("events need not wait for a log that a long reader keeps", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  let asked = 0
  const store = openEventStore(path, {
    now: NOON,
    moveLog: (file, beforeLast) => movePages(file, beforeLast && (async () => void asked++)),
  })
  using reader = new Database(path, { readonly: true })
  reader.run("begin")
  reader.query("select count(*) from log").get()
  write(store, 5_000)
  await store.moveLog("all")
  expect([asked, store.held()]).toEqual([0, undefined])
  expect(store.logPages().left).toBeGreaterThan(500)
  reader.run("rollback")
  store.close()
})

test("a log that cannot be moved is a fault", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON, moveLog: async () => "full" })
  write(store, 5_000)
  await expect(store.emptyLog()).rejects.toThrow(StoreFault)
  store.close()
})
