import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { DOCUMENT_PATH, operationsIn } from "../openapi/document.ts"
import { goodCall } from "../openapi/good-call.ts"
import { preparedCall, shortName } from "../private/proofs/recipes.ts"
import { type Kind, openWorld, type Person, sceneOf, send, type World } from "../private/scene.ts"

setDefaultTimeout(60_000)

/**
 * The setting `read_role` of a site. Every route of the running documents and every MCP tool is called, and its answer is searched for an
 * amount and an order id that only revenue contains.
 */

const AMOUNT = "98765.43"
const ORDER = "order-7f3a9c"
/** The amount in all forms, and the order id. The amount of the goal is the same. */
const TRACES = ["98765", "98,765", ORDER]

const world: World = await openWorld({ api_rate_limit: "0" })
afterAll(() => world[Symbol.asyncDispose]())
const { instance } = world

const settings = "/api/private/sites/1/settings"
let owner: Person
let slug: string

async function setRole(read_role: string): Promise<void> {
  const { status } = await instance.api.send("PATCH", settings, { read_role }, undefined, { cookie: owner.cookie })
  expect(status).toBe(200)
}

beforeAll(async () => {
  const scene = sceneOf(world, "viewer")
  owner = await scene.organizationOwner()
  const { goals } = instance.app.instance
  await goals.create(instance.site, { kind: "event", value: "purchase" })
  // Otherwise a shared view leaves out the group of one visitor.
  await scene.prepare(owner, "PATCH", "/sites/1/settings", { min_group: 1 })
  const sale = { n: "purchase", u: "https://shop.example/thanks", $: { amount: AMOUNT, currency: "EUR" } }
  await instance.collect({ ...sale, p: { order_id: ORDER, plan: "pro" } })
  // The sale becomes a transaction.
  for (let step = 0; step < 2; step++) {
    instance.clock.advance(3_000)
    await instance.runJobs()
  }
  // Umami's tracker sends the amount as properties.
  await instance.collect({ n: "basket", u: "https://shop.example/cart", p: { revenue: AMOUNT, currency: "EUR" } })
  const share = await scene.prepare(owner, "POST", "/sites/1/shares", {
    name: "Open",
    sections: ["summary", "sources", "pages", "events", "goals", "revenue"],
    allow_export: true,
  })
  slug = share.slug
})

/** Answers that have no end. */
const LEFT_OUT = ["GET /sites/{site}/live"]
/** What belongs to the operator of the instance, and how a user signs in. */
const OTHERS = ["/admin/", "/auth/", "/setup"].map((path) => `/api/private${path}`)

/** The reading calls. Those below other things than the site read things that a recipe creates, without revenue. */
const reading = world.operations.filter(
  (operation) =>
    (operation.method === "GET" || (operation.method === "POST" && operation.permission.endsWith(":read"))) &&
    !OTHERS.some((path) => operation.path.startsWith(path)) &&
    !LEFT_OUT.includes(shortName(operation)),
)

const traceIn = (text: string): string | undefined => TRACES.find((trace) => text.includes(trace))

/** The reading calls with ids and bodies with which they succeed, made once. */
let calls: Promise<{ name: string; method: string; path: string; body: unknown }[]> | undefined

async function preparedCalls() {
  const prepared: Awaited<NonNullable<typeof calls>> = []
  for (const operation of reading) {
    const { path, body, ids } = await preparedCall(operation, sceneOf(world, "owner"))
    // The recipes ask for an event without a sale.
    const wide = path.replace("?event=signup", "")
    const own = String(ids?.site) === "1" ? wide : wide.replace(/\/sites\/\d+/, "/sites/1")
    prepared.push({ name: shortName(operation), method: operation.method, path: own, body })
  }
  return prepared
}

