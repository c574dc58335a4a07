import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

let instance: TestInstance
let viewer: Person
let blind: Person

/** Visitors have addresses of their own and arrive minutes apart. */
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T11:00:00Z" })
  const at = (address: string, page: string, name = "pageview", more: object = {}) =>
    instance.collect({ n: name, u: `https://shop.example${page}`, ...more }, { address })
  const minute = () => instance.clock.advance(60_000)
  for (const [i, address] of ["203.0.113.1", "203.0.113.2", "203.0.113.3"].entries()) {
    await at(address, `/?utm_source=mail`)
    minute()
    await at(address, "/pricing")
    minute()
    if (i < 2) await at(address, "/signup", "Signup", { p: { plan: i === 0 ? "pro" : "free" }, $: { amount: "10.50", currency: "EUR" } })
    minute()
  }
  await at("203.0.113.4", "/blog/one")
  await at("203.0.113.4", "/blog/two")
  instance.app.collector.flush()
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "Signup" })
  await instance.app.instance.funnels.create(instance.site, {
    name: "Buy",
    steps: [
      { type: "page", value: "/" },
      { type: "event", value: "Signup" },
    ],
  })
  viewer = await signedIn(instance, { role: "viewer" })
  blind = await signedIn(instance, { role: "viewer" })
  await instance.app.instance.catalog.script(
    `update memberships set denies_json = '["revenue:read"]' where id = (select max(id) from memberships)`,
  )
})
afterAll(() => instance[Symbol.asyncDispose]())

const STATS = "/sites/1/stats"
// biome-ignore lint/suspicious/noExplicitAny: tests compare bodies with expected values
const bodyOf = async (answer: Promise<{ body: unknown }>): Promise<any> => (await answer).body

test.each([
  "/stats/summary?period=7d&compare=previous_period&metrics=visitors,pageviews,revenue",
  "/stats/timeseries?period=today&metrics=visitors,visits,bounce_rate",
  "/stats/breakdown?dimension=page&metrics=visitors,pageviews,time_on_page",
  "/stats/breakdown?dimension=property&property=plan",
  `/stats/breakdown?dimension=source&filters=${encodeURIComponent(JSON.stringify([{ dimension: "goal", values: ["Signup"] }]))}`,
  "/stats/goals?period=30d",
])("%s equals the public API", async (path) => {
  const open = await instance.api.get(`/api/public/v1/sites/1${path}`, instance.key)
  const own = await viewer.get(`/sites/1${path}`)
  expect(own.status).toBe(200)
  expect(own.body).toEqual(open.body)
})

test.each([
  ["period=7d&metrics=visitors,colour", "/metrics"],
  ["from=2026-11-01", "/to"],
  ["filters=x", "/filters"],
  ["dimension=page&colour=1", "/dimension"],
])("rejects %s like the public API", async (query, pointer) => {
  const open = await instance.api.get(`/api/public/v1/sites/1/stats/summary?${query}`, instance.key)
  const own = await viewer.get(`${STATS}/summary?${query}`)
  expect(own.status).toBe(400)
  expect(own.body).toMatchObject({ code: "invalid_query", errors: (open.body as { errors: object[] }).errors })
  expect(own.body).toMatchObject({ errors: [{ pointer }, ...((open.body as { errors: object[] }).errors.slice(1) as [])] })
})

test("revenue needs its own permission everywhere", async () => {
  const revenue = "summary?metrics=visitors,revenue"
  expect(await bodyOf(viewer.get(`${STATS}/${revenue}`))).toMatchObject({ metrics: { revenue: 21 } })
  expect(await blind.get(`${STATS}/${revenue}`)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: "/metrics", code: "unsupported_metric" }] },
  })
  expect(await blind.get(`${STATS}/breakdown?dimension=page&metrics=visitors,revenue&sort=revenue`)).toMatchObject({ status: 400 })
  expect(await bodyOf(viewer.get(`${STATS}/goals`))).toMatchObject({ goals: [{ revenue: 21 }], revenue_currency: "EUR" })
  const goals = await bodyOf(blind.get(`${STATS}/goals`))
  expect(goals).toMatchObject({ goals: [{ conversions: 2 }] })
  expect(JSON.stringify(goals)).not.toContain("revenue")
  const { results } = await bodyOf(
    blind.post(`${STATS}/batch`, { queries: [{ id: "a", report: "summary", metrics: ["revenue"] }] }) as never,
  )
  expect((results as Record<string, object>).a).toMatchObject({ status: 422, problem: { errors: [{ code: "unsupported_metric" }] } })
  expect(await bodyOf(viewer.get(`/stats/overview?metrics=revenue`))).toMatchObject({ data: [{ metrics: { revenue: 21 } }] })
  expect(await blind.get(`/stats/overview?metrics=revenue`)).toMatchObject({ status: 400 })
})

