import { expect, test } from "bun:test"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { definePlugin, type Host, type Query, siteFacts } from "#plugin"
import { BROWSER, startInstance, type TestInstance, temporaryFolder } from "#plugin/test"
import { pseudonyms } from "../../src/query/show/pseudonyms.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { openEventReader } from "../../src/store/events/reader.ts"

const HOUR = 3_600_000
const NOON = Date.parse("2026-11-21T12:00:00Z")
let host: Host | undefined

/** A minimal plugin for short links: each request is a click on the link in its path. */
const clicks = definePlugin({
  id: "clicks",
  title: "Clicks",
  paths: { open: ["go", "dot"] },
  records: { link_click: { title: "Click", kind: "clicks" }, dot_open: { title: "Open", kind: "opens" } },
  setup(given) {
    host = given
    const { openRouter, record, senderOf, services } = given
    const routes = openRouter()
      .get("/go/:id", async ({ params, request, server }) => {
        const site = services.sites.directory.byId(1)!
        const { isBot, ...sender } = senderOf({ request, server })
        await record({ request, server }, site, { name: "link_click", props: { link_id: params.id, human: isBot ? 0 : 1 } })
        return Response.json({ isBot, ...sender })
      })
      .get("/dot/:id", async ({ params, request, server }) => {
        await record({ request, server }, services.sites.directory.byId(1)!, {
          name: "dot_open",
          props: { dot_id: params.id },
          proxied: true,
        })
        return new Response("")
      })
    return { openRoutes: [routes] }
  },
})

interface Sending {
  address?: string
  headers?: Record<string, string>
}

async function go(instance: TestInstance, path: string, { address, headers = {} }: Sending = {}): Promise<unknown> {
  const request = new Request(`http://localhost${path}`, { headers: { "user-agent": BROWSER, ...headers } })
  const response = await instance.fetch(request, address)
  expect(response.status).toBe(200)
  return path.startsWith("/go") ? response.json() : undefined
}

/** Queries visitors and events of records or visits, by a dimension or property. */
async function counted(instance: TestInstance, more: Partial<Query>): Promise<unknown[]> {
  const query: Query = {
    site: siteFacts(instance.site, []),
    range: { from: NOON - 24 * HOUR, to: NOON + 48 * HOUR },
    timezone: "UTC",
    now: instance.clock.now(),
    metrics: ["visitors", "events"],
    groupings: [],
    order: [],
    limit: 100,
    offset: 0,
    fillBuckets: false,
    ...more,
  }
  const { rows } = await host!.engine.aggregate(query, { organizationId: 1 })
  return rows.map(({ keys, values }) => [...keys, ...values])
}

const byLink = {
  records: "clicks" as const,
  groupings: [{ by: "dimension" as const, dimension: "property" as const, property: "link_id" }],
}

test("counts records by their properties, and in no metric of the site", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  await go(instance, "/go/7?utm_source=news", { headers: { referer: "https://www.google.com/" } })
  await go(instance, "/go/7")
  await go(instance, "/go/7", { address: "198.51.100.9" })
  await go(instance, "/go/8", { headers: { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } })
  await go(instance, "/dot/1")
  expect(await counted(instance, byLink)).toEqual([
    ["7", 2, 3],
    ["8", 1, 1],
  ])
  const bySource = { by: "dimension" as const, dimension: "utm_source" as const }
  expect(await counted(instance, { records: "clicks", groupings: [bySource] })).toEqual([
    [null, 3, 3],
    ["news", 1, 1],
  ])
  expect(await counted(instance, { records: "opens" })).toEqual([[1, 1]])
  expect(await counted(instance, { metrics: ["visitors", "visits", "pageviews", "events"] })).toEqual([[0, 0, 0, 0]])
  expect(instance.app.instance.events.firstAt(1)).toBeUndefined()
  const summary = await instance.api.get("/api/public/v1/sites/1/stats/summary?period=today", instance.key)
  expect(summary).toMatchObject({ status: 200, body: { metrics: { visitors: 0, pageviews: 0 } } })
})

