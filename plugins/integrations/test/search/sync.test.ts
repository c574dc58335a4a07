import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { type Desk, desk } from "./kit.ts"

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const RANGE = "from=2026-11-01&to=2026-11-21"

const report = async ({ ask }: Desk, query = "") => (await ask("GET", `/search-console/report?${RANGE}${query && `&${query}`}`)).body
const days = ({ console: fake }: Desk): string[] => [...new Set(fake.queries.map(({ startDate }) => startDate))]
const connected = async (options?: Parameters<typeof desk>[0]): Promise<Desk> => {
  const world = await desk(options)
  await world.connect()
  return world
}
const record = (day: string, clicks: number, impressions: number, position: number, more: object = {}) => ({
  day,
  clicks,
  impressions,
  position,
  ...more,
})
/** Limits the back-fill of a test to the days since this one. */
const stopBefore = (world: Desk, first: string): void => {
  world.console.onQuery = ({ startDate }) => {
    if (startDate < first) world.console.scenario = "500"
  }
}
/** Ends the back-fill that `stopBefore` has interrupted, as if the older days had no data. */
async function endBackfill(world: Desk): Promise<void> {
  await world.instance.rows((rows) => rows.run(sql`update integrations_search_sync set backfilled_to = 0`))
  world.console.onQuery = undefined
  world.console.scenario = "ok"
  await world.after(15 * MINUTE)
}
const state = async (world: Desk) => {
  const { status, last_error, next_run_at } = await world.mapping()
  const now = world.instance.clock.now()
  return [status, last_error?.code ?? null, next_run_at === null ? null : (Date.parse(next_run_at) - now) / MINUTE]
}

test("fetches 16 months, newest day first, with four queries a day, and then daily the last five days", async () => {
  await using world = await connected()
  world.console.records = [record("2026-11-20", 3, 10, 2.5), record("2025-07-22", 1, 4, 7)]
  await world.map()
  await world.work()
  const fetched = days(world)
  expect([fetched[0], fetched.at(-1), fetched.length]).toEqual(["2026-11-21", "2025-07-21", 489])
  const ofDay = world.console.queries.filter(({ startDate }) => startDate === "2026-11-20")
  expect(ofDay.map(({ dimensions, startRow }) => `${dimensions} ${startRow}`)).toEqual([
    "date 0",
    "date,page 0",
    "date,page 1",
    "date,country,device 0",
    "date,country,device 1",
    "date,query,page 0",
    "date,query,page 1",
  ])
  expect(
    ofDay.every(
      (query) =>
        query.dataState === "all" && query.rowLimit === 25_000 && query.type === "web" && query.property === "sc-domain:shop.example",
    ),
  ).toBe(true)
  expect(await state(world)).toEqual(["ok", null, 24 * 60])
  // Google corrects the days of the last week, and adds one.
  world.console.queries = []
  world.console.records = [record("2026-11-20", 5, 10, 2), record("2026-11-22", 7, 14, 1)]
  await world.after(DAY)
  expect(days(world)).toEqual(["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22"])
  const { totals, data_until } = (await world.ask("GET", "/search-console/report?from=2025-01-01&to=2026-11-22")).body
  expect([totals, data_until]).toEqual([{ clicks: 13, impressions: 28, ctr: 46.4, position: 2.21 }, "2026-11-22"])
}, 120_000)