test("realtime has each of the last thirty minutes and the latest events without visitors", async () => {
  const own = await bodyOf(viewer.get(`${STATS}/realtime`))
  const { minutes, events, ...rest } = own as unknown as { minutes: object[]; events: Record<string, string>[] }
  const open = await instance.api.get("/api/public/v1/sites/1/stats/realtime", instance.key)
  expect(rest).toEqual(open.body as object)
  expect(minutes).toHaveLength(30)
  expect(minutes.at(-1)).toEqual({ time: "2026-11-21T11:09:00Z", visitors: 1, pageviews: 2 })
  expect(minutes[20]).toEqual({ time: "2026-11-21T11:00:00Z", visitors: 1, pageviews: 1 })
  expect(events.map(({ name, page }) => `${name} ${page}`)).toEqual([
    "pageview /blog/two",
    "pageview /blog/one",
    "pageview /pricing",
    "pageview /",
    "Signup /signup",
    "pageview /pricing",
    "pageview /",
    "Signup /signup",
    "pageview /pricing",
    "pageview /",
  ])
  expect(events.at(-1)).toEqual({
    at: "2026-11-21T11:00:00Z",
    name: "pageview",
    page: "/",
    hostname: "shop.example",
    source: "mail",
    country: "",
    device: "Desktop",
    browser: "Chrome",
  })
})

test("suggests filter values with their visitors", async () => {
  const values = async (query: string) => (await bodyOf(viewer.get(`${STATS}/values?${query}`))).data
  expect(await values("dimension=page")).toEqual([
    { value: "/", visitors: 3 },
    { value: "/pricing", visitors: 3 },
    { value: "/signup", visitors: 2 },
    { value: "/blog/one", visitors: 1 },
    { value: "/blog/two", visitors: 1 },
  ])
  expect(await values("dimension=page&q=BLOG&limit=1")).toEqual([{ value: "/blog/one", visitors: 1 }])
  expect(await values("dimension=goal&q=sign")).toEqual([{ value: "Signup", visitors: 2 }])
  expect(await values("dimension=property&property=plan&q=r")).toEqual([
    { value: "free", visitors: 1 },
    { value: "pro", visitors: 1 },
  ])
  expect(await values("dimension=event&period=yesterday")).toEqual([])
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "source", values: ["mail"] }]))
  expect(await values(`dimension=page&q=b&filters=${filters}`)).toEqual([])
  expect(await viewer.get(`${STATS}/values?q=x&limit=0&period=x`)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: "/period" }, { pointer: "/limit" }, { pointer: "/dimension", code: "required" }] },
  })
})

test("finds a country by its name", async () => {
  await using other = await startInstance({ settings: { geo_header: "cf-ipcountry", trusted_proxies: "198.51.100.0/24" } })
  const payload = { n: "pageview", u: "https://shop.example/" }
  await other.collect(payload, { headers: { "cf-ipcountry": "DE", "x-forwarded-for": "203.0.113.1" } })
  await other.collect(payload, { headers: { "cf-ipcountry": "FR", "x-forwarded-for": "203.0.113.2" } })
  const person = await signedIn(other, { role: "viewer" })
  for (const q of ["germ", "de"])
    expect((await person.get(`${STATS}/values?dimension=country&q=${q}`)).body).toEqual({
      data: [{ value: "DE", label: "Germany", visitors: 1 }],
    })
})

test("counts the hours in which visits start, in the site's time zone", async () => {
  const { grid } = await bodyOf(viewer.get(`${STATS}/busy-hours?period=7d`))
  const cells = (grid as number[][]).flatMap((hours, day) => hours.flatMap((visits, hour) => (visits > 0 ? [[day, hour, visits]] : [])))
  // Saturday in Berlin.
  expect(cells).toEqual([[5, 12, 4]])
  const tokyo = await bodyOf(viewer.get(`${STATS}/busy-hours?period=7d&timezone=Asia/Tokyo`))
  expect((tokyo.grid as number[][])[5]![20]).toBe(4)
})

