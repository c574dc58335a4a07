import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Query } from "../../src/domain/query.ts"
import { warmUp } from "../../src/query/engine/warm-up.ts"
import { funnel } from "../../src/query/funnel/funnel.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import type { NewSums } from "../../src/store/events/tables/month-sums.ts"
import { hashSources } from "../../src/store/events/tables/source-hash.ts"
import { SUMS_VERSION } from "../../src/store/events/tables/sums-version.ts"
import { temporaryFolder } from "../kit.ts"
import { openTraffic, SITE } from "./traffic.ts"

const DAY_MS = 86_400_000
const FROM = Date.parse("2026-01-01T00:00:00Z")
const TO = Date.parse("2027-01-01T00:00:00Z")

const BY_COUNTRY: Query = {
  ...{ site: SITE, range: { from: FROM, to: TO }, timezone: "UTC", now: TO, fillBuckets: false, offset: 0, limit: 1_000 },
  ...{ metrics: ["visitors", "visits", "pageviews", "visit_duration"], groupings: [{ by: "dimension", dimension: "country" }] },
  order: [{ by: "grouping", index: 0, descending: false }],
}
const COUNTRIES = [
  ["DE", 220, 220, 66_000, 299],
  ["FR", 1, 1, 1, 0],
]

/** A store whose sums of January are worth storing, which has 220 visits with 300 pageviews each. In March there is one visit. */
async function largeMonth() {
  const traffic = await onlyJanuary()
  traffic.visit({ visitor: 220, traits: { country: "FR" }, events: [{ at: FROM + 70 * DAY_MS }] })
  return traffic
}

async function onlyJanuary() {
  const traffic = openTraffic(FROM)
  for (let visitor = 0; visitor < 220; visitor++) {
    const events = Array.from({ length: 300 }, (_, i) => ({ at: FROM + DAY_MS + visitor + i * 1_000, page: i % 2 === 0 ? "/a" : "/b" }))
    traffic.visit({ visitor, traits: { country: "DE" }, events })
  }
  await traffic.store.seal(FROM + 3 * DAY_MS, true)
  return traffic
}
type Traffic = Awaited<ReturnType<typeof largeMonth>>

/** Answers a query as the first one after a start. */
function afterStart<Answer>(
  { path }: Traffic,
  storeSums: (sums: NewSums) => void,
  ask: (reader: ReturnType<typeof openEventReader>) => Answer,
) {
  const reader = openEventReader(path, { cacheBytes: 1 << 20, storeSums })
  try {
    return ask(reader)
  } finally {
    reader.close()
  }
}

const countries = (traffic: Traffic, storeSums: (sums: NewSums) => void = () => {}) =>
  afterStart(traffic, storeSums, (reader) =>
    aggregate(reader.snapshot(1), BY_COUNTRY, () => {}).rows.map(({ keys, values }) => [...keys, ...values]),
  )

const steps = ["/a", "/b"].map((value) => ({ type: "page", match: "exact", value }) as const)
const funnelOf = (traffic: Traffic, storeSums: (sums: NewSums) => void = () => {}) =>
  afterStart(traffic, storeSums, (reader) =>
    funnel(reader.snapshot(1), { site: SITE, range: { from: FROM, to: TO }, steps, order: "sequential" }, () => {}),
  )

/** Deletes the columns of all segments, so that only stored sums can be read. */
function deleteColumns({ path }: Traffic): void {
  const db = new Database(path)
  db.run("delete from segment_columns")
  db.close()
}

/** Returns the number of stored sums. */
function storedIn({ path }: Traffic): number {
  const db = new Database(path, { readonly: true })
  const { n } = db.query<{ n: number }, []>("select count(*) as n from month_sums").get()! // it returns a row
  db.close()
  return n
}

test("the sums of a large month are read after a start instead of its segments", async () => {
  using traffic = await largeMonth()
  const steps = { steps: [{ visitors: 220 }, { visitors: 220, medianSeconds: 1 }] }
  expect(countries(traffic, traffic.store.storeSums)).toEqual(COUNTRIES)
  expect(funnelOf(traffic, traffic.store.storeSums)).toEqual(steps)
  deleteColumns(traffic)
  expect(countries(traffic)).toEqual(COUNTRIES)
  expect(funnelOf(traffic)).toEqual(steps)
})

test("the warm-up reads the stored sums of months", async () => {
  using traffic = await largeMonth()
  countries(traffic, traffic.store.storeSums)
  const afterWarmUp = (reader: ReturnType<typeof openEventReader>) => {
    for (const _ of warmUp(reader, 1 << 20));
    const db = new Database(traffic.path)
    db.run("delete from summed_months")
    db.close()
    deleteColumns(traffic)
    return aggregate(reader.snapshot(1), BY_COUNTRY, () => {}).rows.map(({ keys, values }) => [...keys, ...values])
  }
  expect(afterStart(traffic, () => {}, afterWarmUp)).toEqual(COUNTRIES)
})

