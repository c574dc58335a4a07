import { expect, test } from "bun:test"
import { join } from "node:path"
import { openRemoteCatalog } from "../../../src/services/runtime/remote-catalog.ts"
import { createSales } from "../../../src/services/sales/sales.ts"
import { migrate } from "../../../src/store/catalog/schema.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { ROW_SCHEMA } from "../../../src/store/rows/sales.ts"
import { libsqlServer } from "../../fakes/libsql-server.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"

const NOON = Date.parse("2026-11-20T12:00:00Z")
const DAY = "2026-11-20"

/** Stores a visit with a sale. Returns the id of the visit. */
function sell(store: EventStore, visitor: number, orderId: string, at = NOON): number {
  const money = { amount: 100, currency: "EUR" }
  const sale = { ...money, orderId, trust: "client", isRepeated: false } as const
  return store.write(at, (writer) => {
    const rotating = writer.visitor(1, DAY, { high: 1, low: visitor })
    const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
    writer.add(1, id, event({ at, name: "purchase", revenue: money, sale }), DAY)
    return id
  })
}

/** Opens a server for rows, and the stores of nodes by their numbers. */
async function openServer() {
  const folder = temporaryFolder()
  const server = await libsqlServer(join(folder.path, "rows"))
  const rows = await openRemoteCatalog({ url: server.url, authToken: undefined, holds: "rows" }, () => {})
  await migrate(rows, [ROW_SCHEMA], { version: "1", now: NOON })
  const stores: EventStore[] = []
  return {
    server,
    async [Symbol.asyncDispose]() {
      for (const store of stores) store.close()
      await rows.close()
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
    node(number: number) {
      const store = openEventStore(join(folder.path, `${number}.db`), { now: NOON })
      store.beginShipping(number, async () => new Uint8Array(32))
      stores.push(store)
      const ship = () => store.confirmShipped(store.lastRecord(), [], NOON)
      return { store, ship, sales: createSales(store, rows) }
    },
  }
}

test("the sales of all nodes have one order, by the time at which ClickHouse had them", async () => {
  await using at = await openServer()
  const [one, two] = [at.node(1), at.node(2)]
  const orders = async () => (await one.sales.after(1, 0, 10)).map(({ order_id }) => order_id)
  sell(one.store, 1, "A")
  sell(two.store, 1, "B")
  expect(await orders()).toEqual([])
  two.ship()
  await two.sales.send()
  one.ship()
  expect(await orders()).toEqual(["B", "A"])
  sell(two.store, 2, "C")
  two.ship()
  await two.sales.send()
  const sales = await one.sales.after(1, 0, 10)
  expect(sales.map(({ order_id, sequence, visit_sequence }) => [order_id, sequence % 256, visit_sequence % 256])).toEqual([
    ["B", 2, 2],
    ["A", 1, 1],
    ["C", 2, 2],
  ])
  expect(await two.sales.after(1, sales[0]!.place, 1)).toEqual([sales[1]!])
  expect(await one.sales.byVisit(1, [sales[2]!.visit_sequence])).toEqual([sales[2]!])
  expect(await one.sales.toQuery(1, [sales[0]!.sequence])).toEqual({
    found: [{ sequence: sales[0]!.sequence, visit: sales[0]!.visit_sequence, at: NOON }],
  })
})

test("a sale follows its visit to another first event, and is gone when its visit is removed", async () => {
  await using at = await openServer()
  const { store, ship, sales } = at.node(1)
  const visit = sell(store, 1, "A")
  sell(store, 2, "B")
  ship()
  const [before] = await sales.after(1, 0, 10)
  store.write(NOON + 1_000, (writer) => writer.add(1, visit, event({ at: NOON - 5_000 }), DAY))
  expect(await sales.after(1, 0, 10)).toMatchObject([before!, { order_id: "B" }])
  ship()
  const [after] = await sales.after(1, 0, 10)
  expect(after).toMatchObject({ place: before!.place, sequence: before!.sequence, order_id: "A" })
  expect(after!.visit_sequence).toBeGreaterThan(before!.visit_sequence)
  expect(await sales.following(store).eraseSite(1, NOON + 2_000)).toBe(2)
  expect(await sales.after(1, 0, 10)).toEqual([])
})

test("sends what the server lacks after it was away, each sale once", async () => {
  await using at = await openServer()
  const { store, ship, sales } = at.node(1)
  sell(store, 1, "A")
  ship()
  await sales.send()
  await at.server.stop()
  sell(store, 2, "B")
  ship()
  await expect(sales.send()).rejects.toMatchObject({ kind: "unreachable" })
  await at.server.start()
  await Promise.all([sales.send(), sales.send()])
  expect((await sales.after(1, 0, 10)).map(({ order_id }) => order_id)).toEqual(["A", "B"])
})