test("groups tagged visits by source, medium and campaign", async () => {
  const answer = await bodyOf(viewer.get(`${STATS}/campaigns?period=7d`))
  expect(answer).toMatchObject({
    rows: [{ source: "mail", medium: "(none)", campaign: "(none)", visitors: 3, conversions: 2, conversion_rate: 66.7 }],
    total_rows: 1,
    has_more: false,
  })
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "page", values: ["/blog/one"] }]))
  expect(await bodyOf(viewer.get(`${STATS}/campaigns?period=7d&filters=${filters}`))).toMatchObject({ rows: [], total_rows: 0 })
  expect(await viewer.get(`${STATS}/campaigns?period=x&limit=0&offset=-1`)).toMatchObject({
    status: 400,
    body: {
      errors: [{ pointer: "/period" }, { pointer: "/limit", code: "out_of_range" }, { pointer: "/offset", code: "invalid_type" }],
    },
  })
  // An export reads them page by page.
  expect(await bodyOf(viewer.get(`${STATS}/campaigns?period=7d&limit=10000&offset=1`))).toMatchObject({
    rows: [],
    total_rows: 1,
    has_more: false,
  })
})

test("lists events and their properties", async () => {
  expect(await bodyOf(viewer.get(`${STATS}/events`))).toMatchObject({
    rows: [{ value: "Signup", visitors: 2, events: 2 }],
    total_rows: 1,
    has_more: false,
  })
  const data = [
    {
      property: "plan",
      events: 2,
      values: [
        { value: "free", visitors: 1, events: 1 },
        { value: "pro", visitors: 1, events: 1 },
      ],
      total_values: 2,
    },
  ]
  expect(await bodyOf(viewer.get(`${STATS}/properties?event=Signup`))).toMatchObject({ event: "Signup", data, total_properties: 1 })
  expect(await bodyOf(viewer.get(`${STATS}/properties`))).toMatchObject({ data })
  expect(await bodyOf(viewer.get(`${STATS}/properties?event=pageview`))).toMatchObject({ data: [], total_properties: 0 })
})

test("journeys start from a page or end at one", async () => {
  const from = await bodyOf(viewer.post(`${STATS}/journeys`, { start: { page: "/" }, steps: 3, events: true }))
  expect(from).toMatchObject({
    mode: "start",
    anchor: { page: "/" },
    columns: [
      [{ kind: "page", page: "/", visits: 3, conversion_rate: 100 }],
      [{ kind: "page", page: "/pricing", visits: 3, conversion_rate: 100 }],
      [
        { kind: "event", page: "Signup", visits: 2, conversion_rate: 66.7 },
        { kind: "exit", page: "(exit)", visits: 1, conversion_rate: 33.3 },
      ],
    ],
    edges: [
      { column: 0, from: "/", to: "/pricing", from_node: 0, to_node: 0, visits: 3 },
      { column: 1, from: "/pricing", to: "Signup", from_node: 0, to_node: 0, visits: 2 },
    ],
    dropped: [[0], [1]],
    sample_visits: 3,
    sparse: true,
  })
  const to = await bodyOf(viewer.post(`${STATS}/journeys`, { end: { page: "/blog/*" }, group: "directory", steps: 2 }))
  expect(to).toMatchObject({
    mode: "end",
    columns: [[{ page: "/blog/*", visits: 1 }], [{ kind: "entry", page: "(entry)", visits: 1 }]],
    sample_visits: 1,
  })
})

test.each([
  [{}, ["/start required"]],
  [{ start: { page: "/" }, end: { page: "/" } }, ["/end unsupported_combination"]],
  [{ start: {} }, ["/start/page required"]],
  [{ start: { page: "/", event: "x" }, events: true }, ["/start/event unsupported_combination"]],
  [{ start: { event: "x" } }, ["/start/event unsupported_combination"]],
  [{ start: { page: "/" }, steps: 7 }, ["/steps out_of_range"]],
  [{ start: { page: "/" }, steps: 2, pins: [{ column: 2, page: "/x" }] }, ["/pins/0/column out_of_range"]],
  [{ start: { page: "/" }, top: 21, period: "x", colour: 1 }, ["/period invalid_choice", "/colour unknown_field", "/top out_of_range"]],
  [[], [" invalid_type"]],
])("rejects the journey %j", async (body, faults) => {
  const answer = await viewer.post(`${STATS}/journeys`, body)
  const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
  expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, faults])
})

