import { expect, test } from "bun:test"
import type { Query } from "../../../src/domain/query.ts"
import { Pool } from "../../../src/query/engine/pool.ts"
import type { Task } from "../../../src/query/engine/queries.ts"
import { createSlowQueries, type Ending, type SlowQuery } from "../../../src/query/engine/slow-queries.ts"
import { fixedClock } from "../../kit.ts"
import { AT_ONCE, UNTIL_STOPPED } from "./scripted-worker.ts"

const NOW = Date.UTC(2026, 10, 21, 12)
const DAY_MS = 86_400_000
const GOAL = { id: 1, name: "a", kind: "event", match: "exact", value: "a" } as const
const SITE = { id: 7, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }

const lastMatch = (site: number): Extract<Task, { kind: "lastMatch" }> => ({
  kind: "lastMatch",
  query: { site: { id: site }, goal: GOAL },
})
const aggregate = (groupings: Query["groupings"]): Task => ({
  kind: "aggregate",
  query: {
    site: SITE,
    range: { from: NOW - 28 * DAY_MS + 1, to: NOW },
    timezone: "UTC",
    now: NOW,
    metrics: ["visitors"],
    groupings,
    filter: { op: "is", dimension: "page", values: ["/private"], missing: false, caseSensitive: true },
    order: [],
    limit: 10,
    offset: 0,
    fillBuckets: false,
  },
})

function openSlow() {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const slow = createSlowQueries(clock)
  const take = (task: Task, ms: number) => {
    const watched = slow.watch(task)
    watched.begun()
    clock.advance(ms)
    watched.over("answered")
  }
  return { ...slow, clock, take }
}

test("keeps a slow query's kind, site and number of days, but none of its filters", () => {
  const { take, list } = openSlow()
  take(aggregate([]), 1_000)
  take(aggregate([{ by: "time", interval: "day" }]), 2_000)
  take(aggregate([{ by: "dimension", dimension: "page" }]), 3_000)
  take({ kind: "rowTables", statement: { text: "select secret", values: [] }, maxRows: 1 }, 4_000)
  expect(list().map(({ kind, siteId, rangeDays, tookMs }) => [kind, siteId, rangeDays, tookMs])).toEqual([
    ["row_tables", undefined, undefined, 4_000],
    ["breakdown", 7, 28, 3_000],
    ["timeseries", 7, 28, 2_000],
    ["summary", 7, 28, 1_000],
  ])
  expect(JSON.stringify(list())).not.toMatch(/private|secret|page/)
})

test("keeps the last hundred slow queries and no fast ones", () => {
  const { take, list } = openSlow()
  take(lastMatch(1), 999)
  expect(list()).toEqual([])
  for (let site = 1; site <= 101; site++) take(lastMatch(site), 1_000)
  expect(list()).toHaveLength(100)
  expect([list()[0]!.siteId, list().at(-1)!.siteId]).toEqual([101, 2])
})

test("distinguishes waiting from execution, and records how a query ended", async () => {
  const { watch, list, clock } = openSlow()
  const pool = new Pool({
    workerUrl: new URL("./scripted-worker.ts", import.meta.url).href,
    path: "unused",
    cacheBytes: 0,
    workers: 1,
    watch,
  })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const ask = (site: number, signal?: AbortSignal) => pool.ask(lastMatch(site), { organizationId: 1, ...(signal && { signal }) })
  const answers = [ask(UNTIL_STOPPED, running.signal), ask(UNTIL_STOPPED, waiting.signal), ask(AT_ONCE)]
  clock.advance(2_000)
  waiting.abort()
  running.abort()
  await Promise.allSettled(answers)
  pool.close()
  const entry = (siteId: number, waitedMs: number, ending: Ending): SlowQuery => ({
    at: NOW + 2_000,
    kind: "last_match",
    siteId,
    rangeDays: undefined,
    waitedMs,
    tookMs: 2_000,
    ending,
  })
  expect(list().toReversed()).toEqual([
    entry(UNTIL_STOPPED, 2_000, "left"),
    entry(UNTIL_STOPPED, 0, "left"),
    entry(AT_ONCE, 2_000, "answered"),
  ])
})

test("marks a query that timed out as late", async () => {
  const { watch, list, clock } = openSlow()
  const workerUrl = new URL("./scripted-worker.ts", import.meta.url).href
  const pool = new Pool({ workerUrl, path: "unused", cacheBytes: 0, workers: 1, timeoutMs: 50, watch })
  const answer = pool.ask(lastMatch(UNTIL_STOPPED), { organizationId: 1 })
  clock.advance(15_000)
  await expect(answer).rejects.toMatchObject({ code: "query_timeout" })
  pool.close()
  expect(list()).toMatchObject([{ ending: "late", tookMs: 15_000 }])
})
