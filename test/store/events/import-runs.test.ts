import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { visibleImport } from "../../visible-imports.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOW = Date.parse("2026-11-21T12:00:00Z")
const [ANNA, BEN] = ["20261121aa", "20261121bb"]

/** Opens a store with an import that grows. Both are closed at the end of the scope. */
function openGrowing() {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOW })
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  return {
    store,
    /** Stores one visit of each visitor, as a batch of a run does. */
    async add(run: number, visitors: readonly string[]) {
      const named = await store.nameVisitors({ siteId: 1, importId: 7, run }, visitors)
      const cursor = { position: "{}", visits: visitors.length, rows: 0, batches: 1 }
      const visits = visitors.map((visitor) => ({
        ...{ visitor, traits: NO_TRAITS, day: "2026-11-21" },
        events: [event({ at: NOW - 1_000 })],
      }))
      await store.importVisits({ siteId: 1, importId: 7, run, visitors: named, cursor: () => cursor }, visits)
      return named
    },
    parts: (run: number) => reader.snapshot(1, "visits", [{ ...visibleImport(7), run }]).parts,
    [Symbol.dispose]() {
      reader.close()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

test("a visitor of an import has the same number in every run, until the lookup of the day is forgotten", async () => {
  using open = openGrowing()
  const first = await open.add(1, [ANNA!])
  const second = await open.add(2, [BEN!, ANNA!])
  expect(second.get(ANNA!)).toBe(first.get(ANNA!)!)
  expect(second.get(BEN!)).not.toBe(first.get(ANNA!)!)
  await open.store.forgetImportedVisitors(7, "20261120")
  expect([open.store.countVisitors(7, 1), open.store.countVisitors(7, 2)]).toEqual([1, 1])
  await open.store.forgetImportedVisitors(7, "20261121")
  expect([open.store.countVisitors(7, 1), open.store.countVisitors(7, 2)]).toEqual([0, 0])
  expect((await open.add(3, [ANNA!])).get(ANNA!)).not.toBe(first.get(ANNA!)!)
})

test("a dropped run leaves the earlier runs and their visitors as they are", async () => {
  using open = openGrowing()
  await open.add(1, [ANNA!])
  await open.add(2, [BEN!])
  expect(open.parts(2).reduce((sum, { visits }) => sum + visits, 0)).toBe(2)
  await open.store.dropImport(1, 7, NOW, 2)
  expect(open.parts(2).reduce((sum, { visits }) => sum + visits, 0)).toBe(1)
  expect([open.store.importCursor(7, 1)?.visits, open.store.importCursor(7, 2)]).toEqual([1, undefined])
  expect([open.store.countVisitors(7, 1), open.store.countVisitors(7, 2)]).toEqual([1, 0])
})

test("joined runs are merged into few segments, without the run in progress", async () => {
  using open = openGrowing()
  for (let run = 1; run <= 40; run++) await open.add(run, [ANNA!])
  await open.store.merge(NOW)
  expect(open.parts(40).length).toBe(40)
  await open.store.joinRuns(7, 39)
  await open.store.merge(NOW)
  expect(open.parts(39).map(({ visits }) => visits)).toEqual([39])
  expect(open.parts(40).reduce((sum, { visits }) => sum + visits, 0)).toBe(40)
  await open.store.dropImport(1, 7, NOW, 40)
  expect(open.parts(40).reduce((sum, { visits }) => sum + visits, 0)).toBe(39)
  expect(open.store.importCursor(7, 39)?.visits).toBe(1)
})
