import { expect, test } from "bun:test"
import { generateTraffic, type TrafficOptions } from "../../../src/services/demo/data.ts"

const options: TrafficOptions = {
  seed: 7,
  from: Date.parse("2026-10-01T00:00:00Z"),
  to: Date.parse("2026-11-21T12:00:00Z"),
  events: 20_000,
  host: "shop.example",
}
const traffic = [...generateTraffic(options)]

test("the same seed generates the same traffic, another seed generates another", () => {
  expect([...generateTraffic(options)]).toEqual(traffic)
  expect([...generateTraffic({ ...options, seed: 8 })]).not.toEqual(traffic)
})

test("generates the requested number of visits in order and within the range", () => {
  expect(traffic.length).toBeWithin(19_900, 20_001)
  expect(traffic.every(({ at }, index) => at >= options.from && at < options.to && at >= (traffic[index - 1]?.at ?? 0))).toBe(true)
})

test("has a daily and weekly rhythm", () => {
  const on = (day: string) => traffic.filter(({ at }) => new Date(at).toISOString().startsWith(day)).length
  const tuesday = on("2026-10-13")
  const sunday = on("2026-10-11")
  expect(sunday / tuesday).toBeWithin(0.4, 0.85)
  const at = (hour: number) => traffic.filter(({ at }) => new Date(at).getUTCHours() === hour).length
  expect(at(14) / at(2)).toBeGreaterThan(1.8)
})

test("includes returning visitors, purchases, engagement and campaigns", () => {
  const views = traffic.filter(({ name }) => name === "pageview")
  const people = new Set(views.map(({ person }) => person)).size
  expect(people).toBeLessThan(views.length / 2)
  const named = (name: string) => traffic.filter((event) => event.name === name)
  expect(named("purchase").every(({ revenue }) => revenue?.currency === "EUR" && revenue.amount >= 9)).toBe(true)
  expect(named("purchase").length).toBeGreaterThan(50)
  expect(named("engagement").length).toBeGreaterThan(views.length / 2)
  expect(views.filter(({ url }) => url.includes("utm_campaign=november-sale")).length).toBeGreaterThan(50)
  expect(new Set(traffic.map(({ client }) => client.timezone)).size).toBeGreaterThan(10)
  expect(new Set(traffic.map(({ client }) => client.userAgent)).size).toBeGreaterThan(6)
})

test("orders have distinct ids, several currencies and refunds of at most their amount, if they are wanted", () => {
  const sold = [...generateTraffic({ ...options, hasOrders: true })].filter(({ revenue }) => revenue !== undefined)
  const orders = new Map(sold.filter(({ name }) => name === "purchase").map((event) => [event.props!.order_id, event]))
  const refunds = sold.filter(({ name }) => name === "refund")
  expect(orders.size).toBe(sold.length - refunds.length)
  expect(new Set(sold.map(({ revenue }) => revenue!.currency)).size).toBeGreaterThan(3)
  expect(refunds.length / orders.size).toBeWithin(0.02, 0.15)
  for (const { at, props, revenue } of refunds) {
    const order = orders.get(props!.order_id)!
    expect(revenue!.currency).toBe(order.revenue!.currency)
    expect(-revenue!.amount).toBeWithin(order.revenue!.amount * 0.49, order.revenue!.amount + 0.01)
    expect(at).toBeGreaterThan(order.at)
  }
})
