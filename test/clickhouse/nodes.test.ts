/** Nodes that share a catalog, ClickHouse and the server of the rows. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { sql } from "../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(240_000)

const purchase = (order: string, amount: number) => ({
  ...{ n: "Purchase", u: "https://shop.example/thanks", d: "shop.example" },
  ...{ p: { order_id: order }, $: { amount, currency: "EUR" } },
})

/** Sends purchases, and folds the sales. */
async function sell({ collect, runJobs, clock }: TestInstance, orders: Readonly<Record<string, number>>, address = "198.51.100.1") {
  for (const [order, amount] of Object.entries(orders))
    expect(await collect(purchase(order, amount), { address })).toMatchObject({ status: 202 })
  clock.advance(60_000)
  await Bun.sleep(50) // the confirmation of what was acknowledged is recorded
  clock.advance(300_000)
  await runJobs()
}

async function transactions({ api, signIn }: TestInstance): Promise<unknown[]> {
  const cookie = await signIn({ role: "owner" })
  const { body } = await api.get("/api/private/sites/1/revenue/transactions", undefined, { cookie })
  return (body as { data: { order_id: string; amount: { amount: string } }[] }).data
    .map(({ order_id, amount }) => [order_id, amount.amount])
    .sort()
}

describe.skipIf(!hasClickhouse())("nodes of one instance", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterEach(() => running.clickhouse.run("truncate table visits"))
  afterAll(() => running[Symbol.asyncDispose]())

  test("a node with an empty folder finds and erases the people, imports and visits that a lost one has recorded", async () => {
    await using lost = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await lost.app.instance.sites.configure(1, { identity_mode: "identified" })
    const view = { n: "pageview", u: "https://shop.example/account", d: "shop.example" }
    for (const user of ["anna", "bert"])
      expect(await lost.collect({ ...view, x: user }, { address: `198.51.100.${user.length}` })).toMatchObject({ status: 202 })
    await lost.app.instance.events.importTotals({ siteId: 1, importId: 5 }, "imported_pages", [
      { day: "2026-10-01", texts: { hostname: "shop.example", page: "/old" }, counts: { visitors: 7 } },
    ])
    await lost.app.instance.events.shipped(AbortSignal.timeout(20_000))
    await lost.stop()
    await using next = await startInstance({ clickhouse: running.server, joining: lost })
    const { people, events } = next.app.instance
    const site = next.app.instance.sites.directory.byId(1)!
    const [anna, nobody] = [await people.find(site, "anna"), await people.find(site, "carl")]
    expect([anna.length, nobody]).toEqual([1, []])
    const pseudonyms = await people.pseudonymsOf(site, anna)
    expect(await next.app.erasure.person(1, pseudonyms)).toMatchObject({ visits: 1 })
    expect(await people.find(site, "anna")).toEqual([])
    expect(await people.find(site, "bert")).toHaveLength(1)
    expect(await events.dropTotals(1, next.clock.now())).toBe(1)
    expect(await running.clickhouse.rows("select 1 from totals final")).toEqual([])
  })

  const count = async (condition: string): Promise<number> => {
    const [row] = await running.clickhouse.rows<{ n: string }>(`select toString(count()) as n from visits where ${condition}`)
    return Number(row!.n) // a count is always one row
  }

  /** Deletes what is hidden, without waiting for the server to delete the parts that it has replaced. */
  async function deletesUntil({ app }: TestInstance, isDone: () => Promise<boolean>): Promise<void> {
    const abort = new AbortController()
    const deleting = app.instance.shipped!.hidden.delete(abort.signal).catch((error) => error)
    while (!(await isDone())) await Bun.sleep(100)
    abort.abort()
    await deleting
  }

  test("a node that was stopped repeats what another one has removed, and brings nothing back", async () => {
    await using one = await startInstance({ clickhouse: running.server })
    await one.app.instance.sites.configure(1, { identity_mode: "identified" })
    const view = (x: string, page = "account") => ({ n: "pageview", u: `https://shop.example/${page}`, d: "shop.example", x })
    for (const [user, address] of [
      ["anna", "198.51.100.1"],
      ["bert", "198.51.100.2"],
    ] as const)
      expect(await one.collect(view(user), { address })).toMatchObject({ status: 202 })
    await one.stop()
    const two = await startInstance({ clickhouse: running.server, joining: one })
    const { people } = two.app.instance
    const { site } = one
    const pseudonyms = await people.pseudonymsOf(site, await people.find(site, "anna"))
    expect(await two.app.erasure.person(1, pseudonyms)).toMatchObject({ visits: 1 })
    // Nothing but the key is left of the visit, until the first node has erased it as well.
    await deletesUntil(two, async () => (await count("gone = 0")) === 1)
    expect(await count("gone = 1")).toBe(1)
    await two[Symbol.asyncDispose]()

    await using again = await startInstance({ clickhouse: running.server, joining: one, dataDir: one.dataDir })
    const { events, shipped, catalog } = again.app.instance
    expect(again.app.instance.nodes!.own).toBe(1)
    expect(await events.hasPeople(1)).toBe(true)
    expect(await again.app.instance.people.find(site, "anna")).toEqual([])
    expect(await again.collect(view("bert", "later"), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    again.clock.advance(3_600_000)
    await events.seal(again.clock.now(), true)
    await shipped!.shipping.settled()
    expect(await running.clickhouse.rows("select toString(length(`e.page`)) as pages from visits final")).toEqual([{ pages: "2" }])
    await deletesUntil(again, async () => (await count("gone = 1")) === 0)
    expect(await catalog.all(sql`select id from removals`)).toEqual([])
  })

  test("a node with an empty folder continues what a lost one has left: reports, sales and their removal", async () => {
    await using lost = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await sell(lost, { A: 10, B: 20 })
    expect(await transactions(lost)).toEqual([
      ["A", "10.00"],
      ["B", "20.00"],
    ])
    await lost.stop()
    await using next = await startInstance({ clickhouse: running.server, joining: lost })
    expect(next.app.instance.nodes!.own).toBe(2)
    expect(await transactions(next)).toEqual([
      ["A", "10.00"],
      ["B", "20.00"],
    ])
    await sell(next, { B: 25, C: 30 }, "198.51.100.2")
    expect(await transactions(next)).toEqual([
      ["A", "10.00"],
      ["B", "20.00"],
      ["C", "30.00"],
    ])
    const summary = await next.api.get("/api/public/v1/sites/1/stats/summary?period=today&metrics=visitors,events", next.statsKey)
    expect(summary).toMatchObject({ status: 200, body: { metrics: { visitors: 2, events: 4 } } })
    const cookie = await next.signIn({ role: "owner" })
    const recompute = await next.api.send("POST", "/api/private/sites/1/revenue/recompute", {}, undefined, { cookie })
    expect(recompute.status).toBe(202)
    await next.runJobs()
    expect(await transactions(next)).toHaveLength(3)
    await next.app.erasure.site(1)
    expect(await transactions(next)).toEqual([])
    expect(await next.app.instance.storedSales.after(1, 0, 10)).toEqual([])
  })
})
