import { expect, test } from "bun:test"
import { type Shop, startShop } from "./kit.ts"

const payment = (more: object) => ({
  ...{ version: 1, provider: "stripe", type: "sale", aliases: [] },
  ...{ amount_minor: 1000, currency: "EUR", occurred_at: "2026-11-26T10:06:00Z", ...more },
})
const detail = async (shop: Shop, id: number) => (await shop.get(`/revenue/transactions/${id}`)).body as Record<string, unknown>

test("two payments that turn out to be one are merged into the older one, with the refunds of both", async () => {
  await using shop = await startShop()
  await shop.pay(payment({ external_id: "ch_1", amount_rank: 2, order_id: "A" }))
  await shop.pay(payment({ external_id: "in_1", amount_minor: 1100, amount_rank: 3 }))
  await shop.pay(payment({ type: "refund", external_id: "re_1", parent: "in_1", amount_minor: 700 }))
  await shop.pay(payment({ type: "refund", external_id: "re_2", parent: "ch_1", amount_minor: 400 }))
  expect(await shop.transactions("&type=sale")).toMatchObject([{ id: 1 }, { id: 2 }])
  await shop.pay(payment({ external_id: "pi_1", aliases: ["ch_1", "in_1"], amount_minor: 1050 }))
  const transactions = await shop.transactions()
  expect(transactions.map(({ id, type, parent_id, amount, flags }) => [id, type, parent_id, amount.amount_minor, flags[0]])).toEqual([
    [1, "sale", null, 1050, "over_refunded"],
    [3, "refund", 1, 700, undefined],
    [4, "refund", 1, 400, undefined],
  ])
  const { ids } = await detail(shop, 1)
  expect((ids as { id: string }[]).map(({ id }) => id).sort()).toEqual(["ch_1", "in_1", "pi_1"])
})

test("a payment that names a person belongs to the person's latest visit before it", async () => {
  await using shop = await startShop({ identified: true })
  await shop.sell([
    { at: "2026-11-20T08:00:00Z", user: "anna", referrer: "https://www.google.com/" },
    { at: "2026-11-26T09:00:00Z", user: "anna", referrer: "https://www.bing.com/" },
    { at: "2026-11-26T11:00:00Z", user: "anna", referrer: "https://duckduckgo.com/" },
    { at: "2026-11-20T08:10:00Z", user: "anna", order: "A", revenue: { amount: "1", currency: "EUR" } },
  ])
  const [tracked] = await shop.transactions()
  const { person } = tracked as unknown as { person: string }
  await shop.pay(payment({ external_id: "pi_1", person }))
  await shop.pay(payment({ external_id: "pi_2", person, occurred_at: "2026-11-01T10:00:00Z" }))
  await shop.pay(payment({ external_id: "pi_3", person: "0123456789abcdef" }))
  const found = await shop.transactions("&provider=stripe")
  expect(found.map(({ external_id, source, flags }) => [external_id, source, flags[0]]).sort()).toEqual([
    ["pi_1", "Bing", undefined],
    ["pi_2", null, "unattributed"],
    ["pi_3", null, "unattributed"],
  ])
  const { touches } = await detail(shop, found.find(({ external_id }) => external_id === "pi_1")!.id)
  expect((touches as { dimensions: { source: string } }[]).map(({ dimensions }) => dimensions.source)).toEqual(["Google", "Bing"])
})
