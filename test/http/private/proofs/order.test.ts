import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { impersonating, openWorld, type Person, type Sending, send, signedIn, type World } from "../scene.ts"
import { rowsWritten } from "./state.ts"

/** The first failing check in the order of areas/00 section 4 determines the response. */

const world: World = await openWorld({ allowed_hosts: "stats.local" })
afterAll(() => world[Symbol.asyncDispose]())
const { operations } = world

const P = "/api/private"
const GOALS = `${P}/sites/1/goals`
const KEYS = `${P}/organizations/1/api-keys`
const BROKEN = "{"
const LARGE = "x".repeat((1 << 20) + 1)
const EVIL = { origin: "https://evil.example" }
const FORM = { "content-type": "application/x-www-form-urlencoded" }
const STALE = { "if-match": '"99"' }
const ODD_KEY = { "idempotency-key": "a b" }

const people: Record<string, Person> = {}
let impersonated = ""
beforeAll(async () => {
  const { clock, app } = world.instance
  const { organizations } = app.instance
  const staleAt = clock.now() - 10 * 60_000 - 1
  people.owner = await signedIn(world, { role: "owner" })
  people.stale = await signedIn(world, { role: "owner", provedAt: staleAt })
  people.viewer = await signedIn(world, { role: "viewer" })
  people.staleViewer = await signedIn(world, { role: "viewer", provedAt: staleAt })
  people.stranger = await signedIn(world, {})
  people.instanceAdmin = await signedIn(world, { isInstanceAdmin: true })
  const strict = await organizations.create({ name: "Strict" })
  await organizations.update(strict.id, { policy: { require_mfa: true } }, { current: (organization) => organization })
  people.factorless = await signedIn(world, { organizationId: strict.id, role: "owner", provedAt: staleAt })
  impersonated = await impersonating(world, people.instanceAdmin, people.owner, "read_only")
  const goal = { kind: "event", value: "first" }
  await send(world, "POST", GOALS, { cookie: people.owner.cookie, body: goal })
})

type Ask = Sending & { as?: string; method?: string }

