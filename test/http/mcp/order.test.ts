import { afterAll, beforeAll, expect, test } from "bun:test"
import { keyWith, MCP, type McpInstance, openMcp } from "./client.ts"

let mcp: McpInstance
let exhausted: string
beforeAll(async () => {
  mcp = await openMcp({ settings: { base_url: "https://stats.example", mcp_allowed_origins: "https://tools.example:8443" } })
  exhausted = (await keyWith(mcp, { rate_limit: 1 })).secret
  await mcp.post({}, {}, exhausted)
})
afterAll(() => mcp[Symbol.asyncDispose]())

interface Call {
  method: string
  key: string | undefined
  headers: Record<string, string>
  body: string | Uint8Array
}
/** Replaces parts of a valid request. */
type Defect = () => Partial<Call>
const header =
  (name: string, value: string): Defect =>
  () => ({ headers: { [name]: value } })
const body =
  (body: Call["body"]): Defect =>
  () => ({ body })
const key =
  (of: () => string | undefined): Defect =>
  () => ({ key: of() })

/** Every check of api.md 8.1 in order, with a request that fails it and the expected response. */
const CHECKS: readonly [name: string, defect: Defect, status: number, code: string | number][] = [
  ["Origin", header("origin", "https://evil.example"), 403, "origin_not_allowed"],
  ["method", () => ({ method: "PUT" }), 405, "method_not_allowed"],
  ["no key", key(() => undefined), 401, "missing_api_key"],
  ["unknown key", key(() => "ff_nobody"), 401, "invalid_api_key"],
  ["scope", key(() => mcp.eventsKey), 403, "insufficient_scope"],
  ["rate limit", key(() => exhausted), 429, "rate_limited"],
  ["size", body("x".repeat((256 << 10) + 1)), 413, "body_too_large"],
  ["media type", header("content-type", "text/plain"), 415, "unsupported_media_type"],
  ["Accept", header("accept", "text/event-stream"), 406, "not_acceptable"],
  ["UTF-8 JSON", body(Uint8Array.of(0x22, 0xff, 0x22)), 400, -32700],
  ["batch", body("[{}]"), 400, -32600],
  ["message", body('{"jsonrpc":"1.0","id":7,"method":"ping"}'), 400, -32600],
  ["version", header("mcp-protocol-version", "2024-11-05"), 400, -32000],
  ["method of the message", body('{"jsonrpc":"2.0","id":7,"method":"pong"}'), 200, -32601],
]

function withDefects(...defects: readonly Defect[]): Call {
  const good = { method: "POST", key: mcp.statsKey, headers: {}, body: '{"jsonrpc":"2.0","id":7,"method":"ping"}' }
  const defect = (call: Call, { headers, ...more }: Partial<Call>): Call => ({
    ...call,
    ...more,
    headers: { ...call.headers, ...headers },
  })
  return defects.map((each) => each()).reduce(defect, good)
}

async function codeOf({ method, key, headers, body }: Call) {
  const answer = await mcp.api.send(method, MCP, body, key, headers)
  const { code, error } = answer.body as { code?: string; error?: { code: number } } // one of both
  return { status: answer.status, code: code ?? error?.code }
}

test.each(CHECKS.map(([name, defect, status, code], at) => ({ name, defect, status, code, at })))(
  "$name is checked on its own and before every later check",
  async ({ defect, status, code, at }) => {
    expect(await codeOf(withDefects(defect))).toEqual({ status, code })
    for (const [, later] of CHECKS.slice(at + 1)) expect(await codeOf(withDefects(later, defect))).toEqual({ status, code })
    // Combines all later defects; where two change the same part, the earlier one wins.
    const all = CHECKS.slice(at).map(([, each]) => each)
    expect(await codeOf(withDefects(...all.reverse()))).toEqual({ status, code })
  },
)

test.each([
  ["none", undefined, 200],
  ["the base URL", "https://stats.example", 200],
  ["the base URL with another port", "https://stats.example:8443", 403],
  ["the base URL over http", "http://stats.example", 403],
  ["a listed origin", "https://tools.example:8443", 200],
  ["a listed origin with another port", "https://tools.example", 403],
  ["loopback by name", "http://localhost:6274", 200],
  ["loopback by address", "https://127.0.0.1", 200],
  ["loopback by IPv6 address", "http://[::1]:3000", 200],
  ["a name that starts like localhost", "http://localhost.evil.example", 403],
  ["a name that ends like localhost", "http://evil-localhost", 403],
  ["another loopback address", "http://127.0.0.2", 403],
  ["a file URL", "file://localhost", 403],
  ["a sandboxed page", "null", 403],
  ["an empty header", "", 403],
  ["two", "http://localhost, http://localhost", 403],
])("checks the Origin header: %s", async (_, origin, status) => {
  const answer = await mcp.post({ jsonrpc: "2.0", id: 7, method: "ping" }, origin === undefined ? {} : { origin })
  expect(answer.status).toBe(status)
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([])
})

