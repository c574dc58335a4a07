import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { type Announced, listenerTo, startShop } from "./kit.ts"

/**
 * The area with its catalog and its row tables on libSQL servers, where each statement is a request and a transaction a conversation. All
 * tests of the area run this way with `FOOTFALL_TEST_CATALOG=server FOOTFALL_TEST_ROWS=server bun test plugins/revenue`.
 */

const EUR = (amount: string) => ({ amount, currency: "EUR" })
const at = (time: string) => `2026-11-26T${time}:00Z`

test("folds, converts, recomputes and announces once, with conflicts found, and leaves nothing of a deleted site", async () => {
  const announced: Announced[] = []
  const listener = listenerTo(["revenue.*"], announced)
  await using shop = await startShop({ hasCatalogServer: true, hasRowServer: true, listener })
  const { catalog } = shop.instance.app.instance
  expect([catalog.remote, shop.instance.app.instance.rowServer?.remote]).toEqual([true, true])
  await shop.sell([
    { at: at("09:00"), referrer: "https://www.google.com/" },
    { at: at("09:05"), order: "A", revenue: EUR("10") },
    { at: at("09:06"), order: "A", revenue: EUR("-3") },
    { at: at("09:07"), order: "B", revenue: { amount: "900", currency: "JPY" } },
  ])
  await shop.pay({
    ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_A", aliases: ["ch_A"], order_id: "A" },
    ...{ amount_minor: 1100, currency: "EUR", occurred_at: at("09:05") },
  })
  const { version, ...settings } = (await shop.get("/revenue/settings")).body as Record<string, unknown> & { version: number }
  const own = { ignored_referrers: [], lookback_days: 7, refund_basis: "order_date", include_client: true, base_currency: "EUR" }
  expect(settings).toMatchObject({ lookback_days: 30, recomputing: false })
  const saves = await Promise.all(Array.from({ length: 5 }, () => shop.send("PUT", "/revenue/settings", { ...own, version })))
  expect(saves.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  const rates = { rates: [{ day: "2026-11-25", base: "EUR", quote: "JPY", rate: "180" }] }
  expect(await shop.send("PUT", "/revenue/rates", rates)).toMatchObject({ status: 200 })
  expect((await shop.get("/revenue/settings")).body).toMatchObject({ recomputing: true, lookback_days: 7 })
  expect(await shop.send("POST", "/revenue/recompute", {})).toMatchObject({ status: 409, body: { code: "recompute_running" } })
  await shop.sell([])
  expect((await shop.get("/revenue/report?period=7d&currency=base")).body).toMatchObject({
    base: { gross: { amount: "16.00" }, refunds: { amount: "3.00" }, orders: 2, complete: true },
    recomputing: false,
  })
  const starts = await Promise.all(Array.from({ length: 5 }, () => shop.send("POST", "/revenue/recompute", {})))
  expect(starts.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409])
  await shop.sell([])
  expect(announced).toEqual([
    { event: "revenue.recorded", minor: 1000 },
    { event: "revenue.refunded", minor: 300 },
    { event: "revenue.recorded", minor: 900 },
  ])
  const refund = await shop.send("POST", "/revenue/transactions/1/refund", {})
  expect(refund).toMatchObject({ status: 201, body: { amount: { amount: "8.00" } } })
  await shop.instance.app.erasure.site(1)
  expect(await catalog.all(sql`select site_id from revenue_settings`)).toEqual([])
  expect(await shop.instance.rows(({ all }) => all(sql`select id from revenue_transactions`))).toEqual([])
  expect(shop.instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
}, 120_000)

test("while the server of the rows is away, events are stored and reports are refused, and nothing is folded twice", async () => {
  await using shop = await startShop({ hasRowServer: true })
  const server = shop.instance.rowServer!
  await shop.sell([{ at: at("09:05"), order: "A", revenue: EUR("10") }])
  await server.stop()
  await shop.sell([{ at: at("09:06"), order: "B", revenue: EUR("20") }])
  expect(await shop.get("/revenue/report?period=7d")).toMatchObject({ status: 503, body: { code: "unavailable" } })
  expect(await shop.send("POST", "/revenue/transactions", { ...EUR("1"), occurred_at: at("10:00") })).toMatchObject({ status: 503 })
  await server.start()
  shop.instance.clock.advance(300_000)
  await shop.instance.runJobs()
  expect((await shop.transactions()).map(({ order_id }) => order_id)).toEqual(["A", "B"])
  expect((await shop.get("/revenue/report?period=7d")).body).toMatchObject({
    currencies: [{ currency: "EUR", gross: { amount: "30.00" }, orders: 2 }],
  })
}, 120_000)
