import { expect, test } from "bun:test"
import { join } from "node:path"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader, Imports } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { Segment } from "../../../src/store/events/segment.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { visibleImport } from "../../visible-imports.ts"
import { dump } from "./dump.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = "2026-11-21"

/** Opens a store with a reader that stays open. `tailBytes` 1 seals open visits, too. */
function openRead(tailBytes?: number) {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON, ...(tailBytes && { tailBytes }) })
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  return {
    store,
    reader,
    path,
    [Symbol.dispose]() {
      reader.close()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

function addVisit(writer: Writer, at: number, low: number): void {
  const rotating = writer.visitor(1, DAY, { high: 1, low })
  const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
  writer.add(1, id, event({ at, page: `/${low}` }), DAY)
}

async function sealVisit(store: EventStore, hour: number): Promise<void> {
  store.write(NOON + hour * HOUR, (writer) => addVisit(writer, NOON + hour * HOUR, hour))
  await store.seal(NOON + hour * HOUR + 40 * MINUTE, true)
}

const segmentsOf = (reader: EventReader, imports: Imports = []): Segment[] =>
  reader.snapshot(1, "visits", imports).parts.filter((part) => part instanceof Segment)

/** Compares what the reader finds with what a new one finds. */
function expectUpToDate({ reader, path }: ReturnType<typeof openRead>, imports: Imports = []): void {
  const fresh = openEventReader(path, { cacheBytes: 1 << 20 })
  const facts = (of: EventReader) =>
    segmentsOf(of, imports).map(({ id, run, openUntil, visits, events }) => ({ id, run, openUntil, visits, events }))
  expect(facts(reader)).toEqual(facts(fresh))
  expect(dump(reader.snapshot(1, "visits", imports))).toEqual(dump(fresh.snapshot(1, "visits", imports)))
  fresh.close()
}

test("a reader keeps the segments of the former generation, and adds those of a seal", async () => {
  using open = openRead()
  await sealVisit(open.store, 0)
  const [first] = segmentsOf(open.reader)
  await sealVisit(open.store, 2)
  const both = segmentsOf(open.reader)
  expect(both.length).toBe(2)
  expect(both[0]).toBe(first!)
  expectUpToDate(open)
})

test("a reader leaves out segments that are merged", async () => {
  using open = openRead()
  for (let hour = 0; hour < 80; hour += 2) await sealVisit(open.store, hour)
  expect(segmentsOf(open.reader).length).toBe(40)
  await open.store.merge(NOON + 90 * HOUR)
  expect(segmentsOf(open.reader).length).toBeLessThan(10)
  expectUpToDate(open)
})

test("a reader leaves out visits that are erased, and keeps the other segments", async () => {
  using open = openRead()
  for (const hour of [0, 2, 4]) await sealVisit(open.store, hour)
  const before = segmentsOf(open.reader)
  await open.store.erasePerson(1, [before[1]!.visit("visitor")[0]!], NOON + 6 * HOUR)
  expect(segmentsOf(open.reader)).toEqual([before[0]!, before[2]!])
  expectUpToDate(open)
})

test("a reader opens a segment again when its run is joined with the first one", async () => {
  using open = openRead()
  for (const run of [1, 2]) {
    const target = { siteId: 1, importId: 7, run }
    const visitors = await open.store.nameVisitors(target, ["anna"])
    const visit = { visitor: "anna", traits: NO_TRAITS, day: DAY, events: [event({ at: NOON - run * HOUR })] }
    await open.store.importVisits({ ...target, visitors, cursor: () => ({ position: "{}", visits: 1, rows: 0, batches: 1 }) }, [visit])
  }
  const shown = (run: number) => [{ ...visibleImport(7), run }]
  expect(segmentsOf(open.reader, shown(1)).map(({ run }) => run)).toEqual([1])
  await open.store.joinRuns(7, 2)
  await sealVisit(open.store, 0)
  expect(segmentsOf(open.reader, shown(1)).map(({ run }) => run)).toEqual([1, 1, 0])
  expectUpToDate(open, shown(1))
})

test("a reader hides a visit that was taken back from a segment that it keeps", async () => {
  using open = openRead(1)
  open.store.write(NOON, (writer) => {
    for (const low of [1, 2]) addVisit(writer, NOON, low)
  })
  await open.store.seal(NOON)
  expect(segmentsOf(open.reader).map(({ visits }) => visits)).toEqual([2])
  open.store.write(NOON + MINUTE, (writer) => {
    const found = writer.findOpenVisit(1, writer.visitor(1, DAY, { high: 1, low: 2 }), undefined, () => true)
    writer.add(1, found!.id, event({ at: NOON + MINUTE, page: "/next" }), DAY)
  })
  expect(open.reader.snapshot(1).parts.map(({ visits, events }) => [visits, events])).toEqual([
    [1, 1],
    [1, 2],
  ])
  expectUpToDate(open)
})
