import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import type { Query } from "../../src/domain/query.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { groupRow } from "../../src/store/events/bytes/columns.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { openTraffic, SITE } from "./traffic.ts"

const START = Date.parse("2026-06-01T10:00:00Z")
const DAY_MS = 86_400_000

const summary = (filter: Filter): Query => ({
  ...{ site: SITE, range: { from: START, to: START + 9 * DAY_MS }, timezone: "UTC", now: START + 9 * DAY_MS, filter },
  ...{ metrics: ["visitors", "visits", "pageviews", "bounce_rate"], groupings: [], order: [], offset: 0, limit: 10, fillBuckets: false },
})
const is = (dimension: Condition["dimension"], value: string): Condition => ({
  ...{ op: "is", dimension, values: [value], missing: false, caseSensitive: true },
})

/** The first segment has three visits from Germany to the first page, the second two from France to the other. */
async function twoSegments() {
  const traffic = openTraffic(START)
  for (let visitor = 0; visitor < 5; visitor++) {
    if (visitor === 3) await traffic.store.seal(START + DAY_MS, true)
    const [country, page] = visitor < 3 ? ["DE", "/first"] : ["FR", "/other"]
    traffic.visit({ visitor, traits: { country }, events: [{ at: START + (visitor < 3 ? 0 : 3) * DAY_MS, page }] })
  }
  await traffic.store.seal(START + 5 * DAY_MS, true)
  return traffic
}

test("a report reads no rows of segments that lack what its filter names", async () => {
  using traffic = await twoSegments()
  const db = new Database(traffic.path)
  // What is left of the second segment are its tables of places and of names and pages.
  const left = [groupRow(2, "places"), groupRow(2, "entries")]
  db.run(`delete from segment_columns where id between 256 and 383 and id not in (${left.join()})`)
  db.close()
  const reader = openEventReader(traffic.path, { cacheBytes: 1 << 20 })
  const ask = (filter: Filter) => aggregate(reader.snapshot(1), summary(filter), () => {}).rows.map(({ values }) => values)
  const found = [[3, 3, 3, 100]]
  expect(ask(is("country", "DE"))).toEqual(found)
  expect(ask(is("page", "/first"))).toEqual(found)
  expect(ask({ op: "and", filters: [is("country", "DE"), { op: "not", filter: is("page", "/other") }] })).toEqual(found)
  expect(ask({ op: "or", filters: [is("country", "DE"), is("page", "/first")] })).toEqual(found)
  expect(ask(is("country", "IT"))).toEqual([[0, 0, 0, 0]])

  expect(() => ask(is("country", "FR"))).toThrow("of segment 2 is missing")
  expect(() => ask({ op: "or", filters: [is("country", "DE"), is("page", "/other")] })).toThrow("of segment 2 is missing")
  expect(() => ask({ op: "not", filter: is("country", "DE") })).toThrow("of segment 2 is missing")
  reader.close()
})
