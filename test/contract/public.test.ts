import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Scope } from "../../src/domain/key.ts"
import { LISTENING } from "../../src/http/server.ts"
import { startInstance, type TestInstance } from "../kit.ts"

/** The interface document of the public API and of MCP, sentence by sentence. The titles are its words. */

const SERVER_NAME = "statistics"
let instance: TestInstance
let server: Bun.Server<undefined>
let baseUrl: string
beforeAll(async () => {
  instance = await startInstance({ settings: { server_name: SERVER_NAME } })
  server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })
  baseUrl = `http://127.0.0.1:${server.port}`
})
afterAll(async () => {
  await server.stop(true)
  await instance[Symbol.asyncDispose]()
})

interface Answer {
  status: number
  type: string | null
  body: Record<string, unknown>
}

/** Sends a call as a client would that knows only the interface document. */
async function call(path: string, key: string | undefined, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(baseUrl + path, {
    method: "POST",
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, type: answer.headers.get("content-type"), body: text === "" ? {} : JSON.parse(text) }
}

const SITES = "/api/public/v1/sites"
const MCP = "/api/public/v1/mcp"
const VERSION = "2025-06-18"

const SITE = {
  name: "Blog",
  hosts: ["blog.example", "www.blog.example"],
  timezone: "Europe/Berlin",
  retention_days: 365,
  revenue_currency: "EUR",
}
const GOAL = { kind: "event", match: "exact", value: "signup", name: "Signed up" }
const FUNNEL = {
  name: "Signup",
  steps: [
    { type: "page", match: "exact", value: "/pricing" },
    { type: "event", match: "exact", value: "signup" },
  ],
}

/** Creates a site as the document describes, for the payloads of one test. */
async function newSite(): Promise<number> {
  const { status, body } = await call(SITES, await instance.makeKey(["sites:write"]), SITE)
  expect(status).toBe(201)
  return body.id as number
}

describe("2. Resources and their fields", () => {
  describe("Site (create payload)", () => {
    test.each([
      ["name", "string", "display name of the site"],
      ["hosts", "array of string", "host names belonging to the site"],
      ["timezone", "string", "a time-zone name"],
      ["retention_days", "integer", "number of days data is kept"],
      ["revenue_currency", "string", "currency code"],
    ] as const)("%s: %s, %s", async (field) => {
      const { status, body } = await call(SITES, instance.key, SITE)
      expect(status).toBe(201)
      expect(body[field]).toEqual(SITE[field])
      const odd = { ...SITE, [field]: { not: "this" } }
      expect((await call(SITES, instance.key, odd)).body).toMatchObject({ errors: [{ pointer: `/${field}`, code: "invalid_type" }] })
    })

    test("The response contains the created site with a numeric id", async () => {
      const { status, body } = await call(SITES, instance.key, SITE)
      expect(status).toBe(201)
      expect(body).toMatchObject(SITE)
      expect(body.id).toBeInteger()
    })
  })

  describe("Goal (create payload)", () => {
    test.each([
      ["kind", "string", "event is a known value"],
      ["match", "string", "exact is a known value"],
      ["value", "string", "the event name (or other matched value)"],
      ["name", "string", "display name of the goal"],
    ] as const)("%s: %s, %s", async (field) => {
      const path = `${SITES}/${await newSite()}/goals`
      const { status, body } = await call(path, instance.key, GOAL)
      expect(status).toBe(201)
      expect(body[field]).toBe(GOAL[field])
      const odd = { ...GOAL, [field]: 5 }
      expect((await call(path, instance.key, odd)).body).toMatchObject({ errors: [{ pointer: `/${field}`, code: "invalid_type" }] })
    })

    test("The response contains the created goal with an id", async () => {
      const { status, body } = await call(`${SITES}/${await newSite()}/goals`, instance.key, GOAL)
      expect(status).toBe(201)
      expect(body).toMatchObject(GOAL)
      expect(body.id).toBeInteger()
    })
  })

  describe("Funnel (create payload)", () => {
    test("name: string, display name", async () => {
      const path = `${SITES}/${await newSite()}/funnels`
      expect((await call(path, instance.key, FUNNEL)).body.name).toBe("Signup")
      expect((await call(path, instance.key, { ...FUNNEL, name: 5 })).body).toMatchObject({
        errors: [{ pointer: "/name", code: "invalid_type" }],
      })
    })

    test("steps: array of step objects, ordered", async () => {
      const { body } = await call(`${SITES}/${await newSite()}/funnels`, instance.key, FUNNEL)
      const turned = await call(`${SITES}/${await newSite()}/funnels`, instance.key, { ...FUNNEL, steps: FUNNEL.steps.toReversed() })
      expect(body.steps).toMatchObject(FUNNEL.steps)
      expect(turned.body.steps).toMatchObject(FUNNEL.steps.toReversed())
    })

    test.each([0, 1])("steps: at least two steps are required, %d are not enough", async (count) => {
      const { status, body } = await call(`${SITES}/${await newSite()}/funnels`, instance.key, {
        ...FUNNEL,
        steps: FUNNEL.steps.slice(0, count),
      })
      expect(status).toBe(422)
      expect(body).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/steps", code: "too_few_steps" }] })
    })

    test.each([
      ["type", "page and event are known values"],
      ["match", "exact is a known value"],
      ["value", "page path for page steps, event name for event steps"],
    ] as const)("step %s: string, %s", async (field) => {
      const path = `${SITES}/${await newSite()}/funnels`
      const { status, body } = await call(path, instance.key, FUNNEL)
      expect(status).toBe(201)
      const steps = body.steps as Record<string, unknown>[]
      expect(steps.map((step) => step[field])).toEqual(FUNNEL.steps.map((step) => step[field]))
      const odd = { ...FUNNEL, steps: [{ ...FUNNEL.steps[0], [field]: 5 }, FUNNEL.steps[1]] }
      expect((await call(path, instance.key, odd)).body).toMatchObject({ errors: [{ pointer: `/steps/0/${field}`, code: "invalid_type" }] })
    })

    test("The response contains the created saved funnel with an id", async () => {
      const { status, body } = await call(`${SITES}/${await newSite()}/funnels`, instance.key, FUNNEL)
      expect(status).toBe(201)
      expect(body).toMatchObject(FUNNEL)
      expect(body.id).toBeInteger()
    })
  })
})

describe("4. Endpoints", () => {
  test("Request and response bodies are JSON; requests with a body carry Content-Type: application/json", async () => {
    const { status, type } = await call(SITES, instance.key, SITE)
    expect([status, type?.split(";")[0]]).toEqual([201, "application/json"])
    expect((await call(SITES, instance.key, SITE, { "content-type": "text/plain" })).status).toBe(415)
  })

  describe("Public API (API key, version 1)", () => {
    test("POST /api/public/v1/sites, sites:write, Site create payload: 201 Created, site object with numeric id", async () => {
      const { status, body } = await call("/api/public/v1/sites", await instance.makeKey(["sites:write"]), SITE)
      expect(status).toBe(201)
      expect(typeof body.id).toBe("number")
    })

    test("POST /api/public/v1/sites: key must be an unrestricted organization key", async () => {
      const limited = await instance.makeKey(["sites:write"], [1])
      expect(await call("/api/public/v1/sites", limited, SITE)).toMatchObject({ status: 403, body: { code: "unrestricted_key_required" } })
    })

    test("POST /api/public/v1/sites/{site_id}/goals, goals:write, Goal create payload: 201 Created, goal object with id", async () => {
      const { status, body } = await call(`/api/public/v1/sites/${await newSite()}/goals`, await instance.makeKey(["goals:write"]), GOAL)
      expect(status).toBe(201)
      expect(typeof body.id).toBe("number")
    })

    // The document does not show the scope of funnels. The scope of goals must suffice, because the same client creates both.
    test.each(["goals:write", "funnels:write"] as const)(
      "POST /api/public/v1/sites/{site_id}/funnels, Funnel create payload: 201 Created, funnel object with id; with %s",
      async (scope) => {
        const { status, body } = await call(`/api/public/v1/sites/${await newSite()}/funnels`, await instance.makeKey([scope]), FUNNEL)
        expect(status).toBe(201)
        expect(typeof body.id).toBe("number")
      },
    )

    test("POST /api/public/v1/mcp, stats:read, JSON-RPC 2.0 request: JSON-RPC 2.0 response", async () => {
      const { status, body, type } = await call(MCP, await instance.makeKey(["stats:read"]), { jsonrpc: "2.0", id: 7, method: "ping" })
      expect({ status, body, type }).toEqual({ status: 200, body: { jsonrpc: "2.0", id: 7, result: {} }, type: "application/json" })
    })

    test("{site_id} is the numeric id returned when the site was created", async () => {
      const id = await newSite()
      expect((await call(`${SITES}/${id}/goals`, instance.key, GOAL)).body).toMatchObject({ site_id: id })
      expect((await call(`${SITES}/${id + 1_000}/goals`, instance.key, GOAL)).status).toBe(404)
    })
  })

  describe("MCP endpoint: POST /api/public/v1/mcp", () => {
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "client", version: "1.0" } },
    }
    const listed = { jsonrpc: "2.0", id: 2, method: "tools/list" }
    const withVersion = { "mcp-protocol-version": VERSION }
    interface Tool {
      name: string
      annotations: { readOnlyHint: boolean; destructiveHint: boolean }
    }
    const tools = async () => (await call(MCP, instance.statsKey, listed, withVersion)).body as { id: number; result: { tools: Tool[] } }

    test("Request envelope: jsonrpc (string, 2.0), id (number), method (string), params (object, absent for tools/list)", async () => {
      expect(await tools()).toMatchObject({ jsonrpc: "2.0", id: 2 })
      for (const odd of [
        { ...listed, jsonrpc: "1.0" },
        { ...listed, jsonrpc: 2 },
        { jsonrpc: "2.0", id: 2 },
        { ...listed, method: 5 },
        { ...listed, id: 1.5 },
      ])
        expect(await call(MCP, instance.statsKey, odd, withVersion)).toMatchObject({ status: 400, body: { error: { code: -32600 } } })
    })

    test("initialize: protocolVersion (string, 2025-06-18), capabilities (object, may be empty), clientInfo (object with name string and version string)", async () => {
      const { status, body } = await call(MCP, instance.statsKey, initialize)
      expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, result: { protocolVersion: VERSION } } })
      for (const odd of [
        { protocolVersion: 5 },
        { capabilities: "none" },
        { clientInfo: { name: "client" } },
        { clientInfo: { name: 1, version: "1.0" } },
      ]) {
        const answer = await call(MCP, instance.statsKey, { ...initialize, params: { ...initialize.params, ...odd } })
        expect(answer).toMatchObject({ status: 200, body: { error: { code: -32602 } } })
      }
    })

    test("initialize identifies the server; the server name is <server_name>, a neutral name for the service", async () => {
      const { body } = await call(MCP, instance.statsKey, initialize)
      expect(body).toMatchObject({ result: { serverInfo: { name: SERVER_NAME, version: expect.any(String) } } })
    })

    test("Requests after initialization carry the header MCP-Protocol-Version with the value 2025-06-18", async () => {
      expect((await call(MCP, instance.statsKey, listed, withVersion)).status).toBe(200)
      const other = await call(MCP, instance.statsKey, listed, { "mcp-protocol-version": "1999-01-01" })
      expect(other).toMatchObject({ status: 400, body: { error: { data: { supported: [VERSION] } } } })
    })

    test("tools/list returns exactly seven tools: list_sites, get_summary, get_timeseries, get_breakdown, get_realtime, list_goals, run_funnel", async () => {
      const { result } = await tools()
      expect(result.tools.map(({ name }) => name)).toEqual([
        "list_sites",
        "get_summary",
        "get_timeseries",
        "get_breakdown",
        "get_realtime",
        "list_goals",
        "run_funnel",
      ])
    })

    test("The tools are analytics (read) tools", async () => {
      const { result } = await tools()
      for (const { name, annotations } of result.tools)
        expect({ name, ...annotations }).toMatchObject({ name, readOnlyHint: true, destructiveHint: false })
      const stored = async () =>
        JSON.stringify([
          await instance.app.instance.sites.list(1),
          await instance.app.instance.goals.list(instance.site, { after: 0, limit: 100 }),
        ])
      const before = await stored()
      const given = {
        site_id: 1,
        dimension: "page",
        steps: [
          { type: "page", value: "/" },
          { type: "event", value: "signup" },
        ],
      }
      const takes: Record<string, readonly (keyof typeof given)[]> = {
        list_sites: [],
        get_breakdown: ["site_id", "dimension"],
        run_funnel: ["site_id", "steps"],
      }
      for (const { name } of result.tools) {
        const own = Object.fromEntries((takes[name] ?? ["site_id"]).map((argument) => [argument, given[argument]]))
        const { status, body } = await call(
          MCP,
          instance.statsKey,
          { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name, arguments: own } },
          withVersion,
        )
        expect({ name, status, isError: (body.result as { isError?: boolean }).isError }).toEqual({ name, status: 200, isError: undefined })
      }
      expect(await stored()).toBe(before)
    })
  })

  describe("Private API (signed-in dashboard session; not usable with API keys)", () => {
    test.each([
      ["POST", "/api/private/sites/1/imports/preview"],
      ["GET", "/api/private/sites/1/dashboards"],
      ["POST", "/api/private/sites/1/cohorts/evaluate"],
      ["GET", "/api/private/sites/1/revenue/report"],
      ["GET", "/api/private/sites/1/integrations"],
      ["GET", "/api/private/admin/users"],
    ])("%s %s", async (method, path) => {
      const ask = async (headers: Record<string, string>) => {
        const answer = await fetch(baseUrl + path, {
          method,
          headers: { "x-request-id": "same", ...headers },
          ...(method === "POST" && { body: "{}" }),
        })
        return { status: answer.status, text: await answer.text() }
      }
      const json = { "content-type": "application/json" }
      const withKey = await ask({ ...json, authorization: `Bearer ${instance.key}` })
      expect(withKey.status).toBeGreaterThanOrEqual(400)
      // An API key does not replace the session.
      expect(withKey).toEqual(await ask(json))
    })

    test("POST /api/private/sites/1/imports/preview answers a signed-in editor, and stores nothing", async () => {
      const path = "/api/private/sites/1/imports"
      const body = { files: [{ name: "export.csv", content: "added_iso,path,datapoint\n2026-10-01T10:00:00Z,/,pageview\n" }] }
      const viewer = await instance.signIn({ role: "viewer" })
      expect(await call(`${path}/preview`, undefined, body, { cookie: viewer })).toMatchObject({ status: 403, body: { code: "forbidden" } })
      const editor = await instance.signIn({ role: "editor" })
      expect(await call(`${path}/preview`, undefined, body, { cookie: editor })).toMatchObject({
        status: 200,
        body: { source: "simple_analytics", complete: true, totals: { pageviews: 1 }, rows: { read: 1, accepted: 1 } },
      })
      const history = await fetch(baseUrl + path, { headers: { cookie: editor } })
      expect(await history.json()).toMatchObject({ data: [] })
    })

    test("GET /api/private/sites/1/dashboards answers a signed-in viewer", async () => {
      const headers = { cookie: await instance.signIn({ role: "viewer" }) }
      const answer = await fetch(`${baseUrl}/api/private/sites/1/dashboards`, { headers })
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 200,
        body: { data: [{ id: 0, name: "Overview", can_edit: false }], default_dashboard_id: 0, has_more: false, next_cursor: null },
      })
    })

    test("GET /api/private/sites/1/revenue/report answers a signed-in viewer", async () => {
      const headers = { cookie: await instance.signIn({ role: "viewer" }) }
      const answer = await fetch(`${baseUrl}/api/private/sites/1/revenue/report?period=7d`, { headers })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({ recomputing: false, currency: "each", attribution: { model: "last_touch" } })
    })

    test("POST /api/private/sites/1/cohorts/evaluate answers a signed-in viewer", async () => {
      const cookie = await instance.signIn({ role: "viewer" })
      const window = { type: "last_days", days: 1 }
      const body = { definition: { conditions: [{ type: "event", value: "signup", window }] }, trend_days: 1 }
      const answer = await call("/api/private/sites/1/cohorts/evaluate", undefined, body, { cookie })
      const identity = { mode: "daily", horizon_days: 1 }
      expect(answer).toMatchObject({ status: 200, body: { size: 0, pending: 0, trend: [{ size: 0 }], identity } })
      const week = { definition: { conditions: [{ type: "event", value: "signup", window: { ...window, days: 7 } }] } }
      expect(await call("/api/private/sites/1/cohorts/evaluate", undefined, week, { cookie })).toMatchObject({
        status: 422,
        body: { code: "identity_insufficient", needed_days: 7, ...identity, options: ["shorten_window", "switch_mode"] },
      })
    })
  })
})