test("weights positions by impressions, in totals, groups and ranges", async () => {
  await using world = await connected()
  world.console.records = [
    record("2026-11-19", 1, 1, 10, { query: "shoes", page: "https://shop.example/a" }),
    record("2026-11-20", 2, 99, 2, { query: "shoes", page: "https://shop.example/b" }),
    record("2026-11-20", 0, 3, 4.5, { query: "boots", page: "https://shop.example/b", country: "usa", device: "MOBILE" }),
  ]
  stopBefore(world, "2026-11-15")
  await world.map()
  await world.work()
  // (1 × 10 + 99 × 2 + 3 × 4.5) / 103 = 2.1504
  const all = await report(world)
  expect(all.totals).toEqual({ clicks: 3, impressions: 103, ctr: 2.9, position: 2.15 })
  expect(all.rows).toEqual([
    { key: "shoes", clicks: 3, impressions: 100, ctr: 3, position: 2.08 },
    { key: "boots", clicks: 0, impressions: 3, ctr: 0, position: 4.5 },
  ])
  // (99 × 2 + 3 × 4.5) / 102 = 2.0735
  const pages = await report(world, "group_by=page&sort=position")
  expect(pages.rows.map(({ key, position, visits }: Record<string, unknown>) => [key, position, visits])).toEqual([
    ["https://shop.example/b", 2.07, 0],
    ["https://shop.example/a", 10, 0],
  ])
  expect((await report(world, "group_by=country")).rows.map(({ key }: { key: string }) => key)).toEqual(["DE", "US"])
  expect((await report(world, "group_by=device&country=us")).rows).toEqual([
    { key: "mobile", clicks: 0, impressions: 3, ctr: 0, position: 4.5 },
  ])
  const filtered = await report(world, `page=${encodeURIComponent("https://shop.example/b")}`)
  expect([filtered.totals, filtered.withheld]).toEqual([{ clicks: 2, impressions: 102, ctr: 2, position: 2.07 }, null])
  expect(filtered.rows.map(({ key }: { key: string }) => key)).toEqual(["shoes", "boots"])
  const daily = await report(world, "group_by=date")
  expect(daily.rows.map(({ key, clicks, position }: Record<string, unknown>) => [key, clicks, position])).toEqual([
    ["2026-11-19", 1, 10],
    ["2026-11-20", 2, 2.07],
  ])
  expect((await report(world, "group_by=date&query=shoes")).rows).toMatchObject([
    { key: "2026-11-19", clicks: 1 },
    { key: "2026-11-20", clicks: 2 },
  ])
  expect((await report(world, "query=never+searched")).rows).toEqual([])
})

test("shows what Google withholds, which days may change, and which were cut", async () => {
  await using world = await connected()
  world.console.records = [
    record("2026-11-19", 2, 20, 3),
    record("2026-11-19", 1, 30, 8, { isWithheld: true }),
    record("2026-11-20", 1, 5, 1),
  ]
  world.console.firstIncomplete = "2026-11-20"
  stopBefore(world, "2026-11-17")
  await world.map()
  await world.work()
  const shown = await report(world)
  expect([shown.totals.impressions, shown.withheld, shown.fresh_from, shown.cut_days]).toEqual([
    55,
    { clicks: 1, impressions: 30 },
    "2026-11-20",
    0,
  ])
  expect((await report(world, "group_by=country")).withheld).toBeNull()
  expect(shown.timezone).toBe("America/Los_Angeles")
})

test("asks for pages until one is empty, and marks a day of 50,000 rows as cut", async () => {
  await using world = await connected()
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ clicks: 1, impressions: 2, position: 1, i }))
  const counts: Record<string, number> = { "2026-11-21": 25_000, "2026-11-20": 60_000 }
  world.console.rows = ({ startDate, dimensions }) => {
    const count = counts[startDate] ?? 0
    if (dimensions.length === 1) return count === 0 ? [] : [{ keys: [startDate], clicks: count, impressions: 2 * count, position: 1 }]
    const keysOf = (i: number) =>
      dimensions.map((name) => (name === "date" ? startDate : name === "country" ? "deu" : name === "device" ? "MOBILE" : `${name} ${i}`))
    return many(dimensions.includes("country") ? Math.min(1, count) : count).map(({ i, ...row }) => ({ ...row, keys: keysOf(i) }))
  }
  stopBefore(world, "2026-11-19")
  await world.map()
  await world.work()
  const pages = (day: string) =>
    world.console.queries
      .filter(({ startDate, dimensions }) => startDate === day && `${dimensions}` === "date,page")
      .map(({ startRow }) => startRow)
  expect([pages("2026-11-21"), pages("2026-11-20")]).toEqual([
    [0, 25_000],
    [0, 25_000],
  ])
  const shown = await report(world, "group_by=page&limit=1")
  expect([shown.cut_days, shown.withheld, shown.has_more]).toEqual([1, { clicks: 10_000, impressions: 20_000 }, true])
}, 60_000)