/** Returns the names of the private operations whose answer to a caller contains revenue. */
async function privateLeaks(kind: Kind): Promise<string[]> {
  calls ??= preparedCalls()
  const { cookie } = await sceneOf(world, kind).caller()
  const leaks: string[] = []
  for (const { name, method, path, body } of await calls) {
    const answer = await send(world, method, path, { cookie, ...(body !== undefined && { body }) })
    if (traceIn(answer.text)) leaks.push(name)
  }
  return leaks.sort()
}

/** Calls whose arguments name revenue, and how a caller with it sees the sale. */
const NAMING: readonly (readonly [path: string, pointer: string])[] = [
  ["/stats/summary?metrics=revenue", "/metrics"],
  ["/stats/timeseries?metrics=revenue&period=today", "/metrics"],
  ["/stats/breakdown?dimension=source&metrics=revenue", "/metrics"],
  ["/stats/breakdown?dimension=property&property=order_id", "/property"],
  ["/stats/breakdown?dimension=property&property=revenue", "/property"],
  ["/export?type=source&metrics=revenue", "/metrics"],
  ["/export?type=property&property=order_id", "/property"],
]
/** Only in the private API. */
const NAMING_PRIVATE: typeof NAMING = [
  ["/stats/values?dimension=property&property=order_id", "/property"],
  ["/stats/events?metrics=revenue", "/metrics"],
]
const filter = (property: string) =>
  encodeURIComponent(JSON.stringify([{ dimension: "property", property, operator: "contains", values: ["o", "9"] }]))
const NAMED_IN_FILTERS = ["order_id", "revenue", "currency"].map(
  (property) => [`/stats/summary?filters=${filter(property)}`, "/filters/0/property"] as const,
)

const faultsOf = (text: string) =>
  (JSON.parse(text) as { errors?: { pointer: string; code: string }[] }).errors?.map(({ pointer, code }) => `${pointer} ${code}`)

test("people below the role see revenue in no answer, and people from it on in the same answers as before", async () => {
  // The answers that show revenue by themselves. A new one belongs here.
  const revenue = ["report", "report.csv", "transactions", "transactions.csv"].map((name) => `GET /sites/{site}/revenue/${name}`)
  const open = [...revenue, "GET /sites/{site}/stats/goals", "GET /sites/{site}/stats/properties"]
  const visits = ["visits", "visits/{visit}"].map((name) => `GET /sites/{site}/stats/${name}`)
  const withPeople = ["GET /sites/{site}/power-users/{person}", ...open, ...visits]
  await setRole("viewer")
  expect([await privateLeaks("viewer"), await privateLeaks("editor")]).toEqual([open, withPeople])
  await setRole("editor")
  expect([await privateLeaks("viewer"), await privateLeaks("guest of this site")]).toEqual([[], []])
  expect(await privateLeaks("editor")).toEqual(withPeople)
  await setRole("admin")
  expect([await privateLeaks("viewer"), await privateLeaks("editor")]).toEqual([[], []])
  expect(await privateLeaks("admin")).toEqual(withPeople)
}, 300_000)

test.each([...NAMING, ...NAMING_PRIVATE, ...NAMED_IN_FILTERS])("refuses %s to a user below the role", async (path, pointer) => {
  const { cookie } = await sceneOf(world, "editor").caller()
  const ask = () => send(world, "GET", `/api/private/sites/1${path}`, { cookie })
  await setRole("editor")
  const seen = await ask()
  expect([seen.status, traceIn(seen.text) !== undefined || path.includes("filters")]).toEqual([200, true])
  await setRole("admin")
  const refused = await ask()
  expect([refused.status, faultsOf(refused.text)]).toEqual([400, [`${pointer} unsupported_metric`]])
})

test.each([...NAMING, ...NAMED_IN_FILTERS])("refuses %s to API keys", async (path, pointer) => {
  const ask = async () => {
    const answer = await instance.fetch(
      new Request(`http://localhost:9000/api/public/v1/sites/1${path}`, { headers: { authorization: `Bearer ${instance.key}` } }),
    )
    return { status: answer.status, text: await answer.text() }
  }
  await setRole("viewer")
  expect((await ask()).status).toBe(200)
  await setRole("editor")
  const refused = await ask()
  expect([refused.status, faultsOf(refused.text)]).toEqual([400, [`${pointer} unsupported_metric`]])
})