test("stores a prepared record with the visitor, page and objection of each request", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  const click = host!.prepareRecord({ name: "link_click", props: { link_id: 7, rule: undefined } })
  const record = (address: string, path: string, headers: Record<string, string> = {}) => {
    const server = { requestIP: () => ({ address }) }
    return host!.recordLater({ request: new Request(`http://localhost${path}`, { headers }), server }, instance.site, click)
  }
  for (const path of ["/a?utm_source=news", "/b"]) expect(record("198.51.100.7", path)).toBeUndefined()
  record("198.51.100.8", "/b")
  record("198.51.100.9", "/b", { dnt: "1" })
  await instance.app.collector.recorded()
  expect(await counted(instance, byLink)).toEqual([["7", 3, 4]])
  const by = (dimension: "page" | "utm_source") => ({
    records: "clicks" as const,
    groupings: [{ by: "dimension" as const, dimension }],
  })
  expect(await counted(instance, by("page"))).toEqual([
    ["/a", 1, 1],
    ["/b", 3, 3],
  ])
  expect(await counted(instance, by("utm_source"))).toEqual([
    [null, 3, 3],
    ["news", 1, 1],
  ])
  const anonymous = { by: "dimension" as const, dimension: "property" as const, property: "anonymous" }
  expect(await counted(instance, { records: "clicks", groupings: [anonymous] })).toEqual([
    [null, 2, 3],
    ["1", 1, 1],
  ])
})

test("keeps apart what records that are stored together differ in, also those of two sites", async () => {
  await using instance = await startInstance({ plugins: [clicks], settings: { geo_header: "cf-ipcountry" } })
  const { id } = await instance.app.instance.sites.create(1, { name: "Blog", hosts: ["blog.example"] })
  const blog = host!.services.sites.directory.byId(id)!
  const click = host!.prepareRecord({ name: "link_click", props: { link_id: 7 } })
  const proxied = { requestIP: () => ({ address: "127.0.0.1" }) }
  const record = (site: typeof blog, path: string, headers: Record<string, string> = {}) => {
    const sent = { "user-agent": BROWSER, "accept-language": "de", "x-forwarded-for": "198.51.100.7", "cf-ipcountry": "AT", ...headers }
    host!.recordLater({ request: new Request(`http://localhost${path}`, { headers: sent }), server: proxied }, site, click)
  }
  // The texts of the second site have numbers in another order.
  record(blog, "/other", { "accept-language": "fr", "cf-ipcountry": "FR" })
  for (const site of [instance.site, blog]) {
    record(site, "/a")
    record(site, "/b", { "accept-language": "fr" })
    record(site, "/a", { "cf-ipcountry": "DE" })
    record(site, "/a", { referer: "https://news.example/" })
    record(site, "/a?utm_source=mail", { referer: "https://news.example/" })
    record(site, "/a", { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0" })
  }
  await instance.app.collector.recorded()
  const by = async (site: typeof blog, dimension: "page" | "language" | "country" | "referrer" | "utm_source" | "browser") => {
    const groupings = [{ by: "dimension" as const, dimension }]
    const rows = await counted(instance, { site: siteFacts(site, []), records: "clicks", metrics: ["events"], groupings })
    return Object.fromEntries(rows as [string | null, number][])
  }
  const figures = async (site: typeof blog) => ({
    page: await by(site, "page"),
    language: await by(site, "language"),
    country: await by(site, "country"),
    referrer: await by(site, "referrer"),
    utm_source: await by(site, "utm_source"),
    browser: await by(site, "browser"),
  })
  expect(await figures(instance.site)).toEqual({
    page: { "/a": 5, "/b": 1 },
    language: { de: 5, fr: 1 },
    country: { AT: 5, DE: 1 },
    referrer: { null: 4, "news.example": 2 },
    utm_source: { null: 5, mail: 1 },
    browser: { Chrome: 5, Firefox: 1 },
  })
  expect(await figures(blog)).toEqual({
    page: { "/a": 5, "/b": 1, "/other": 1 },
    language: { de: 5, fr: 2 },
    country: { AT: 5, DE: 1, FR: 1 },
    referrer: { null: 5, "news.example": 2 },
    utm_source: { null: 6, mail: 1 },
    browser: { Chrome: 6, Firefox: 1 },
  })
})

/** Returns the ordinals of the visitors of a kind, in row order. */
function visitorsOf(instance: TestInstance, kind?: "clicks" | "opens"): number[] {
  const reader = openEventReader(join(instance.dataDir, "events.db"), { cacheBytes: 1 << 20 })
  const visitors = reader.snapshot(1, kind).parts.flatMap((part) => [...part.visit("visitor").subarray(0, part.visits)])
  reader.close()
  return visitors
}

test("a click and the following visit have the same visitor, except for clients that object to tracking, which all share one", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  await go(instance, "/go/7", { address: "198.51.100.1" })
  const view = { n: "pageview", u: "https://shop.example/", d: "shop.example" }
  await instance.collect(view, { address: "198.51.100.1" })
  const [clicked] = visitorsOf(instance, "clicks")
  expect(visitorsOf(instance)).toEqual([clicked!])
  const objecting = { "sec-gpc": "1", "accept-language": "de" }
  for (const address of ["198.51.100.2", "198.51.100.3"]) await go(instance, "/go/7", { address, headers: objecting })
  const [, second, third] = visitorsOf(instance, "clicks")
  expect(second).toBe(third!)
  expect(second).not.toBe(clicked!)
})

test("passes the facts about a request's sender to the plugin without the address", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  expect(await go(instance, "/go/7", { headers: { "accept-language": "de-AT,en;q=0.5", dnt: "1" } })).toEqual({
    isBot: false,
    isPrefetch: false,
    hasAgent: true,
    device: "Desktop",
    browser: "Chrome",
    os: "Windows",
    country: "",
    region: "",
    language: expect.stringMatching(/^de/),
    objects: true,
    sameness: expect.any(Number),
  })
})

