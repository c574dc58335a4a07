import { afterAll, expect, test } from "bun:test"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Elysia } from "elysia"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { queryExample } from "../../../src/http/openapi/examples/examples.ts"
import { router } from "../../../src/http/router.ts"
import { memoryLog, startInstance } from "../../kit.ts"
import { compiler, DOCUMENT_PATH, operationsIn, undescribedProperties } from "./document.ts"

const instance = await startInstance({ settings: { base_url: "https://stats.example.org" } })
afterAll(() => instance[Symbol.asyncDispose]())
const answer = await instance.api.get(DOCUMENT_PATH)
const document = answer.body as OpenApiDocument
const operations = operationsIn(document)

test("the document needs no key, is cached for five minutes and has an ETag", async () => {
  expect(answer.status).toBe(200)
  expect(answer.headers.get("cache-control")).toBe("public, max-age=300")
  const again = await instance.api.get(DOCUMENT_PATH, undefined, { "if-none-match": answer.headers.get("etag")! })
  expect(again).toMatchObject({ status: 304, body: "" })
  expect(await instance.api.get(`${DOCUMENT_PATH}?x=1`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  expect(await instance.api.get(DOCUMENT_PATH, undefined, { accept: "text/html" })).toMatchObject({ status: 406 })
})

test("the document is OpenAPI 3.1", async () => {
  const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)
  expect(result).toEqual({ valid: true })
  expect(document).toMatchObject({
    openapi: "3.1.0",
    servers: [{ url: "https://stats.example.org" }],
    components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
  })
})

// Written by hand from the table of the specification, so that a mistake in the routes cannot carry over into the test.
const V1 = "/api/public/v1"
const SITE = `${V1}/sites/{site_id}`
const ROUTES: readonly (readonly [route: string, scopes: string])[] = [
  [`GET ${V1}/openapi.json`, ""],
  [`GET ${V1}/docs`, ""],
  [
    `GET ${V1}/key`,
    "sites:read sites:write goals:read goals:write funnels:read funnels:write stats:read events:write export:read annotations:read annotations:write people:erase settings:read settings:write segments:read segments:write configuration:read configuration:write shares:read shares:write keys:read keys:write members:read members:write",
  ],
  [`GET ${V1}/sites`, "sites:read stats:read"],
  [`POST ${V1}/sites`, "sites:write"],
  [`GET ${SITE}`, "sites:read stats:read"],
  [`PATCH ${SITE}`, "sites:write"],
  [`DELETE ${SITE}`, "sites:write"],
  [`GET ${SITE}/goals`, "goals:read stats:read"],
  [`POST ${SITE}/goals`, "goals:write"],
  [`GET ${SITE}/goals/{goal_id}`, "goals:read stats:read"],
  [`PATCH ${SITE}/goals/{goal_id}`, "goals:write"],
  [`DELETE ${SITE}/goals/{goal_id}`, "goals:write"],
  [`GET ${SITE}/funnels`, "funnels:read goals:read stats:read"],
  [`POST ${SITE}/funnels`, "funnels:write goals:write"],
  [`GET ${SITE}/funnels/{funnel_id}`, "funnels:read goals:read stats:read"],
  [`PATCH ${SITE}/funnels/{funnel_id}`, "funnels:write goals:write"],
  [`DELETE ${SITE}/funnels/{funnel_id}`, "funnels:write goals:write"],
  [`GET ${SITE}/funnels/{funnel_id}/report`, "stats:read"],
  [`GET ${SITE}/stats/summary`, "stats:read"],
  [`GET ${SITE}/stats/timeseries`, "stats:read"],
  [`GET ${SITE}/stats/breakdown`, "stats:read"],
  [`GET ${SITE}/stats/realtime`, "stats:read"],
  [`GET ${SITE}/stats/goals`, "stats:read"],
  [`GET ${SITE}/stats/busy-hours`, "stats:read"],
  [`GET ${SITE}/stats/web-vitals`, "stats:read"],
  [`GET ${SITE}/stats/web-vitals/breakdown`, "stats:read"],
  [`GET ${SITE}/stats/drops`, "stats:read"],
  [`POST ${SITE}/stats/journeys`, "stats:read"],
  [`GET ${SITE}/segments`, "segments:read"],
  [`POST ${SITE}/segments`, "segments:write"],
  [`GET ${SITE}/segments/{segment_id}`, "segments:read"],
  [`PATCH ${SITE}/segments/{segment_id}`, "segments:write"],
  [`DELETE ${SITE}/segments/{segment_id}`, "segments:write"],
  [`GET ${SITE}/shares`, "shares:read"],
  [`POST ${SITE}/shares`, "shares:write"],
  [`GET ${SITE}/shares/{share_id}`, "shares:read"],
  [`PATCH ${SITE}/shares/{share_id}`, "shares:write"],
  [`DELETE ${SITE}/shares/{share_id}`, "shares:write"],
  [`GET ${SITE}/api-keys`, "keys:read"],
  [`POST ${SITE}/api-keys`, "keys:write"],
  [`GET ${SITE}/api-keys/{api_key_id}`, "keys:read"],
  [`DELETE ${SITE}/api-keys/{api_key_id}`, "keys:write"],
  [`POST ${SITE}/api-keys/{api_key_id}/rotate`, "keys:write"],
  [`GET ${SITE}/members`, "members:read"],
  [`PUT ${SITE}/members/{user_id}`, "members:write"],
  [`DELETE ${SITE}/members/{user_id}`, "members:write"],
  [`GET ${SITE}/invitations`, "members:read"],
  [`POST ${SITE}/invitations`, "members:write"],
  [`GET ${SITE}/invitations/{invitation_id}`, "members:read"],
  [`DELETE ${SITE}/invitations/{invitation_id}`, "members:write"],
  [`GET ${SITE}/settings`, "settings:read"],
  [`PATCH ${SITE}/settings`, "settings:write"],
  [`GET ${SITE}/configuration`, "configuration:read"],
  [`PUT ${SITE}/configuration`, "configuration:write"],
  [`POST ${SITE}/configuration/preview`, "configuration:read"],
  [`GET ${SITE}/cohorts`, "stats:read"],
  [`POST ${SITE}/retention`, "stats:read"],
  [`POST ${SITE}/people/erasure-preview`, "people:erase"],
  [`POST ${SITE}/people/erasures`, "people:erase"],
  [`GET ${SITE}/people/erasures/{erasure_id}`, "people:erase"],
  [`POST ${V1}/query`, "stats:read"],
  ["POST /api/v2/query", "stats:read"],
  [`POST ${V1}/queries`, "stats:read"],
  [`POST ${SITE}/events`, "events:write"],
  [`GET ${SITE}/export`, "export:read"],
  [`GET ${SITE}/annotations`, "annotations:read"],
  [`POST ${SITE}/annotations`, "annotations:write"],
  [`GET ${SITE}/annotations/{annotation_id}`, "annotations:read"],
  [`PATCH ${SITE}/annotations/{annotation_id}`, "annotations:write"],
  [`DELETE ${SITE}/annotations/{annotation_id}`, "annotations:write"],
  [`POST ${V1}/mcp`, "stats:read"],
  ["POST /api/v0/count", "events:write"],
  ["GET /api/websites/{website}/stats", "stats:read"],
  ["GET /api/websites/{website}/pageviews", "stats:read"],
  ["GET /api/websites/{website}/metrics", "stats:read"],
  ["GET /api/websites/{website}/active", "stats:read"],
  ["GET /api/v1/stats/realtime/visitors", "stats:read"],
  ["GET /api/v1/stats/aggregate", "stats:read"],
  ["GET /api/v1/stats/timeseries", "stats:read"],
  ["GET /api/v1/stats/breakdown", "stats:read"],
  ["GET /api/v1/sites", "sites:read stats:read"],
  ["POST /api/v1/sites", "sites:write"],
  ["GET /api/v1/sites/teams", "sites:read stats:read"],
  ["GET /api/v1/sites/goals", "goals:read stats:read"],
  ["PUT /api/v1/sites/goals", "goals:write"],
  ["DELETE /api/v1/sites/goals/{goal_id}", "goals:write"],
  ["PUT /api/v1/sites/shared-links", "shares:write sites:write"],
  ["GET /api/v1/sites/{domain}", "sites:read stats:read"],
  ["PUT /api/v1/sites/{domain}", "sites:write"],
  ["DELETE /api/v1/sites/{domain}", "sites:write"],
]

test("lists the routes of the specification with their scopes, and no others", () => {
  const listed = operations.map(({ method, path, scopes }) => [`${method} ${path}`, scopes.join(" ")] as readonly [string, string])
  expect(new Map(listed)).toEqual(new Map(ROUTES))
  const unrestricted = operations.filter(({ needsUnrestricted }) => needsUnrestricted).map(({ name }) => name)
  expect(unrestricted).toEqual(["createSite", "deleteSite", "createPlausibleSite", "deletePlausibleSite"])
})

test("every listed operation exists, and each path accepts only the listed methods", async () => {
  for (const path of Object.keys(document.paths)) {
    const address = path.replaceAll(/\{\w+\}/g, "1")
    // A fixed segment such as `goals` can stand where another path has a parameter.
    const templates = Object.keys(document.paths).filter((other) => new RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(address))
    const methods = templates.flatMap((other) => Object.keys(document.paths[other]!)).map((method) => method.toUpperCase())
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { status } = await instance.api.send(method, address, undefined)
      const isKnown = status !== 405 && status !== 404
      expect({ method, path, isKnown }).toEqual({ method, path, isKnown: methods.includes(method) })
    }
  }
})

