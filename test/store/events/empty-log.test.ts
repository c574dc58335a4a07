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

test("another thread moves the log, and it is empty afterwards", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const moved: string[] = []
  const store = openEventStore(path, {
    now: NOON,
    moveLog: async (file) => {
      moved.push(file)
      return movePages(file)
    },
  })
  await store.emptyLog()
  expect(statSync(`${path}-wal`).size).toBe(0)
  await store.emptyLog()
  expect(moved).toEqual([path])
  write(store, 5_000)
  expect(store.logPages().left).toBeGreaterThan(500)
  await store.emptyLog()
  expect(moved).toEqual([path, path])
  expect(statSync(`${path}-wal`).size).toBe(0)
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