/** Failures of the API: status, code, minutes until the next attempt, emails. */
const FAILURES: [string, (world: Desk) => void, string, string, number | null, number][] = [
  [
    "a quota with a time to wait",
    ({ console: fake }) => void Object.assign(fake, { scenario: "quota_429", retryAfter: "600" }),
    "degraded",
    "quota",
    10,
    0,
  ],
  ["a quota without one", ({ console: fake }) => void Object.assign(fake, { scenario: "quota_403" }), "degraded", "quota", 60, 0],
  ["a lost property", ({ console: fake }) => void Object.assign(fake, { scenario: "403_property" }), "error", "property_lost", 1_440, 1],
  ["a disabled API", ({ console: fake }) => void Object.assign(fake, { scenario: "api_disabled" }), "error", "api_disabled", 1_440, 1],
  ["an error of the server", ({ console: fake }) => void Object.assign(fake, { scenario: "500" }), "degraded", "unavailable", 15, 0],
  [
    "an answer that is not JSON",
    ({ console: fake }) => void Object.assign(fake, { scenario: "malformed" }),
    "degraded",
    "unavailable",
    15,
    0,
  ],
  ["an answer that ends early", ({ console: fake }) => void Object.assign(fake, { scenario: "cut" }), "degraded", "unavailable", 15, 0],
  [
    "figures of a wrong type",
    ({ console: fake }) => void Object.assign(fake, { scenario: "wrong_types" }),
    "degraded",
    "unavailable",
    15,
    0,
  ],
  ["rows of another day", ({ console: fake }) => void Object.assign(fake, { scenario: "foreign_day" }), "degraded", "unavailable", 15, 0],
  [
    "a missing scope",
    ({ console: fake }) => void Object.assign(fake, { scenario: "scope_missing" }),
    "needs_reauth",
    "scope_not_granted",
    null,
    1,
  ],
  ["a revoked grant", ({ google }) => void Object.assign(google, { scenario: "invalid_grant" }), "needs_reauth", "needs_reauth", null, 1],
  ["a token URL that fails", ({ google }) => void Object.assign(google, { scenario: "500" }), "degraded", "unavailable", 15, 0],
]

test.each(FAILURES)(
  "handles %s: state, next attempt, one email, data stays readable",
  async (_, fail, status, code, minutes, emails) => {
    await using world = await connected()
    world.console.records = [record("2026-11-20", 3, 10, 2)]
    stopBefore(world, "2026-11-17")
    await world.map()
    await world.work()
    await endBackfill(world)
    expect(await state(world)).toEqual(["ok", null, 24 * 60])
    world.instance.clock.advance(DAY)
    fail(world)
    await world.work()
    expect(await state(world)).toEqual([status, code, minutes])
    // No request is made before the next attempt, and a failure of the same kind is not reported again.
    const calls = world.google.requests.length
    if (minutes !== null) {
      await world.after(minutes * MINUTE - 1)
      expect(world.google.requests.length).toBe(calls)
      await world.after(5 * MINUTE)
      expect(world.google.requests.length).toBeGreaterThan(calls)
    } else {
      await world.after(DAY)
      expect(world.google.requests.length).toBe(calls)
    }
    await world.work()
    const reported = (await world.events()).filter(({ event }) => event === "integration.needs_reauth")
    expect([reported.length, world.emails.length]).toEqual([emails, emails])
    const stored = await report(world)
    expect([stored.totals.clicks, stored.status]).toEqual([3, (await world.mapping()).status])
  },
  60_000,
)

test("waits twice as long after each failure, up to six hours", async () => {
  await using world = await connected()
  world.console.scenario = "500"
  await world.ask("GET", "/integrations")
  world.console.scenario = "ok"
  await world.map()
  world.console.scenario = "500"
  await world.work()
  const pauses: unknown[] = []
  for (let i = 0; i < 7; i++) {
    const [, , minutes] = await state(world)
    pauses.push(minutes)
    await world.after((minutes as number) * MINUTE)
  }
  expect(pauses).toEqual([15, 30, 60, 120, 240, 360, 360])
})

test("replaces an expired token once, without a trace", async () => {
  await using world = await connected()
  world.console.records = [record("2026-11-20", 3, 10, 2)]
  stopBefore(world, "2026-11-17")
  await world.map()
  world.console.scenario = "token_expired"
  const before = world.google.requests.filter(({ grant }) => grant === "refresh_token").length
  await world.work()
  expect((await report(world)).totals.clicks).toBe(3)
  expect(world.google.requests.filter(({ grant }) => grant === "refresh_token").length - before).toBe(1)
})

test("runs again after the account was connected again, and reports a second loss", async () => {
  await using world = await connected()
  stopBefore(world, "2026-11-19")
  await world.map()
  world.google.scenario = "invalid_grant"
  world.instance.clock.advance(2 * HOUR)
  await world.work()
  expect(await state(world)).toEqual(["needs_reauth", "needs_reauth", null])
  expect((await world.ask("POST", "/integrations/search-console/sync")).body.code).toBe("needs_reauth")
  world.google.scenario = "ok"
  world.console.onQuery = undefined
  expect(await world.connect()).toBe("/sites/1/integrations?result=connected")
  await world.work()
  expect((await state(world)).slice(0, 2)).toEqual(["ok", null])
  expect(world.emails.length).toBe(1)
  world.google.scenario = "invalid_grant"
  await world.after(DAY + HOUR)
  for (let tries = 0; world.emails.length < 2 && tries < 100; tries++, await Bun.sleep(10)) await world.work()
  expect([await state(world), world.emails.length]).toEqual([["needs_reauth", "needs_reauth", null], 2])
}, 60_000)

