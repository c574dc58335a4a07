import { expect, test } from "bun:test"
import { bing } from "#plugin/test"
import { weekStart } from "../../search/bing.ts"
import { desk } from "./kit.ts"

const [MINUTE, DAY] = [60_000, 86_400_000]
/** Midnight in Los Angeles, as Bing states days. */
const date = (day: string) => `/Date(${Date.parse(`${day}T08:00:00Z`)}-0800)/`
const figures = (Query: string, day: string, Clicks: number, Impressions: number, AvgImpressionPosition: number) => ({
  ...{ Query, Date: date(day), Clicks, Impressions, AvgImpressionPosition },
  AvgClickPosition: 1,
})

async function connected() {
  const fake = bing()
  fake.answers = {
    GetQueryStats: [
      figures("shoes", "2026-11-09", 4, 40, 3),
      figures("shoes", "2026-11-16", 1, 10, 8),
      figures("boots", "2026-11-16", 0, 5, -1),
    ],
    GetPageStats: [figures("https://shop.example/a", "2026-11-16", 1, 12, 5)],
    // By day.
    GetRankAndTrafficStats: [
      { Date: date("2026-11-16"), Clicks: 1, Impressions: 9 },
      { Date: date("2026-11-18"), Clicks: 2, Impressions: 11 },
    ],
  }
  const world = await desk({ settings: { bing_api_base: fake.origin } })
  const connect = (body: object = {}) => world.ask("POST", "/integrations/bing-webmaster/connect", { api_key: fake.key, ...body })
  const shown = async () =>
    (await world.ask("GET", "/integrations")).body.data.find(({ kind }: { kind: string }) => kind === "bing-webmaster")
  return {
    fake,
    world,
    connect,
    shown,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
    },
  }
}

test("finds the Monday of the week of a date with and without an offset", () => {
  expect(weekStart("/Date(1795248000000)/")).toBe(weekStart(date("2026-11-21")))
  // 2026-11-16 is a Monday. Midnight in Los Angeles is 8:00 in UTC.
  expect([weekStart(date("2026-11-15")), weekStart(date("2026-11-16")), weekStart(date("2026-11-22"))]).toEqual([20_766, 20_773, 20_773])
})

test("connects a site by a tested key, and reports weeks by their first day", async () => {
  await using all = await connected()
  const { fake, world, connect, shown } = all
  const refused = await connect({ api_key: "ffffffffffffffffffffffffffffffff" })
  expect([refused.status, refused.body.code, refused.body.steps[0].ok]).toEqual([422, "connection_failed", false])
  expect((await connect({ api_key: "short" })).body.errors[0].pointer).toBe("/api_key")
  expect((await connect({ config: { site_url: "ftp://shop.example" } })).body.errors[0].pointer).toBe("/config/site_url")
  expect((await connect()).status).toBe(201)
  expect((await connect()).body).toMatchObject({ code: "already_connected", existing_id: 1 })
  await world.work()
  expect(await shown()).toMatchObject({
    status: "ok",
    scope: "site",
    config: { site_url: "https://shop.example/" },
    secret: { set: true, hint: "…cdef" },
  })
  const report = async (query: string) =>
    (await world.ask("GET", `/search-console/report?engine=bing&from=2026-11-01&to=2026-11-21&${query}`)).body
  const queries = await report("group_by=query")
  // (40 × 3 + 10 × 8) / 50 = 4
  expect(queries.rows).toEqual([
    { key: "shoes", clicks: 5, impressions: 50, ctr: 10, position: 4 },
    { key: "boots", clicks: 0, impressions: 5, ctr: 0, position: null },
  ])
  // Without traffic of the first week, its totals are those of the queries.
  expect(queries.totals).toEqual({ clicks: 7, impressions: 60, ctr: 11.7, position: null })
  expect((await report("group_by=date")).rows.map(({ key, clicks }: Record<string, unknown>) => [key, clicks])).toEqual([
    ["2026-11-09", 4],
    ["2026-11-16", 3],
  ])
  expect((await report("group_by=page")).rows).toMatchObject([{ key: "https://shop.example/a", impressions: 12 }])
  for (const query of ["group_by=country", "device=mobile", "search_type=image", "group_by=page&query=shoes"])
    expect([query, (await report(query)).errors[0].code]).toEqual([query, "unsupported_combination"])
  expect(fake.calls.every(({ siteUrl }) => siteUrl === "https://shop.example/")).toBe(true)
  // A week that changes is replaced.
  fake.answers.GetQueryStats = [figures("shoes", "2026-11-16", 3, 10, 2)]
  await world.after(DAY)
  expect((await report("group_by=query")).rows).toMatchObject([{ key: "shoes", clicks: 7 }])
})

test.each([
  ["a revoked key", { status: 400, code: 3 }, "needs_reauth", "needs_reauth", null, 1],
  ["too many requests", { status: 400, code: 4 }, "degraded", "quota", 60, 0],
  ["a site that was removed", { status: 400, code: 14 }, "error", "property_lost", 1_440, 1],
  ["an error of the server", { status: 500, body: "broken" }, "degraded", "unavailable", 15, 0],
  ["a page instead of data", { status: 200, body: "<html>" }, "degraded", "unavailable", 15, 0],
  ["another form of data", { status: 200, body: '{"d":[{"Query":1}]}' }, "degraded", "unavailable", 15, 0],
] as const)("handles %s: state, next attempt and one email", async (_, failure, status, code, minutes, emails) => {
  await using all = await connected()
  const { fake, world, connect, shown } = all
  await connect()
  await world.work()
  fake.failure = failure
  await world.after(DAY)
  const { last_error, next_run_at, ...rest } = await shown()
  const left = next_run_at === null ? null : (Date.parse(next_run_at) - world.instance.clock.now()) / MINUTE
  expect([rest.status, last_error.code, left]).toEqual([status, code, minutes])
  for (let tries = 0; world.emails.length < emails && tries < 100; tries++, await Bun.sleep(10)) await world.work()
  expect(world.emails.length).toBe(emails)
  if (minutes !== null) return
  // A new key ends it.
  fake.failure = undefined
  fake.key = "fedcba9876543210fedcba9876543210"
  expect((await world.ask("PATCH", `/integrations/${rest.id}`, { api_key: fake.key })).body.status).toBe("ok")
  await world.after(5 * MINUTE)
  expect((await shown()).last_error).toBeNull()
})
