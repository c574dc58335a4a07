import { expect, test } from "bun:test"
import { openTarget } from "../target.ts"

const SUMMARY = "/api/public/v1/sites/1/stats/summary"

test("limits a key's requests, independently of other keys, and refills over time", async () => {
  await using target = await openTarget({ api_rate_limit: "5" })
  const ask = (key: string, path = SUMMARY) => fetch(target.url + path, { headers: { authorization: `Bearer ${key}` } })
  for (let left = 4; left >= 0; left--) {
    const answer = await ask(target.keys.stats)
    expect({ status: answer.status, left: answer.headers.get("x-ratelimit-remaining") }).toEqual({ status: 200, left: String(left) })
  }
  const refused = await ask(target.keys.stats)
  expect({ status: refused.status, wait: refused.headers.get("retry-after"), limit: refused.headers.get("ratelimit") }).toEqual({
    status: 429,
    wait: "12",
    limit: '"default";r=0;t=60',
  })
  expect(await refused.json()).toMatchObject({ code: "rate_limited", status: 429 })
  // Checked after the scope and before the site is looked up.
  expect((await ask(target.keys.stats, "/api/public/v1/sites/99/stats/summary")).status).toBe(429)
  expect((await ask(target.keys.stats, "/api/public/v1/sites/1/events")).status).toBe(405)
  expect((await ask(target.keys.all)).status).toBe(200)
  target.clock.advance(12_000)
  expect((await ask(target.keys.stats)).status).toBe(200)
  expect((await ask(target.keys.stats)).status).toBe(429)
})

test("throttles a client that guesses keys, but not a valid key from the same address", async () => {
  await using target = await openTarget()
  const ask = (key: string, from = "203.0.113.7") =>
    fetch(target.url + SUMMARY, { headers: { authorization: `Bearer ${key}`, "x-forwarded-for": from } })
  for (let i = 0; i < 60; i++) expect((await ask(target.unknownKey)).status).toBe(401)
  const refused = await ask(target.unknownKey)
  expect({ status: refused.status, wait: refused.headers.get("retry-after") }).toEqual({ status: 429, wait: "1" })
  expect((await ask(target.keys.stats)).status).toBe(200)
  expect((await ask(target.unknownKey, "203.0.113.8")).status).toBe(401)
  target.clock.advance(1_000)
  expect((await ask(target.unknownKey)).status).toBe(401)
  expect((await ask(target.unknownKey)).status).toBe(429)
})

test("an IPv6 network of 64 bits is throttled as one client", async () => {
  await using target = await openTarget()
  const ask = (from: string) =>
    fetch(target.url + SUMMARY, { headers: { authorization: `Bearer ${target.unknownKey}`, "x-forwarded-for": from } })
  for (let i = 0; i < 60; i++) expect((await ask(`2001:db8:1:2::${i.toString(16)}`)).status).toBe(401)
  expect((await ask("2001:db8:1:2:ffff::1")).status).toBe(429)
  expect((await ask("2001:db8:1:3::1")).status).toBe(401)
})
