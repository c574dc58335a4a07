import { expect, test } from "bun:test"
import { finish, type Shop, startShop } from "./kit.ts"

/** One order with several reports: when one of them is removed or hidden, the order stays as the others report it. */
const EUR = (amount: string) => ({ amount, currency: "EUR" })
const at = (time: string) => `2026-11-26T${time}:00Z`

const orders = async (shop: Shop) =>
  (await shop.transactions()).map(({ id, type, order_id, provider, amount, parent_id, flags }) => {
    const linked = parent_id === null ? "" : ` of ${parent_id}`
    return `${id} ${type} ${order_id} ${provider} ${amount.amount}${linked} ${flags.filter((flag) => flag !== "unattributed")}`.trim()
  })

test("deleting a manual sale gives the tracked sale of the order back, with its refunds", async () => {
  await using shop = await startShop()
  await shop.sell([{ at: at("09:00"), referrer: "https://www.google.com/" }])
  await shop.browse({ order: "A", revenue: EUR("1") })
  await shop.sell([{ at: at("10:01"), order: "A", revenue: EUR("-3") }])
  const manual = await shop.send("POST", "/revenue/transactions", { amount: "5", currency: "EUR", occurred_at: at("11:00"), order_id: "A" })
  expect(manual).toMatchObject({ status: 201, body: { id: 1 } })
  expect(await orders(shop)).toEqual(["2 refund A tracker 3.00 of 1", "1 sale A manual 5.00"])
  expect(await shop.send("DELETE", "/revenue/transactions/1")).toMatchObject({ status: 204 })
  await shop.sell([])
  expect(await orders(shop)).toEqual(["2 refund A tracker 3.00 of 1", "1 sale A tracker 1.00 over_refunded"])
  expect(await shop.send("DELETE", "/revenue/transactions/1")).toMatchObject({ status: 409, body: { code: "not_manual" } })
})

test("deleting a manual sale gives the most trusted of several events back", async () => {
  await using shop = await startShop()
  await shop.browse({ order: "A", revenue: EUR("1") })
  await shop.sell([])
  await shop.send("POST", "/revenue/transactions", { amount: "5", currency: "EUR", occurred_at: at("11:00"), order_id: "A" })
  await shop.sell([{ at: at("11:30"), order: "A", revenue: EUR("2") }])
  expect(await orders(shop)).toEqual(["1 sale A manual 5.00"])
  await shop.send("DELETE", "/revenue/transactions/1")
  expect(await shop.transactions()).toMatchObject([{ id: 1, provider: "tracker", trust: "server", amount: { amount: "2.00" } }])
  const { body } = await shop.get("/revenue/transactions/1")
  expect(body).toMatchObject({ ids: [{ provider: "tracker", id: "order:A" }] })
})

test("deleting a manual sale that no event reports leaves its refunds waiting", async () => {
  await using shop = await startShop()
  await shop.send("POST", "/revenue/transactions", { amount: "5", currency: "EUR", occurred_at: at("09:00"), order_id: "A" })
  await shop.send("POST", "/revenue/transactions/1/refund", { amount: "2", occurred_at: at("10:00") })
  await shop.send("DELETE", "/revenue/transactions/1")
  expect(await orders(shop)).toEqual(["2 refund A manual 2.00"])
})

test("an erasure by filter takes back the amount of the erased event, although the order has the visit of another one", async () => {
  await using shop = await startShop()
  await shop.browse({ path: "/shop", order: "A", revenue: EUR("1") })
  await shop.sell([{ at: at("11:30"), url: "https://shop.example/forged", order: "A", revenue: EUR("2") }])
  expect(await orders(shop)).toEqual(["1 sale A tracker 2.00"])
  const request = { from: "2026-11-01", to: "2026-11-26", filters: [{ dimension: "page", operator: "is", values: ["/forged"] }] }
  const { confirm } = (await shop.send("POST", "/erase/preview", request)).body as { confirm: string }
  expect(await shop.send("POST", "/erase", { ...request, confirm })).toMatchObject({ status: 202 })
  await finish(shop)
  expect(await orders(shop)).toEqual(["1 sale A tracker 1.00"])
})