test("the server does not start with an undocumented public route", () => {
  const silent = new Elysia().get(`${V1}/silent`, () => ({}), { detail: { "x-required-scopes": ["stats:read"] } as object })
  const start = () => router({ baseUrl: "", log: memoryLog(), headers: {} }, [silent])
  expect(start).toThrow(`GET ${V1}/silent is missing in the OpenAPI document`)
})

test("names of operations are unique, and each operation has a summary, a known tag and example bodies", () => {
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length)
  const tags = new Set(document.tags.map(({ name }) => name))
  for (const path of Object.values(document.paths))
    for (const { summary, tags: own } of Object.values(path)) {
      expect(summary).not.toBe("")
      expect(own.every((tag) => tags.has(tag)) && own.length === 1).toBe(true)
    }
  for (const { name, bodies, answers } of operations) {
    for (const [type, { example }] of Object.entries(bodies))
      if (type !== "application/merge-patch+json")
        expect({ name, type, hasExample: example !== undefined }).toEqual({ name, type, hasExample: true })
    const good = Object.entries(answers).filter(([status]) => status < "300")
    for (const [, { content }] of good)
      if (content["application/json"] && !["getOpenApi", "exportSite"].includes(name))
        expect({ name, hasExample: content["application/json"].example !== undefined }).toEqual({ name, hasExample: true })
  }
})

