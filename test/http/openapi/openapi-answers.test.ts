import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { type Answer, startInstance, type TestInstance } from "../../kit.ts"
import { answerChecker, type Declared, DOCUMENT_PATH, operationsIn } from "./document.ts"
import { fillSite, invited } from "./filled-site.ts"
import { type Call, goodCall, type Ids, workingCall } from "./good-call.ts"

/** Provokes every status that an operation declares and compares every response with its declaration. */

const SETTINGS = { base_url: "https://stats.example.org", api_rate_limit: "100000" }
let instance: TestInstance
let ids: Ids
beforeAll(async () => {
  instance = await startInstance({ settings: SETTINGS })
  ids = await fill(instance)
})
afterAll(() => instance[Symbol.asyncDispose]())

// `test.each` needs the operations before any test runs.
const described = await startInstance({ settings: SETTINGS })
const document = (await described.api.get(DOCUMENT_PATH)).body as OpenApiDocument
await described[Symbol.asyncDispose]()
const operations = operationsIn(document)
const faultsOf = answerChecker(document)

const SITE = "/api/public/v1/sites/1"
const STEPS = [
  { type: "page", value: "/pricing" },
  { type: "event", value: "signup" },
]

async function fill(instance: TestInstance): Promise<Ids> {
  const { api, key, collect, site, signIn } = instance
  for (const [n, path] of [
    ["pageview", "/pricing"],
    ["signup", "/pricing"],
    ["purchase", "/thanks"],
  ])
    await collect({ n, u: `https://shop.example${path}`, d: site.tracking_id, $: { amount: 9.5, currency: "EUR" }, p: { plan: "pro" } })
  for (const _ of ["kept", "removed"]) await signIn({ role: "viewer" })
  await api.send("PUT", `${SITE}/members/1`, { role: "viewer" }, key)
  return { ...(await fillSite(instance, 1, key, "signup")), invitation_id: await invited(instance, 1, key, "signup"), user_id: 1 }
}

const send = ({ method, path, body }: Call, key: string | undefined, headers: Record<string, string> = {}) =>
  instance.api.send(method, path, body, key, headers)
const good = (operation: Declared) => goodCall(operation, ids)
const withBody = (operation: Declared, body: unknown): Call => ({ ...good(operation), body })

/** Creates the resource that a DELETE removes. The first member keeps the role, because other calls need one. */
const callWithNewResource = (operation: Declared): Promise<Call> =>
  operation.method === "DELETE"
    ? workingCall(operations, operation, { ...ids, user_id: 2 }, (call) => send(call, instance.key))
    : Promise.resolve(good(operation))

const otherScopes = (operation: Declared) =>
  (["events:write", "annotations:write", "export:read"] as const).filter(
    (scope) => !operation.scopes.includes(scope.replace("write", "read")) && !operation.scopes.includes(scope),
  )

/** Provokes each error status for any operation. */
const REFUSALS: Readonly<Record<string, (operation: Declared) => Promise<Answer>>> = {
  "304": async (operation) => {
    const { headers } = await send(good(operation), instance.key)
    return send(good(operation), instance.key, { "if-none-match": headers.get("etag")! })
  },
  "400": (operation) => {
    const call = good(operation)
    if (operation.name === "callMcp") return send({ ...call, body: "{" }, instance.key)
    return send({ ...call, path: `${call.path}${call.path.includes("?") ? "&" : "?"}nothing=1` }, instance.key)
  },
  "401": (operation) => send(good(operation), undefined),
  "403": async (operation) => send(good(operation), await instance.makeKey(otherScopes(operation).slice(0, 1))),
  "404": (operation) => {
    const unknown = Object.fromEntries(operation.ids.map((id) => [id, 999]))
    const call = goodCall(operation, { ...unknown, site_id: 999 })
    const namesSite = operation.ids.length === 0 && call.body !== undefined
    return send(namesSite ? { ...call, body: { ...(call.body as object), site_id: 999 } } : call, instance.key)
  },
  "406": (operation) => send(good(operation), instance.key, { accept: "image/png" }),
  "409": (operation) => (CONFLICTS[operation.name] ?? (operation.name.startsWith("create") ? inProgress : taken))(operation),
  "412": async (operation) => send(await callWithNewResource(operation), instance.key, { "if-match": '"99"' }),
  "413": (operation) => send(withBody(operation, "x".repeat((1 << 20) + 1)), instance.key),
  "415": (operation) => send(withBody(operation, "a=1"), instance.key, { "content-type": "text/csv" }),
  "422": (operation) => {
    if (operation.name === "getFunnelReport") return longWindow()
    return operation.method === "GET" ? ambiguous(operation) : send(withBody(operation, { odd: 1 }), instance.key)
  },
  "429": async (operation) => {
    const { keys } = instance.app.instance
    const { secret, key } = await keys.create(1, {
      name: "slow",
      scopes: operation.scopes,
      site_access: "all",
      rate_limit: 1,
    })
    const call = await callWithNewResource(operation)
    await send(call, secret)
    const answer = await send(call, secret)
    // An organization has a limited number of keys.
    await keys.revoke(1, key.id)
    return answer
  },
  // Simulates an unexpected internal failure.
  "500": async (operation) => {
    const { keys, health } = instance.app.instance
    const [find, has] = [keys.find, health.has]
    const fail = () => {
      throw new Error("unforeseen")
    }
    if (operation.scopes.length > 0) keys.find = fail
    else health.has = fail
    const answer = await send(good(operation), instance.key)
    Object.assign(keys, { find })
    Object.assign(health, { has })
    const errors = instance.log.lines.splice(0).filter(({ level }) => level === "error")
    expect(errors.map(({ message }) => message)).toEqual(["request failed"])
    return answer
  },
  "503": async (operation) => {
    const { health } = instance.app.instance
    health.enter("stopping")
    const answer = await send(good(operation), instance.key)
    health.leave("stopping")
    return answer
  },
}

