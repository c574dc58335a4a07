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

test("another thread moves a long log, and it is empty afterwards", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const moved: string[] = []
  const moveLog = async (file: string) => {
    moved.push(file)
    return movePages(file)
  }
  const store = openEventStore(path, { now: NOON, moveLog })
  await store.emptyLog()
  write(store, 10)
  await store.emptyLog()
  expect(moved).toEqual([])
  expect(statSync(`${path}-wal`).size).toBe(0)
  write(store, 5_000)
  expect(store.logPages().left).toBeGreaterThan(500)
  await store.emptyLog()
  expect(moved).toEqual([path])
  expect(statSync(`${path}-wal`).size).toBe(0)
  store.close()
})

test("a log that cannot be moved is a fault", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON, moveLog: async () => "full" })
  write(store, 5_000)
  await expect(store.emptyLog()).rejects.toThrow(StoreFault)
  store.close()
})
