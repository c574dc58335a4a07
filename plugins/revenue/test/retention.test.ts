import { expect, test } from "bun:test"
import { erasePage, finish, retain, type Shop, startShop } from "./kit.ts"

/** Orders after midnight, whose visit started before it and is removed by the retention. The site is in Berlin. */
const EUR = (amount: string) => ({ amount, currency: "EUR" })
const GOOGLE = "https://www.google.com/"
const NEWSLETTER = "https://shop.example/?utm_source=newsletter"
const at = (time: string, day = "2026-10-26") => `${day}T${time}Z`

/** A shop with an order of anna, whose visit from a referrer is removed. She is known by a later visit, which stays. */
async function shopAfterRetention(referrer?: string): Promise<Shop> {
  const shop = await startShop({ whole: true, identified: true })
  await shop.sell([
    { at: at("22:58:00"), user: "anna", url: "https://shop.example/c", ...(referrer !== undefined && { referrer }) },
    { at: at("23:03:10"), user: "anna", url: "https://shop.example/c", order: "A", revenue: EUR("10") },
    { at: at("10:00:00", "2026-11-01"), user: "anna", url: NEWSLETTER },
  ])
  await retain(shop, 30)
  return shop
}

const report = (time: string, user: string, day?: string) => [
  { at: at(time, day), user, url: "https://shop.example/other", referrer: GOOGLE },
  { at: at(time, day), user, url: "https://shop.example/other", order: "A", revenue: EUR("20") },
]

const order = async (shop: Shop) => {
  const { body } = await shop.get("/revenue/transactions/1")
  const { occurred_at, person, visit_started_at, dimensions, touches } = body as {
    [name: string]: unknown
    dimensions: Record<string, string>
    touches: { dimensions: Record<string, string> }[]
  }
  const sources = touches.map((touch) => touch.dimensions.source ?? null)
  return { occurred_at, person, visit_started_at, source: dimensions.source ?? null, sources }
}

test.each([
  ["Google", GOOGLE],
  [null, undefined],
])("an order keeps its removed visit from %p when a further report says that it occurred earlier", async (source, referrer) => {
  await using shop = await shopAfterRetention(referrer)
  const before = await order(shop)
  expect(before).toMatchObject({ occurred_at: at("23:03:10"), visit_started_at: at("22:58:00"), source, sources: [source] })
  expect(before.person).not.toBeNull()
  await shop.sell(report("23:03:00", "bert"))
  expect(await order(shop)).toEqual({ ...before, occurred_at: at("23:03:00") })
  await shop.sell(report("23:02:50", "clara"))
  expect(await order(shop)).toEqual({ ...before, occurred_at: at("23:02:50") })
})

test("an order has no touch that started after it, also when the retention has removed its visit", async () => {
  await using shop = await shopAfterRetention(GOOGLE)
  const before = await order(shop)
  await shop.pay({
    ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_A", aliases: [], order_id: "A" },
    ...{ amount_minor: 1000, currency: "EUR", occurred_at: at("22:57:00") },
  })
  expect(await order(shop)).toEqual({ ...before, occurred_at: at("22:57:00"), sources: [] })
})

test("an order keeps its removed visit when its touches are looked up again, and while its visit counts as open", async () => {
  await using shop = await shopAfterRetention(GOOGLE)
  const before = await order(shop)
  shop.instance.clock.advance(300_000)
  await shop.instance.runJobs()
  expect(await order(shop)).toEqual(before)
  expect(await shop.send("POST", "/revenue/recompute", {})).toMatchObject({ status: 202 })
  await shop.instance.runJobs()
  expect(await order(shop)).toEqual(before)
})

test("an order that turns out to have occurred later also has the touches of its visitor after the removed visit", async () => {
  await using shop = await shopAfterRetention(GOOGLE)
  await shop.pay({
    ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_A", aliases: [], order_id: "A" },
    ...{ amount_minor: 1000, currency: "EUR", occurred_at: at("09:00:00", "2026-11-13") },
  })
  await shop.sell(report("09:00:00", "bert", "2026-11-10"))
  const before = await order(shop)
  expect(before).toMatchObject({ occurred_at: at("23:03:10"), sources: ["Google"] })
  await erasePage(shop, "/other")
  await shop.sell([])
  expect(await order(shop)).toEqual({ ...before, occurred_at: at("09:00:00", "2026-11-13"), sources: ["Google", "newsletter"] })
})

test("an erased person is gone from an order whose visit the retention has removed", async () => {
  await using shop = await shopAfterRetention(GOOGLE)
  expect(await shop.send("POST", "/people/erase", { user_id: "anna", confirm: true })).toMatchObject({ status: 202 })
  await finish(shop)
  await shop.sell([])
  const none = { person: null, visit_started_at: null, source: null, sources: [] }
  expect(await order(shop)).toEqual({ ...none, occurred_at: at("23:03:10") })
})