/** Operations whose conflicts are not with an equal item. */
const CONFLICTS: Readonly<Record<string, (operation: Declared) => Promise<Answer>>> = {
  updateSettings: async (operation) => send(withBody(operation, await takenIds()), instance.key),
  putConfiguration: async (operation) => send(withBody(operation, { settings: await takenIds() }), instance.key),
  async rotateApiKey(operation) {
    const maker = operations.find(({ name }) => name === "createApiKey")!
    const { id } = (await send(good(maker), instance.key)).body as { id: number }
    await instance.app.instance.keys.revoke(1, id)
    return send(goodCall(operation, { ...ids, api_key_id: id }), instance.key)
  },
  async deleteSegment(operation) {
    let isUsed = true
    instance.app.instance.segments.registerUses(async () => (isUsed ? [{ type: "share", id: 1, name: "Partners" }] : []))
    const answer = await send(await callWithNewResource(operation), instance.key)
    isUsed = false
    return answer
  },
}

/** Returns settings with an id of another product that another site has. */
async function takenIds(): Promise<object> {
  const { sites } = instance.app.instance
  const other = await sites.create(1, { name: "Other", hosts: ["other.example"] })
  const compat_ids = { goatcounter: [`code-${other.id}`] }
  await sites.configure(other.id, { compat_ids })
  return { compat_ids }
}

/** Of many simultaneous requests with one idempotency key, all but one are too early. */
async function inProgress(operation: Declared): Promise<Answer> {
  const call = good(operation)
  const headers = { "idempotency-key": operation.name }
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(call, instance.key, headers)))
  for (const answer of answers) expect(faultsOf(operation, answer)).toEqual([])
  return answers.find(({ status }) => status === 409)!
}

/** Asks for a site by a host that two sites list first. */
async function ambiguous(operation: Declared): Promise<Answer> {
  const { sites } = instance.app.instance
  for (const name of ["One", "Two"]) await sites.create(1, { name, hosts: [`${operation.name.toLowerCase()}.example`] })
  const { path } = good(operation)
  return instance.api.get(path.replace(/(site_id=|sites\/)1/, `$1${operation.name}.example`), instance.key)
}

async function taken(operation: Declared): Promise<Answer> {
  if (operation.name === "putPlausibleGoal") {
    await instance.api.post(`${SITE}/goals`, { kind: "event", value: "other", name: "Taken" }, instance.key)
    return send(withBody(operation, { site_id: 1, goal_type: "event", event_name: "another", display_name: "Taken" }), instance.key)
  }
  const maker = operations.find(({ name }) => name === operation.name.replace("update", "create"))!
  const other = good(maker)
  await send(other, instance.key)
  return send(withBody(operation, { name: (other.body as { name: string }).name }), instance.key)
}

async function longWindow(): Promise<Answer> {
  const { api, key } = instance
  const { body } = await api.post(`${SITE}/funnels`, { name: "Long", steps: STEPS, window_hours: 720 }, key)
  return api.get(`${SITE}/funnels/${(body as { id: number }).id}/report`, key)
}

const CODES: Readonly<Record<string, string>> = {
  "400": "invalid_query",
  "401": "missing_api_key",
  "403": "insufficient_scope",
  "406": "not_acceptable",
  "412": "precondition_failed",
  "413": "body_too_large",
  "415": "unsupported_media_type",
  "429": "rate_limited",
  "500": "internal_error",
  "503": "unavailable",
}

afterEach(() => expect(instance.log.lines.filter(({ level }) => level === "error")).toEqual([]))