test("every example conforms to its schema, without additional members", () => {
  const compile = compiler(document, { closed: true })
  let examples = 0
  const check = (where: string, content: Readonly<Record<string, { schema: object; example?: unknown }>>) => {
    for (const { schema, example } of Object.values(content)) {
      if (example === undefined) continue
      examples++
      expect({ where, fault: compile(schema as Record<string, unknown>)(example) }).toEqual({ where, fault: undefined })
    }
  }
  for (const { name, bodies, answers } of operations) {
    check(name, bodies)
    for (const [status, { content }] of Object.entries(answers)) check(`${name} ${status}`, content)
  }
  expect(examples).toBeGreaterThanOrEqual(40)
  const problem = compile({ $ref: "#/components/schemas/Problem" })
  for (const [code, { value }] of Object.entries(document.components.examples)) {
    expect({ code, fault: problem(value) }).toEqual({ code, fault: undefined })
  }
})

test("every property of a schema has a description", () => {
  expect(undescribedProperties(document)).toEqual([])
})

test("every component is referenced, and every reference resolves", () => {
  const text = JSON.stringify(document)
  const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name!))
  const there = Object.entries(document.components)
    .filter(([kind]) => kind !== "securitySchemes")
    .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`))
  expect([...referred].sort()).toEqual(there.sort())
})

test("example responses of queries and reports are those of the example requests", async () => {
  await using shop = await startInstance({ now: "2026-11-20T11:00:00Z" })
  const exampleOf = (name: string) => {
    const { bodies, answers } = operations.find((operation) => operation.name === name)!
    return { asked: bodies["application/json"]?.example as object, shown: answers["200"]!.content["application/json"]!.example as Shown }
  }
  const { asked, shown } = exampleOf("query")
  expect((await shop.api.post("/api/public/v1/query", asked, shop.statsKey)).body).toMatchObject({ query: shown.query! })
  const several = exampleOf("runQueries")
  const answered = (await shop.api.post("/api/public/v1/queries", several.asked, shop.statsKey)).body as Shown
  expect(answered.results!.map(({ data }) => data!.query)).toEqual(several.shown.results!.map(({ data }) => data!.query))
  for (const [name, report] of [
    ["getSummary", "summary"],
    ["getTimeseries", "timeseries"],
    ["getBreakdown", "breakdown"],
  ] as const) {
    const { body } = await shop.api.get(`/api/public/v1/sites/1/stats/${report}?${queryExample(name)}`, shop.statsKey)
    expect({ name, range: (body as Shown).range }).toEqual({ name, range: exampleOf(name).shown.range })
  }
})

interface Shown {
  range?: object
  query?: object
  results?: { data?: { query: object } }[]
}

test("the example of sent events gets the response of the example", async () => {
  const { bodies, answers } = operations.find(({ name }) => name === "sendEvents")!
  const sent = await instance.api.post("/api/public/v1/sites/1/events", bodies["application/json"]!.example, instance.eventsKey)
  expect(sent).toMatchObject({ status: 202, body: answers["202"]!.content["application/json"]!.example as object })
})
