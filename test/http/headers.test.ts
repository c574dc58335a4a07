import { afterAll, beforeAll, expect, test } from "bun:test"
import { headerSets } from "../../src/http/headers.ts"
import { openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

const NAMES = [
  "x-content-type-options",
  "referrer-policy",
  "content-security-policy",
  "cache-control",
  "cross-origin-resource-policy",
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "strict-transport-security",
]
const API = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
}
const OPEN = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
}
const SUMMARY = "/api/public/v1/sites/1/stats/summary"

test.each([
  ["GET", "/health", 200, API],
  ["HEAD", "/health", 200, API],
  ["GET", "/health/live", 200, API],
  ["POST", "/health", 405, API],
  ["GET", "/errors/not_found", 200, API],
  ["GET", "/errors/nothing", 404, API],
  ["GET", "/nothing", 404, API],
  ["GET", "/a%2fb", 404, API],
  ["GET", SUMMARY, 401, API],
  ["OPTIONS", SUMMARY, 405, API],
  ["POST", "/api/public/v1/sites/1/events", 401, API],
  ["GET", "/api/event", 405, OPEN],
  ["POST", "/api/event", 400, OPEN],
  ["OPTIONS", "/api/event", 204, OPEN],
  ["GET", "/js/script.js", 200, { ...OPEN, "cache-control": "public, max-age=86400" }],
  ["HEAD", "/js/script.js", 200, { ...OPEN, "cache-control": "public, max-age=86400" }],
  ["POST", "/js/script.js", 405, OPEN],
  ["GET", "/js/script.nothing.js", 404, API],
  ["GET", "/js/pa-%3Cscript%3E.js", 404, API],
  ["OPTIONS", "/p.gif", 204, { ...OPEN, "cache-control": "no-store" }],
  ["POST", "/p.gif", 405, { ...OPEN, "cache-control": "no-store" }],
  ["GET", "/p.gif", 200, { ...OPEN, "cache-control": "no-store" }],
  ["HEAD", "/p.gif", 200, { ...OPEN, "cache-control": "no-store" }],
])("%s %s answers %p with its headers", async (method, path, status, expected) => {
  const answer = await fetch(target.url + path, { method, headers: { origin: "https://shop.example" } })
  const found = NAMES.flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name)]] : []))
  expect({ status: answer.status, headers: Object.fromEntries(found) }).toEqual({ status, headers: expected })
  expect(answer.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
})

test("a response to a request with a key has the headers of the API and of the key's limit", async () => {
  const answer = await fetch(target.url + SUMMARY, {
    headers: { authorization: `Bearer ${target.keys.stats}`, origin: "https://shop.example" },
  })
  expect(answer.status).toBe(200)
  for (const [name, value] of Object.entries(API)) expect(answer.headers.get(name)).toBe(value)
  expect(answer.headers.get("access-control-allow-origin")).toBeNull()
  expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=600;w=60')
  expect(answer.headers.get("ratelimit")).toMatch(/^"default";r=\d+;t=60$/)
  expect(answer.headers.get("x-ratelimit-limit")).toBe("600")
})

test("allows preflights from any origin on the collect address", async () => {
  const answer = await fetch(`${target.url}/api/event`, {
    method: "OPTIONS",
    headers: { origin: "https://shop.example", "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
  })
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST, GET, OPTIONS",
    "access-control-allow-headers": "content-type, x-umami-cache, x-debug-request, x-umami-website-id, x-umami-hostname",
    "access-control-max-age": "86400",
  })
})

test.each([
  ["abc-DEF_1.2", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["a b", false],
  ["<b>", false],
  ["", false],
])("uses the caller's request id %p: %p", async (id, used) => {
  for (const path of ["/health", "/nothing", "/api/event", "/p.gif"]) {
    const answer = await fetch(target.url + path, { headers: { "x-request-id": id } })
    expect(answer.headers.get("x-request-id") === id).toBe(used)
    if (answer.headers.get("content-type") === "application/problem+json")
      expect(await answer.json()).toMatchObject({ request_id: answer.headers.get("x-request-id") })
  }
})

test.each(["/health", "/health/live", "/errors/not_found", "/p.gif", "/js/script.js", SUMMARY, "/api/public/v1/sites/1/stats/realtime"])(
  "HEAD %s equals GET without a body",
  async (path) => {
    const headers = { authorization: `Bearer ${target.keys.stats}`, "x-request-id": "same" }
    const get = await fetch(target.url + path, { headers })
    const head = await fetch(target.url + path, { method: "HEAD", headers })
    const names = (answer: Response) => [...answer.headers.keys()].filter((name) => name !== "date").sort()
    expect({ status: head.status, names: names(head), body: await head.text() }).toEqual({
      status: get.status,
      names: names(get),
      body: "",
    })
  },
)

test("JSON has an ETag, is not sent again if unchanged, and is compressed if it is large enough", async () => {
  const path = "/api/public/v1/sites/1/stats/timeseries?period=90d"
  const headers = { authorization: `Bearer ${target.keys.stats}` }
  const plain = await fetch(target.url + path, { headers: { ...headers, "accept-encoding": "identity" } })
  const etag = plain.headers.get("etag")!
  expect(plain.headers.get("content-encoding")).toBeNull()
  const packed = await fetch(target.url + path, { headers: { ...headers, "accept-encoding": "gzip" } })
  expect(packed.headers.get("content-encoding")).toBe("gzip")
  expect(await packed.json()).toEqual(await plain.json())
  const again = await fetch(target.url + path, { headers: { ...headers, "if-none-match": `"x", ${etag}` } })
  expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: "" })
})

test.each([
  ["", true, undefined],
  ["http://stats.example.org", true, undefined],
  ["https://stats.example.org", true, "max-age=31536000; includeSubDomains"],
  ["https://example.org:8443", true, "max-age=31536000"],
  ["https://example.co.uk", true, "max-age=31536000"],
  ["https://stats.example.org", false, undefined],
])("with the base URL %p and the setting %p, sends Strict-Transport-Security %p", (baseUrl, hsts, expected) => {
  const { api, open } = headerSets({ baseUrl, hsts })
  expect([api["strict-transport-security"], open["strict-transport-security"]]).toEqual([expected, expected])
})
