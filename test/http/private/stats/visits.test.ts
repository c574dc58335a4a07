import { afterAll, beforeAll, expect, test } from "bun:test"
import type { VisitListResponse, VisitResponse } from "../../../../src/domain/visit-list.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

let instance: TestInstance
let editor: Person
let viewer: Person

/** Three visits, minutes apart: one that buys, one of two pages, one of a signed-in user. Later a visit of another site. */
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T11:00:00Z" })
  const { clock } = instance
  const send = (address: string, payload: object) =>
    instance.collect({ u: "https://shop.example/", ...payload }, { address, headers: { "user-agent": FIREFOX } })
  await send("203.0.113.1", { n: "pageview", u: "https://shop.example/?utm_source=mail&utm_campaign=spring", r: "https://news.example/" })
  clock.advance(30_000)
  await send("203.0.113.1", { n: "engagement", e: 20_000, sd: 80 })
  clock.advance(30_000)
  const sale = { amount: "10.50", currency: "EUR" }
  await send("203.0.113.1", { n: "Purchase", u: "https://shop.example/thanks", p: { plan: "pro", order_id: "A-17" }, $: sale })
  clock.advance(10 * 60_000)
  await send("203.0.113.2", { n: "pageview" })
  clock.advance(90_000)
  await send("203.0.113.2", { n: "pageview", u: "https://shop.example/pricing" })
  clock.advance(10 * 60_000)
  await send("203.0.113.3", { n: "pageview", u: "https://shop.example/account", x: "ada@example.com" })
  instance.app.collector.flush()
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "Purchase", name: "Bought" })
  editor = await signedIn(instance, { role: "editor" })
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
const VISITS = "/sites/1/stats/visits"

async function list(query = "", who = editor): Promise<VisitListResponse> {
  const { status, body } = await who.get(`${VISITS}?period=7d${query}`)
  expect({ status, body: status === 200 ? undefined : body }).toEqual({ status: 200, body: undefined })
  return body as VisitListResponse
}
async function open(visit: string, who = editor): Promise<VisitResponse> {
  const { status, body } = await who.get(`${VISITS}/${visit}`)
  expect(status).toBe(200)
  return body as VisitResponse
}

const MONEY = { amount_minor: 1_050, currency: "EUR", amount: "10.50" }

test("lists visits with source, place, device, pages, duration, goals and revenue, newest first", async () => {
  const { data, has_more, next_cursor, meta } = await list()
  expect(data.map(({ entry_page }) => entry_page)).toEqual(["/account", "/", "/"])
  expect(data[2]).toMatchObject({
    visitor_kind: "rotating",
    started_at: "2026-11-21T11:00:00Z",
    ...{ duration: 60, pageviews: 1, events: 2, hostname: "shop.example", entry_page: "/", exit_page: "/" },
    ...{ source: "mail", country: null, device: "Desktop", browser: "Firefox", os: "Linux" },
    goals: ["Bought"],
    revenue: [MONEY],
  })
  expect(data[1]).toMatchObject({ duration: 90, pageviews: 2, source: null, exit_page: "/pricing", goals: [], revenue: [] })
  expect({ has_more, next_cursor }).toEqual({ has_more: false, next_cursor: null })
  expect(meta).toMatchObject({ site_id: 1, range: { to: "2026-11-21", includes_today: true } })
})

test("a visit opens as a timeline, with the engaged time and scroll depth of each page", async () => {
  const [, , bought] = (await list()).data
  const visit = await open(bought!.visit)
  expect(visit).toMatchObject({
    ...bought!,
    referrer: "news.example",
    utm_source: "mail",
    utm_campaign: "spring",
    browser_version: "140.0",
    identity_mode: "daily",
  })
  expect(visit.timeline).toEqual({
    data: [
      {
        ...{
          at: "2026-11-21T11:00:00.000Z",
          name: "pageview",
          page: "/",
          hostname: "shop.example",
          title: null,
          properties: {},
          goals: [],
        },
        ...{ engaged_seconds: 20, scroll_depth: 80 },
      },
      {
        ...{ at: "2026-11-21T11:01:00.000Z", name: "Purchase", page: "/thanks", hostname: "shop.example", title: null },
        ...{ properties: { plan: "pro", order_id: "A-17" }, goals: ["Bought"], revenue: MONEY },
      },
    ],
    has_more: false,
    next_cursor: null,
  })
})

