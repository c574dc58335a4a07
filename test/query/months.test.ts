import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import type { Grouping, Query } from "../../src/domain/query.ts"
import { funnel } from "../../src/query/funnel/funnel.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import type { Part } from "../../src/store/events/part.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { seededRandom } from "../oracle/random.ts"
import { SEED } from "../size.ts"
import { openTraffic, SITE } from "./traffic.ts"

const DAY_MS = 86_400_000
const FROM = Date.parse("2026-01-01T00:00:00Z")
const TO = Date.parse("2027-01-01T00:00:00Z")

const report = (grouping?: Grouping, range = { from: FROM, to: TO }): Query => ({
  ...{ site: SITE, range, timezone: "Europe/Berlin", now: TO, fillBuckets: false, offset: 0, limit: 1_000 },
  ...{ metrics: ["visitors", "visits", "pageviews", "percentage"], groupings: grouping ? [grouping] : [] },
  order: grouping ? [{ by: "grouping", index: 0, descending: false }] : [],
})
const byCountry: Grouping = { by: "dimension", dimension: "country" }

/** A store with visits of five visitors in January and three others in March, each month in a segment of its own. */
async function twoMonths() {
  const traffic = openTraffic(FROM)
  for (let visitor = 0; visitor < 5; visitor++)
    traffic.visit({ visitor, traits: { country: "DE" }, events: [{ at: FROM + DAY_MS + visitor }] })
  await traffic.store.seal(FROM + 3 * DAY_MS, true)
  for (let visitor = 5; visitor < 8; visitor++)
    traffic.visit({ visitor, traits: { country: "FR" }, events: [{ at: FROM + 70 * DAY_MS + visitor }] })
  await traffic.store.seal(FROM + 73 * DAY_MS, true)
  return traffic
}

/** Opens a reader that keeps results, but no columns. */
const openForgetful = (path: string) => openEventReader(path, { cacheBytes: 1 })

const rowsOf = (reader: ReturnType<typeof openForgetful>, query: Query) =>
  aggregate(reader.snapshot(1), query, () => {}).rows.map(({ keys, values }) => [...keys, ...values])

/** Deletes the columns of the first segment, so that no report can read it any more. */
function damageFirst(path: string): void {
  const db = new Database(path)
  db.run("delete from segment_columns where id between 128 and 255")
  db.close()
}

test("a month is read once for all later reports of the same kind, over any range that contains it", async () => {
  using traffic = await twoMonths()
  const reader = openForgetful(traffic.path)
  const countries = [
    ["DE", 5, 5, 5, 62.5],
    ["FR", 3, 3, 3, 37.5],
  ]
  expect(rowsOf(reader, report(byCountry))).toEqual(countries)
  expect(rowsOf(reader, report({ by: "time", interval: "month" }))).toEqual([
    [FROM, 5, 5, 5, 62.5],
    [Date.parse("2026-02-28T23:00:00Z"), 3, 3, 3, 37.5],
  ])
  damageFirst(traffic.path)
  expect(rowsOf(reader, report(byCountry))).toEqual(countries)
  // The range cuts the first bucket of January, which then has another start.
  expect(rowsOf(reader, report({ by: "time", interval: "month" }, { from: FROM + 1_000, to: FROM + 31 * DAY_MS }))).toEqual([
    [FROM + 1_000, 5, 5, 5, 100],
  ])
  traffic.visit({ visitor: 9, traits: { country: "DE" }, events: [{ at: FROM + 80 * DAY_MS }] })
  expect(rowsOf(reader, report(byCountry))).toEqual([
    ["DE", 6, 6, 6, 66.7],
    ["FR", 3, 3, 3, 33.3],
  ])
  expect(() => rowsOf(reader, report(byCountry, { from: FROM + DAY_MS + 2, to: TO }))).toThrow("of segment 1 is missing")
  expect(() => rowsOf(reader, report({ by: "dimension", dimension: "page" }))).toThrow("of segment 1 is missing")
  reader.close()
})

test("a report that is given up keeps the months that it has read", async () => {
  using traffic = await twoMonths()
  const reader = openForgetful(traffic.path)
  let checks = 0
  const giveUp = () => {
    if (++checks === 3) throw new Error("Given up")
  }
  expect(() => aggregate(reader.snapshot(1), report(byCountry), giveUp)).toThrow("Given up")
  damageFirst(traffic.path)
  expect(rowsOf(reader, report(byCountry))).toEqual([
    ["DE", 5, 5, 5, 62.5],
    ["FR", 3, 3, 3, 37.5],
  ])
  reader.close()
})

test("revenue and conversion rates of a month are kept, too", async () => {
  using traffic = openTraffic(FROM)
  const sale = (at: number, amount: number) => ({ at, name: "Signup", revenue: { amount, currency: "EUR" } })
  const country = { country: "DE" }
  traffic.visit({ visitor: 0, traits: country, events: [{ at: FROM + DAY_MS }, sale(FROM + DAY_MS + 1, 500)] })
  traffic.visit({ visitor: 1, traits: country, events: [{ at: FROM + DAY_MS }] })
  await traffic.store.seal(FROM + 3 * DAY_MS, true)
  const reader = openForgetful(traffic.path)
  const goals = [{ id: 1, name: "Signup", kind: "event", match: "exact", value: "Signup" } as const]
  const metrics = ["visitors", "conversions", "conversion_rate", "group_conversion_rate", "total_revenue"] as const
  const query: Query = { ...report(byCountry), site: { ...SITE, goals }, metrics }
  expect(rowsOf(reader, query)).toEqual([["DE", 2, 1, 50, 50, 500]])
  damageFirst(traffic.path)
  traffic.visit({ visitor: 2, traits: country, events: [sale(FROM + 70 * DAY_MS, 250)] })
  expect(rowsOf(reader, query)).toEqual([["DE", 3, 2, 66.7, 66.7, 750]])
  reader.close()
})

