/** What a node knows about the events of others without asking for each answer. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { startInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(120_000)

describe.skipIf(!hasClickhouse())("what other nodes have recorded", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  test("decides to whom a disputed host belongs, and since when and until when a site has data", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    for (const page of ["/", "/later"]) {
      expect(await one.collect({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example" })).toMatchObject({ status: 202 })
      one.clock.advance(60_000)
    }
    const { organizations, sites } = one.app.instance
    const rival = await organizations.create({ name: "Rival" })
    await sites.create(rival.id, { name: "Rival", hosts: ["shop.example", "*.shop.example"] })
    expect(sites.directory.byHost("shop.example")?.id).toBe(1)
    const { directory } = two.app.instance.sites
    await two.app.instance.changes!.poll()
    const [dispute, ...others] = directory.disputes()
    expect([dispute!.host, dispute!.owner, others]).toEqual(["shop.example", undefined, []])
    const { findHosts, findSpans, lastAt } = two.app.instance.shipped!
    const { events } = two.app.instance
    await findHosts(["*.example", "*.shop.example", "other.example"].map((host) => ({ siteId: 1, host })))
    expect(["*.example", "*.shop.example", "other.example"].map((host) => events.hasEventsFrom(1, host))).toEqual([true, false, false])
    await findHosts(dispute!.claims.map(({ site }) => ({ siteId: site.id, host: dispute!.host })))
    expect(directory.byHost("shop.example")?.id).toBe(1)
    expect([events.firstAt(1), events.firstAt(2)]).toEqual([undefined, undefined])
    await findSpans([1, 2])
    const start = Date.parse("2026-11-21T12:00:00Z")
    expect([events.firstAt(1), events.firstAt(2)]).toEqual([start, undefined])
    expect(await two.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" }, { address: "198.51.100.2" })).toMatchObject({
      status: 202,
    })
    expect([await lastAt(1), await lastAt(2)]).toEqual([start + 120_000, undefined])
    one.clock.advance(60_000)
    expect(await one.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })).toMatchObject({ status: 202 })
    const figures = await two.app.console.lists.figures([1])
    expect(figures.get(1)).toMatchObject({ events_24h: 4, last_event_at: start + 180_000 })
  })
})