test("a funnel equals that of the public API, with a comparison and a split", async () => {
  const open = await instance.api.get("/api/public/v1/sites/1/funnels/1/report?period=7d", instance.key)
  expect(await bodyOf(viewer.post(`${STATS}/funnel`, { funnel_id: 1, period: "7d" }))).toEqual(open.body)
  const steps = [
    { type: "page", match: "prefix", value: "/" },
    { type: "event", value: "Signup" },
  ]
  const own = await bodyOf(viewer.post(`${STATS}/funnel`, { steps, period: "7d", compare: "previous_period", breakdown: "source" }))
  expect(own).toMatchObject({
    entered: 4,
    completed: 2,
    comparison: { entered: 0, completed: 0, change_percent: {}, range: { from: "2026-11-08", to: "2026-11-14" } },
    breakdown: {
      dimension: "source",
      rows: [
        { value: "mail", entered: 3, completed: 2, conversion_rate: 66.7 },
        { value: "Direct", entered: 1, completed: 0, conversion_rate: 0 },
      ],
      total_rows: 2,
    },
  })
  expect(await viewer.post(`${STATS}/funnel`, { funnel_id: 1, breakdown: "page", period: "x" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/period" }, { pointer: "/breakdown", code: "invalid_choice" }] },
  })
  expect(await viewer.post(`${STATS}/funnel`, { funnel_id: 9 })).toMatchObject({ status: 404, body: { code: "funnel_not_found" } })
})

test("a batch answers each report like its own route", async () => {
  const queries = [
    { id: "total", report: "summary", period: "7d" },
    { id: "again", report: "summary", period: "7d" },
    { id: "bad", report: "breakdown", dimension: "colour" },
    { id: "gone", report: "funnel", funnel_id: 9 },
    { id: "hours", report: "busy-hours", period: "7d" },
    { id: "tags", report: "campaigns", period: "7d" },
  ]
  const { results } = await bodyOf(viewer.post(`${STATS}/batch`, { queries }))
  const total = await bodyOf(viewer.get(`${STATS}/summary?period=7d`))
  expect(results).toMatchObject({
    total: { status: 200, data: total },
    again: { status: 200, data: total },
    bad: { status: 422, problem: { code: "validation_failed", errors: [{ pointer: "/dimension" }] } },
    gone: { status: 404, problem: { code: "funnel_not_found" } },
    hours: { status: 200, data: await bodyOf(viewer.get(`${STATS}/busy-hours?period=7d`)) },
    tags: { status: 200, data: await bodyOf(viewer.get(`${STATS}/campaigns?period=7d`)) },
  })
})

test.each([
  [{}, "/queries required"],
  [{ queries: [] }, "/queries too_few"],
  [{ queries: Array.from({ length: 21 }, (_, id) => ({ id: `${id}`, report: "summary" })) }, "/queries too_many"],
  [{ queries: [{ id: "a", report: "people" }] }, "/queries/0/report invalid_choice"],
  [
    {
      queries: [
        { id: "a", report: "summary" },
        { id: "a", report: "goals" },
      ],
    },
    "/queries/1/id not_unique",
  ],
])("rejects the batch %#", async (body, fault) => {
  const answer = await viewer.post(`${STATS}/batch`, body)
  const [{ pointer, code }] = (answer.body as { errors: [{ pointer: string; code: string }] }).errors
  expect([answer.status, `${pointer} ${code}`]).toEqual([422, fault])
})

test("lists all of a user's sites in one table, each with its own days", async () => {
  const { data } = await bodyOf(viewer.get("/stats/overview?period=7d&compare=previous_period"))
  expect(data).toMatchObject([
    {
      site_id: 1,
      name: "Shop",
      organization_id: 1,
      current_visitors: 3,
      range: { timezone: "Europe/Berlin" },
      metrics: { visitors: 4, pageviews: 8 },
      change_percent: {},
    },
  ])
  expect((await bodyOf((await signedIn(instance, {})).get("/stats/overview"))).data).toEqual([])
})

test("reports remain readable for a user without any write permission", async () => {
  for (const [report, body] of [
    ["journeys", { start: { page: "/" } }],
    ["funnel", { funnel_id: 1 }],
    ["batch", { queries: [{ id: "a", report: "goals" }] }],
  ] as const)
    expect((await viewer.post(`${STATS}/${report}`, body)).status).toBe(200)
})
