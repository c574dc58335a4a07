import { expect, test } from "bun:test"
import { finish, type Shop, type ShopOptions, startShop } from "./kit.ts"

const EUR = (amount: string) => ({ amount, currency: "EUR" })
const at = (time: string, day = "2026-11-26") => `${day}T${time}:00Z`

/** A shop with a sale of anna that a payment confirms, one of bert, a refund of bert's, and a manual sale. */
async function stocked(options: ShopOptions = {}): Promise<Shop> {
  const shop = await startShop({ identified: true, ...options })
  await shop.sell([
    { at: at("10:00"), user: "anna", referrer: "https://www.google.com/" },
    { at: at("10:01"), user: "anna", order: "A", revenue: EUR("10") },
    { at: at("10:02"), user: "bert", url: "https://shop.example/secret", referrer: "https://www.google.com/" },
    { at: at("10:03"), user: "bert", order: "B", revenue: EUR("20") },
    { at: at("10:04"), user: "bert", order: "B", revenue: EUR("-5") },
  ])
  await shop.pay({
    ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_A", aliases: ["ch_A"], order_id: "A" },
    ...{ amount_minor: 1100, currency: "EUR", occurred_at: at("10:01") },
  })
  const manual = { amount: "1", currency: "EUR", occurred_at: at("09:00", "2026-10-20"), order_id: "M" }
  await shop.send("POST", "/revenue/transactions", manual)
  return shop
}
const summary = async (shop: Shop) =>
  (await shop.transactions()).map(({ type, order_id, source }) => `${type} ${order_id} ${source ?? "-"}`)
test("an erased person is gone from transactions, whose amounts stay", async () => {
  await using shop = await stocked({ whole: true })
  expect(await summary(shop)).toEqual(["sale M -", "sale A Google", "sale B Google", "refund B Google"])
  expect(await shop.send("POST", "/people/erase", { user_id: "bert", confirm: true })).toMatchObject({ status: 202 })
  await finish(shop)
  expect(await summary(shop)).toEqual(["sale M -", "sale A Google", "sale B -", "refund B -"])
  const [, , sale] = await shop.transactions()
  expect(sale).toMatchObject({ person: null, amount: { amount: "20.00" }, flags: ["unattributed"] })
  expect((await shop.get(`/revenue/transactions/${sale!.id}`)).body).toMatchObject({ dimensions: {}, touches: [] })
  shop.instance.clock.advance(3_600_000)
  await shop.instance.runJobs()
  expect(await summary(shop)).toEqual(["sale M -", "sale A Google", "sale B -", "refund B -"])
})

test("an erasure by filter removes tracked transactions, and takes the visit from others", async () => {
  await using shop = await stocked()
  const erase = async (filter: object) => {
    const request = { period: "7d", filters: [filter] }
    const { confirm } = (await shop.send("POST", "/erase/preview", request)).body as { confirm: string }
    expect(await shop.send("POST", "/erase", { ...request, confirm })).toMatchObject({ status: 202 })
    await finish(shop)
  }
  await erase({ dimension: "page", operator: "is", values: ["/secret"] })
  expect(await summary(shop)).toEqual(["sale M -", "sale A Google"])
  await erase({ dimension: "source", operator: "is", values: ["Google"] })
  expect(await summary(shop)).toEqual(["sale M -", "sale A -"])
  await shop.instance.runJobs()
  expect(await summary(shop)).toEqual(["sale M -", "sale A -"])
})

test("a reset removes all transactions and keeps settings and rates", async () => {
  await using shop = await stocked()
  await shop.send("PUT", "/revenue/rates", { rates: [{ day: "2026-11-20", base: "EUR", quote: "USD", rate: "1.1" }] })
  expect(await shop.send("POST", "/reset", { confirm: shop.instance.site.name })).toMatchObject({ status: 202 })
  await finish(shop)
  expect(await summary(shop)).toEqual([])
  expect((await shop.get("/revenue/rates")).body).toMatchObject({ data: [{ quote: "USD" }] })
  await shop.sell([{ at: at("11:00"), order: "A", revenue: EUR("3") }])
  expect(await summary(shop)).toEqual(["sale A -"])
})

test("retention removes the transactions of days before its cutoff", async () => {
  await using shop = await stocked({ whole: true })
  const { instance } = shop
  const admin = { cookie: await instance.signIn({ isInstanceAdmin: true }) }
  const console = (path: string, body: object) => instance.api.send("POST", `/api/private/admin/retention/${path}`, body, undefined, admin)
  const preview = await console("preview", { site_id: 1, retention_days: 30 })
  expect(preview).toMatchObject({ status: 200, body: { plugins: [{ id: "imports" }, { id: "revenue", rows: 1 }] } })
  const { at } = preview.body as { at: string }
  expect(await console("run", { site_id: 1, retention_days: 30, at })).toMatchObject({ status: 202 })
  await finish(shop)
  expect(await summary(shop)).toEqual(["sale A Google", "sale B Google", "refund B Google"])
})
