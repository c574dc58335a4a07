import { expect, test } from "bun:test"
import { AppError } from "../../src/domain/error.ts"
import type { ExportType } from "../../src/domain/export.ts"
import { API } from "../../src/domain/limits.ts"
import { exportAnswers } from "../../src/http/export-file.ts"
import { apiLimits } from "../../src/http/limits.ts"
import { tokenBuckets } from "../../src/services/api-keys/token-buckets.ts"
import { shareOf } from "../../src/services/runtime/nodes.ts"
import { fixedClock, memoryLog } from "../kit.ts"

const KEY = { id: 7, rate_limit: null }

test("a bucket starts full and refills evenly", () => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const buckets = tokenBuckets(60, clock.now)
  for (let left = 59; left >= 0; left--) expect(buckets.take("a")).toEqual({ taken: true, remaining: left, retryAfter: left === 0 ? 1 : 0 })
  expect(buckets.take("a")).toEqual({ taken: false, remaining: 0, retryAfter: 1 })
  clock.advance(999)
  expect(buckets.take("a").taken).toBe(false)
  clock.advance(1)
  expect(buckets.take("a").taken).toBe(true)
  expect(buckets.take("a").taken).toBe(false)
  clock.advance(3_600_000)
  expect(buckets.peek("a").remaining).toBe(60)
})

test("buckets are independent, and reading one takes no token", () => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const buckets = tokenBuckets(1, clock.now)
  expect(buckets.peek("a").remaining).toBe(1)
  expect(buckets.take("a").taken).toBe(true)
  expect(buckets.take("a").taken).toBe(false)
  expect(buckets.take("b").taken).toBe(true)
})

test("a clock that is set back drains no bucket", () => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const buckets = tokenBuckets(2, clock.now)
  buckets.take("a")
  clock.advance(-3_600_000)
  expect(buckets.take("a").taken).toBe(true)
})

test("sets the headers of a key's limit, before and after taking a token", () => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const limits = apiLimits(2, clock.now)
  const headers: Record<string, unknown> = {}
  limits.show(KEY, headers)
  expect(headers).toEqual({
    "ratelimit-policy": '"default";q=2;w=60',
    ratelimit: '"default";r=2;t=60',
    "x-ratelimit-limit": "2",
    "x-ratelimit-remaining": "2",
    "x-ratelimit-reset": "1795262460",
  })
  limits.take(KEY, headers)
  expect(headers).toMatchObject({ ratelimit: '"default";r=1;t=60', "x-ratelimit-remaining": "1" })
  limits.take(KEY, headers)
  expect(() => limits.take(KEY, headers)).toThrow(AppError)
  expect(headers).toMatchObject({ ratelimit: '"default";r=0;t=60' })
})

test("several nodes divide a key's limit among those that are live", () => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  let live = [1, 2, 3]
  const limits = apiLimits(7, clock.now, { live: () => live })
  const headers: Record<string, unknown> = {}
  limits.take(KEY, headers)
  limits.take(KEY, headers)
  expect(headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0" })
  expect(() => limits.take(KEY, headers)).toThrow(AppError)
  clock.advance(60_000)
  live = [1]
  limits.take(KEY, headers)
  expect(headers).toMatchObject({ "x-ratelimit-limit": "7" })
  // Each of many nodes lets a request pass, and no limit stays none.
  expect(shareOf(2, { live: () => [1, 2, 3] })).toBe(1)
  expect(shareOf(0, { live: () => [1, 2, 3] })).toBe(0)
})

test("a key's own limit applies even if the instance has none", () => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const key = { id: 8, rate_limit: 3 }
  for (const usual of [0, 1, 600]) {
    const limits = apiLimits(usual, clock.now)
    const headers: Record<string, unknown> = {}
    for (let left = 2; left >= 0; left--) {
      limits.take(key, headers)
      expect(headers).toMatchObject({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": String(left) })
    }
    expect(() => limits.take(key, headers)).toThrow(AppError)
  }
})

test("0 disables the limit and its headers", () => {
  const headers = {}
  const limits = apiLimits(0, () => 0)
  for (let i = 0; i < 1_000; i++) limits.take(KEY, headers)
  limits.show(KEY, headers)
  expect(headers).toEqual({})
})

test("of several nodes, each allows its part of the exports of raw rows per hour", async () => {
  const { now } = fixedClock("2026-11-21T12:00:00Z")
  const answer = exportAnswers({ log: memoryLog(), now, nodes: { live: () => [1, 2, 3] } })
  async function* read() {
    yield new Uint8Array(1)
  }
  const ask = async (type: ExportType) =>
    (
      await answer({
        ...{ opened: { type, format: "csv", fileName: "a.csv", read }, request: new Request("http://localhost/"), server: null },
        ...{ caller: "key 1", requestId: "1" },
      })
    ).bytes()
  for (let taken = 0; taken < API.rowExportsPerHour / 3; taken++) await ask("events")
  await expect(ask("events")).rejects.toMatchObject({ code: "rate_limited", message: "You can export raw rows 20 times per hour." })
  expect(await ask("country")).toHaveLength(1)
})
