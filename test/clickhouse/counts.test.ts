/** What the nodes of one instance count and store besides events: each shows that of all. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(120_000)

const view = (url: string, more: object = {}) => ({ n: "pageview", u: url, d: "shop.example", ...more })

/** Sends an event of a host that the site does not have, and one that is stored. */
async function visit({ collect, app }: TestInstance, host: string): Promise<void> {
  for (const url of [`https://${host}/wrong`, "https://shop.example/right"]) expect(await collect(view(url))).toMatchObject({ status: 202 })
  app.console.ingestion.flush()
  await app.instance.shipped!.tallies.send()
}

describe.skipIf(!hasClickhouse())("counters of several nodes", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterEach(async () => {
    for (const table of ["visits", "drops", "drop_samples", "ingest_minutes", "user_ids"])
      await running.clickhouse.run(`truncate table ${table}`)
  })
  afterAll(() => running[Symbol.asyncDispose]())

  async function shown({ api, signIn, app }: TestInstance) {
    const cookie = await signIn({ role: "owner", isInstanceAdmin: true })
    const ok = async (answer: ReturnType<typeof api.get>) => {
      expect(await answer).toMatchObject({ status: 200 })
      return answer
    }
    const get = async (path: string) => (await ok(api.get(path, undefined, { cookie }))).body as { data: Record<string, unknown>[] }
    const report = await app.console.ingestion.minutes({})
    const drops = (await get("/api/private/sites/1/drops?period=today")) as unknown as {
      rows: { reason: string; total: number; entries: object[] }[]
    }
    const { total, entries } = drops.rows.find(({ reason }) => reason === "host")!
    return {
      ...{ total, entries, totals: report.totals },
      samples: (await get("/api/private/sites/1/drops/sample")).data.map(({ hostname }) => hostname),
      latest: (await get("/api/private/admin/ingestion/rejected/sample?reason=host")).data.map(({ host }) => host),
      bots: (await get("/api/private/admin/ingestion/rejected/sample?reason=bot")).data,
    }
  }

  test("adds up dropped events, shows those of all nodes, and counts what became of events", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    await visit(one, "one.example")
    await visit(one, "both.example")
    two.clock.advance(1_000)
    await visit(two, "both.example")
    await two.collect(view("https://two.example/"))
    // It is counted with the next group commit.
    const counted = () => two.app.instance.events.drops(1, "2000-01-01", "2100-01-01").map(({ entry }) => entry)
    while (!counted().includes("two.example")) await Bun.sleep(5)
    expect(await shown(two)).toMatchObject({
      total: 4,
      entries: [
        { entry: "both.example", count: 2 },
        { entry: "one.example", count: 1 },
        { entry: "two.example", count: 1 },
      ],
      totals: { accepted: 3, dropped: { host: 4 } },
      bots: [],
    })
    const { samples, latest } = await shown(two)
    expect([samples.length, samples.slice(0, 2).sort(), samples.slice(2).sort()]).toEqual([
      4,
      ["both.example", "two.example"],
      ["both.example", "one.example"],
    ])
    expect(latest.toSorted()).toEqual(samples.toSorted())
  })

  test("counts the hits of a shield on all nodes, and those of its own while ClickHouse is away", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    const cookie = await one.signIn({ role: "owner" })
    const shield = { kind: "page", value: "/secret" }
    expect(await one.api.send("POST", "/api/private/sites/1/shields", shield, undefined, { cookie })).toMatchObject({
      status: 201,
      body: { hits_7d: 0 },
    })
    await one.collect(view("https://shop.example/secret"))
    await one.collect(view("https://shop.example/open"))
    await one.app.instance.shipped!.tallies.send()
    await one.stop()
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    await two.collect(view("https://shop.example/secret"))
    await two.collect(view("https://shop.example/open"))
    const hits = async () => {
      const { body } = await two.api.get("/api/private/sites/1/shields", undefined, { cookie })
      return (body as { data: { hits_7d: number }[] }).data.map(({ hits_7d }) => hits_7d)
    }
    expect(await hits()).toEqual([2])
    await running.stop()
    try {
      expect(await hits()).toEqual([1])
      expect(await two.api.get("/api/private/sites/1/drops?period=today", undefined, { cookie })).toMatchObject({ status: 503 })
    } finally {
      await running.start()
    }
  })

  test("a reset and an erasure delete the counters of all nodes, also those that are not sent yet", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await visit(one, "one.example")
    await one.stop()
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    await two.collect(view("https://two.example/"))
    await two.collect(view("https://shop.example/right"))
    await two.app.erasure.site(1)
    await two.app.instance.shipped!.tallies.send()
    expect(await shown(two)).toMatchObject({ total: 0, entries: [], samples: [], latest: [] })
    for (const table of ["drops", "drop_samples"])
      expect(await running.clickhouse.rows(`select 1 from ${table} where site_id = 1`)).toEqual([])
    await two.stop()
    // The first node was stopped, and forgets its own counters before it counts anything.
    await using again = await startInstance({ clickhouse: running.server, joining: one, dataDir: one.dataDir })
    await again.app.instance.shipped!.tallies.send()
    expect(await shown(again)).toMatchObject({ total: 0, entries: [], samples: [], latest: [] })
    await visit(again, "later.example")
    expect(await shown(again)).toMatchObject({ total: 1, samples: ["later.example"] })
  })

  test("a reset deletes the counters of a live node too, and keeps what it counts afterwards", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    for (const node of [one, two]) await visit(node, "before.example")
    const cookie = await one.signIn({ role: "owner" })
    const begun = await one.api.send("POST", "/api/private/sites/1/reset", { confirm: "Shop" }, undefined, { cookie })
    expect(begun.status).toBe(202)
    // It does not end before the server has deleted replaced parts, which takes minutes.
    void one.app.instance.jobs.drain()
    // In production, following is a task of each second.
    while ((await running.clickhouse.rows("select 1 from drops where site_id = 1 and node = 1")).length > 0) await Bun.sleep(100)
    await visit(two, "meanwhile.example")
    await two.app.instance.shipped!.followRemovals()
    await visit(two, "later.example")
    for (const node of [one, two]) expect(await shown(node)).toMatchObject({ total: 1, samples: ["later.example"] })
  })

  test("knows the user ids that another node has stored, until they are erased or no longer stored", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await one.app.instance.settings.change({ store_user_ids_allowed: true }, null)
    await one.app.instance.sites.configure(1, { identity_mode: "identified", store_user_ids: true })
    for (const [user, address] of [
      ["anna", "198.51.100.1"],
      ["bert", "198.51.100.2"],
    ] as const)
      expect(await one.collect(view("https://shop.example/account", { x: user }), { address })).toMatchObject({ status: 202 })
    await one.app.instance.shipped!.tallies.send()
    await one.stop()
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    const { people, events, sites, shipped } = two.app.instance
    const site = sites.directory.byId(1)!
    expect(await events.hasPeople(1)).toBe(true)
    expect(await events.hasPeople(2)).toBe(false)
    const [anna, bert] = [await people.find(site, "anna"), await people.find(site, "bert")]
    expect(await people.userIds(site, [...anna, ...bert, 7])).toEqual(
      new Map([
        [anna[0]!, "anna"],
        [bert[0]!, "bert"],
      ]),
    )
    expect(await two.app.erasure.person(1, await people.pseudonymsOf(site, anna))).toMatchObject({ visits: 1 })
    expect(await people.userIds(site, [...anna, ...bert])).toEqual(new Map([[bert[0]!, "bert"]]))
    expect(await running.clickhouse.rows("select user_id from user_ids")).toEqual([{ user_id: "bert" }])
    // Of a person whom both have identified, each node has stored the user id.
    expect(await two.collect(view("https://shop.example/again", { x: "bert" }), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    await shipped!.tallies.send()
    expect(await running.clickhouse.rows("select user_id from user_ids")).toHaveLength(2)
    expect(await people.userIds(site, bert)).toEqual(new Map([[bert[0]!, "bert"]]))
    await sites.configure(1, { store_user_ids: false })
    await events.forgetUserIds((id) => sites.directory.byId(id)!.settings.store_user_ids)
    await shipped!.tallies.send()
    expect(await running.clickhouse.rows("select user_id from user_ids")).toEqual([])
  })
})
