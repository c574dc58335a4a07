import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import type { Query } from "../../../src/domain/query.ts"
import { openEngine } from "../../../src/query/engine/engine.ts"
import { warmUp } from "../../../src/query/engine/warm-up.ts"
import { aggregate } from "../../../src/query/measure/aggregate.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-06-01T10:00:00Z")
const DAY_MS = 86_400_000
const ROOM = 8 << 20

/** Creates traffic with one sealed segment for each of the given days. */
async function sealedTraffic(days: readonly number[], visits: number) {
  const traffic = openTraffic(START)
  for (const day of days) {
    for (let visitor = 0; visitor < visits; visitor++) traffic.visit({ visitor, events: [{ at: START + day * DAY_MS }] })
    await traffic.store.seal(START + (day + 1) * DAY_MS, true)
  }
  return traffic
}

const breakdownBy = (dimension: "page" | "country" | "browser"): Query => ({
  ...{ site: SITE, range: { from: START, to: START + 2 * DAY_MS }, timezone: "UTC", now: START + 2 * DAY_MS },
  ...{ metrics: ["visitors", "visits"], groupings: [{ by: "dimension", dimension }] },
  ...{ order: [{ by: "metric", index: 0, descending: true }], offset: 0, limit: 10, fillBuckets: false },
})

function stepsOf(path: string, cacheBytes: number): number {
  const reader = openEventReader(path, { cacheBytes })
  const steps = [...warmUp(reader, cacheBytes)].length
  reader.close()
  return steps
}

test.each([
  ["an empty store", [], 0, ROOM, 1],
  ["the last 30 days, the usual reports, then the days before", [0, 11, 39, 40], 3, ROOM, 41],
  ["as many segments as fit in the cache", [0, 1, 2, 3], 20, 3 * 20 * 64, 6],
])("prepares %s, step by step", async (_, days, visits, cacheBytes, steps) => {
  using traffic = await sealedTraffic(days, visits)
  expect(stepsOf(traffic.path, cacheBytes)).toBe(steps)
})

test("has read what the usual reports of the last 30 days need", async () => {
  using traffic = openTraffic(START)
  for (let visitor = 0; visitor < 20; visitor++) {
    const traits = { country: visitor < 12 ? "DE" : "FR", browser: visitor < 13 ? "Firefox" : "Safari" }
    const event = { at: START + visitor, page: visitor < 14 ? "/" : "/about" }
    traffic.visit({ visitor, traits, events: [event, { ...event, at: event.at + 1 }] })
  }
  await traffic.seal()
  const reader = openEventReader(traffic.path, { cacheBytes: ROOM })
  for (const _ of warmUp(reader, ROOM));
  // What is not in the cache now cannot be read any more.
  const db = new Database(traffic.path)
  db.run("delete from segment_columns")
  db.close()
  const busiest = (dimension: "page" | "country" | "browser") =>
    aggregate(reader.snapshot(1), breakdownBy(dimension), () => {}).rows.map(({ values }) => values[0])
  expect(busiest("country")).toEqual([12, 8])
  expect(busiest("browser")).toEqual([13, 7])
  expect(busiest("page")).toEqual([14, 6])
  expect(reader.snapshot(1).parts[0]!.items!()!.visits.length).toBe(40)
  expect(() => reader.snapshot(1).parts[0]!.sequences()).toThrow("Column records of segment 1 is missing")
  reader.close()
})

test("keeps what reports need of earlier days, without decoding all of it", async () => {
  using traffic = await sealedTraffic([0, 40], 3)
  const reader = openEventReader(traffic.path, { cacheBytes: ROOM })
  for (const _ of warmUp(reader, ROOM));
  const db = new Database(traffic.path)
  db.run("delete from segment_columns")
  db.close()
  const [earlier] = reader.snapshot(1).parts
  for (const column of ["visitor", "pageviews", "duration", "entry_page", "source", "city", "os"] as const)
    expect(earlier!.visit(column).length).toBe(3)
  expect(earlier!.items!()!.visits.length).toBe(3)
  expect(() => earlier!.starts()).toThrow("Column starts of segment 1 is missing")
  reader.close()
})

test("prepares the site with the most recent events", async () => {
  using traffic = await sealedTraffic([0, 1], 2)
  const fullest = () => {
    const reader = openEventReader(traffic.path, { cacheBytes: ROOM })
    const site = reader.fullestSite()
    reader.close()
    return site
  }
  expect(fullest()).toBe(1)
  const at = START + 2 * DAY_MS
  traffic.store.write(at, (writer) => {
    for (let low = 0; low < 5; low++) {
      const visitor = writer.visitor(2, "two", { high: 0, low })
      const id = writer.openVisit(2, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, "two")
      writer.add(2, id, event({ at }), "two")
    }
  })
  await traffic.store.seal(at + DAY_MS, true)
  expect(fullest()).toBe(2)
})

test("a query that arrives during the warm-up sees everything committed", async () => {
  using traffic = await sealedTraffic([0, 1, 2, 3, 4, 5], 50)
  const engine = openEngine({
    workerUrl: new URL("../../../src/query/engine/worker.ts", import.meta.url).href,
    path: traffic.path,
    cacheBytes: ROOM,
    workers: 1,
  })
  engine.begin()
  traffic.visit({ visitor: 99, events: [{ at: START - DAY_MS }] })
  expect(await engine.realtime({ site: SITE, now: START - DAY_MS, limit: 1 }, { organizationId: 1 })).toMatchObject({ visitors: 1 })
  await engine.close()
})
