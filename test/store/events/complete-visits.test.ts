import { expect, test } from "bun:test"
import { join } from "node:path"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const DAY = "2026-11-21"
const SEGMENT_EVENTS = 65_536

function visit(writer: Writer, low: number, { isComplete, events = 1 }: { isComplete: boolean; events?: number }): void {
  const rotating = writer.visitor(1, "~request", { high: 1, low })
  const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS, isComplete }, DAY)
  for (let number = 0; number < events; number++) writer.add(1, id, event({ at: NOON + number }), DAY)
}

const findVisit = (writer: Writer, low: number) =>
  writer.findOpenVisit(1, writer.findVisitor(1, "~request", { high: 1, low }) ?? -1, undefined, () => true)

test("a complete visit is open until its group commit ends", () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  store.write(NOON, (writer) => {
    visit(writer, 1, { isComplete: true })
    visit(writer, 2, { isComplete: false })
    expect(findVisit(writer, 1)).toBeDefined()
  })
  store.write(NOON, (writer) => {
    expect(findVisit(writer, 1)).toBeUndefined()
    expect(findVisit(writer, 2)).toBeDefined()
  })
  store.close()
})

test("complete visits are sealed while others are open, also after a restart", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  let store = openEventStore(path, { now: NOON })
  store.write(NOON, (writer) => {
    for (let low = 0; low < 10; low++) visit(writer, low, { isComplete: true })
    visit(writer, 10, { isComplete: false })
  })
  store.close()
  store = openEventStore(path, { now: NOON })
  await store.seal(NOON, true)
  expect(store.facts()).toMatchObject({ segments: 1, hotRows: 1 })
  store.close()
  store = openEventStore(path, { now: NOON })
  expect(store.facts()).toMatchObject({ segments: 1, hotRows: 1 })
  store.close()
})

/** Writes complete visits until the number of events is reached, and returns the largest number of events in the tail. */
async function backFill(store: EventStore, events: number): Promise<number> {
  let largest = 0
  for (let sent = 0; sent < events; sent += 1_000) {
    await store.room()
    store.append(NOON, (writer) => {
      for (let low = 0; low < 250; low++) visit(writer, sent + low, { isComplete: true, events: 4 })
    })
    largest = Math.max(largest, store.facts().hotRows)
  }
  return largest
}

test("a back-fill is sealed while it arrives, in full segments", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  let sealing = Promise.resolve()
  store.onSealDue(() => {
    sealing = store.seal(NOON)
    return sealing
  })
  expect(await backFill(store, 500_000)).toBeLessThanOrEqual(2 * SEGMENT_EVENTS + 1_000)
  await sealing
  const { segments, hotRows } = store.facts()
  expect(hotRows).toBeLessThan(2 * SEGMENT_EVENTS)
  expect((500_000 - hotRows) / segments).toBeGreaterThan(0.98 * SEGMENT_EVENTS)
  store.close()
})

test("a failed seal does not hold back events forever", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  let seals = 0
  store.onSealDue(async () => {
    seals++
    await Bun.sleep(0)
  })
  expect(await backFill(store, 200_000)).toBe(200_000)
  expect(seals).toBeGreaterThan(1)
  store.close()
})

test("a seal that left the tail above its limit starts again only when the tail has grown by an eighth of the limit", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  let seals = 0
  store.onSealDue(async () => {
    seals++
  })
  expect(await backFill(store, 3 * SEGMENT_EVENTS)).toBeGreaterThan(2.9 * SEGMENT_EVENTS)
  // Once at the limit, and 16 times at most until the tail is three times as large.
  expect(seals).toBeLessThanOrEqual(17)
  expect(seals).toBeGreaterThan(12)
  store.close()
})