test.each(operations.map((operation) => [operation.name, operation] as const))(
  "%s returns every status it declares, as declared",
  async (_, operation) => {
    for (const status of Object.keys(operation.answers)) {
      const provoke = status < "300" ? async () => send(await callWithNewResource(operation), instance.key) : REFUSALS[status]!
      const isRpc = operation.name === "callMcp"
      const answer = isRpc && status === "202" ? await notification(operation) : await provoke(operation)
      expect({ status: answer.status, faults: faultsOf(operation, answer) }).toEqual({ status: Number(status), faults: [] })
      if (CODES[status] && !(isRpc && status === "400")) expect(answer.body).toMatchObject({ code: CODES[status]! })
    }
  },
  20_000,
)

const notification = (operation: Declared) =>
  send(withBody(operation, { jsonrpc: "2.0", method: "notifications/initialized" }), instance.key)

const QUERIES: readonly (readonly [operation: string, query: string])[] = [
  ["getSummary", "period=all&compare=previous_period&metrics=visitors,revenue,conversion_rate"],
  ["getSummary", "period=24h"],
  ["getTimeseries", "period=7d&interval=hour&compare=previous_year"],
  ["getBreakdown", "dimension=country&metrics=visitors,bounce_rate"],
  ["getBreakdown", "dimension=property&property=plan"],
  ["getBreakdown", "dimension=goal"],
  ["getBreakdown", `dimension=page&filters=${encodeURIComponent('[{"dimension":"page","operator":"contains","values":["p"]}]')}`],
  ["getRealtime", "limit=50"],
  ["getGoalReport", "period=30d"],
  ["getFunnelReport", "period=today"],
  ["listGoals", "limit=1"],
  ["listSites", "search=shop&limit=1"],
  ["listAnnotations", "from=2026-11-01&to=2026-11-30"],
  ["exportSite", "type=events&format=ndjson"],
  ["exportSite", "type=visits&format=json&since=2026-11-01T00:00:00Z"],
  ["getWebVitals", "metrics=lcp,cls&compare=previous_period"],
  ["getWebVitalsBreakdown", "dimension=country&sort=lcp"],
  ["getBusyHours", "period=7d"],
  ["getDrops", "period=7d"],
  ["exportSite", "type=page&format=json"],
  ["exportSite", "type=timeseries&format=csv&interval=day"],
]

test.each(QUERIES)("%s?%s returns a declared response", async (name, query) => {
  const operation = operations.find((one) => one.name === name)!
  const { path } = good(operation)
  const answer = await instance.api.get(`${path.split("?")[0]}?${query}`, instance.key)
  expect({ status: answer.status, faults: faultsOf(operation, answer) }).toEqual({ status: 200, faults: [] })
})

const BODIES: readonly object[] = [
  { metrics: ["visitors"], date_range: "realtime" },
  { metrics: ["visitors", "bounce_rate"], date_range: "7d", dimensions: ["time:day"], include: { time_labels: true, imports: true } },
  { metrics: ["total_revenue", "average_revenue"], date_range: "all", dimensions: ["event:page"], include: { total_rows: true } },
  { metrics: ["conversions", "group_conversion_rate"], date_range: "day", dimensions: ["event:goal"] },
  { metrics: ["visitors"], date_range: "7d", dimensions: ["event:page"], include: { comparisons: { mode: "previous_period" } } },
  {
    metrics: ["lcp_p75"],
    date_range: ["2026-11-01", "2026-11-20"],
    filters: [
      [
        "or",
        [
          ["is", "visit:country", ["DE"]],
          ["is", "event:page", ["/"]],
        ],
      ],
    ],
  },
]

test.each(BODIES)("the query %j returns a declared response", async (question) => {
  for (const name of ["query", "queryPlausible"]) {
    const operation = operations.find((one) => one.name === name)!
    const answer = await send(withBody(operation, { site_id: 1, ...question }), instance.key)
    expect({ status: answer.status, faults: faultsOf(operation, answer) }).toEqual({ status: 200, faults: [] })
  }
})

test("several faults, a reached limit and a replayed response match their declarations", async () => {
  const { api, key } = instance
  const creation = operations.find(({ name }) => name === "createGoal")!
  const faulty = await api.post(`${SITE}/goals`, { kind: "odd", threshold: 900, props: 1, colour: 2 }, key)
  expect(faulty).toMatchObject({ status: 422, body: { errors: { length: 5 } } })
  expect(faultsOf(creation, faulty)).toEqual([])
  const body = { kind: "event", value: "kept" }
  await api.post(`${SITE}/goals`, body, key, { "idempotency-key": "kept" })
  const kept = await api.post(`${SITE}/goals`, body, key, { "idempotency-key": "kept" })
  expect(kept.headers.get("idempotency-replayed")).toBe("true")
  expect(faultsOf(creation, kept)).toEqual([])
  let last = kept
  for (let i = 0; i < 200 && last.status === 201; i++) last = await api.post(`${SITE}/goals`, { kind: "event", value: `many ${i}` }, key)
  expect(last).toMatchObject({ status: 422, body: { code: "limit_reached", limit: 200, resource: "goals" } })
  expect(faultsOf(creation, last)).toEqual([])
})
