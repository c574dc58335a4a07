import { describe, expect, test } from "bun:test"
import { definePlugin, type Host, type ImportedVisit, type SaleEvent } from "#plugin"
import { BROWSER, startInstance, type TestInstance } from "#plugin/test"
import { TRAITS, type VisitTraits } from "../../src/domain/visit.ts"

/** Starts an instance with a plugin that has records of clicks, and returns its host. */
async function openShop(hasRowServer: boolean, now = "2026-11-20T08:00:00Z"): Promise<{ instance: TestInstance; host: Host }> {
  let host: Host | undefined
  const plugin = definePlugin({
    id: "shop",
    title: "Shop",
    paths: { open: ["go"] },
    records: { link_click: { title: "Click", kind: "clicks" } },
    setup(given) {
      host = given
      const routes = given.openRouter().get("/go/:id", async ({ params, request, server }) => {
        const site = given.services.sites.directory.byId(1)!
        await given.record({ request, server }, site, {
          name: "link_click",
          props: { link_id: params.id, human: params.id === "9" ? 0 : 1 },
        })
        return new Response("")
      })
      return { openRoutes: [routes] }
    },
  })
  const instance = await startInstance({ plugins: [plugin], now, hasRowServer })
  return { instance, host: host! }
}

const view = (instance: TestInstance, url: string, more: object = {}, address = "203.0.113.1") =>
  instance.collect({ n: "pageview", u: `https://shop.example${url}`, ...more }, { address })
