import { expect, test } from "bun:test"
import { definePlugin, sql } from "#plugin"
import { type Announced, listenerTo, startShop } from "./kit.ts"

const at = (time: string) => `2026-11-26T${time}:00Z`
const EUR = (amount: string) => ({ amount, currency: "EUR" })

test("folds each order once, with the visit that led to it", async () => {
  await using shop = await startShop()
  await shop.sell([
    { at: at("10:00"), url: "https://shop.example/tea", referrer: "https://www.google.com/" },
    { at: at("10:05"), order: "1001", revenue: EUR("12.34") },
    { at: at("10:06"), order: "1001", revenue: EUR("12.34") },
    { at: at("10:07"), revenue: EUR("5") },
  ])
  expect(await shop.transactions()).toMatchObject([
    {
      ...{ type: "sale", provider: "tracker", external_id: "order:1001", order_id: "1001", trust: "server", source: "Google" },
      ...{ amount: { amount_minor: 1234, currency: "EUR", amount: "12.34" }, flags: [], parent_id: null },
      base: { amount: { amount: "12.34" }, rate: "1", rate_day: "2026-11-26" },
    },
    { type: "sale", order_id: null, amount: { amount: "5.00" }, source: "Google" },
  ])
})

test("folds a negative amount as a refund of its order, also before the sale", async () => {
  await using shop = await startShop()
  await shop.sell([{ at: at("10:05"), order: "1001", revenue: EUR("-2.34") }])
  const [early] = await shop.transactions()
  expect(early).toMatchObject({ type: "refund", amount: { amount: "2.34" }, order_id: "1001", parent_id: null })
  await shop.sell([
    { at: at("10:06"), order: "1001", revenue: EUR("12.34") },
    { at: at("10:08"), revenue: EUR("-1") },
  ])
  const [refund, sale, unlinked] = await shop.transactions()
  expect(refund).toMatchObject({ type: "refund", parent_id: sale!.id })
  expect(sale).toMatchObject({ type: "sale", flags: [] })
  expect(unlinked).toMatchObject({ type: "refund", parent_id: null, order_id: null })
  await shop.sell([{ at: at("10:09"), order: "1001", revenue: EUR("-10.01") }])
  expect(await shop.transactions("&flag=over_refunded")).toMatchObject([{ id: sale!.id, flags: ["over_refunded"] }])
})

const payment = (more: object) => ({
  ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_1", aliases: [] },
  ...{ amount_minor: 1300, currency: "EUR", occurred_at: "2026-11-26T10:06:00Z", ...more },
})
const sale = { at: at("10:05"), order: "1001", revenue: EUR("12.34") }
const webhook = payment({ order_id: "1001" })

test.each([
  ["before the event", ["pay", "sell"]],
  ["after the event", ["sell", "pay"]],
  ["twice after the event", ["sell", "pay", "pay"]],
  ["twice, around the event", ["pay", "sell", "pay"]],
])("a payment %s takes over the order and keeps its visit", async (_, steps) => {
  await using shop = await startShop()
  await shop.sell([{ at: at("10:00"), referrer: "https://www.google.com/" }])
  for (const step of steps) await (step === "pay" ? shop.pay(webhook) : shop.sell([sale]))
  expect(await shop.transactions()).toMatchObject([
    {
      ...{ provider: "stripe", external_id: "pi_1", order_id: "1001", trust: "webhook", source: "Google", flags: [] },
      ...{ amount: { amount: "13.00" }, occurred_at: "2026-11-26T10:05:00Z" },
    },
  ])
})

test("a payment without an event is unattributed", async () => {
  await using shop = await startShop()
  await shop.pay(webhook)
  expect(await shop.transactions()).toMatchObject([{ provider: "stripe", flags: ["unattributed"], source: null }])
})

test("100 copies of an order at once are one order", async () => {
  await using shop = await startShop()
  await Promise.all(
    Array.from({ length: 100 }, (_, i) => shop.browse({ order: "1001", revenue: EUR("12.34"), address: `203.0.113.${i + 1}` })),
  )
  await shop.sell([sale])
  expect(await shop.transactions()).toMatchObject([{ order_id: "1001", trust: "server", amount: { amount: "12.34" } }])
})

test("events without revenue start no job, and a sale starts one", async () => {
  await using shop = await startShop()
  const { jobs } = shop.instance.app.instance
  const started = async () => (await jobs.list({ kind: "revenue.fold-sales" }, { before: Number.MAX_SAFE_INTEGER, limit: 10 })).length
  for (let i = 1; i <= 20; i++) await shop.browse({ path: `/${i}` })
  await shop.sell([{ at: at("10:00") }])
  expect(await started()).toBe(0)
  await shop.browse({ order: "1001", revenue: EUR("12.34") })
  expect(await started()).toBe(1)
})

test("a transaction has a product event if a consumer wants it, and what no one wants is not stored", async () => {
  const received: Announced[] = []
  await using shop = await startShop({ listener: listenerTo(["revenue.refunded"], received) })
  await shop.sell([sale, { at: at("10:06"), order: "1001", revenue: EUR("-2.34") }])
  await shop.sell([{ at: at("10:07"), order: "1001", revenue: EUR("-1") }])
  expect(received).toEqual([
    { event: "revenue.refunded", minor: 234 },
    { event: "revenue.refunded", minor: 100 },
  ])
  await using other = await startShop()
  await other.sell([sale])
  for (const { instance } of [shop, other])
    expect(await instance.app.instance.catalog.all(sql`select id from outbox where event = 'revenue.recorded'`)).toEqual([])
  expect(await other.transactions()).toHaveLength(1)
})

test("the run after one that took long waits for twenty times as long, and takes what arrives meanwhile", async () => {
  let isSlow = true
  /** An area that is asked while sales are folded, which takes half a second and during which another sale arrives. */
  const listener = definePlugin({
    id: "listener",
    title: "Listener",
    setup: () => ({
      consumers: {
        revenue: {
          events: ["revenue.recorded"],
          async concerned() {
            if (!isSlow) return []
            clock.advance(250)
            await shop.browse({ order: "2", revenue: EUR("2") })
            return []
          },
          async consume() {},
        },
      },
    }),
  })
  await using shop = await startShop({ listener })
  const { clock } = shop.instance
  const { jobs } = shop.instance.app.instance
  const plannedIn = async () => {
    const queued = await jobs.list({ kind: "revenue.fold-sales", state: "queued" }, { before: Number.MAX_SAFE_INTEGER, limit: 10 })
    return queued.map(({ run_at }) => run_at - clock.now())
  }
  await shop.browse({ order: "1", revenue: EUR("1") })
  expect(await plannedIn()).toEqual([1_000])
  clock.advance(1_000)
  await shop.instance.runJobs()
  expect(await plannedIn()).toEqual([5_000])
  isSlow = false
  await shop.browse({ order: "3", revenue: EUR("3") })
  expect(await plannedIn()).toEqual([5_000])
  clock.advance(5_000)
  await shop.instance.runJobs()
  expect((await shop.transactions()).map(({ order_id }) => order_id)).toEqual(["1", "2", "3"])
  await shop.browse({ order: "4", revenue: EUR("4") })
  expect(await plannedIn()).toEqual([1_000])
})
