import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { keyGate } from "../../../src/http/auth.ts"
import { apiLimits } from "../../../src/http/limits.ts"
import { mcpRoutes } from "../../../src/http/mcp/endpoint.ts"
import { router } from "../../../src/http/router.ts"
import { LISTENING } from "../../../src/http/server.ts"
import { openEngine } from "../../../src/query/engine/engine.ts"
import { createStats, type Stats } from "../../../src/services/stats/stats.ts"
import { WORKERS } from "../../kit.ts"
import { MCP, type McpInstance, type ToolResult } from "./client.ts"
import { openFilled } from "./filled.ts"

/** Serves only the endpoint behind a real socket, with the instance's services except the given statistics. */
function serve({ app, clock, log }: McpInstance, stats: Stats) {
  const { keys, sites, events } = app.instance
  const { now } = clock
  const nobody = { addressOf: () => undefined, onKey: () => {}, maintenance: () => ({ enabled: false }) }
  const gate = keyGate({ serverName: "footfall", now, keys, sites, limits: apiLimits(0, now), ...nobody })
  const facts = { baseUrl: "", mcpAllowedOrigins: [], serverName: "footfall", version: "0.0.0-test", log, now }
  const routes = router({ baseUrl: "", log, headers: {} }, [
    mcpRoutes(gate, { ...facts, stats, sites, firstAt: (id) => events.firstAt(id) }),
  ])
  const server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request) => routes.fetch(request) })
  return { url: `http://127.0.0.1:${server.port}${MCP}`, [Symbol.asyncDispose]: () => server.stop(true) }
}

function summaryRequest({ statsKey }: McpInstance): RequestInit {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "get_summary", arguments: { site_id: 1 } } })
  return { method: "POST", body, headers: { authorization: `Bearer ${statsKey}`, "content-type": "application/json" } }
}

test("aborts the report when the client disconnects", async () => {
  await using instance = await openFilled()
  const { engine, instance: services } = instance.app
  const stats = createStats({ ...services, engine, clock: instance.clock })
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<unknown>()
  // A report that runs until it is aborted.
  const summary: Stats["summary"] = async (site, given, asking = {}) => {
    begun.resolve()
    await new Promise((resolve) => asking.signal?.addEventListener("abort", resolve))
    return stats.summary(site, given, asking).catch((error) => {
      ended.resolve(error)
      throw error
    })
  }
  await using served = serve(instance, { ...stats, summary })
  const client = new AbortController()
  const answer = fetch(served.url, { ...summaryRequest(instance), signal: client.signal }).catch((error: Error) => error.name)
  await begun.promise
  client.abort()
  expect(await answer).toBe("AbortError")
  expect(await ended.promise).toMatchObject({ code: "unavailable", message: "The query was cancelled." })
  expect(instance.log.lines).toEqual([])
})

test("a report that takes too long fails with a suggestion for a smaller one", async () => {
  await using instance = await openFilled()
  const engine = openEngine({ workerUrl: WORKERS.query, path: join(instance.dataDir, "events.db"), cacheBytes: 32 << 20, timeoutMs: 0 })
  await using served = serve(instance, createStats({ ...instance.app.instance, engine, clock: instance.clock }))
  const answer = await fetch(served.url, summaryRequest(instance))
  const { result } = (await answer.json()) as { result: ToolResult }
  await engine.close()
  expect({ status: answer.status, isError: result.isError, failure: JSON.parse(result.content[0]!.text) }).toEqual({
    status: 200,
    isError: true,
    failure: {
      code: "query_timeout",
      message: 'The report took longer than 15 seconds. Ask for a shorter range, for example {"period":"7d"}.',
    },
  })
})

test("hides the cause of an unexpected failure and logs it under the request id", async () => {
  await using instance = await openFilled()
  // Simulates a bug: one table of the event store is missing.
  const store = new Database(join(instance.dataDir, "events.db"))
  store.run("alter table segments rename to lost")
  store.close()
  const call = { jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "get_summary", arguments: { site_id: 1 } } }
  const answer = await instance.post(call, { "x-request-id": "trace-1" })
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { jsonrpc: "2.0", id: "a", error: { code: -32603, message: "Internal error", data: { request_id: "trace-1" } } },
  })
  expect(instance.log.lines).toMatchObject([{ level: "error", message: "request failed", fields: { request_id: "trace-1" } }])
})

test("tools change no stored data", async () => {
  await using instance = await openFilled()
  const { app, call } = instance
  const stored = async () => [
    await app.instance.sites.list(1),
    app.instance.goals.rules(1),
    app.instance.funnels.all(1),
    await call("get_summary", { site_id: 1 }),
  ]
  const before = await stored()
  const calls = [
    call("list_sites"),
    call("get_realtime", { site_id: 1 }),
    call("list_goals", { site_id: 1 }),
    call("run_funnel", { site_id: 1, funnel_id: 1 }),
  ]
  await Promise.all(calls)
  expect(await stored()).toEqual(before)
})