const buy = (instance: TestInstance, amount: string, order: string | undefined, more: object = {}, address = "203.0.113.1") =>
  instance.collect(
    { n: "purchase", u: "https://shop.example/thanks", $: { amount, currency: "EUR" }, ...(order && { p: { order_id: order } }), ...more },
    { address },
  )

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describe.each([
  ["in the store of the only node", false],
  ["on a server, with those of all nodes", true],
])("sales %s", (_, hasRowServer) => {
  const startWithHost = (now?: string) => openShop(hasRowServer, now)

  test("stores sales in order, with amount, order, trust and visit, and announces them", async () => {
    const { instance, host } = await startWithHost()
    await using _ = instance
    const announced: number[] = []
    host.sales.onNew((siteId) => announced.push(siteId))
    expect(await host.sales.hasNew(1, 0)).toBe(false)
    await view(instance, "/?utm_source=news", { r: "https://search.example/" })
    await buy(instance, "10.00", "A-1")
    await buy(instance, "10.00", "A-1")
    await buy(instance, "-2.50", "A-1")
    await buy(instance, "3", undefined, {}, "203.0.113.2")
    const sent = { name: "purchase", url: "https://shop.example/", revenue: { amount: 10, currency: "EUR" }, props: { order_id: "A-1" } }
    await instance.api.post("/api/public/v1/sites/1/events", { events: [sent] }, instance.eventsKey)
    const sales = await host.sales.after(1, 0, 10)
    const facts = ({ amount_minor, order_id, trust, is_repeated }: SaleEvent) => [amount_minor, order_id, trust, is_repeated]
    expect(sales.map(facts)).toEqual([
      [1000, "A-1", "client", false],
      [1000, "A-1", "client", true],
      [-250, "A-1", "client", false],
      [300, null, "client", false],
      [1000, "A-1", "server", true],
    ])
    expect(sales[0]).toMatchObject({ site_id: 1, import_id: 0, at: Date.parse("2026-11-20T08:00:00Z"), currency: "EUR", name: "purchase" })
    const sequences = sales.map(({ sequence }) => sequence)
    const places = sales.map(({ place }) => place)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(await host.sales.after(1, places[2]!, 1)).toEqual([sales[3]!])
    expect([await host.sales.hasNew(1, places[3]!), await host.sales.hasNew(1, places[4]!)]).toEqual([true, false])
    expect(announced).toEqual([1, 1, 1, 1, 1])
    const visits = await host.sales.visits(host.services.sites.directory.byId(1)!, sequences)
    expect(visits.get(sequences[0]!)).toEqual(visits.get(sequences[2]!)!)
    expect(visits.get(sequences[0]!)).toMatchObject({
      sequence: sales[0]!.visit_sequence,
      visitor_kind: "rotating",
      started_at: Date.parse("2026-11-20T08:00:00Z"),
      is_closed: false,
      dims: {
        entry_page: "/",
        hostname: "shop.example",
        source: "news",
        utm_source: "news",
        utm_medium: "",
        browser: "Chrome",
        os: "Windows",
      },
    })
    instance.clock.advance(31 * MINUTE)
    const later = await host.sales.visits(host.services.sites.directory.byId(1)!, [sequences[0]!, 99_999])
    expect([...later].map(([sequence, { is_closed }]) => [sequence, is_closed])).toEqual([[sequences[0]!, true]])
  })

  test("a late event that moves the start of the visit takes its sales along", async () => {
    const { instance, host } = await startWithHost()
    await using _ = instance
    await buy(instance, "5", "B-1")
    const [before] = await host.sales.after(1, 0, 1)
    await view(instance, "/first?utm_source=late", { o: 10 * MINUTE })
    const [after] = await host.sales.after(1, 0, 1)
    expect(after!.visit_sequence).toBeGreaterThan(before!.visit_sequence)
    expect(after).toEqual({ ...before!, visit_sequence: after!.visit_sequence })
    const visits = await host.sales.visits(host.services.sites.directory.byId(1)!, [after!.sequence])
    const started_at = Date.parse("2026-11-20T07:50:00Z")
    const dims = expect.objectContaining({ source: "late", entry_page: "/first" })
    expect(visits.get(after!.sequence)).toMatchObject({ sequence: after!.visit_sequence, started_at, dims })
  })

  test("finds the visits and clicks of many visitors in a window, in order, without those of bots", async () => {
    const { instance, host } = await startWithHost()
    await using _ = instance
    await instance.api.send("PATCH", "/api/private/sites/1/settings", { identity_mode: "monthly" }, undefined, {
      cookie: await instance.signIn({ role: "owner" }),
    })
    const click = (id: string, address: string) =>
      instance.fetch(new Request(`http://localhost/go/${id}`, { headers: { "user-agent": BROWSER } }), address)
    instance.clock.advance(DAY)
    await view(instance, "/a?utm_source=one")
    await view(instance, "/other", {}, "203.0.113.2")
    await click("7", "203.0.113.1")
    await click("9", "203.0.113.1")
    instance.clock.advance(2 * DAY)
    await view(instance, "/b?utm_source=two&utm_campaign=c")
    await buy(instance, "5", "C-1")
    await buy(instance, "5", "C-2", {}, "203.0.113.2")
    const site = host.services.sites.directory.byId(1)!
    const sales = await host.sales.after(1, 0, 10)
    const visits = await host.sales.visits(
      site,
      sales.map(({ sequence }) => sequence),
    )
    const [first, second] = sales.map(({ sequence }) => visits.get(sequence)!.visitor)
    const now = instance.clock.now()
    const found = await host.sales.touches(site, { visitors: [second!, first!, "0123456789abcdef"], from: 0, to: now + 1 })
    expect(found.touches.map(({ visitor, entry_page, source, at }) => [visitor, entry_page, source, (now - at) / DAY])).toEqual([
      [second!, "/other", "", 2],
      [second!, "", "", 0],
      [first!, "/a", "one", 2],
      [first!, "/b", "two", 0],
    ])
    expect(found.clicks).toEqual([{ visitor: first!, at: now - 2 * DAY, link_id: 7 }])
    const recent = await host.sales.touches(site, { visitors: [first!], from: now - DAY, to: now })
    expect(recent).toEqual({ touches: [], clicks: [] })
  })

  test("adds the sales of an import once it is shown, after all that were stored before", async () => {
    const { instance, host } = await startWithHost()
    await using _ = instance
    const traits = Object.fromEntries(TRAITS.map((name) => [name, ""])) as unknown as VisitTraits // every trait is named
    const at = Date.parse("2026-11-10T10:00:00Z")
    const event = { at, name: "purchase", page: "/", hostname: "shop.example", title: "", interactive: true }
    const sale = (order: string) => ({ ...event, revenue: { amount: 700, currency: "EUR" }, props: [["order_id", order]] as const })
    const visit = (visitor: string, order: string): ImportedVisit => ({ visitor, traits, day: "2026-11-10", events: [sale(order)] })
    await host.imports.addVisits({ siteId: 1, importId: 7 }, [visit("a", "X-1"), visit("b", "X-2")])
    await host.imports.addVisits({ siteId: 1, importId: 7, run: 2 }, [visit("c", "X-3")])
    await buy(instance, "1", "N-1")
    const orders = async (after = 0) => (await host.sales.after(1, after, 10)).map(({ order_id, import_id }) => [order_id, import_id])
    const [native] = await host.sales.after(1, 0, 1)
    expect([await orders(), await host.sales.hasNew(1, native!.place)]).toEqual([[["N-1", 0]], false])
    const announced: number[] = []
    host.sales.onNew((siteId) => announced.push(siteId))
    const show = (run: number) =>
      host.db.transaction(
        (statements) =>
          host.imports.show(statements, 1, [{ id: 7, run, timezone: "Europe/Berlin", days: [{ from: "2026-11-10", to: "2026-11-10" }] }]),
        (makeEffective) => makeEffective(),
      )
    await show(1)
    expect([announced, await host.sales.hasNew(1, native!.place)]).toEqual([[1], true])
    expect(await orders(native!.place)).toEqual([
      ["X-1", 7],
      ["X-2", 7],
    ])
    await show(2)
    expect((await orders()).map(([order]) => order)).toEqual(["N-1", "X-1", "X-2", "X-3"])
    const sales = await host.sales.after(1, 0, 10)
    const site = host.services.sites.directory.byId(1)!
    const visits = await host.sales.visits(
      site,
      sales.map(({ sequence }) => sequence),
    )
    expect(visits.get(sales[1]!.sequence)).toMatchObject({ started_at: at, is_closed: true, sequence: sales[1]!.visit_sequence })
    await host.imports.drop(1, 7)
    expect(await orders()).toEqual([["N-1", 0]])
  })

  test("takes the order id from the property that the site names, from the next event on", async () => {
    const { instance, host } = await startWithHost()
    await using _ = instance
    const sell = (address: string) => buy(instance, "5", "by-default", { p: { order_id: "by-default", invoice: "I-1" } }, address)
    await sell("203.0.113.1")
    const headers = { cookie: await instance.signIn({ role: "owner" }) }
    const { status } = await instance.api.send("PATCH", "/api/private/sites/1/settings", { order_property: "invoice" }, undefined, headers)
    expect(status).toBe(200)
    await sell("203.0.113.2")
    await sell("203.0.113.3")
    const sales = await host.sales.after(1, 0, 10)
    expect(sales.map(({ order_id, is_repeated }) => [order_id, is_repeated])).toEqual([
      ["by-default", false],
      ["I-1", false],
      ["I-1", true],
    ])
  })

  test("an amount that a browser sends wrong costs the revenue and not the event, and is counted", async () => {
    const { instance, host } = await startWithHost()
    await using _ = instance
    for (const $ of [
      { amount: "1.999", currency: "EUR" },
      { amount: 5, currency: "XXX" },
      { amount: "1e9" },
      { amount: 1.5, currency: "JPY" },
    ])
      expect((await instance.collect({ n: "purchase", u: "https://shop.example/", $ })).status).toBe(202)
    for (const [amount, currency] of [
      ["7", "JPY"],
      [0.1, "EUR"],
      ["1.2345", "CLF"],
      ["-2.125", "KWD"],
    ])
      await instance.collect({ n: "purchase", u: "https://shop.example/", $: { amount, currency } })
    const sales = await host.sales.after(1, 0, 10)
    expect(sales.map(({ amount_minor, currency }) => [amount_minor, currency])).toEqual([
      [7, "JPY"],
      [10, "EUR"],
      [12345, "CLF"],
      [-2125, "KWD"],
    ])
    const { body } = await instance.api.get("/api/public/v1/sites/1/stats/summary?metrics=events&period=7d", instance.statsKey)
    expect((body as { metrics: object }).metrics).toEqual({ events: 8 })
    const headers = { cookie: await instance.signIn({ role: "owner" }) }
    const drops = await instance.api.get("/api/private/sites/1/drops?from=2026-11-20&to=2026-11-20", undefined, headers)
    expect(JSON.stringify(drops.body)).toMatch(/"revenue_invalid"[^}]*4/)
  })
})
