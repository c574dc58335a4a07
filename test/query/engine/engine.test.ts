import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import type { Query } from "../../../src/domain/query.ts"
import { openEngine } from "../../../src/query/engine/engine.ts"
import type { FromWorker } from "../../../src/query/engine/messages.ts"
import { startThread } from "../../../src/query/engine/thread.ts"
import { copyEventFile } from "../../../src/store/events/copy.ts"
import { temporaryFolder } from "../../kit.ts"
import { openTraffic, SITE } from "../traffic.ts"

const workerUrl = new URL("../../../src/query/engine/worker.ts", import.meta.url).href
const START = Date.parse("2026-11-21T10:00:00Z")
const QUERY: Query = {
  site: SITE,
  range: { from: START, to: START + 86_400_000 },
  timezone: "UTC",
  now: START,
  metrics: ["visitors", "pageviews"],
  groupings: [{ by: "dimension", dimension: "page" }],
  order: [{ by: "metric", index: 0, descending: true }],
  limit: 10,
  offset: 0,
  fillBuckets: false,
}
const caller = { organizationId: 1 }

test("a worker sees everything committed before the query", async () => {
  using traffic = openTraffic(START)
  const engine = openEngine({ workerUrl, path: traffic.path, cacheBytes: 8 << 20, workers: 1 })
  expect(await engine.aggregate(QUERY, caller)).toEqual({ rows: [], totalRows: 0, otherCurrencies: [] })
  for (let visitor = 0; visitor < 3; visitor++) {
    traffic.visit({ visitor, events: [{ at: START + 60_000 - visitor, page: "/a" }] })
    expect(await engine.aggregate(QUERY, caller)).toMatchObject({ rows: [{ keys: ["/a"], values: [visitor + 1, visitor + 1] }] })
  }
  await traffic.seal()
  expect(await engine.aggregate(QUERY, caller)).toMatchObject({ rows: [{ keys: ["/a"], values: [3, 3] }] })
  expect(await engine.realtime({ site: SITE, now: START + 60_000, limit: 5 }, caller)).toMatchObject({ visitors: 3 })
  const steps = [{ type: "page", match: "exact", value: "/a" } as const, { type: "page", match: "exact", value: "/b" } as const]
  const funnel = { site: SITE, range: QUERY.range, steps, order: "sequential" as const }
  expect(await engine.funnel(funnel, caller)).toEqual({ steps: [{ visitors: 3 }, { visitors: 0 }] })
  await engine.close()
})

test("a cancelled query ends at its next check, and the worker continues", async () => {
  using traffic = openTraffic(START)
  traffic.visit({ visitor: 1, events: [{ at: START, page: "/a" }] })
  let reply = Promise.withResolvers<FromWorker>()
  const thread = startThread(
    { workerUrl, path: traffic.path, cacheBytes: 8 << 20 },
    (message) => reply.resolve(message),
    () => {},
  )
  thread.stop()
  thread.ask({ kind: "aggregate", query: QUERY })
  expect(await reply.promise).toEqual({ type: "failure", code: "unavailable", detail: "The query was cancelled." })
  reply = Promise.withResolvers<FromWorker>()
  thread.resume()
  thread.ask({ kind: "aggregate", query: QUERY })
  expect(await reply.promise).toMatchObject({ type: "answer", answer: { totalRows: 1 } })
  thread.end()
})

test("reports an unreadable store, and reads it as soon as it becomes readable", async () => {
  using folder = temporaryFolder()
  using traffic = openTraffic(START)
  const engine = openEngine({ workerUrl, path: `${folder.path}/nothing.db`, cacheBytes: 8 << 20, workers: 1 })
  await expect(engine.aggregate(QUERY, caller)).rejects.toMatchObject({ code: "unavailable" })
  rmSync(`${folder.path}/nothing.db`, { force: true })
  traffic.visit({ visitor: 1, events: [{ at: START }] })
  copyEventFile(traffic.path, `${folder.path}/nothing.db`)
  expect(await engine.aggregate(QUERY, caller)).toMatchObject({ totalRows: 1 })
  await engine.close()
})
