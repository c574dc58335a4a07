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

test("previews exactly what retention deletes: sealed visits, open visits, imported totals and those of hidden imports", async () => {
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
  const row = (day: string) => ({ day, texts: {}, counts: { visitors: 3 } })
  await store.importTotals({ siteId: 1, importId: 9 }, "imported_visitors", ["2026-11-10", "2026-11-15", "2026-11-16"].map(row))
  await store.importTotals({ siteId: 1, importId: 9 }, "imported_devices", [{ ...row("2026-11-12"), texts: { device: "Mobile" } }])
  const [before, day] = [NOON - 5 * DAY_MS, "2026-11-16"]
  const db = openForReading(path)
  const [[visits, clicks, opens, totals] = [], none] = oldVisits(db, [
    { id: 1, before, day },
    { id: 2, before, day },
  ])
  db.close()
  expect(visits).toEqual({ kind: "visits", visits: 4, events: 4, days: 4, bytes: 0 })
  expect([clicks, opens]).toMatchObject([
    { kind: "clicks", visits: 0 },
    { kind: "opens", visits: 0 },
  ])
  expect(totals).toMatchObject({ kind: "imported_totals", visits: 3, events: 0, days: 6 })
  expect(totals!.bytes).toBeGreaterThan(0)
  expect(none!.map(({ visits: count, days, bytes }) => [count, days, bytes])).toEqual(Array(4).fill([0, 0, 0]))
  expect(await store.retain(1, before, NOON)).toBe(4)
  expect(await store.retainTotals(1, day, NOON)).toBe(3)
  store.close()
})
