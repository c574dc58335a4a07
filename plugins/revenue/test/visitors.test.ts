import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ReportResponse } from "../report/responses.ts"
import { enter } from "./books.ts"
import { type Shop, startShop } from "./kit.ts"

const AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"

/** Records visits of the site through the API for servers, each of a person with a user id. */
async function visits({ instance }: Shop, list: readonly (readonly [user: string, at: string, referrer?: string])[]): Promise<void> {
  const events = list.map(([user, timestamp, referrer]) => ({
    ...{ name: "pageview", url: "https://shop.example/", user_id: user, user_agent: AGENT, ip: "203.0.113.7", timestamp },
    ...(referrer && { referrer }),
  }))
  const { body } = await instance.api.post("/api/public/v1/sites/1/events", { events }, instance.eventsKey)
  expect(body).toMatchObject({ accepted: list.length })
}

/** Returns the number of a person, by which transactions know visitors. */
async function numberOf({ instance: { app, site } }: Shop, user: string): Promise<number> {
  return (await app.instance.people.find(site, user))[0]!
}

async function shopIn(mode: string, now?: string): Promise<Shop> {
  const shop = await startShop({ ...(now && { now }) })
  expect((await shop.send("PATCH", "/settings", { identity_mode: mode })).status).toBe(200)
  return shop
}

const get = async (shop: Shop, query: string, as?: Record<string, string>) =>
  (await shop.get(`/revenue/report?${query}`, as)).body as ReportResponse

describe("the conversion rate", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await shopIn("identified")
    await visits(shop, [
      ["anna", "2026-11-20T10:00:00Z", "https://www.google.com/"],
      ["bela", "2026-11-21T10:00:00Z", "https://www.google.com/"],
      ["cora", "2026-11-21T11:00:00Z"],
      ["dino", "2026-11-10T11:00:00Z"],
    ])
    const [anna, cora, dino] = await Promise.all(["anna", "cora", "dino"].map((user) => numberOf(shop, user)))
    // Dino has no visit in the range, and a refund is no sale.
    await enter(shop, [
      {
        at: "2026-11-20T10:05:00Z",
        amount: 1000,
        visitor: anna!,
        kind: "user",
        touches: [{ source: "Google", channel: "Organic Search" }],
      },
      {
        at: "2026-11-20T10:06:00Z",
        amount: 2000,
        visitor: anna!,
        kind: "user",
        touches: [{ source: "Google", channel: "Organic Search" }],
      },
      { at: "2026-11-21T12:00:00Z", amount: 500, visitor: dino!, kind: "user" },
      { at: "2026-11-21T12:00:00Z", amount: 500, visitor: cora!, kind: "user", type: "refund" },
    ])
  })
  afterAll(() => shop[Symbol.asyncDispose]())
  const range = "from=2026-11-20&to=2026-11-21"

  test("looks at the visitors of the range, and counts each once", async () => {
    expect(await get(shop, range)).toMatchObject({ visitors: 3, conversion_rate: 33.3, revenue_per_visitor: [{ amount: "10.00" }] })
  })

  test("is given for each group that visitors have", async () => {
    const { breakdown } = await get(shop, range)
    expect(breakdown.map(({ key, visitors, conversion_rate }) => [key, visitors, conversion_rate])).toEqual([
      ["Google", 2, 50],
      ["Direct", 1, 0],
    ])
    const byLink = await get(shop, `${range}&group_by=link`)
    expect(byLink.breakdown.map(({ visitors, conversion_rate }) => [visitors, conversion_rate])).toEqual([[null, null]])
  })

  test("is compared with the earlier range", async () => {
    const { comparison } = await get(shop, `${range}&compare=custom&compare_from=2026-11-10&compare_to=2026-11-11`)
    expect(comparison).toMatchObject({ visitors: 1, conversion_rate: 0, currencies: [], range: { from: "2026-11-10", to: "2026-11-11" } })
    expect(comparison!.breakdown.map(({ key, visitors, orders }) => [key, visitors, orders])).toEqual([
      ["Google", 0, 0],
      ["Direct", 1, 0],
    ])
  })

  test("needs no longer identity for people who are known for long", async () => {
    expect((await get(shop, range)).attribution.lookback).toEqual({ asked: 30, effective: 30 })
  })
})

describe("revenue by first purchase", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await shopIn("identified", "2026-10-21T12:00:00Z")
    await visits(shop, [
      ["anna", "2026-10-06T10:00:00Z"],
      ["bela", "2026-10-07T10:00:00Z"],
      ["cora", "2026-10-14T10:00:00Z"],
    ])
    await enter(shop, [
      { at: "2026-10-06T10:05:00Z", amount: 1000, visitor: 0, kind: "user" },
      { at: "2026-10-15T10:00:00Z", amount: 400, visitor: 0, kind: "user" },
      { at: "2026-10-20T10:00:00Z", amount: 100, visitor: 0, kind: "user", type: "refund" },
      { at: "2026-10-07T10:05:00Z", amount: 500, visitor: 1, kind: "user" },
      { at: "2026-10-14T10:05:00Z", amount: 200, visitor: 2, kind: "user" },
      // It is not known whether these are first purchases.
      { at: "2026-10-14T10:05:00Z", amount: 9_900, visitor: 2, kind: "rotating" },
      { at: "2026-10-14T10:05:00Z", amount: 9_900 },
    ])
  })
  afterAll(() => shop[Symbol.asyncDispose]())
  const query = "from=2026-10-05&to=2026-10-21&cohort_by=week&periods=3"

  test("follows people from the week of their first purchase", async () => {
    const { cohorts } = await get(shop, query)
    const rows = cohorts!.map(({ cohort, size, cells }) => [
      cohort,
      size,
      ...cells.map(({ state, by_currency }) =>
        [state, ...(by_currency ?? []).map(({ net, orders }) => `${net.amount} ${orders}`)].join(" "),
      ),
    ])
    expect(rows).toEqual([
      ["2026-10-05", 2, "complete 15.00 2", "complete 4.00 1", "partial -1.00 0"],
      ["2026-10-12", 1, "complete 2.00 1", "partial", "future"],
      ["2026-10-19", 0, "partial", "future", "future"],
    ])
  })

  test("hides small groups from people who may not see any", async () => {
    const { cohorts } = await get(shop, query, shop.viewer)
    expect(cohorts!.map(({ size, cells }) => [size, ...cells.map(({ state }) => state)])).toEqual([
      [null, "suppressed", "suppressed", "suppressed"],
      [null, "suppressed", "suppressed", "future"],
      [0, "partial", "future", "future"],
    ])
  })

  test("is refused where every purchase would look like the first one", async () => {
    await using daily = await startShop()
    await enter(daily, [{ at: "2026-11-20T10:00:00Z", amount: 100, visitor: 0 }])
    expect(await daily.get("/revenue/report?period=30d&cohort_by=week")).toMatchObject({
      status: 422,
      body: { code: "identity_insufficient" },
    })
  })
})