/** Imports one sale of order A and one of an order of its own, and returns the id of the import. */
async function importSale(shop: Shop, day: string, amount: string): Promise<number> {
  const text = `Time,Path,V,Event,Amount,Currency,Order
${day}T10:00:00Z,/,v,purchase,${amount},EUR,A
${day}T10:01:00Z,/,v,purchase,7,EUR,${day}
`
  const body = {
    source: "csv_generic",
    files: [{ name: "sales.csv", content: text }],
    options: {
      mapping: {
        ...{ timestamp: "Time", path: "Path", visitor_id: "V", event_name: "Event", revenue: "Amount", currency: "Currency" },
        props: { order_id: "Order" },
      },
    },
  }
  const { status, body: answer } = await shop.send("POST", "/imports", body)
  expect({ status, answer }).toMatchObject({ status: 202 })
  await shop.sell([])
  return (answer as { id: number }).id
}
const show = async (shop: Shop, id: number, enabled: boolean) => {
  expect(await shop.send("PATCH", `/imports/${id}`, { enabled })).toMatchObject({ status: 200 })
  await shop.sell([])
}
const amounts = async (shop: Shop) => (await shop.transactions()).map(({ order_id, amount }) => `${order_id} ${amount.amount}`).sort()

test("two imports with one order count it once, and each of them keeps it when the other one is hidden or undone", async () => {
  await using shop = await startShop({ whole: true })
  const first = await importSale(shop, "2026-10-01", "1")
  const second = await importSale(shop, "2026-10-05", "2")
  expect(await amounts(shop)).toEqual(["2026-10-01 7.00", "2026-10-05 7.00", "A 1.00"])
  await show(shop, first, false)
  expect(await amounts(shop)).toEqual(["2026-10-05 7.00", "A 2.00"])
  await show(shop, second, false)
  expect(await amounts(shop)).toEqual([])
  await show(shop, first, true)
  expect(await amounts(shop)).toEqual(["2026-10-01 7.00", "A 1.00"])
  await show(shop, second, true)
  expect(await shop.send("POST", `/imports/${first}/undo`)).toMatchObject({ status: 202 })
  await shop.sell([])
  expect(await amounts(shop)).toEqual(["2026-10-05 7.00", "A 2.00"])
  expect(await shop.send("POST", `/imports/${second}/undo`)).toMatchObject({ status: 202 })
  await shop.sell([])
  expect(await amounts(shop)).toEqual([])
})

test("an order that the site itself has seen counts as the site has seen it, whatever imports report", async () => {
  await using shop = await startShop({ whole: true })
  const id = await importSale(shop, "2026-10-01", "1")
  await shop.browse({ order: "A", revenue: EUR("3") })
  await shop.sell([])
  expect(await amounts(shop)).toEqual(["2026-10-01 7.00", "A 3.00"])
  await show(shop, id, false)
  expect(await amounts(shop)).toEqual(["A 3.00"])
})

test("deleting a manual sale gives the report of a shown import back, not that of a hidden one", async () => {
  await using shop = await startShop({ whole: true })
  const first = await importSale(shop, "2026-10-01", "1")
  await importSale(shop, "2026-10-05", "2")
  await show(shop, first, false)
  const manual = await shop.send("POST", "/revenue/transactions", { amount: "5", currency: "EUR", occurred_at: at("09:00"), order_id: "A" })
  expect(await amounts(shop)).toEqual(["2026-10-05 7.00", "A 5.00"])
  await shop.send("DELETE", `/revenue/transactions/${(manual.body as { id: number }).id}`)
  expect(await amounts(shop)).toEqual(["2026-10-05 7.00", "A 2.00"])
  await show(shop, first, true)
  expect(await amounts(shop)).toEqual(["2026-10-01 7.00", "2026-10-05 7.00", "A 1.00"])
})

test("deleting a manual sale that only a hidden import reports leaves the order out until the import is shown", async () => {
  await using shop = await startShop({ whole: true })
  const id = await importSale(shop, "2026-10-01", "1")
  await show(shop, id, false)
  const manual = await shop.send("POST", "/revenue/transactions", { amount: "5", currency: "EUR", occurred_at: at("09:00"), order_id: "A" })
  await shop.send("DELETE", `/revenue/transactions/${(manual.body as { id: number }).id}`)
  expect(await amounts(shop)).toEqual([])
  await show(shop, id, true)
  expect(await amounts(shop)).toEqual(["2026-10-01 7.00", "A 1.00"])
})

test("an imported refund counts against its order only while its import is shown", async () => {
  await using shop = await startShop({ whole: true })
  await shop.send("POST", "/revenue/transactions", { amount: "5", currency: "EUR", occurred_at: "2026-09-30T09:00:00Z", order_id: "A" })
  const id = await importSale(shop, "2026-10-01", "-6")
  const flags = async () => (await shop.transactions("&q=A&type=sale")).map((sale) => sale.flags.filter((flag) => flag !== "unattributed"))
  expect(await flags()).toEqual([["over_refunded"]])
  await show(shop, id, false)
  expect(await flags()).toEqual([[]])
  await show(shop, id, true)
  expect(await flags()).toEqual([["over_refunded"]])
  await shop.send("POST", `/imports/${id}/undo`)
  await shop.sell([])
  expect(await flags()).toEqual([[]])
})