test.each<[string, string, Ask, number, string]>([
  ["unknown path, no session", `${P}/nothing`, {}, 404, "not_found"],
  ["unknown path, foreign origin", `${P}/nothing`, { method: "POST", body: BROKEN, headers: EVIL }, 404, "not_found"],
  ["unknown method, no session", GOALS, { method: "PUT", body: BROKEN }, 405, "method_not_allowed"],
  ["unknown method, foreign origin", GOALS, { method: "DELETE", headers: EVIL }, 405, "method_not_allowed"],
  ["foreign origin, no session", GOALS, { method: "POST", body: BROKEN, headers: EVIL }, 403, "origin_not_allowed"],
  [
    "foreign origin, unknown site",
    `${P}/sites/99/goals`,
    { method: "POST", as: "owner", body: "{}", headers: EVIL },
    403,
    "origin_not_allowed",
  ],
  ["foreign origin on an open route", `${P}/auth/login`, { method: "POST", body: BROKEN, headers: EVIL }, 403, "origin_not_allowed"],
  ["no session, unknown site", `${P}/sites/99/goals`, {}, 401, "session_required"],
  ["no session, invalid query", `${GOALS}?limit=x&limit=y`, {}, 401, "session_required"],
  ["no session, malformed body", GOALS, { method: "POST", body: BROKEN }, 401, "session_required"],
  ["no session, large body", GOALS, { method: "POST", body: LARGE }, 401, "session_required"],
  ["no session, form body", GOALS, { method: "POST", body: "a=1", headers: FORM }, 401, "session_required"],
  ["a key instead of a session", GOALS, { key: "ff_x" }, 401, "session_required"],
  ["second factor, unknown site", `${P}/sites/99/goals`, { as: "factorless" }, 403, "mfa_enrollment_required"],
  ["second factor, console", `${P}/admin/users`, { as: "factorless" }, 403, "mfa_enrollment_required"],
  [
    "second factor, malformed body",
    `${P}/organizations`,
    { method: "POST", as: "factorless", body: BROKEN },
    403,
    "mfa_enrollment_required",
  ],
  ["unknown site, permission", `${P}/sites/99/goals`, { method: "POST", as: "viewer", body: "{}" }, 404, "site_not_found"],
  ["unknown site, malformed body", `${P}/sites/99/goals`, { method: "POST", as: "owner", body: BROKEN }, 404, "site_not_found"],
  ["foreign site, invalid query", `${GOALS}?limit=x`, { as: "stranger" }, 404, "site_not_found"],
  ["an invalid site id", `${P}/sites/01/goals`, { as: "owner" }, 404, "site_not_found"],
  ["foreign organization, missing second factor", KEYS, { method: "POST", as: "factorless", body: "{}" }, 403, "mfa_enrollment_required"],
  ["foreign organization, malformed body", KEYS, { method: "POST", as: "stranger", body: BROKEN }, 404, "organization_not_found"],
  ["permission, impersonation", KEYS, { method: "POST", as: "viewer", body: "{}" }, 403, "forbidden"],
  ["permission, proof", KEYS, { method: "POST", as: "staleViewer", body: "{}" }, 403, "forbidden"],
  ["permission, unknown goal", `${GOALS}/99`, { method: "PATCH", as: "viewer", body: "{}" }, 403, "forbidden"],
  ["permission, malformed body", GOALS, { method: "POST", as: "viewer", body: BROKEN }, 403, "forbidden"],
  ["console, unknown user", `${P}/admin/users/99999`, { as: "owner" }, 403, "forbidden"],
  ["impersonation, unknown goal", `${GOALS}/99`, { method: "PATCH", as: "impersonated", body: BROKEN }, 403, "impersonation_read_only"],
  ["stale proof, unknown key", `${KEYS}/99/rotate`, { method: "POST", as: "stale", body: BROKEN }, 403, "reauth_required"],
  ["stale proof, large body", KEYS, { method: "POST", as: "stale", body: LARGE }, 403, "reauth_required"],
  ["unknown goal, large body", `${GOALS}/99`, { method: "PATCH", as: "owner", body: LARGE }, 404, "goal_not_found"],
  ["unknown goal, form body", `${GOALS}/99`, { method: "PATCH", as: "owner", body: "a=1", headers: FORM }, 404, "goal_not_found"],
  ["unknown goal, malformed body", `${GOALS}/99`, { method: "PATCH", as: "owner", body: BROKEN }, 404, "goal_not_found"],
  ["unknown user, malformed body", `${P}/admin/users/99999`, { method: "PATCH", as: "instanceAdmin", body: BROKEN }, 404, "user_not_found"],
  ["large body, unsupported media type", GOALS, { method: "POST", as: "owner", body: LARGE, headers: FORM }, 413, "body_too_large"],
  [
    "unsupported media type, malformed body",
    GOALS,
    { method: "POST", as: "owner", body: BROKEN, headers: FORM },
    415,
    "unsupported_media_type",
  ],
  ["malformed body, invalid idempotency key", GOALS, { method: "POST", as: "owner", body: BROKEN, headers: ODD_KEY }, 400, "invalid_json"],
  ["syntax, query", `${GOALS}?a=1`, { method: "POST", as: "owner", body: BROKEN }, 400, "invalid_json"],
  ["query, content", `${GOALS}?a=1`, { method: "POST", as: "owner", body: "{}" }, 400, "invalid_query"],
  ["invalid idempotency key, invalid content", GOALS, { method: "POST", as: "owner", body: "{}", headers: ODD_KEY }, 400, "invalid_header"],
  [
    "invalid content, stale ETag",
    `${GOALS}/1`,
    { method: "PATCH", as: "owner", body: '{"kind":1}', headers: STALE },
    422,
    "validation_failed",
  ],
  ["stale ETag", `${GOALS}/1`, { method: "PATCH", as: "owner", body: "{}", headers: STALE }, 412, "precondition_failed"],
  ["stale version", `${GOALS}/1`, { method: "PATCH", as: "owner", body: '{"version":99}' }, 409, "version_conflict"],
])("reports the first failing check: %s", async (_, path, { as, method = "GET", ...sending }, status, code) => {
  const cookie = as === "impersonated" ? impersonated : as === undefined ? "" : people[as]!.cookie
  const written = await rowsWritten(world)
  const answer = await send(world, method, path, { ...sending, cookie })
  expect({ status: answer.status, type: answer.headers.get("content-type") }).toEqual({ status, type: "application/problem+json" })
  expect(answer.body).toMatchObject({ status, code, request_id: answer.headers.get("x-request-id") })
  for (const [name, value] of [
    ["cache-control", "no-store"],
    ["x-content-type-options", "nosniff"],
  ])
    expect(answer.headers.get(name!)).toBe(value!)
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([])
  expect(await rowsWritten(world)).toBe(written)
})