describe("5. Authentication", () => {
  test("Public API requests send the header Authorization: Bearer <API_KEY>", async () => {
    expect((await call(SITES, instance.key, SITE)).status).toBe(201)
    expect(await call(SITES, undefined, SITE)).toMatchObject({ status: 401, body: { code: "missing_api_key" } })
    expect(await call(SITES, undefined, SITE, { "x-api-key": instance.key })).toMatchObject({ status: 401 })
    expect(await call(`${SITES}?api_key=${instance.key}`, undefined, SITE)).toMatchObject({ status: 401 })
    expect(await call(SITES, "ff_unknown", SITE)).toMatchObject({ status: 401, body: { code: "invalid_api_key" } })
  })

  test.each<[scope: Scope, path: string, body: object]>([
    ["sites:write", SITES, SITE],
    ["goals:write", `${SITES}/1/goals`, { ...GOAL, value: "scoped", name: "scoped" }],
    ["stats:read", MCP, { jsonrpc: "2.0", id: 1, method: "tools/list" }],
  ])("An API key has scopes; scopes shown: %s", async (scope, path, body) => {
    const other = scope === "stats:read" ? "events:write" : "stats:read"
    expect(await call(path, await instance.makeKey([other]), body)).toMatchObject({ status: 403, body: { code: "insufficient_scope" } })
    expect((await call(path, await instance.makeKey([scope]), body)).status).toBeLessThan(300)
  })

  test("Creating a site needs an unrestricted organization key with sites:write", async () => {
    const { makeKey } = instance
    expect((await call(SITES, await makeKey(["sites:write"]), SITE)).status).toBe(201)
    for (const [sites, code] of [
      [[1], "unrestricted_key_required"],
      [[], "unrestricted_key_required"],
    ] as const)
      expect(await call(SITES, await makeKey(["sites:write"], sites), SITE)).toMatchObject({ status: 403, body: { code } })
    expect((await call(SITES, await makeKey(["goals:write"]), SITE)).status).toBe(403)
  })

  test("A key for the MCP endpoint has stats:read and can be limited to chosen sites; it has access only to these", async () => {
    const chosen = await newSite()
    const key = await instance.makeKey(["stats:read"], [chosen])
    const ask = async (name: string, given: object) =>
      (await call(MCP, key, { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } })).body.result
    expect(await ask("list_sites", {})).toMatchObject({ structuredContent: { sites: [{ site_id: chosen }] } })
    expect(await ask("get_summary", { site_id: chosen })).toMatchObject({ structuredContent: { site_id: chosen } })
    expect(await ask("get_summary", { site_id: 1 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("site_not_found") }],
    })
  })
})

describe("9. Versioning", () => {
  test("The public API is versioned in the path prefix /api/public/v1", async () => {
    for (const path of ["/api/public/sites", "/api/public/v2/sites", "/api/sites"])
      expect((await call(path, instance.key, SITE)).status).toBe(404)
  })
})