test("a visitor who comes back is counted once, which the month has to be read for", async () => {
  using traffic = await twoMonths()
  const reader = openForgetful(traffic.path)
  rowsOf(reader, report(byCountry))
  traffic.visit({ visitor: 2, traits: { country: "DE" }, events: [{ at: FROM + 80 * DAY_MS }] })
  expect(rowsOf(reader, report(byCountry))).toEqual([
    ["DE", 5, 6, 6, 62.5],
    ["FR", 3, 3, 3, 37.5],
  ])
  damageFirst(traffic.path)
  traffic.visit({ visitor: 2, traits: { country: "FR" }, events: [{ at: FROM + 81 * DAY_MS }] })
  expect(rowsOf(reader, report(byCountry))).toEqual([
    ["DE", 5, 6, 6, 62.5],
    ["FR", 4, 4, 4, 50],
  ])
  traffic.visit({ visitor: 3, traits: { country: "DE" }, events: [{ at: FROM + 81 * DAY_MS }] })
  expect(() => rowsOf(reader, report(byCountry))).toThrow("of segment 1 is missing")
  reader.close()
})

test("a funnel follows the visitors of a month once, and those who come back over all months", async () => {
  using traffic = openTraffic(FROM)
  const day = (number: number, ...pages: string[]) => pages.map((page, i) => ({ at: FROM + number * DAY_MS + i * 1_000, page }))
  traffic.visit({ visitor: 0, events: day(2, "/a", "/b") })
  traffic.visit({ visitor: 1, events: day(2, "/a") })
  traffic.visit({ visitor: 2, events: day(2, "/b") })
  traffic.visit({ visitor: 3, events: day(2, "/a") })
  await traffic.store.seal(FROM + 4 * DAY_MS, true)
  traffic.visit({ visitor: 3, events: day(70, "/b") })
  await traffic.store.seal(FROM + 73 * DAY_MS, true)
  const reader = openForgetful(traffic.path)
  const steps = ["/a", "/b"].map((value) => ({ type: "page", match: "exact", value }) as const)
  const counts = (order: "sequential" | "strict") =>
    funnel(reader.snapshot(1), { site: SITE, range: { from: FROM, to: TO }, steps, order }, () => {}).steps.map(({ visitors }) => visitors)
  expect([counts("sequential"), counts("strict")]).toEqual([
    [3, 2],
    [3, 2],
  ])
  damageFirst(traffic.path)
  traffic.visit({ visitor: 4, events: day(80, "/a") })
  expect([counts("sequential"), counts("strict")]).toEqual([
    [4, 2],
    [4, 2],
  ])
  traffic.visit({ visitor: 2, events: day(80, "/a", "/b") })
  expect(() => counts("sequential")).toThrow("of segment 1 is missing")
  reader.close()
})

interface PlainVisit {
  visitor: number
  country: string
  at: number
}

/** Counts visitors and visits by a key, in the order of the keys. */
function counted(visits: readonly PlainVisit[], keyOf: (visit: PlainVisit) => string | number) {
  const groups = Map.groupBy(visits, keyOf)
  const keys = [...groups.keys()].sort((a, b) => (a < b ? -1 : 1))
  return keys.map((key) => [key, new Set(groups.get(key)!.map(({ visitor }) => visitor)).size, groups.get(key)!.length])
}

test("reports over months equal a count of all visits, whoever comes back, and whatever is sealed and merged meanwhile", async () => {
  const random = seededRandom(SEED)
  using traffic = openTraffic(FROM)
  const reader = openEventReader(traffic.path, { cacheBytes: 8 << 20 })
  const all: PlainVisit[] = []
  let people = 0
  for (let day = 0; day < 120; day++) {
    for (let count = random.whole(0, 5); count > 0; count--) {
      // Mostly somebody new, sometimes a visitor of the last days, rarely one of long ago.
      const visitor = random.chance(0.6) ? people++ : Math.max(0, people - random.whole(1, random.chance(0.9) ? 8 : people + 1))
      const visit = { visitor, country: random.pick(["DE", "FR", "IT"]), at: FROM + day * DAY_MS + random.whole(0, DAY_MS - 1) }
      all.push(visit)
      traffic.visit({ visitor, traits: { country: visit.country }, events: [{ at: visit.at }] })
    }
    if (random.chance(0.2)) await traffic.store.seal(FROM + (day + 2) * DAY_MS, true)
    if (random.chance(0.025)) await traffic.store.merge(FROM + (day + 2) * DAY_MS)
    if (day % 5 !== 0) continue
    const range = random.chance(0.5)
      ? { from: FROM, to: TO }
      : { from: FROM + random.whole(0, day) * DAY_MS, to: FROM + (day + 1) * DAY_MS }
    const inside = all.filter(({ at }) => at >= range.from && at < range.to)
    const figures = (grouping: Grouping) => rowsOf(reader, { ...report(grouping, range), timezone: "UTC" }).map((row) => row.slice(0, 3))
    expect(figures(byCountry)).toEqual(counted(inside, ({ country }) => country))
    expect(figures({ by: "time", interval: "day" })).toEqual(counted(inside, ({ at }) => at - (at % DAY_MS)))
    const [visitors, visits] = rowsOf(reader, report(undefined, range))[0]!
    expect([visitors, visits]).toEqual([new Set(inside.map(({ visitor }) => visitor)).size, inside.length])
  }
  const segments = reader.snapshot(1).parts.filter(({ id }: Part) => id !== undefined)
  expect(segments.length).toBeGreaterThan(3)
  reader.close()
})