// Browsers send the origin of a request; Sec-Fetch-Site takes precedence over Origin.
const OWN = "http://localhost:9000"
const PAGES: readonly (readonly [string, Record<string, string>, isAllowed: boolean])[] = [
  ["a client without origin headers", {}, true],
  ["the same origin", { "sec-fetch-site": "same-origin" }, true],
  ["the address bar or a bookmark", { "sec-fetch-site": "none" }, true],
  ["another host of the same site", { "sec-fetch-site": "same-site" }, false],
  ["another site", { "sec-fetch-site": "cross-site" }, false],
  ["an unknown value of Sec-Fetch-Site", { "sec-fetch-site": "anything" }, false],
  ["another site with our origin", { "sec-fetch-site": "cross-site", origin: OWN }, false],
  ["our origin", { origin: OWN }, true],
  ["an allowed host", { origin: "https://stats.local" }, true],
  ["an opaque origin", { origin: "null" }, false],
  ["another port of our host", { origin: "http://localhost:9001" }, false],
  ["another scheme of our host", { origin: "https://localhost:9000" }, false],
  ["a host that starts like ours", { origin: "http://localhost:9000.evil.example" }, false],
  ["our origin with a path", { origin: `${OWN}/` }, false],
  ["two origins", { origin: `${OWN} https://evil.example` }, false],
]

test.each(PAGES)("checks the origin of a write from %s", async (_, headers, isAllowed) => {
  const writes = operations.filter(({ method }) => method !== "GET")
  const written = await rowsWritten(world)
  for (const { method, path } of writes) {
    // Without a session, no write passes the gate; open ones fail because of their content.
    const answer = await send(world, method, path.replaceAll(/\{\w+\}/g, "0"), { headers, body: [] })
    const isRefused = (answer.body as { code?: string } | undefined)?.code === "origin_not_allowed"
    expect({ path: `${method} ${path}`, isRefused, is403: answer.status === 403 || !isRefused }).toEqual({
      path: `${method} ${path}`,
      isRefused: !isAllowed,
      is403: true,
    })
  }
  expect(await rowsWritten(world)).toBe(written)
  // Browsers do not let other origins read responses, so no rule is needed.
  const read = await send(world, "GET", `${P}/me`, { headers, cookie: people.owner!.cookie })
  expect(read.status).toBe(200)
})

/** Routes that take files as a form. Like all writes, they refuse requests of other pages by their origin. */
const WITH_FILES = ["/api/private/sites/{site}/imports", "/api/private/sites/{site}/imports/preview"]