test.each([
  [{ metrics: ["total_revenue"] }, "/metrics/0"],
  [{ metrics: ["visitors", "average_revenue"] }, "/metrics/1"],
  [{ metrics: ["visitors"], dimensions: ["event:props:order_id"] }, "/dimensions/0"],
  [{ metrics: ["visitors"], filters: [["contains", "event:props:revenue", ["9"]]] }, "/filters/0/1"],
])("refuses the query %j of an API key", async (query, pointer) => {
  const body = { site_id: 1, date_range: "7d", ...query }
  const ask = () => instance.api.post("/api/public/v1/query", body, instance.statsKey)
  await setRole("viewer")
  expect((await ask()).status).toBe(200)
  await setRole("editor")
  const refused = await ask()
  expect([refused.status, faultsOf(JSON.stringify(refused.body))]).toEqual([422, [`${pointer} unsupported_metric`]])
})

test("public answers, exports and MCP tools contain revenue only while viewers see it", async () => {
  const document = (await instance.api.get(DOCUMENT_PATH)).body as OpenApiDocument
  const ids = { site_id: 1, goal_id: 1, funnel_id: 1, annotation_id: 1 }
  const operations = operationsIn(document).filter(({ method, name }) => method === "GET" || name === "query")
  const publicLeaks = async () => {
    const leaks: string[] = []
    const calls = operations.map((operation) => ({ name: operation.name, ...goodCall(operation, ids) }))
    for (const type of ["events", "visits", "goals"])
      calls.push({
        name: `exportSite ${type}`,
        method: "GET",
        path: `/api/public/v1/sites/1/export?type=${type}&period=7d`,
        body: undefined,
      })
    for (const { name, method, path, body } of calls) {
      const headers = { authorization: `Bearer ${instance.key}`, ...(body !== undefined && { "content-type": "application/json" }) }
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const answer = await instance.fetch(new Request(`http://localhost:9000${path}`, init))
      if (traceIn(await answer.text())) leaks.push(name)
    }
    return leaks.sort()
  }
  const mcp = async (method: string, params: object) =>
    (await instance.api.post("/api/public/v1/mcp", { jsonrpc: "2.0", id: 1, method, params }, instance.statsKey)).body as {
      result: { tools: { name: string }[]; isError?: boolean }
    }
  const { tools } = (await mcp("tools/list", {})).result
  const ARGUMENTS: Record<string, object> = {
    get_breakdown: { dimension: "page" },
    run_funnel: {
      steps: [
        { type: "event", value: "basket" },
        { type: "event", value: "purchase" },
      ],
    },
  }
  const toolLeaks = async () => {
    const leaks: string[] = []
    for (const { name } of tools) {
      const given = name === "list_sites" ? {} : { site_id: 1, ...(name !== "get_realtime" && { period: "7d" }), ...ARGUMENTS[name] }
      const answer = await mcp("tools/call", { name, arguments: given })
      expect([name, answer.result.isError]).toEqual([name, undefined])
      if (traceIn(JSON.stringify(answer))) leaks.push(name)
    }
    return leaks.sort()
  }
  await setRole("viewer")
  expect([await publicLeaks(), await toolLeaks()]).toEqual([
    ["exportSite", "exportSite events", "exportSite goals", "getGoalReport"],
    ["list_goals"],
  ])
  await setRole("editor")
  expect([await publicLeaks(), await toolLeaks()]).toEqual([[], []])
  const named = await mcp("tools/call", { name: "get_summary", arguments: { site_id: 1, metrics: ["revenue"] } })
  expect(JSON.stringify(named)).toContain("unsupported_metric")
  const { body } = await instance.api.get("/api/public/v1/sites/1/stats/goals", instance.statsKey)
  expect((body as { notes: string[] }).notes).toContain("Revenue is not included, because this site shows it only to some roles.")
}, 60_000)