test("the warm-up finds out who has several visits in the last 365 days", async () => {
  using traffic = await largeMonth()
  countries(traffic, traffic.store.storeSums)
  const range = { from: FROM + (71 - 365) * DAY_MS, to: FROM + 71 * DAY_MS }
  const areKnown = (isWarm: boolean) =>
    afterStart(
      traffic,
      () => {},
      (reader) => {
        if (isWarm) for (const _ of warmUp(reader, 1 << 20));
        const { results, ...snapshot } = reader.snapshot(1)
        const found: boolean[] = []
        const watched: typeof results = {
          get(key, version) {
            const result = results.get(key, version)
            if (key.startsWith("visitors ")) found.push(result !== undefined)
            return result
          },
          set: (...result) => results.set(...result),
        }
        aggregate({ ...snapshot, results: watched }, { ...BY_COUNTRY, range }, () => {})
        return found
      },
    )
  // Those of the month, and those of the range.
  expect(areKnown(true)).toEqual([true, true])
  expect(areKnown(false)).toEqual([false, false])
})

test("the warm-up stores no sums of the parts that it reads", async () => {
  using traffic = await onlyJanuary()
  const stored: NewSums[] = []
  const read = afterStart(
    traffic,
    (sums) => stored.push(sums),
    (reader) => [...warmUp(reader, 8 << 20)].length,
  )
  expect(read).toBeGreaterThan(18)
  expect(stored).toEqual([])
})

test("a month of one segment that the warm-up has read is stored with its visitors", async () => {
  using traffic = openTraffic(FROM)
  for (let visitor = 0; visitor < 60; visitor++)
    traffic.visit({ visitor, events: Array.from({ length: 300 }, (_, i) => ({ at: FROM + DAY_MS + visitor + i })) })
  await traffic.store.seal(FROM + 3 * DAY_MS, true)
  afterStart(traffic, traffic.store.storeSums, (reader) => {
    for (const _ of warmUp(reader, 8 << 20));
    aggregate(reader.snapshot(1), BY_COUNTRY, () => {})
  })
  expect(storedIn(traffic)).toBe(2)
})

test("sums of a small month are not stored", async () => {
  using traffic = openTraffic(FROM)
  traffic.visit({ visitor: 1, events: [{ at: FROM + DAY_MS }] })
  await traffic.store.seal(FROM + 3 * DAY_MS, true)
  countries(traffic, traffic.store.storeSums)
  expect(storedIn(traffic)).toBe(0)
})

test("an erasure deletes the sums of its month, and sums that arrive later are refused", async () => {
  using traffic = await largeMonth()
  const late: NewSums[] = []
  countries(traffic, (sums) => {
    late.push(sums)
    traffic.store.storeSums(sums)
  })
  expect(storedIn(traffic)).toBe(2)
  await traffic.store.erasePerson(SITE.id, [7], FROM + 4 * DAY_MS)
  expect(storedIn(traffic)).toBe(0)
  for (const sums of late) traffic.store.storeSums(sums)
  expect(storedIn(traffic)).toBe(0)
  expect(countries(traffic)).toEqual([
    ["DE", 219, 219, 65_700, 299],
    ["FR", 1, 1, 1, 0],
  ])
})

test("the latest sums of a month fit into three tenths of a byte for each event", async () => {
  using traffic = await largeMonth()
  const sums: NewSums[] = []
  countries(traffic, (each) => sums.push(each))
  const [visitors, countrySums] = sums as [NewSums, NewSums]
  traffic.store.storeSums(visitors)
  for (const name of ["one", "two", "three"]) traffic.store.storeSums({ ...countrySums, name, data: new Uint8Array(9_000) })
  const db = new Database(traffic.path, { readonly: true })
  const names = db.query<{ name: string }, []>("select name from month_sums order by id").all()
  db.close()
  expect(names.map(({ name }) => name)).toEqual(["visitors", "two", "three"])
})

test("sums that other code has computed are not used", async () => {
  using traffic = await largeMonth()
  countries(traffic, traffic.store.storeSums)
  const reopen = () => openEventStore(traffic.path, { now: TO, version: "9.9.9" }).close()
  reopen()
  expect(storedIn(traffic)).toBe(2)
  const db = new Database(traffic.path)
  db.run("update summed_months set version = 'other'")
  db.close()
  reopen()
  expect(storedIn(traffic)).toBe(0)
})

test("the version of sums changes with any code of queries, segments and the domain, and with nothing else", () => {
  using folder = temporaryFolder()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true })
    writeFileSync(join(folder.path, path), text)
    return hashSources(folder.path)
  }
  const first = write("query/measure/sums.ts", "one")
  expect(write("query/measure/sums.ts", "two")).not.toBe(first)
  expect(write("query/measure/sums.ts", "one")).toBe(first)
  expect(write("http/server.ts", "one")).toBe(first)
  const versions = ["domain/query.ts", "query/sums.ts", "store/events/part.ts"].map((path) => write(path, "one"))
  expect(new Set([first, ...versions]).size).toBe(4)
  expect(SUMS_VERSION).toBe(hashSources())
})
