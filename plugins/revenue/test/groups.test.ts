import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { BROWSER } from "#plugin/test"
import type { ReportResponse } from "../report/responses.ts"
import { type Shop, startShop } from "./kit.ts"

setDefaultTimeout(60_000)

const RANGE = "from=2026-11-01&to=2026-11-30"
const report = async (shop: Shop, query: string): Promise<ReportResponse> => {
  const { status, body } = await shop.get(`/revenue/report?${RANGE}${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as ReportResponse
}
const filtered = (...filters: object[]) => `&filters=${encodeURIComponent(JSON.stringify(filters))}`
const rows = ({ breakdown }: ReportResponse) =>
  breakdown.map(({ key, label, orders, by_currency }) => [key, label, orders, ...by_currency.map(({ net }) => net.amount)])

test("an order is credited to the short link that its visitor clicked, by the slug of the link until it is deleted", async () => {
  await using shop = await startShop({ whole: true })
  const link = await shop.send("POST", "/links", { destination: "https://shop.example/offer", slug: "Spring" })
  expect(link.status).toBe(201)
  const { id } = link.body as { id: number }
  const request = new Request("http://localhost/l/Spring", { headers: { host: "localhost", "user-agent": BROWSER } })
  expect((await shop.instance.fetch(request, "203.0.113.9")).status).toBe(302)
  await shop.instance.app.collector.recorded()
  shop.instance.clock.advance(1_000)
  await shop.browse({ path: "/offer" })
  await shop.browse({ order: "A", revenue: { amount: "12", currency: "EUR" } })
  await shop.browse({ order: "B", revenue: { amount: "5", currency: "EUR" }, address: "203.0.113.10" })
  await shop.sell([])
  expect(rows(await report(shop, "&group_by=link"))).toEqual([
    [String(id), "Spring", 1, "12.00"],
    ["(none)", undefined, 1, "5.00"],
  ])
  await shop.send("DELETE", `/links/${id}`)
  expect(rows(await report(shop, "&group_by=link"))[0]).toEqual([String(id), `Deleted link ${id}`, 1, "12.00"])
})

describe("by goal, cohort and filters", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await startShop({ whole: true, identified: true })
    const at = "2026-11-20T09:00:00Z"
    const view = (user: string, path: string, referrer?: string) => ({
      ...{ at, user, url: `https://shop.example${path}` },
      ...(referrer && { referrer }),
    })
    const buy = (user: string, name: string, order: string, amount: string) => ({
      ...{ at: "2026-11-20T09:10:00Z", user, name, order, revenue: { amount, currency: "EUR" } },
    })
    await shop.sell([
      view("anna", "/vip", "https://www.google.com/"),
      view("bert", "/"),
      view("cora", "/vip"),
      buy("anna", "Purchase", "A", "10"),
      buy("anna", "Refund", "A", "-2"),
      buy("bert", "Purchase monthly", "B", "5"),
      buy("cora", "Donation", "C", "0.70"),
    ])
    const manual = { amount: "0.09", currency: "EUR", occurred_at: "2026-11-23T10:00:00Z" }
    expect(await shop.send("POST", "/revenue/transactions", manual)).toMatchObject({ status: 201 })
    for (const goal of [
      { name: "All purchases", kind: "event", match: "prefix", value: "Purchase" },
      { name: "Single purchases", kind: "event", match: "exact", value: "Purchase" },
      { name: "With a property", kind: "event", match: "exact", value: "Donation", props: { plan: "pro" } },
      { name: "A page", kind: "page", match: "exact", value: "/vip" },
    ])
      expect(await shop.send("POST", "/goals", goal)).toMatchObject({ status: 201 })
    const definition = { conditions: [{ type: "page", value: "/vip", window: { type: "last_days", days: 30 } }] }
    expect(await shop.send("POST", "/cohorts", { name: "VIP", definition })).toMatchObject({ status: 201 })
  })
  afterAll(() => shop[Symbol.asyncDispose]())

  test("an order stands in every goal on its event, not in goals with properties or on pages", async () => {
    expect(rows(await report(shop, "&group_by=goal"))).toEqual([
      ["All purchases", undefined, 2, "13.00"],
      ["Single purchases", undefined, 1, "8.00"],
    ])
  })

  test("the groups by cohort are the cohorts of the filter, by name, with their visitors", async () => {
    const byCohort = await report(shop, `&group_by=cohort${filtered({ dimension: "cohort", operator: "is", values: [1] })}`)
    expect(rows(byCohort)).toEqual([["1", "VIP", 2, "8.70"]])
    expect(byCohort.breakdown[0]).toMatchObject({ visitors: 2, conversion_rate: 100 })
    expect(byCohort.currencies.map(({ net, orders }) => [net.amount, orders])).toEqual([["8.70", 2]])
  })

  test.each<[string, object, string, number]>([
    ["is", { dimension: "entry_page", operator: "is", values: ["/vip"] }, "8.70", 2],
    ["is not, which the missing value satisfies", { dimension: "entry_page", operator: "is_not", values: ["/vip"] }, "5.09", 2],
    ["contains", { dimension: "event", operator: "contains", values: ["month"] }, "5.00", 1],
    ["does not contain", { dimension: "event", operator: "contains_not", values: ["Purchase"] }, "0.79", 2],
    ["one of several", { dimension: "event", operator: "is", values: ["Purchase", "Donation"] }, "8.70", 2],
    ["a source", { dimension: "source", operator: "is", values: ["Google"] }, "8.00", 1],
    ["a cohort", { dimension: "cohort", operator: "is", values: [1] }, "8.70", 2],
    ["not a cohort, which orders of unknown visitors satisfy", { dimension: "cohort", operator: "is_not", values: [1] }, "5.09", 2],
  ])("filters with %s", async (_, filter, net, orders) => {
    const { currencies } = await report(shop, filtered(filter))
    expect(currencies.map((one) => [one.net.amount, one.orders])).toEqual([[net, orders]])
  })
})