test.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "TEXT/PLAIN; charset=utf-8"])(
  "no write accepts a form that another page could submit: %s",
  async (type) => {
    const written = await rowsWritten(world)
    const master = await signedIn(world, { role: "owner", isInstanceAdmin: true })
    const start = await rowsWritten(world)
    expect(start).toBeGreaterThan(written)
    for (const operation of operations.filter(({ method, path }) => method !== "GET" && !path.endsWith("/backups/upload"))) {
      const { method, path } = operation
      if (type.startsWith("multipart") && WITH_FILES.includes(path)) continue
      const answer = await send(world, method, path.replaceAll(/\{\w+\}/g, "1"), {
        cookie: master.cookie,
        body: '{"name":"x"}=',
        headers: { "content-type": type },
      })
      const name = `${method} ${path}`
      // An unknown path is reported before any other check.
      expect({ name, status: answer.status === 404 ? 415 : answer.status }).toEqual({ name, status: 415 })
    }
    expect(await rowsWritten(world)).toBe(start)
  },
)

test.each([
  ["evil.example", 421],
  ["localhost.evil.example:9000", 421],
  ["a", 421],
  ["xn--locahost-9cd.example", 421],
  ["stats.local:1", 200],
  ["127.0.0.1", 200],
])("checks the host %s before everything else on every route: %d", async (host, status) => {
  const { instance } = world
  for (const operation of operations.filter(({ gate }) => gate.ask !== "open")) {
    const request = new Request(`http://${host}${operation.path.replaceAll(/\{\w+\}/g, "1")}`, { method: operation.method })
    const answer = await instance.fetch(request)
    expect({ path: operation.path, status: answer.status }).toEqual({ path: operation.path, status: status === 200 ? 401 : status })
  }
  const me = await instance.fetch(new Request(`http://${host}${P}/me`, { headers: { cookie: people.owner!.cookie } }))
  expect(me.status).toBe(status)
})

test("other headers that name a host have no effect", async () => {
  for (const name of ["x-forwarded-host", "x-host", "forwarded", "x-original-host"]) {
    const headers = { [name]: name === "forwarded" ? "host=evil.example" : "evil.example" }
    const answer = await send(world, "GET", `${P}/setup`, { headers })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain("evil")
    expect((await send(world, "POST", `${P}/auth/login`, { headers: { ...headers, ...EVIL }, body: {} })).status).toBe(403)
  }
})

test("until the instance is set up, every route except the set-up answers setup_required", async () => {
  await using fresh: TestInstance = await startInstance()
  for (const operation of operations) {
    if (operation.gate.beforeSetUp) continue
    if (operation.gate.feature === "spare") continue
    const answer = await fresh.api.send(
      operation.method,
      operation.path.replaceAll(/\{\w+\}/g, "1"),
      operation.method === "GET" ? undefined : BROKEN,
    )
    const { code } = answer.body as { code: string }
    expect({ path: operation.path, status: answer.status, code }).toEqual({ path: operation.path, status: 503, code: "setup_required" })
    expect(answer.headers.get("retry-after")).toBe("60")
  }
  expect((await fresh.api.get(`${P}/setup`)).status).toBe(200)
})

test("limits the requests of a session, independently of others", async () => {
  await using small = await startInstance({ settings: { private_rate: "1" } })
  const [busy, calm] = [await small.signIn({ role: "owner" }), await small.signIn({ role: "owner" })]
  const ask = (cookie: string, path = `${P}/me`) => small.api.get(path, undefined, { cookie })
  for (let n = 0; n < 10; n++) expect((await ask(busy)).status).toBe(200)
  const slowed = await ask(busy, `${P}/sites/1/goals/99?limit=x`)
  expect(slowed).toMatchObject({ status: 429, body: { code: "rate_limited" } })
  expect(Number(slowed.headers.get("retry-after"))).toBeGreaterThan(0)
  // Earlier checks still come first.
  expect(await ask(busy, `${P}/sites/99/goals`)).toMatchObject({ status: 404 })
  expect((await ask(calm)).status).toBe(200)
})