test("without a base URL, accepts only pages on loopback", async () => {
  await using plain = await openMcp()
  const statusOf = async (origin: string) => (await plain.post({ jsonrpc: "2.0", id: 7, method: "ping" }, { origin })).status
  expect([await statusOf("http://localhost"), await statusOf("https://stats.example"), await statusOf("null")]).toEqual([200, 403, 403])
})

test("pages that may read the public API may not call MCP", async () => {
  await using open = await openMcp({ settings: { api_cors_origins: "https://app.example" } })
  const headers = { origin: "https://app.example", "access-control-request-method": "POST" }
  expect((await open.api.send("OPTIONS", "/api/public/v1/sites", undefined, undefined, headers)).status).toBe(204)
  const preflight = await open.api.send("OPTIONS", MCP, undefined, undefined, headers)
  expect({ status: preflight.status, allow: preflight.headers.get("access-control-allow-origin") }).toEqual({ status: 403, allow: null })
})

test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("rejects %s, with and without a key", async (method) => {
  for (const key of [mcp.statsKey, undefined]) {
    const answer = await mcp.api.send(method, MCP, undefined, key)
    expect({ status: answer.status, allow: answer.headers.get("allow") }).toEqual({ status: 405, allow: "POST" })
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
  }
})

test("a rejection names the expected authentication", async () => {
  const challenge = async (key: string | undefined) => (await mcp.api.post(MCP, {}, key)).headers.get("www-authenticate")
  expect(await challenge(undefined)).toBe('Bearer realm="footfall"')
  expect(await challenge("ff_nobody")).toBe('Bearer realm="footfall", error="invalid_token"')
  expect(await challenge(mcp.eventsKey)).toBe('Bearer error="insufficient_scope", scope="stats:read"')
})

test("every POST counts once against the key's limit, whatever its body", async () => {
  const { secret } = await keyWith(mcp, { rate_limit: 3 })
  const left = async (body: unknown) => (await mcp.post(body, {}, secret)).headers.get("x-ratelimit-remaining")
  expect(await left({ jsonrpc: "2.0", id: 1, method: "ping" })).toBe("2")
  expect(await left("{")).toBe("1")
  expect(await left({ jsonrpc: "2.0", method: "notifications/initialized" })).toBe("0")
  const refused = await mcp.post({ jsonrpc: "2.0", id: 1, method: "ping" }, {}, secret)
  expect({ status: refused.status, after: refused.headers.get("retry-after") }).toEqual({ status: 429, after: "20" })
})

test.each([
  ["with parameters", "application/json; charset=utf-8", 200],
  ["in capitals", "Application/JSON", 200],
  ["for another kind of JSON", "application/json-rpc", 415],
  ["for a form", "application/x-www-form-urlencoded", 415],
])("checks a Content-Type %s", async (_, type, status) => {
  expect((await mcp.post({ jsonrpc: "2.0", id: 7, method: "ping" }, { "content-type": type })).status).toBe(status)
})

test.each([
  ["of MCP clients", "application/json, text/event-stream", 200],
  ["for anything", "*/*", 200],
  ["for any application type", "application/*", 200],
  ["for JSON only", "application/json", 200],
  ["that excludes JSON", "application/json;q=0, */*", 406],
  ["for HTML", "text/html", 406],
])("checks an Accept header %s", async (_, accept, status) => {
  expect((await mcp.post({ jsonrpc: "2.0", id: 7, method: "ping" }, { accept })).status).toBe(status)
})

test("accepts a body of exactly 256 KiB", async () => {
  const frame = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ping", params: { text: "" } }).length
  const of = (bytes: number) => ({ jsonrpc: "2.0", id: 7, method: "ping", params: { text: "x".repeat(bytes - frame) } })
  expect((await mcp.post(of(256 << 10))).status).toBe(200)
  expect((await mcp.post(of((256 << 10) + 1))).body).toMatchObject({ status: 413, limit_bytes: 262_144 })
})

test("responses carry the headers of the API and no session", async () => {
  const answer = await mcp.post({ jsonrpc: "2.0", id: 7, method: "ping" }, { "x-request-id": "trace-1", "mcp-session-id": "abc" })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-request-id": "trace-1",
    "x-content-type-options": "nosniff",
    "x-ratelimit-limit": "600",
  })
  expect(answer.headers.has("mcp-session-id")).toBe(false)
})

test.each([
  "/.well-known/oauth-protected-resource",
  `/.well-known/oauth-protected-resource${MCP}`,
  "/.well-known/oauth-authorization-server",
  `/.well-known/oauth-authorization-server${MCP}`,
  "/.well-known/openid-configuration",
  "/register",
])("serves no OAuth metadata at %s", async (path) => {
  for (const method of ["GET", "POST"]) {
    const answer = await mcp.api.send(method, path, undefined)
    expect({ status: answer.status, type: answer.headers.get("content-type"), body: answer.body }).toMatchObject({
      status: 404,
      type: "application/problem+json",
      body: { code: "not_found" },
    })
  }
})