test("a shared view answers none of the reports with revenue below the role", async () => {
  calls ??= preparedCalls()
  // A shared view has the routes of reports, if it has them at all.
  const reports = (await calls).filter(({ method, path }) => method === "GET" && /\/sites\/1\/(stats|export|revenue)/.test(path))
  const leaks = async () => {
    const found: string[] = []
    for (const { name, path } of reports) {
      const request = new Request(`http://localhost:9000${path.replace("/api/private/sites/1", `/api/share/s/${slug}`)}`)
      if (traceIn(await (await instance.fetch(request)).text())) found.push(name)
    }
    return found
  }
  await setRole("viewer")
  expect(await leaks()).toEqual(["GET /sites/{site}/stats/goals", "GET /sites/{site}/stats/properties"])
  await setRole("editor")
  expect(await leaks()).toEqual([])
}, 60_000)

test("a shared view shows revenue only while viewers see it, whatever its sections", async () => {
  const open = async (path: string) => {
    const answer = await instance.fetch(new Request(`http://localhost:9000/api/share/s/${slug}${path}`))
    return { status: answer.status, text: await answer.text() }
  }
  const paths = ["/stats/goals?period=7d", "/stats/properties?period=7d&event=purchase", "/export?type=goals&period=7d"]
  await setRole("viewer")
  expect((await open("")).text).toContain('"revenue_currency":"EUR"')
  expect((await Promise.all(paths.map(open))).map(({ status, text }) => [status, traceIn(text) !== undefined])).toEqual([
    [200, true],
    [200, true],
    [200, true],
  ])
  await setRole("editor")
  const view = JSON.parse((await open("")).text) as { sections: string[]; site: object }
  expect([view.sections.includes("revenue"), view.site]).toEqual([false, { name: "Shop", timezone: "Europe/Berlin" }])
  expect((await Promise.all(paths.map(open))).map(({ status, text }) => [status, traceIn(text)])).toEqual([
    [200, undefined],
    [200, undefined],
    [200, undefined],
  ])
  expect((await open("/stats/summary?metrics=revenue")).status).toBe(400)
})

test("events as rows and the export of the whole site are refused to users below the role", async () => {
  const { cookie } = await sceneOf(world, "editor").caller()
  const rows = "/api/private/sites/1/export?type=events&period=7d"
  await setRole("editor")
  const seen = await send(world, "GET", rows, { cookie })
  expect([seen.status, traceIn(seen.text) !== undefined]).toEqual([200, true])
  expect((await send(world, "POST", "/api/private/sites/1/takeout", { cookie, body: {} })).status).toBe(202)
  await setRole("admin")
  const forbidden = [
    await send(world, "GET", rows, { cookie }),
    await send(world, "POST", "/api/private/sites/1/takeout", { cookie, body: {} }),
  ]
  for (const { status, body } of forbidden)
    expect([status, (body as { required_permission: string }).required_permission]).toEqual([403, "revenue:read"])
})

test("a change of the role holds for the next request, and a grant lets one person see revenue", async () => {
  const { cookie, id } = await sceneOf(world, "viewer").caller()
  const sees = async () => {
    const { body } = await instance.api.get("/api/private/me", undefined, { cookie })
    const { sites } = body as { sites: { id: number; permissions: string[] }[] }
    return sites.find((site) => site.id === 1)!.permissions.includes("revenue:read")
  }
  await setRole("viewer")
  expect(await sees()).toBe(true)
  await setRole("admin")
  expect(await sees()).toBe(false)
  const members = "/api/private/organizations/1/members"
  const given = await instance.api.send("PATCH", `${members}/${id}`, { grants: ["revenue:read"] }, undefined, { cookie: owner.cookie })
  expect([given.status, await sees()]).toEqual([200, true])
})
