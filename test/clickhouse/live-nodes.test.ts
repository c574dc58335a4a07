/** Nodes that are live at the same time, on one catalog, one ClickHouse and one server of the rows. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { placesIn } from "../../src/services/runtime/data-folder.ts"
import { insertJob } from "../../src/store/catalog/jobs.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { sql } from "../../src/store/sql.ts"
import { BROWSER, startInstance, type TestInstance, temporaryFolder } from "../kit.ts"
import { startProxy } from "../services/shipping/nodes.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(120_000)

const view = (page: string, more: object = {}) => ({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example", ...more })

async function summary({ api, statsKey }: TestInstance, metrics = "visitors,pageviews"): Promise<unknown> {
  const { body } = await api.get(`/api/public/v1/sites/1/stats/summary?period=today&metrics=${metrics}`, statsKey)
  return (body as { metrics: unknown }).metrics
}

describe.skipIf(!hasClickhouse())("live nodes", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterEach(async () => {
    for (const table of ["visits", "totals", "event_ids"]) await running.clickhouse.run(`truncate table ${table}`)
  })
  afterAll(() => running[Symbol.asyncDispose]())

  const first = (settings: Record<string, string> = {}) => startInstance({ clickhouse: running.server, hasRowServer: true, settings })
  const second = (joining: TestInstance) => startInstance({ clickhouse: running.server, joining })
  const count = async (condition: string): Promise<number> => {
    const [row] = await running.clickhouse.rows<{ n: string }>(`select toString(count()) as n from visits final where ${condition}`)
    return Number(row!.n) // a count is always one row
  }

  test("answer alike with the events of both", async () => {
    await using one = await first()
    await using two = await second(one)
    expect([one, two].map(({ app }) => app.instance.nodes!.own)).toEqual([1, 2])
    expect(await one.collect(view("/a"), { address: "198.51.100.1" })).toMatchObject({ status: 202 })
    expect(await two.collect(view("/b"), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    expect(await two.collect(view("/c"), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    for (const node of [one, two]) expect(await summary(node)).toEqual({ visitors: 2, pageviews: 3 })
  })

  /** Waits for an acknowledgement that relies on the disk once its time is over. */
  async function whileTimePasses<T>({ clock }: TestInstance, promise: Promise<T>): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    void promise.then(done, done)
    for (; !isDone; await Bun.sleep(50)) clock.advance(50)
    return promise
  }

  test("are refused without the same server of the rows", async () => {
    await using alone = await startInstance({ clickhouse: running.server })
    await expect(second(alone)).rejects.toMatchObject({
      exit: "inUse",
      message: expect.stringContaining("Several nodes need FOOTFALL_ROWS_URL"),
    })
    const withRows = () => startInstance({ clickhouse: running.server, joining: alone, hasRowServer: true })
    await expect(withRows()).rejects.toMatchObject({
      exit: "inUse",
      message: expect.stringContaining("without FOOTFALL_ROWS_URL. Stop it"),
    })
    expect(await alone.collect(view("/"))).toMatchObject({ status: 202 })
    await alone.stop()
    await using next = await withRows()
    expect(next.app.instance.nodes!.live()).toEqual([2])
  })

  test("are refused with another secret key, which also cannot be rotated in a folder", async () => {
    await using one = await first()
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, "secret.key"), `${Buffer.alloc(32, 9).toString("base64")}\n`, { mode: 0o600 })
    const other = startInstance({ clickhouse: running.server, joining: one, dataDir: folder.path })
    await expect(other).rejects.toMatchObject({ exit: "configuration", message: expect.stringContaining("FOOTFALL_SECRET_KEY") })
    await using two = await second(one)
    const { keyRotation } = two.app.instance
    await expect(keyRotation.rotate({ kind: "cli", label: "test" } as never)).rejects.toMatchObject({ exit: "usage" })
  })

  test("ship nothing after their lease is over, and what they accepted meanwhile once they have it again", async () => {
    await using one = await first({ ack_wait: "100" })
    const { lease, shipped } = one.app.instance
    await lease!.renew()
    one.clock.advance(30_001)
    expect(await whileTimePasses(one, one.collect(view("/late")))).toMatchObject({ status: 202 })
    expect(shipped!.shipping.state).toBe("spooling")
    expect(await count("1")).toBe(0)
    await lease!.renew()
    while ((await count("1")) === 0) await Bun.sleep(100)
    expect(await summary(one)).toEqual({ visitors: 1, pageviews: 1 })
  })

  /** Visits in the store of a node, whatever ClickHouse has of it. */
  function ownVisits({ dataDir }: TestInstance): number {
    const reader = openEventReader(placesIn(dataDir).events, { cacheBytes: 1 << 20 })
    const visits = reader.snapshot(1, "visits", "all").parts.reduce((sum, part) => sum + part.visits, 0)
    reader.close()
    return visits
  }

  /** Returns whether a promise settles within a second. */
  const settlesSoon = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), Bun.sleep(1_000).then(() => false)])

  /** Waits while a node follows the removals of others, as it does each second. */
  async function whileFollowing<T>({ app }: TestInstance, promise: Promise<T>): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    void promise.then(done, done)
    for (; !isDone; await Bun.sleep(100)) await app.instance.shipped!.followRemovals()
    return promise
  }

  test("have all removed a person when the erasure ends, and a folder that returns does so first", async () => {
    await using one = await first()
    await one.app.instance.sites.configure(1, { identity_mode: "identified" })
    await using two = await second(one)
    await using three = await second(one)
    for (const [node, address] of [
      [one, "198.51.100.1"],
      [two, "198.51.100.2"],
      [three, "198.51.100.3"],
    ] as const)
      expect(await node.collect(view("/account", { x: "anna" }), { address })).toMatchObject({ status: 202 })
    expect(await three.collect(view("/account", { x: "bert" }), { address: "198.51.100.4" })).toMatchObject({ status: 202 })
    await three.stop()
    const { people, shipped } = one.app.instance
    const pseudonyms = await people.pseudonymsOf(one.site, await people.find(one.site, "anna"))
    expect(await one.app.erasure.person(1, pseudonyms)).toMatchObject({ visits: 3 })
    expect(await summary(one)).toEqual({ visitors: 1, pageviews: 1 })
    const abort = new AbortController()
    const deleting = shipped!.hidden.delete(abort.signal).catch(() => {})
    expect(await settlesSoon(deleting)).toBe(false)
    expect([await count("gone = 0"), ownVisits(one), ownVisits(two), ownVisits(three)]).toEqual([1, 0, 1, 2])
    const live = () => one.app.instance.catalog.all(sql`select number from nodes join removals on id > removed_to order by number`)
    await two.app.instance.shipped!.followRemovals()
    expect(ownVisits(two)).toBe(0)
    const gone = async () => (await running.clickhouse.rows("select 1 from visits where gone = 0 and visit % 256 < 3")).length === 0
    while (!(await gone())) await Bun.sleep(100)
    abort.abort()
    await deleting
    expect(await live()).toEqual([{ number: 3 }])

    await using again = await startInstance({ clickhouse: running.server, joining: one, dataDir: three.dataDir })
    expect(ownVisits(again)).toBe(1)
    // A removal that waits for ClickHouse must not remove what arrives meanwhile, also after another start.
    await one.app.instance.events.eraseSite(1, one.clock.now())
    await again.stop()
    await using third = await startInstance({ clickhouse: running.server, joining: one, dataDir: three.dataDir })
    expect(ownVisits(third)).toBe(0)
    expect(await third.collect(view("/new"), { address: "198.51.100.5" })).toMatchObject({ status: 202 })
    await third.stop()
    await using fourth = await startInstance({ clickhouse: running.server, joining: one, dataDir: three.dataDir })
    await fourth.app.instance.shipped!.followRemovals()
    for (const node of [one, fourth]) expect(await summary(node)).toEqual({ visitors: 1, pageviews: 1 })
  })

  test("have all removed what retention removes for a person in the console, and what an undone import had", async () => {
    await using one = await first()
    await using two = await second(one)
    expect(await two.collect(view("/old"), { address: "198.51.100.1" })).toMatchObject({ status: 202 })
    two.clock.advance(40 * 86_400_000)
    expect(await two.collect(view("/new"), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    const removing = one.app.operations["retention.run"]({ site_id: 1, retention_days: 30 }, () => {})
    expect(await settlesSoon(removing)).toBe(false)
    expect([await count("1"), ownVisits(two)]).toEqual([1, 2])
    expect(await whileFollowing(two, removing)).toEqual({ visits: 1 })
    expect(ownVisits(two)).toBe(1)
    await two.app.instance.events.importTotals({ siteId: 1, importId: 5, run: 1 }, "imported_pages", [
      { day: "2026-10-01", texts: { hostname: "shop.example", page: "/old" }, counts: { visitors: 7 } },
    ])
    await two.app.instance.events.shipped(AbortSignal.timeout(20_000))
    const { events } = one.app.instance
    const undoing = events.dropImport(1, 5, one.clock.now()).then(() => events.removedElsewhere())
    expect(await settlesSoon(undoing)).toBe(false)
    await whileFollowing(two, undoing)
    expect(two.app.instance.events.importCursor(5, 1)).toBeUndefined()
    expect(await running.clickhouse.rows("select 1 from totals final")).toEqual([])
  })

  test("say that events may be missing while one is lost, until it is forgotten", async () => {
    await using one = await first()
    const { catalog, lease, hasLateEvents, nodes } = one.app.instance
    const lost = await second(one)
    await lost.stop()
    await lease!.renew()
    expect([nodes!.live(), hasLateEvents()]).toEqual([[1], false])
    await catalog.run(sql`update nodes set expires_at = 1 where number = 2`)
    await lease!.renew()
    expect(hasLateEvents()).toBe(true)
    const job = {
      organization_id: null,
      site_id: null,
      payload: {},
      run_at: 0,
      created_by: null,
      created_at: 0,
      key: "",
      slot: null,
      node: 2,
    }
    await insertJob(catalog, { ...job, kind: "sites.forget-takeouts" })
    await one.app.instance.events.eraseSite(1, one.clock.now())
    const forget = (number: number) => one.app.operations["node.forget"]({ number })
    await expect(forget(1)).rejects.toMatchObject({ code: "invalid_state", members: { state: "live" } })
    await expect(forget(9)).rejects.toMatchObject({ code: "not_found" })
    await forget(2)
    await expect(forget(2)).rejects.toMatchObject({ code: "invalid_state", members: { state: "forgotten" } })
    await lease!.renew()
    expect(hasLateEvents()).toBe(false)
    expect(await one.app.operations["node.list"]({})).toMatchObject([
      { number: 1, state: "live", late_since: null },
      { number: 2, state: "forgotten", late_since: null },
    ])
    expect(await catalog.all(sql`select state from jobs where node = 2`)).toEqual([{ state: "cancelled" }])
    await one.app.instance.shipped!.followRemovals()
    expect(await catalog.all(sql`select id from removals`)).toEqual([])
    const returned = startInstance({ clickhouse: running.server, joining: one, dataDir: lost.dataDir })
    await expect(returned).rejects.toMatchObject({ exit: "configuration", message: expect.stringContaining("node 2, which was forgotten") })
    await lost[Symbol.asyncDispose]()
  })

  const purchase = (order: string, amount: number) => ({
    ...view("/thanks"),
    ...{ n: "Purchase", p: { order_id: order }, $: { amount, currency: "EUR" } },
  })

  test("fold the sales of both once when they do it at the same time, and announce each transaction once", async () => {
    await using one = await first()
    await using two = await second(one)
    const both = [one, two]
    const announced: unknown[] = []
    for (const { app } of both)
      app.instance.outbox.register({
        name: "test",
        events: ["revenue.recorded"],
        consume: async ({ payload }) => void announced.push((payload as { order_id: string }).order_id),
      })
    const rounds = 3
    for (let round = 0; round < rounds; round++) {
      await Promise.all(
        both.flatMap((node, at) =>
          Array.from({ length: 5 }, (_, sale) =>
            node.collect(purchase(`${round} ${at} ${sale}`, 10), { address: `198.51.100.${10 * at + sale}` }),
          ),
        ),
      )
      for (const { app } of both) await app.instance.lease!.renew()
      one.clock.advance(10_000)
      await Bun.sleep(300) // the confirmation of what was acknowledged is recorded
      await Promise.all(both.map(({ runJobs }) => runJobs()))
      one.clock.advance(10_000)
      await Promise.all(both.map(({ runJobs }) => runJobs()))
      // As after an interruption between publishing and taking note of it.
      await one.rows(({ run }) => run(sql`delete from revenue_announced`))
    }
    for (const { runJobs } of both) await runJobs()
    const cookie = await one.signIn({ role: "owner" })
    const { body } = await one.api.get("/api/private/sites/1/revenue/transactions?limit=100", undefined, { cookie })
    const orders = (body as { data: { order_id: string }[] }).data.map(({ order_id }) => order_id)
    expect(orders).toHaveLength(rounds * 10)
    expect(new Set(orders).size).toBe(rounds * 10)
    expect(announced.sort()).toEqual(orders.sort())
  })

  test("count an event once that is sent to both, also when the first one crashes before it has shipped it", async () => {
    using proxy = startProxy(running.server)
    // ClickHouse forgets ids by its own clock.
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true, now: new Date().toISOString() })
    const two = await startInstance({ clickhouse: proxy.server, joining: one, settings: { ack_wait: "100" } })
    await one.app.instance.lease!.renew()
    const ids = Array.from({ length: 6 }, () => crypto.randomUUID())
    const idsArrived = async (wanted: number) => {
      while ((await running.clickhouse.rows("select distinct id from event_ids")).length < wanted) await Bun.sleep(50)
    }
    const sent = (place: number, age = 0) => view(`/${place}`, { id: ids[place], ...(age > 0 && { o: age }) })
    const send = (node: TestInstance, place: number, age = 0, address = "198.51.100.1") => node.collect(sent(place, age), { address })
    // One visit with two events, and one with a third, of which two has confirmed nothing when it ends.
    expect(await send(two, 0)).toMatchObject({ status: 202 })
    await idsArrived(1)
    const dropped = await send(one, 0, 1_000)
    expect([dropped.status, dropped.headers.get("x-plausible-dropped")]).toEqual([202, "1"])
    expect(await summary(one)).toEqual({ visitors: 1, pageviews: 1 })
    proxy.trouble = "refused"
    for (const [place, address] of [
      [1, "198.51.100.1"],
      [2, "198.51.100.2"],
      [3, "198.51.100.3"],
      [4, "198.51.100.3"],
    ] as const) {
      expect(await whileTimePasses(two, send(two, place, 0, address))).toMatchObject({ status: 202 })
    }
    await two.stop()
    // What two acknowledged is repeated nevertheless, except for one event.
    for (const [place, address] of [
      [1, "198.51.100.1"],
      [2, "198.51.100.2"],
      [3, "198.51.100.3"],
      [5, "198.51.100.5"],
    ] as const)
      expect((await send(one, place, 1_000, address)).headers.get("x-plausible-dropped")).toBeNull()
    await idsArrived(5)
    expect(await summary(one)).toEqual({ visitors: 4, pageviews: 5 })
    await using again = await startInstance({ clickhouse: running.server, joining: one, dataDir: two.dataDir })
    await again.app.instance.shipped!.shipping.settled()
    for (const node of [one, again]) expect(await summary(node)).toEqual({ visitors: 4, pageviews: 6 })
    expect((await send(again, 3, 2_000, "198.51.100.3")).headers.get("x-plausible-dropped")).toBe("1")
    await two[Symbol.asyncDispose]()
  })

  test("count the clicks of both on a link", async () => {
    await using one = await first()
    await using two = await second(one)
    const cookie = await one.signIn({ role: "owner" })
    const made = await one.api.send("POST", "/api/private/sites/1/links", { destination: "https://shop.example/a" }, undefined, { cookie })
    const { id, slug } = made.body as { id: number; slug: string }
    await two.app.instance.changes!.poll()
    for (const [node, clicks] of [
      [one, 3],
      [two, 4],
    ] as const)
      for (let click = 0; click < clicks; click++) {
        const request = new Request(`http://localhost/l/${slug}`, { headers: { "user-agent": BROWSER } })
        expect((await node.fetch(request, `198.51.100.${click}`)).status).toBe(302)
      }
    for (const { app } of [one, two]) await app.collector.recorded()
    one.clock.advance(16_000)
    await Promise.all([one, two].map(({ runJobs }) => runJobs()))
    for (const { runJobs } of [one, two]) await runJobs() // one waits while the other counts
    for (const { app, api } of [one, two]) {
      await app.instance.changes!.poll()
      expect((await api.get(`/api/private/sites/1/links/${id}`, undefined, { cookie })).body).toMatchObject({ clicks: { human: 7 } })
    }
  })
})
