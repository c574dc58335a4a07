import { expect, setDefaultTimeout, test } from "bun:test"
import { type RowStatements, raw, sql } from "#plugin"
import { archiveLines, archiveOf } from "#plugin/test"
import { type Shop, startShop } from "./kit.ts"

setDefaultTimeout(60_000)

const at = (time: string) => `2026-11-26T${time}:00Z`

/** A shop with a visitor's order that a payment confirms, a refund, a manual sale, a rate and settings. */
async function stocked(): Promise<Shop> {
  const shop = await startShop({ identified: true })
  await shop.sell([
    { at: at("09:00"), user: "anna", referrer: "https://www.google.com/" },
    { at: at("09:05"), user: "anna", order: "A", revenue: { amount: "10", currency: "EUR" } },
    { at: at("09:06"), user: "anna", order: "A", revenue: { amount: "-3", currency: "EUR" } },
  ])
  await shop.pay({
    ...{ version: 1, provider: "stripe", type: "sale", external_id: "pi_A", aliases: ["ch_A"], order_id: "A" },
    ...{ amount_minor: 1100, currency: "EUR", occurred_at: at("09:05") },
  })
  const manual = { amount: "900", currency: "JPY", occurred_at: at("08:00"), order_id: "M", note: "By phone" }
  expect(await shop.send("POST", "/revenue/transactions", manual)).toMatchObject({ status: 201 })
  const rates = [{ day: "2026-11-20", base: "EUR", quote: "JPY", rate: "180" }]
  expect(await shop.send("PUT", "/revenue/rates", { rates })).toMatchObject({ status: 200 })
  const { body } = await shop.get("/revenue/settings")
  const settings = {
    base_currency: "USD",
    refund_basis: "order_date",
    include_client: true,
    lookback_days: 7,
    ignored_referrers: ["pay.example"],
  }
  expect(await shop.send("PUT", "/revenue/settings", { ...settings, version: (body as { version: number }).version })).toMatchObject({
    status: 200,
  })
  await shop.sell([])
  return shop
}

test("an archive contains the transactions and rates of the site, whatever read_role is, and visitors only by their archived names", async () => {
  await using shop = await stocked()
  expect(await shop.send("PATCH", "/settings", { read_role: "admin" })).toMatchObject({ status: 200 })
  const files = await archiveOf(shop.instance)
  const transactions = archiveLines(files["revenue_transactions.ndjson"])
  expect(
    transactions.map(({ type, order_id, provider, external_id, amount, note }) => [type, order_id, provider, external_id, amount, note]),
  ).toEqual([
    ["sale", "A", "stripe", "pi_A", { amount: "11.00", amount_minor: 1100, currency: "EUR" }, null],
    ["refund", "A", "tracker", expect.stringMatching(/^event:/), { amount: "3.00", amount_minor: 300, currency: "EUR" }, null],
    ["sale", "M", "manual", expect.stringMatching(/^manual:/), { amount: "900", amount_minor: 900, currency: "JPY" }, "By phone"],
  ])
  expect(archiveLines(files["revenue_rates.ndjson"])).toEqual([
    { day: "2026-11-20", base: "EUR", quote: "JPY", rate: "180", source: "manual" },
  ])
  const [{ visitor }] = transactions
  expect(archiveLines(files["visits.ndjson"]).map((visit) => visit.visitor)).toContain(visitor)
  const stored = (await shop.instance.rows(({ get }) =>
    get<{ visitor: string }>(sql`select visitor from revenue_transactions where id = 1`),
  ))!
  for (const text of Object.values(files)) {
    expect(text).not.toContain(stored.visitor)
    expect(text).not.toContain("created_by")
  }
})

test("an archive is refused to everyone who may not see revenue", async () => {
  await using shop = await stocked()
  await shop.send("PATCH", "/settings", { read_role: "admin" })
  expect(await shop.send("POST", "/takeout", undefined, shop.editor)).toMatchObject({ status: 403 })
})

test("a deleted site leaves no transaction, rate, setting or sale event", async () => {
  await using shop = await stocked()
  const { app } = shop.instance
  const counted = async (table: string) => {
    const count = ({ get }: RowStatements) => get<{ n: number }>(sql`select count(*) as n from ${raw(table)}`)!.n
    return { table, n: table === "sale_events" ? app.instance.events.rows(count) : await shop.instance.rows(count) }
  }
  const tables = ["sale_events", "revenue_transactions", "revenue_chunks", "revenue_aliases", "revenue_rates", "revenue_cursor"]
  expect((await Promise.all(tables.map(counted))).filter(({ n }) => n === 0)).toEqual([])
  await app.erasure.site(1)
  expect((await Promise.all(tables.map(counted))).filter(({ n }) => n > 0)).toEqual([])
  expect(await app.instance.catalog.all(sql`select site_id from revenue_settings`)).toEqual([])
})
