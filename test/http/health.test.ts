import { expect, test } from "bun:test"
import { openTarget } from "./target.ts"

test("health reports ok, or degraded with reasons, and nothing else", async () => {
  await using target = await openTarget()
  const ask = async (path: string) => {
    const answer = await fetch(target.url + path)
    return { status: answer.status, body: await answer.json() }
  }
  expect(await ask("/health")).toEqual({ status: 200, body: { status: "ok" } })
  expect(await ask("/health/live")).toEqual({ status: 200, body: { status: "ok" } })
  target.health.enter("backup_stale")
  expect(await ask("/health")).toEqual({ status: 200, body: { status: "ok" } })
  target.health.enter("storage_full")
  const degraded = { status: "degraded", reasons: [{ code: "storage_full", since: "2026-11-21T12:00:00.000Z" }] }
  expect(await ask("/health")).toEqual({ status: 503, body: degraded })
  expect(await ask("/health/live")).toEqual({ status: 200, body: { status: "ok" } })
  target.health.leave("storage_full")
  expect(await ask("/health")).toEqual({ status: 200, body: { status: "ok" } })
})

test("a stopping instance rejects requests but still reports its health", async () => {
  await using target = await openTarget()
  target.health.enter("stopping")
  const event = await fetch(`${target.url}/api/event`, { method: "POST", body: '{"n":"pageview","u":"https://shop.example/"}' })
  expect({ status: event.status, wait: event.headers.get("retry-after"), body: await event.json() }).toMatchObject({
    status: 503,
    wait: "1",
    body: { code: "unavailable" },
  })
  expect((await fetch(`${target.url}/api/public/v1/sites/1/stats/summary`)).status).toBe(503)
  expect((await fetch(`${target.url}/health`)).status).toBe(503)
  expect((await fetch(`${target.url}/health/live`)).status).toBe(200)
  target.health.leave("stopping")
  expect(await target.pageviews()).toBe(0)
})
