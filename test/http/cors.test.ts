import { expect, test } from "bun:test"
import { startInstance } from "../kit.ts"

const PAGE = "https://tools.example"
const PATH = "/api/public/v1/sites/1"
const request = (method: string, origin: string | undefined, path = PATH, headers: Record<string, string> = {}) =>
  new Request(`http://localhost${path}`, { method, headers: { ...(origin && { origin }), ...headers } })
const allowed = (answer: Response) => [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))

test("allows no cross-origin request without the setting", async () => {
  await using instance = await startInstance()
  const preflight = await instance.fetch(request("OPTIONS", PAGE))
  expect([preflight.status, allowed(preflight)]).toEqual([405, []])
  const answer = await instance.fetch(request("GET", PAGE, PATH, { authorization: `Bearer ${instance.key}` }))
  expect([answer.status, allowed(answer)]).toEqual([200, []])
})

test("echoes a configured origin in successful and failed responses, never with credentials", async () => {
  await using instance = await startInstance({ settings: { api_cors_origins: `${PAGE},https://b.example:8443` } })
  const preflight = await instance.fetch(request("OPTIONS", PAGE))
  expect(preflight.status).toBe(204)
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    "access-control-allow-origin": PAGE,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": "authorization, content-type, idempotency-key, if-match, if-none-match, x-request-id",
    "access-control-max-age": "600",
    vary: "origin",
  })
  for (const [key, status] of [
    [instance.key, 200],
    ["nonsense", 401],
  ] as const) {
    const answer = await instance.fetch(request("GET", PAGE, PATH, { authorization: `Bearer ${key}` }))
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([status, PAGE])
    expect(answer.headers.get("vary")).toContain("origin")
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false)
  }
  for (const other of ["https://tools.example.evil.example", "http://tools.example", "https://tools.example:444", "null", undefined]) {
    const answer = await instance.fetch(request("GET", other, PATH, { authorization: `Bearer ${instance.key}` }))
    expect([answer.status, allowed(answer)]).toEqual([200, []])
    expect(answer.headers.get("vary")).toContain("origin")
    expect((await instance.fetch(request("OPTIONS", other))).status).toBe(405)
  }
})

test("applies only to the public API, not to MCP", async () => {
  await using instance = await startInstance({ settings: { api_cors_origins: PAGE } })
  for (const path of ["/api/public/v1/mcp", "/api/public/v1/mcp/", "/health", "/api/private/me", "/errors/not_found", "/api/v2/other"]) {
    const answer = await instance.fetch(request("OPTIONS", PAGE, path))
    expect({ path, headers: allowed(answer) }).toEqual({ path, headers: [] })
    expect(answer.status).not.toBe(204)
  }
  for (const path of ["/api/v2/query", "/api/v2/query/"]) expect((await instance.fetch(request("OPTIONS", PAGE, path))).status).toBe(204)
})
