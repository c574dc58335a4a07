import { expect, test } from "bun:test"
import { join } from "node:path"
import type { NewEvent } from "../../../src/domain/event.ts"
import { NEW_VALUES_PER_DAY } from "../../../src/domain/limits.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { ImportPlace } from "../../../src/store/events/import.ts"
import { type ImportedVisit, packVisits, VisitBatch } from "../../../src/store/events/import-batch.ts"
import { buildBatch } from "../../../src/store/events/import-segments.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { visibleImport } from "../../visible-imports.ts"
import { type DumpedVisit, dump } from "./dump.ts"
import { event, NO_TRAITS } from "./samples.ts"

const START = Date.parse("2026-11-20T12:00:00Z")
const DAY_MS = 86_400_000
const DAYS = ["2026-11-20", "2026-11-21"] as const

/** Returns a visit of a day, 0 or 1, at a minute, with events that begin there. */
function visit(day: number, minute: number, given: Partial<ImportedVisit> = {}, ...events: Partial<NewEvent>[]): ImportedVisit {
  const at = START + day * DAY_MS + minute * 60_000
  const made = (events.length === 0 ? [{}] : events).map((each, index) => event({ at: at + index * 1_000, ...each }))
  return { visitor: minute, traits: NO_TRAITS, day: DAYS[day]!, events: made, ...given }
}

function packed(visits: readonly ImportedVisit[]): VisitBatch {
  const batch = new VisitBatch(packVisits(visits))
  expect(batch.visits).toBe(visits.length)
  return batch
}

/** Stores batches in a new store, and returns what reports of it read. */
async function stored(batches: readonly VisitBatch[], more: Partial<ImportPlace> = {}, before = (_: EventStore) => {}) {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: START })
  before(store)
  for (const batch of batches) await store.importVisits({ siteId: 1, importId: 7, ...more }, batch)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const visits = dump(reader.snapshot(1, "visits", [visibleImport(7)]))
  reader.close()
  store.close()
  return visits
}

const rowsOf = (visits: readonly DumpedVisit[]) => visits.flatMap(({ rows }) => rows as Record<string, unknown>[])

test("a batch is stored as its visits are, with every part of its events", async () => {
  const visits = [
    visit(
      0,
      1,
      { traits: { ...NO_TRAITS, country: "DE", channel: "Direct" } },
      { page: "/a", title: "A" },
      { name: "engagement", engagement: { engagedMs: 900, scrollDepth: 80 } },
    ),
    visit(
      0,
      2,
      { visitorKind: "device" },
      {
        props: [
          ["plan", "pro"],
          ["size", "L"],
        ],
      },
      { name: "purchase", revenue: { amount: -1_999, currency: "EUR" } },
    ),
    visit(1, 3, {}, { props: [["size", "L"]], hostname: "shop.example" }, { name: "vitals", vitals: { lcp: 1_200, cls: 0.12 } }),
  ]
  const inOrder = await stored([packed(visits)], { firstOrdinal: 40 })
  expect(inOrder.map(({ visitor, kind, pageviews, events, engaged }) => [visitor, kind, pageviews, events, engaged])).toEqual([
    [41, 0, 1, 1, 900],
    [42, 1, 1, 2, 0],
    [43, 0, 1, 1, 0],
  ])
  expect(inOrder[0]).toMatchObject({ entry: "example.com/a", traits: expect.stringContaining("Direct") })
  expect(rowsOf(inOrder)).toMatchObject([
    { name: "pageview", page: "/a", title: "A" },
    { name: "engagement", engagement: [[900, 80]] },
    {
      props: [
        ["plan", "pro"],
        ["size", "L"],
      ],
    },
    { name: "purchase", revenue: ["-1999 EUR"] },
    { hostname: "shop.example", props: [["size", "L"]] },
    { name: "vitals", vitals: [[1_200, undefined, undefined, undefined, 120]] },
  ])
  // Events of a visit may come in any order.
  const shuffled = visits.map((one) => ({ ...one, events: one.events.toReversed() }))
  expect(await stored([packed(shuffled)], { firstOrdinal: 40 })).toEqual(inOrder)
})

test("two batches have the same numbers for the same texts", async () => {
  const visits = Array.from({ length: 20 }, (_, minute) =>
    visit(minute < 10 ? 0 : 1, minute, {}, { page: `/${minute % 3}`, props: [["n", `${minute % 4}`]] }),
  )
  const whole = await stored([packed(visits)])
  expect(await stored([packed(visits.slice(0, 7)), packed(visits.slice(7))])).toEqual(whole)
  expect(new Set(rowsOf(whole).map(({ page }) => page)).size).toBe(3)
})

test("segments that another thread builds from a copied batch are the same", async () => {
  const visits = Array.from({ length: 20 }, (_, minute) =>
    visit(minute < 10 ? 0 : 1, minute, { userId: minute === 3 ? "ada" : "" }, { page: `/${minute % 3}`, props: [["n", `${minute % 4}`]] }),
  )
  const given: Partial<ImportPlace> = { firstOrdinal: 9, personOf: () => ({ high: 1, low: 2 }) }
  const here = await stored([packed(visits)], given)
  const build: ImportPlace["build"] = (batch) => buildBatch(structuredClone(batch, { transfer: [batch.bytes.buffer] }))
  expect(await stored([packed(visits)], { ...given, build })).toEqual(here)
  expect(here.length).toBe(20)
})

test("texts beyond the limit of their day are (other), and properties beyond it are left out", async () => {
  const limit = NEW_VALUES_PER_DAY.property
  const keys = (from: number, count: number) => Array.from({ length: count }, (_, i): [string, string] => [`key ${from + i}`, "x"])
  const names = Array.from({ length: NEW_VALUES_PER_DAY.name + 1 }, (_, i) => ({ name: `event ${i}` }))
  const visits = [
    visit(0, 0, {}, { props: keys(0, limit) }, { props: keys(limit, 2) }),
    visit(0, 1, {}, ...names),
    visit(1, 2, {}, { props: keys(limit, 2) }, { name: "late" }),
  ]
  const rows = rowsOf(await stored([packed(visits)]))
  expect((rows[0]!.props as unknown[]).length).toBe(limit)
  expect(rows[1]!.props).toEqual([])
  expect(rows.filter(({ name }) => name === "(other)").length).toBe(1)
  expect(rows.at(-2)!.props).toEqual(keys(limit, 2))
  expect(rows.at(-1)!.name).toBe("late")
})

test("visits of a user belong to the person of identify(), and those of a name to one visitor in all batches", async () => {
  const personOf = (userId: string) => ({ high: 7, low: userId.length })
  let known = -1
  const identify = (store: EventStore) => {
    known = store.write(START, (writer) => writer.person(1, personOf("anna"), "user"))
  }
  const batches = [
    packed([visit(0, 1, { visitor: "aa", userId: "anna", visitorKind: "user" }), visit(0, 2, { visitor: "bb" })]),
    packed([visit(0, 3, { visitor: "bb" }), visit(0, 4, { visitor: "cc", userId: "anna", visitorKind: "user" })]),
  ]
  const visitors = (await stored(batches, { personOf, visitors: new Map() }, identify)).map(({ visitor }) => visitor)
  expect([visitors[0], visitors[3]]).toEqual([known, known])
  expect(visitors[1]).toBe(visitors[2]!)
  expect(visitors[1]).not.toBe(known)
})
