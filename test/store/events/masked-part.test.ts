import { expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import type { VisibleImport } from "../../../src/domain/imported.ts"
import type { Query, Range } from "../../../src/domain/query.ts"
import { aggregate } from "../../../src/query/measure/aggregate.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { visiblePart } from "../../../src/store/events/masked-part.ts"
import type { Part } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { bySize } from "../../size.ts"
import { importOn, visibleImport } from "../../visible-imports.ts"
import { type DumpedVisit, dump } from "./dump.ts"
import { HOUR, plannedVisit, START, toImported } from "./planned-visits.ts"
import { event, NO_TRAITS } from "./samples.ts"

const RUNS = bySize({ check: 20, full: 100, release: 400 })

const visit = plannedVisit({ lastHour: 95, maxEvents: 5 })

const spans = fc
  .uniqueArray(fc.integer({ min: 0, max: 96 }), { minLength: 2, maxLength: 6 })
  .map((hours) => hours.sort((a, b) => a - b))
  .map((hours) =>
    Array.from({ length: Math.floor(hours.length / 2) }, (_, i) => ({
      from: START + hours[2 * i]! * HOUR,
      to: START + hours[2 * i + 1]! * HOUR,
    })),
  )

const isIn = (at: number, ranges: readonly Range[]) => ranges.some(({ from, to }) => at >= from && at < to)

test("a snapshot has exactly the visits that start on visible days, with all of their events", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 1, maxLength: 30 }), spans, async (planned, ranges) => {
      using folder = temporaryFolder()
      const path = join(folder.path, "events.db")
      const store = openEventStore(path, { now: START })
      await store.importVisits({ siteId: 1, importId: 7 }, planned.map(toImported))
      const reader = openEventReader(path, { cacheBytes: 1 << 20 })
      const whole = reader.snapshot(1, "visits", [visibleImport(7)])
      const masked: VisibleImport = { ...visibleImport(7), spans: ranges }
      const found = dump(reader.snapshot(1, "visits", [masked]))
      const expected = dump(whole).filter(({ start }: DumpedVisit) => isIn(start, ranges))
      // The rest of this test compares every report on the masked visits with one on a store that has no others.
      expect(found).toEqual(expected)
      const kept = planned.filter(({ hour }) => isIn(START + hour * HOUR, ranges))
      const only = openEventStore(`${path}.only`, { now: START })
      await only.importVisits({ siteId: 1, importId: 7 }, kept.map(toImported))
      const onlyReader = openEventReader(`${path}.only`, { cacheBytes: 1 << 20 })
      for (const query of QUERIES)
        expect(withoutFacts(aggregate(reader.snapshot(1, "visits", [masked]), query, () => {}))).toEqual(
          withoutFacts(aggregate(onlyReader.snapshot(1, "visits", [visibleImport(7)]), query, () => {})),
        )
      for (const open of [reader, onlyReader, store, only]) open.close()
    }),
    { numRuns: RUNS },
  )
})

const withoutFacts = ({ imports: _, ...table }: ReturnType<typeof aggregate>) => table

const BASE = {
  site: {
    id: 1,
    bounceEngagedSeconds: 10,
    revenueCurrency: "EUR",
    goals: [{ id: 1, name: "Signup", kind: "event", match: "exact", value: "Signup" }],
  },
  range: { from: START - HOUR, to: START + 200 * HOUR },
  timezone: "UTC",
  now: START + 300 * HOUR,
  order: [],
  limit: 1_000,
  offset: 0,
  fillBuckets: false,
} as const
const QUERIES: readonly Query[] = [
  {
    ...BASE,
    groupings: [],
    metrics: ["visitors", "visits", "pageviews", "events", "bounce_rate", "visit_duration", "engaged_time", "conversions", "lcp_p75"],
  },
  { ...BASE, groupings: [{ by: "dimension", dimension: "page" }], metrics: ["visitors", "time_on_page", "scroll_depth", "exit_rate"] },
  { ...BASE, groupings: [{ by: "dimension", dimension: "property", property: "plan" }], metrics: ["visitors", "events", "total_revenue"] },
  { ...BASE, groupings: [{ by: "time", interval: "day" }], metrics: ["visitors", "visits", "conversions"] },
]

test("a part is used whole if all of its visits are visible, and not at all if none is", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: START })
  const planned = [1, 2, 3].map((hour) => toImported({ hour, visitor: hour, events: [] }))
  await store.importVisits({ siteId: 1, importId: 7 }, planned)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const part = reader.snapshot(1, "visits", [visibleImport(7)]).parts[0]!
  const on = (...hours: [number, number][]): Part | undefined =>
    visiblePart(
      part,
      hours.map(([from, to]) => ({ from: START + from * HOUR, to: START + to * HOUR })),
    )
  expect(on([0, 4])).toBe(part)
  expect(on([1, 4])).toBe(part)
  expect([on([0, 1]), on([4, 9]), on()]).toEqual([undefined, undefined, undefined])
  expect(on([1, 3])).toMatchObject({ visits: 2, events: 2, minStart: START + HOUR, maxStart: START + 2 * HOUR })
  expect(on([1, 2], [3, 4])?.visits).toBe(2)
  // A gap between two visits contains none, although the part covers it.
  expect(on([2.5, 2.9])?.visits).toBe(0)
  reader.close()
  store.close()
})

test.each([
  ["Europe/Berlin", "2026-03-28T22:59:59.999Z", "2026-03-29T22:00:00.000Z"],
  ["America/New_York", "2026-03-29T03:59:59.999Z", "2026-03-30T04:00:00.000Z"],
])("a visible day begins and ends at the midnights of %s", async (timezone, before, after) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: START })
  const instants = [Date.parse(before), Date.parse(before) + 1, Date.parse(after) - 1, Date.parse(after)]
  await store.importVisits(
    { siteId: 1, importId: 7 },
    instants.map((at) => ({ visitor: `${at}`, traits: NO_TRAITS, events: [event({ at })], day: "2026-03-29" })),
  )
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const shown = reader.snapshot(1, "visits", [importOn(7, timezone, ["2026-03-29", "2026-03-29"])])
  expect(dump(shown).map(({ start }) => start)).toEqual(instants.slice(1, 3))
  expect(dump(reader.snapshot(1, "visits", "all")).map(({ start }) => start)).toEqual(instants)
  reader.close()
  store.close()
})