test("stores nothing about the client if an intermediary sent the request", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  await go(instance, "/dot/1")
  const by = (dimension: "browser" | "device") => ({ records: "opens" as const, groupings: [{ by: "dimension" as const, dimension }] })
  expect(await counted(instance, by("browser"))).toEqual([[null, 1, 1]])
  expect(await counted(instance, by("device"))).toEqual([[null, 1, 1]])
})

test("seals, merges, retains and erases records like visits, and keeps them across a restart", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  const { events } = instance.app.instance
  for (let round = 0; round < 9; round++) {
    await go(instance, "/go/7", { address: `198.51.100.${round + 1}` })
    instance.clock.advance(HOUR)
    await events.seal(instance.clock.now(), true)
  }
  await go(instance, "/go/8")
  const before = await counted(instance, byLink)
  expect(before).toEqual([
    ["7", 9, 9],
    ["8", 1, 1],
  ])
  await events.merge(instance.clock.now())
  await events.dropRetired(instance.clock.now() + HOUR)
  expect(await counted(instance, byLink)).toEqual(before)
  // A new reader sees the same as a new process.
  expect(visitorsOf(instance, "clicks")).toHaveLength(10)

  expect(await events.retain(1, NOON + 4.5 * HOUR, instance.clock.now())).toBe(5)
  expect(await counted(instance, byLink)).toEqual([
    ["7", 4, 4],
    ["8", 1, 1],
  ])
  expect(await instance.app.erasure.site(1)).toMatchObject({ visits: 5 })
  expect(await counted(instance, byLink)).toEqual([])
  expect(visitorsOf(instance, "clicks")).toEqual([])
})

test("a plugin can record only what it declared, and two plugins cannot declare the same", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  const asked = { request: new Request("http://localhost/go/7"), server: null }
  await expect(host!.record(asked, instance.site, { name: "page_view", props: {} })).rejects.toThrow(
    "The plugin clicks records page_view, which is not in its list of records",
  )
  expect(() => host!.prepareRecord({ name: "page_view", props: {} })).toThrow("which is not in its list of records")
  const other = definePlugin({ id: "other", title: "Other", records: { link_click: { title: "X", kind: "clicks" } }, setup: () => ({}) })
  expect(await startInstance({ plugins: [clicks, other] }).catch((error: unknown) => error)).toMatchObject({
    exit: "configuration",
    message: "The plugin other: the record link_click is already taken by the plugin clicks",
  })
})

/** Counts the records that a new process would find after a crash, in the files on disk. */
async function afterCrash(instance: TestInstance, kind: "clicks" | "opens"): Promise<number> {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  for (const end of ["", "-wal"]) cpSync(join(instance.dataDir, `events.db${end}`), `${path}${end}`)
  const store = openEventStore(path, { now: instance.clock.now() })
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const found = reader.snapshot(1, kind).parts.reduce((sum, { visits }) => sum + visits, 0)
  reader.close()
  await store.close()
  return found
}