test("visits and events are read page by page", async () => {
  const seen: string[] = []
  for (let cursor = ""; ; ) {
    const page = await list(`&limit=1&count=true${cursor}`)
    expect(page.total).toBe(3)
    seen.push(...page.data.map(({ visit }) => visit))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  expect(seen).toEqual((await list()).data.map(({ visit }) => visit))
  const [first] = [(await editor.get(`${VISITS}/${seen[2]}?limit=1`)).body as VisitResponse]
  expect(first).toMatchObject({ timeline: { data: [{ name: "pageview" }], has_more: true } })
  const { body } = await editor.get(`${VISITS}/${seen[2]}?limit=1&cursor=${first!.timeline.next_cursor}`)
  expect(body).toMatchObject({ timeline: { data: [{ name: "Purchase" }], has_more: false, next_cursor: null } })
})

const filteredBy = (dimension: string, value: string) => `filters=${encodeURIComponent(JSON.stringify([{ dimension, values: [value] }]))}`

test.each([
  ["a duration", "min_duration=60", 2],
  ["a longer duration", "min_duration=61", 1],
  ["a first hour of the first day", "timezone=UTC&from_hour=12", 3],
  ["a last hour of the last day", "timezone=UTC&to_hour=11", 3],
  ["a last hour before them", "timezone=UTC&to_hour=10", 0],
  ["a number of pageviews", "min_pageviews=2", 1],
  ["revenue", "revenue=true", 1],
  ["a goal", filteredBy("goal", "Bought"), 1],
  ["a page and a number of pageviews", `${filteredBy("page", "/")}&min_pageviews=2`, 1],
  ["a source that no visit has", filteredBy("source", "Bing"), 0],
])("filters by %s", async (_, query, count) => {
  expect((await list(`&${query}`)).data.length).toBe(count)
})

test("lists the visits of an hour, and says which range that is", async () => {
  const day = "from=2026-11-21&to=2026-11-21&timezone=UTC"
  const within = async (hours: string) => (await editor.get(`${VISITS}?${day}&${hours}`)).body as VisitListResponse
  expect((await within("from_hour=11&to_hour=11")).data).toHaveLength(3)
  expect((await within("from_hour=12&to_hour=12")).data).toHaveLength(0)
  expect((await within("from_hour=23&to_hour=23")).data).toHaveLength(0)
  expect((await within("from_hour=11&to_hour=11")).meta.range).toMatchObject({ from: "2026-11-21", to: "2026-11-21" })
})

test("names visitors and visits by the pseudonyms of exports, and contains no user id", async () => {
  const { data } = await list()
  const lines = await editor.get("/sites/1/export?type=visits&format=json&period=7d")
  const exported = (lines.body as { data: { visit: string; visitor: string }[] }).data
  expect(data.map(({ visit, visitor }) => ({ visit, visitor })).toReversed()).toEqual(
    exported.map(({ visit, visitor }) => ({ visit, visitor })),
  )
  for (const { visit, visitor } of data) expect([visit, visitor].join(" ")).toMatch(/^[0-9a-f]{16} [0-9a-f]{16}$/)
  const answers = JSON.stringify([data, await Promise.all(data.map(({ visit }) => open(visit)))])
  expect(answers).not.toContain("ada")
  expect(answers).not.toContain("203.0.113")
})

test("needs the permission to see people, and revenue its own", async () => {
  const { visit } = (await list("&revenue=true")).data[0]!
  const refused = { status: 403, body: { code: "forbidden", required_permission: "people:read" } }
  expect(await viewer.get(VISITS)).toMatchObject(refused)
  expect(await viewer.get(`${VISITS}/${visit}`)).toMatchObject(refused)
  await instance.app.instance.catalog.script(
    `update memberships set grants_json = '["people:read"]', denies_json = '["revenue:read"]' where id = (select max(id) from memberships)`,
  )
  const [, , bought] = (await list("", viewer)).data
  expect(bought).toMatchObject({ goals: ["Bought"] })
  expect(bought).not.toHaveProperty("revenue")
  const { timeline } = await open(visit, viewer)
  expect(timeline.data[1]).toMatchObject({ name: "Purchase", properties: { plan: "pro" } })
  expect(JSON.stringify(timeline)).not.toMatch(/A-17|10\.50|1050/)
  expect(await viewer.get(`${VISITS}?revenue=true`)).toMatchObject({
    status: 400,
    body: { code: "invalid_query", errors: [{ pointer: "/revenue", code: "unsupported_metric" }] },
  })
})

test("the visits of a site are unknown elsewhere: on another site, in shared views and to API keys", async () => {
  const { visit } = (await list()).data[0]!
  const other = await instance.app.instance.sites.create(1, { name: "Other", hosts: ["other.example"] })
  const unknown = { status: 404, body: { code: "visit_not_found" } }
  expect(await editor.get(`/sites/${other.id}/stats/visits/${visit}`)).toMatchObject(unknown)
  expect(await editor.get(`${VISITS}/0123456789abcdef`)).toMatchObject(unknown)
  expect(await editor.get(`${VISITS}/x`)).toMatchObject(unknown)
  expect((await editor.get(`/sites/${other.id}/stats/visits`)).body).toMatchObject({ data: [], has_more: false })
  const { slug } = (await editor.post("/sites/1/shares", { name: "All" })).body as { slug: string }
  expect((await instance.api.get(`/api/share/s/${slug}/stats/visits`)).status).toBe(404)
  expect((await instance.api.get(`/api/share/s/${slug}/stats/summary`)).status).toBe(200)
  expect((await instance.api.get(`/api/private${VISITS}`, instance.key)).status).toBe(401)
})

test.each([
  ["limit=0", "invalid_query"],
  ["limit=201", "invalid_query"],
  ["min_duration=-1", "invalid_query"],
  ["min_pageviews=many", "invalid_query"],
  ["from_hour=24", "invalid_query"],
  ["period=today&from_hour=5&to_hour=4", "invalid_query"],
  ["revenue=yes", "invalid_query"],
  ["imports=false", "invalid_query"],
  ["cursor=x", "invalid_cursor"],
])("rejects %s", async (query, code) => {
  expect(await editor.get(`${VISITS}?${query}`)).toMatchObject({ status: 400, body: { code } })
})

test("reports all faults of the range, the page and the bounds at once", async () => {
  const { body } = await editor.get(`${VISITS}?period=ever&limit=x&revenue=maybe`)
  const pointers = (body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer)
  expect(pointers.sort()).toEqual(["/limit", "/period", "/revenue"])
})

test("a cursor is valid only for the list and the filters that it was made for", async () => {
  const { next_cursor } = await list("&limit=1")
  const made = (place: readonly unknown[]) => {
    const [name] = JSON.parse(Buffer.from(next_cursor!, "base64url").toString()) as [string]
    return Buffer.from(JSON.stringify([name, ...place])).toString("base64url")
  }
  for (const cursor of [`${next_cursor}&min_pageviews=2`, `${next_cursor}&period=30d`, made(["a", "b"]), made([1]), made([1.5, 2])])
    expect(await editor.get(`${VISITS}?${cursor.includes("period") ? "" : "period=7d&"}limit=1&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { code: "invalid_cursor" },
    })
})
