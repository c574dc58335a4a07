import { expect, test } from "bun:test"
import { join } from "node:path"
import { openForReading } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { oldVisits } from "../../../src/store/events/upkeep/old-visits.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const DAY_MS = 86_400_000
const imported = (...days: number[]) =>
  days.map((day) => ({ visitor: `v${day}`, traits: NO_TRAITS, events: [event({ at: NOON - day * DAY_MS })], day: "2026-11-01" }))

test("previews exactly what retention deletes: sealed visits, open visits and those of hidden imports", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  await store.importVisits({ siteId: 1, importId: 7 }, imported(9, 8, 2))
  await store.importVisits({ siteId: 1, importId: 8 }, imported(9))
  store.write(NOON, (writer) => {
    const visitor = writer.visitor(1, "2026-11-21", { high: 1, low: 1 })
    const id = writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, "2026-11-21")
    writer.add(1, id, event({ at: NOON - 6 * DAY_MS }), "2026-11-21")
  })
  const before = NOON - 5 * DAY_MS
  const db = openForReading(path)
  const [[visits, ...records] = [], none] = oldVisits(db, [
    { id: 1, before },
    { id: 2, before },
  ])
  db.close()
  expect(visits).toEqual({ kind: "visits", visits: 4, events: 4, first_at: NOON - 9 * DAY_MS })
  expect(records.map(({ kind, visits: count }) => [kind, count])).toEqual([
    ["clicks", 0],
    ["opens", 0],
  ])
  expect(none!.map(({ visits: count, first_at }) => [count, first_at])).toEqual([
    [0, null],
    [0, null],
    [0, null],
  ])
  expect(await store.retain(1, before, NOON)).toBe(4)
  store.close()
})