test("an acknowledged record survives a crash, in the tail and partly sealed", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  for (const address of ["198.51.100.1", "198.51.100.2"]) await go(instance, "/go/7", { address })
  await go(instance, "/dot/1")
  expect(await afterCrash(instance, "clicks")).toBe(2)
  instance.clock.advance(HOUR)
  await instance.app.instance.events.seal(instance.clock.now(), true)
  await go(instance, "/go/8", { address: "198.51.100.3" })
  expect(await afterCrash(instance, "clicks")).toBe(3)
  expect(await afterCrash(instance, "opens")).toBe(1)
})

test("erasing a person erases only that person's records", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  await go(instance, "/go/7", { address: "198.51.100.1" })
  instance.clock.advance(HOUR)
  await instance.app.instance.events.seal(instance.clock.now(), true)
  for (const address of ["198.51.100.1", "198.51.100.2"]) await go(instance, "/go/8", { address })
  await go(instance, "/dot/1", { address: "198.51.100.1" })
  const [ordinal] = visitorsOf(instance, "clicks")
  const [name] = pseudonyms(await instance.app.instance.siteKeys.siteKey(1), "visitor")([ordinal!])
  expect(await instance.app.erasure.person(1, [name!])).toEqual({ visits: 0, events: 0, clicks: 2, opens: 1 })
  expect(await counted(instance, byLink)).toEqual([["8", 1, 1]])
  expect(await counted(instance, { records: "opens" })).toEqual([[0, 0]])
  expect(visitorsOf(instance, "clicks")).not.toContain(ordinal!)
})

test("filters, groups and counts records by their own dimensions, those of visits and time", async () => {
  await using instance = await startInstance({ plugins: [clicks] })
  const bot = { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" }
  await go(instance, "/go/7?utm_source=news", { address: "198.51.100.1" })
  await go(instance, "/go/8?utm_source=news", { address: "198.51.100.1" })
  await go(instance, "/go/7", { address: "198.51.100.2", headers: bot })
  instance.clock.advance(24 * HOUR)
  await go(instance, "/go/7?utm_source=news", { address: "198.51.100.1" })
  const property = (property: string) => ({ by: "dimension" as const, dimension: "property" as const, property })
  const is = (dimension: "property" | "utm_source", value: string, of?: string) => ({
    op: "is" as const,
    dimension,
    ...(of !== undefined && { property: of }),
    values: [value],
    missing: false,
    caseSensitive: true,
  })
  const people = is("property", "1", "human")
  expect(await counted(instance, { ...byLink, filter: people })).toEqual([
    ["7", 2, 2],
    ["8", 1, 1],
  ])
  expect(await counted(instance, { records: "clicks", groupings: [property("human")], filter: is("property", "7", "link_id") })).toEqual([
    ["0", 1, 1],
    ["1", 2, 2],
  ])
  expect(await counted(instance, { ...byLink, filter: is("utm_source", "news") })).toEqual([
    ["7", 2, 2],
    ["8", 1, 1],
  ])
  const byDay = { records: "clicks" as const, groupings: [{ by: "time" as const, interval: "day" as const }, property("link_id")] }
  expect(await counted(instance, { ...byDay, filter: people, order: [{ by: "grouping", index: 0, descending: false }] })).toEqual([
    [Date.parse("2026-11-21T00:00:00Z"), "7", 1, 1],
    [Date.parse("2026-11-21T00:00:00Z"), "8", 1, 1],
    [Date.parse("2026-11-22T00:00:00Z"), "7", 1, 1],
  ])
  const rows = []
  const query = { site: siteFacts(instance.site, []), records: "clicks" as const, range: { from: 0, to: instance.clock.now() + 1 } }
  for await (const batch of host!.engine.rows({ ...query, filter: people }, { organizationId: 1 })) rows.push(...batch)
  expect(rows.map(({ utm_source, events: [event] }) => [utm_source, event!.name, event!.props[0]])).toEqual([
    ["news", "link_click", ["link_id", "7"]],
    ["news", "link_click", ["link_id", "8"]],
    ["news", "link_click", ["link_id", "7"]],
  ])
})
