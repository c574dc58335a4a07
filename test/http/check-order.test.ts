import { afterAll, beforeAll, expect, test } from "bun:test"
import { openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

const SITE = "/api/public/v1/sites/1"
const EVENTS = `${SITE}/events`
const SUMMARY = `${SITE}/stats/summary`
const GOALS = `${SITE}/goals`
const BROKEN = "{"
const LARGE = "x".repeat((1 << 20) + 1)

const ODD_KEY = { "idempotency-key": "a b" }
const CSV = { "content-type": "text/csv" }
const STALE = { "if-match": '"99"' }

interface Ask {
  key?: keyof Target["keys"] | "unknown" | "malformed"
  method?: string
  body?: string
  headers?: Record<string, string>
}

// Each request has at least two faults. The response must report the one that comes first in the order of api.md section 2.
test.each<[string, string, Ask, number, string]>([
  ["unknown path, no key", "/api/public/v1/nothing", {}, 404, "not_found"],
  ["unknown path, malformed body", "/api/public/v1/sites/1/nothing", { method: "POST", body: BROKEN }, 404, "not_found"],
  ["unknown method, no key", EVENTS, { method: "PUT", body: BROKEN }, 405, "method_not_allowed"],
  ["unknown method on an unknown site", "/api/public/v1/sites/99/events", { method: "DELETE" }, 405, "method_not_allowed"],
  ["no key, unknown site", "/api/public/v1/sites/99/stats/summary", {}, 401, "missing_api_key"],
  ["no key, invalid query", `${SUMMARY}?period=never`, {}, 401, "missing_api_key"],
  ["no key, malformed body", EVENTS, { method: "POST", body: BROKEN }, 401, "missing_api_key"],
  ["no key, large body", EVENTS, { method: "POST", body: LARGE }, 401, "missing_api_key"],
  [
    "no key, unsupported media type",
    EVENTS,
    { method: "POST", body: "a=1", headers: { "content-type": "text/csv" } },
    401,
    "missing_api_key",
  ],
  ["no key, unacceptable Accept", SUMMARY, { headers: { accept: "text/csv" } }, 401, "missing_api_key"],
  ["another scheme", SUMMARY, { headers: { authorization: "Basic Zm9vOmJhcg==" } }, 401, "missing_api_key"],
  ["empty token", SUMMARY, { headers: { authorization: "Bearer " } }, 401, "missing_api_key"],
  ["unknown key, malformed body", EVENTS, { key: "unknown", method: "POST", body: BROKEN }, 401, "invalid_api_key"],
  ["revoked key, invalid query", `${SUMMARY}?period=never`, { key: "revoked" }, 401, "invalid_api_key"],
  ["key without sites", SUMMARY, { key: "nowhere" }, 404, "site_not_found"],
  ["malformed key, unknown site", "/api/public/v1/sites/99/stats/summary", { key: "malformed" }, 401, "invalid_api_key"],
  [
    "missing scope, unknown site",
    "/api/public/v1/sites/99/events",
    { key: "stats", method: "POST", body: BROKEN },
    403,
    "insufficient_scope",
  ],
  ["scope, Accept", EVENTS, { key: "stats", method: "POST", headers: { accept: "text/csv" } }, 403, "insufficient_scope"],
  ["missing scope, invalid query", `${SUMMARY}?period=never`, { key: "events" }, 403, "insufficient_scope"],
  [
    "unknown site, malformed body",
    "/api/public/v1/sites/99/events",
    { key: "events", method: "POST", body: BROKEN },
    404,
    "site_not_found",
  ],
  ["unknown site, large body", "/api/public/v1/sites/99/events", { key: "events", method: "POST", body: LARGE }, 404, "site_not_found"],
  ["unknown site, invalid query", "/api/public/v1/sites/99/stats/summary?period=never", { key: "stats" }, 404, "site_not_found"],
  [
    "unknown site, unacceptable Accept",
    "/api/public/v1/sites/99/stats/summary",
    { key: "stats", headers: { accept: "text/csv" } },
    404,
    "site_not_found",
  ],
  ["site outside the key's sites", `${SUMMARY}?period=never`, { key: "elsewhere" }, 404, "site_not_found"],
  [
    "unacceptable Accept, large body",
    EVENTS,
    { key: "events", method: "POST", body: LARGE, headers: { accept: "text/csv" } },
    406,
    "not_acceptable",
  ],
  [
    "unacceptable Accept, invalid query",
    `${SUMMARY}?period=never`,
    { key: "stats", headers: { accept: "text/csv" } },
    406,
    "not_acceptable",
  ],
  [
    "large body, unsupported media type",
    EVENTS,
    { key: "events", method: "POST", body: LARGE, headers: { "content-type": "text/csv" } },
    413,
    "body_too_large",
  ],
  [
    "unsupported media type, malformed body",
    EVENTS,
    { key: "events", method: "POST", body: BROKEN, headers: { "content-type": "text/csv" } },
    415,
    "unsupported_media_type",
  ],
  ["syntax", EVENTS, { key: "events", method: "POST", body: BROKEN }, 400, "invalid_json"],
  ["repeated parameter, invalid content", `${EVENTS}?a=1&a=2`, { key: "events", method: "POST", body: "{}" }, 400, "invalid_query"],
  ["unknown parameter, invalid content", `${EVENTS}?a=1`, { key: "events", method: "POST", body: "{}" }, 400, "invalid_query"],
  ["missing scope, malformed body", "/api/public/v1/sites", { key: "elsewhere", method: "POST", body: BROKEN }, 403, "insufficient_scope"],
  [
    "limited key, malformed body",
    "/api/public/v1/sites",
    { key: "limited", method: "POST", body: BROKEN },
    403,
    "unrestricted_key_required",
  ],
  ["limited key, site outside its sites", "/api/public/v1/sites/1", { key: "limited", method: "DELETE" }, 403, "unrestricted_key_required"],
  ["unknown goal, invalid query", `${GOALS}/99?a=1`, { key: "all" }, 404, "goal_not_found"],
  ["unknown goal, unacceptable Accept", `${GOALS}/99`, { key: "all", headers: { accept: "text/csv" } }, 404, "goal_not_found"],
  ["unknown goal, malformed body", `${GOALS}/99`, { key: "all", method: "PATCH", body: BROKEN }, 404, "goal_not_found"],
  ["unknown goal, large body", `${GOALS}/99`, { key: "all", method: "PATCH", body: LARGE }, 404, "goal_not_found"],
  [
    "unknown funnel, unsupported media type",
    `${SITE}/funnels/1e3`,
    { key: "all", method: "PATCH", body: "{}", headers: CSV },
    404,
    "funnel_not_found",
  ],
  [
    "unknown annotation, malformed body",
    `${SITE}/annotations/0`,
    { key: "all", method: "DELETE", body: "x", headers: CSV },
    404,
    "annotation_not_found",
  ],
  [
    "report of an unknown funnel, unacceptable Accept",
    `${SITE}/funnels/9/report`,
    { key: "all", headers: { accept: "text/csv" } },
    404,
    "funnel_not_found",
  ],
  ["report of an unknown funnel, invalid query", `${SITE}/funnels/9/report?a=1&a=2`, { key: "all" }, 404, "funnel_not_found"],
  ["missing scope, unknown goal", `${GOALS}/99`, { key: "stats", method: "PATCH", body: BROKEN }, 403, "insufficient_scope"],
  ["missing body", GOALS, { key: "all", method: "POST" }, 400, "invalid_json"],
  [
    "invalid idempotency key, unsupported media type",
    GOALS,
    { key: "all", method: "POST", body: "{}", headers: { ...ODD_KEY, ...CSV } },
    415,
    "unsupported_media_type",
  ],
  ["invalid idempotency key, malformed body", GOALS, { key: "all", method: "POST", body: BROKEN, headers: ODD_KEY }, 400, "invalid_json"],
  ["invalid idempotency key, invalid content", GOALS, { key: "all", method: "POST", body: "{}", headers: ODD_KEY }, 400, "invalid_header"],
  [
    "invalid query, invalid idempotency key",
    `${GOALS}?a=1`,
    { key: "all", method: "POST", body: "{}", headers: ODD_KEY },
    400,
    "invalid_query",
  ],
  ["invalid content of a goal", GOALS, { key: "all", method: "POST", body: "{}" }, 422, "validation_failed"],
  ["unknown goal, invalid content", `${GOALS}/99`, { key: "all", method: "PATCH", body: '{"kind":1}' }, 404, "goal_not_found"],
  ["content, precondition", SITE, { key: "all", method: "PATCH", body: '{"name":1}', headers: STALE }, 422, "validation_failed"],
  ["precondition", SITE, { key: "all", method: "PATCH", body: "{}", headers: STALE }, 412, "precondition_failed"],
  ["content", EVENTS, { key: "events", method: "POST", body: "{}" }, 422, "validation_failed"],
])("reports the first failing check: %s", async (_, path, { key, method = "GET", body, headers }, status, code) => {
  const tokens = { ...target.keys, unknown: target.unknownKey, malformed: "ff_x" }
  const answer = await fetch(target.url + path, {
    method,
    ...(body !== undefined && { body }),
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${tokens[key]}` }), ...headers },
  })
  expect({ status: answer.status, type: answer.headers.get("content-type") }).toEqual({ status, type: "application/problem+json" })
  expect(await answer.json()).toMatchObject({
    status,
    code,
    type: `${target.url}/errors/${code}`,
    request_id: answer.headers.get("x-request-id"),
  })
})

test.each([
  ["stats:read", "Bearer"],
  ["stats:read", "bearer"],
  ["stats:read", "BEARER  "],
])("compares the scheme case-insensitively: %s with %p", async (_, scheme) => {
  const answer = await fetch(target.url + SUMMARY, { headers: { authorization: `${scheme} ${target.keys.stats}` } })
  expect(answer.status).toBe(200)
})

test("reads the key only from the Authorization header", async () => {
  const { stats } = target.keys
  const answer = await fetch(`${target.url}${SUMMARY}?api_key=${stats}&key=${stats}`, {
    headers: { cookie: `sid=${stats}`, "x-api-key": stats },
  })
  expect(answer.status).toBe(401)
})

test("rejections name the missing scheme, scope or method", async () => {
  const none = await fetch(target.url + SUMMARY)
  expect(none.headers.get("www-authenticate")).toBe('Bearer realm="footfall"')
  const unknown = await fetch(target.url + SUMMARY, { headers: { authorization: `Bearer ${target.unknownKey}` } })
  expect(unknown.headers.get("www-authenticate")).toBe('Bearer realm="footfall", error="invalid_token"')
  const scope = await fetch(target.url + SUMMARY, { headers: { authorization: `Bearer ${target.keys.events}` } })
  expect(scope.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="stats:read"')
  expect(await scope.json()).toMatchObject({ required_scopes: ["stats:read"] })
  const method = await fetch(target.url + EVENTS, { method: "PUT" })
  expect(method.headers.get("allow")).toBe("POST")
  const read = await fetch(target.url + SUMMARY, { method: "POST" })
  expect(read.headers.get("allow")).toBe("GET, HEAD")
})

test("a foreign site and one that does not exist receive the same response", async () => {
  const answers = ["1", "99"].map(async (id) => {
    const answer = await fetch(`${target.url}/api/public/v1/sites/${id}/stats/summary`, {
      headers: { authorization: `Bearer ${target.keys.elsewhere}`, "x-request-id": "same" },
    })
    return [answer.status, await answer.text()]
  })
  const [foreign, absent] = await Promise.all(answers)
  expect(foreign).toEqual(absent!)
})