test("resumes where it was interrupted, without a gap or a duplicate", async () => {
  await using world = await connected()
  world.console.records = Array.from({ length: 30 }, (_, i) =>
    record(new Date(Date.UTC(2026, 10, 21 - i)).toISOString().slice(0, 10), 1, 2, 3),
  )
  stopBefore(world, "2026-11-12")
  await world.map()
  await world.work()
  expect((await state(world)).slice(0, 2)).toEqual(["degraded", "unavailable"])
  expect((await report(world)).totals.clicks).toBe(10)
  world.console.onQuery = undefined
  world.console.scenario = "ok"
  world.console.queries = []
  await world.after(15 * MINUTE)
  // The last five days again, then the rest.
  expect(days(world).slice(0, 7)).toEqual([
    "2026-11-17",
    "2026-11-18",
    "2026-11-19",
    "2026-11-20",
    "2026-11-21",
    "2026-11-11",
    "2026-11-10",
  ])
  const whole = (await world.ask("GET", "/search-console/report?from=2026-10-01&to=2026-11-21&group_by=date&limit=200")).body
  expect([whole.totals.clicks, whole.rows.length]).toEqual([30, 30])
}, 60_000)

test("fetches again on request, once in ten minutes and not while Google asks to wait", async () => {
  await using world = await connected()
  expect((await world.ask("POST", "/integrations/search-console/sync")).body.code).toBe("not_connected")
  stopBefore(world, "2026-11-19")
  await world.map()
  await world.work()
  await endBackfill(world)
  world.instance.clock.advance(10 * MINUTE)
  const sync = async () => {
    const { status, headers } = await world.ask("POST", "/integrations/search-console/sync")
    return [status, headers.get("retry-after")]
  }
  expect(await sync()).toEqual([202, null])
  await world.work()
  expect((await state(world))[0]).toBe("ok")
  expect(await sync()).toEqual([429, "600"])
  world.console.scenario = "quota_429"
  world.console.retryAfter = "3600"
  world.instance.clock.advance(10 * MINUTE)
  expect((await sync())[0]).toBe(202)
  await world.work()
  world.instance.clock.advance(11 * MINUTE)
  expect(await sync()).toEqual([429, String(3_600 - 11 * 60)])
}, 60_000)

test("has no queries and devices of Discover, and fetches several types", async () => {
  await using world = await connected()
  world.console.records = [record("2026-11-20", 3, 10, 2), record("2026-11-20", 8, 9, 0, { type: "discover" })]
  stopBefore(world, "2026-11-19")
  await world.map({ search_types: ["web", "discover"] })
  await world.work()
  world.console.onQuery = undefined
  world.console.scenario = "ok"
  await world.after(15 * MINUTE)
  const asked = world.console.queries.filter(({ type }) => type === "discover").map(({ dimensions }) => `${dimensions}`)
  expect(new Set(asked)).toEqual(new Set(["date", "date,page", "date,country"]))
  const discover = await report(world, "search_type=discover&group_by=page")
  expect(discover.totals).toEqual({ clicks: 8, impressions: 9, ctr: 88.9, position: null })
  expect((await report(world, "search_type=discover")).errors[0]).toMatchObject({ pointer: "/group_by", code: "unsupported_combination" })
}, 60_000)

test("leaves no data when a mapping is removed with its data, and keeps it otherwise", async () => {
  await using world = await connected()
  world.console.records = [record("2026-11-20", 3, 10, 2)]
  stopBefore(world, "2026-11-19")
  const { id } = await world.map()
  await world.work()
  expect((await world.ask("DELETE", `/integrations/${id}`)).status).toBe(204)
  expect((await report(world)).status).toBe("disconnected")
  world.console.scenario = "ok"
  const again = await world.map()
  expect((await world.ask("DELETE", `/integrations/${again.id}?forget_data=true`)).status).toBe(204)
  await world.work()
  expect((await report(world)).code).toBe("not_connected")
  const counts = await world.instance.rows((rows) =>
    rows.all(sql`select 1 from integrations_search_terms union all select 2 from integrations_search_rows
      union all select 3 from integrations_search_totals union all select 4 from integrations_search_sync`),
  )
  expect(counts).toEqual([])
})

test("gives up an answer that takes longer than twenty seconds", async () => {
  await using world = await connected()
  await world.map()
  world.console.scenario = "slow"
  await world.work()
  expect(await state(world)).toEqual(["degraded", "unavailable", 15])
}, 60_000)
