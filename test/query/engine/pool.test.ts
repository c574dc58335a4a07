import { expect, test } from "bun:test"
import { Pool } from "../../../src/query/engine/pool.ts"
import { AT_ONCE, BUG, DEAF, DIES, ONCE_STOPPED, TEN_TIMES_STOPPED, UNTIL_STOPPED } from "./scripted-worker.ts"

const workerUrl = new URL("./scripted-worker.ts", import.meta.url).href
const GOAL = { id: 1, name: "a", kind: "event", match: "exact", value: "a" } as const

function openPool(more: { workers?: number; timeoutMs?: number; graceMs?: number } = {}) {
  const pool = new Pool({ workerUrl, path: "unused", cacheBytes: 0, workers: 1, ...more })
  const ask = (site: number, organizationId = 1, signal?: AbortSignal) =>
    pool.ask({ kind: "lastMatch", query: { site: { id: site }, goal: GOAL } }, { organizationId, ...(signal && { signal }) })
  const askLater = (site: number) =>
    pool.ask({ kind: "lastMatch", query: { site: { id: site }, goal: GOAL } }, { organizationId: 1, isBackground: true })
  return { ask, askLater, close: () => pool.close(), [Symbol.dispose]: () => pool.close() }
}

/** Resolves to the answer, the code of an AppError or the message of another error. */
const outcome = (answer: Promise<unknown>) =>
  answer.then(
    (value) => value,
    (error) => error.code ?? error.message,
  )

test("answers queries one after another", async () => {
  using pool = openPool()
  expect(await Promise.all([pool.ask(AT_ONCE), pool.ask(AT_ONCE), pool.ask(AT_ONCE)])).toEqual([1, 2, 3])
})

test("several workers answer concurrently", async () => {
  using pool = openPool({ workers: 2 })
  const stuck = outcome(pool.ask(UNTIL_STOPPED))
  expect(await pool.ask(AT_ONCE)).toBe(1)
  pool.close()
  expect(await stuck).toBe("unavailable")
})

test("a query times out, counted from its arrival, and the next one runs", async () => {
  using pool = openPool({ timeoutMs: 300 })
  const start = performance.now()
  const answers = [outcome(pool.ask(UNTIL_STOPPED)), outcome(pool.ask(UNTIL_STOPPED))]
  expect(await Promise.all(answers)).toEqual(["query_timeout", "query_timeout"])
  // The second one waited behind the first, but times out at the same moment.
  expect(performance.now() - start).toBeLessThan(600)
  // The result depends on whether the second one started to run before it timed out.
  expect(await pool.ask(AT_ONCE)).toBeNumber()
})

test("a timeout tells the client when to retry", async () => {
  using pool = openPool({ timeoutMs: 20 })
  expect(pool.ask(UNTIL_STOPPED)).rejects.toMatchObject({ code: "query_timeout", members: { retry_after: 5 } })
})

test("a cancelled query ends whether it is running, waiting or not yet submitted", async () => {
  using pool = openPool()
  const [running, waiting] = [new AbortController(), new AbortController()]
  const answers = [
    outcome(pool.ask(UNTIL_STOPPED, 1, running.signal)),
    outcome(pool.ask(AT_ONCE, 1, waiting.signal)),
    outcome(pool.ask(AT_ONCE, 1, AbortSignal.abort())),
  ]
  waiting.abort()
  running.abort()
  expect(await Promise.all(answers)).toEqual(["unavailable", "unavailable", "unavailable"])
  expect(await pool.ask(AT_ONCE)).toBe(2)
})

test("replaces a worker that dies, and fails only the query it was running", async () => {
  using pool = openPool()
  const answers = [outcome(pool.ask(AT_ONCE)), outcome(pool.ask(DIES)), outcome(pool.ask(AT_ONCE)), outcome(pool.ask(AT_ONCE))]
  expect(await Promise.all(answers)).toEqual([1, "unavailable", 1, 2])
})

test("replaces a worker that ignores a cancellation", async () => {
  using pool = openPool({ timeoutMs: 50, graceMs: 50 })
  expect(await pool.ask(AT_ONCE)).toBe(1)
  expect(await outcome(pool.ask(DEAF))).toBe("query_timeout")
  // The unresponsive worker would block its place for a minute.
  const answered = async () => {
    for (;;) {
      const answer = await outcome(pool.ask(AT_ONCE))
      if (answer !== "query_timeout") return answer
    }
  }
  expect(await answered()).toBeNumber()
})

test("a bug in a worker becomes an error with its cause, and the worker continues", async () => {
  using pool = openPool()
  expect(await Promise.all([outcome(pool.ask(BUG)), outcome(pool.ask(AT_ONCE))])).toEqual(["A query worker failed: a bug", 2])
})

test("admits 8 queries per organization, queues 32 and rejects the rest, without delaying other organizations", async () => {
  using pool = openPool()
  const giveUp = new AbortController()
  const stuck = Array.from({ length: 8 }, () => outcome(pool.ask(UNTIL_STOPPED, 1, giveUp.signal)))
  const waiting = Array.from({ length: 32 }, () => outcome(pool.ask(AT_ONCE, 1)))
  const other = outcome(pool.ask(AT_ONCE, 2))
  expect(await outcome(pool.ask(AT_ONCE, 1))).toBe("rate_limited")
  giveUp.abort()
  expect(await Promise.all(stuck)).toEqual(Array(8).fill("unavailable"))
  // The other organization's query entered the pool before the 32 queued ones.
  expect(await other).toBe(2)
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 32 }, (_, i) => i + 3))
  expect(await outcome(pool.ask(AT_ONCE, 1))).toBe(35)
})

test("rejects a query when 256 are queued on the instance", async () => {
  using pool = openPool()
  const giveUp = new AbortController()
  const running = outcome(pool.ask(UNTIL_STOPPED, 1_000, giveUp.signal))
  const waiting = Array.from({ length: 256 }, (_, i) => outcome(pool.ask(AT_ONCE, i % 10)))
  expect(await outcome(pool.ask(AT_ONCE, 99))).toBe("unavailable")
  giveUp.abort()
  expect(await running).toBe("unavailable")
  expect((await Promise.all(waiting)).every((answer) => typeof answer === "number")).toBeTrue()
})

test("closing ends running and queued queries and rejects later ones", async () => {
  const pool = openPool()
  const answers = [outcome(pool.ask(UNTIL_STOPPED)), outcome(pool.ask(AT_ONCE))]
  pool.close()
  expect(await Promise.all(answers)).toEqual(["unavailable", "unavailable"])
  expect(await outcome(pool.ask(AT_ONCE))).toBe("unavailable")
})

test("a query of the background gives way to one of a person, and starts again", async () => {
  using pool = openPool()
  // The worker answers with the number of queries that it has received.
  const later = pool.askLater(ONCE_STOPPED)
  expect(await pool.ask(AT_ONCE)).toBe(2)
  expect(await later).toBe(3)
})

test("a query of the background that gave way often runs to its end", async () => {
  using pool = openPool()
  const later = pool.askLater(TEN_TIMES_STOPPED)
  for (let count = 0; count < 10; count++) expect(await pool.ask(AT_ONCE)).toBe(2 + 2 * count)
  const next = pool.ask(AT_ONCE)
  expect(await later).toBe(21)
  expect(await next).toBe(22)
})

test("one query of the background runs at a time, however many workers there are", async () => {
  using pool = openPool({ workers: 2, timeoutMs: 5_000 })
  const order: string[] = []
  const first = outcome(pool.askLater(UNTIL_STOPPED)).then(() => order.push("first"))
  const second = pool.askLater(AT_ONCE).then(() => order.push("second"))
  // The other worker is free for people.
  expect(await pool.ask(AT_ONCE)).toBe(1)
  expect(await pool.ask(AT_ONCE)).toBe(2)
  expect(order).toEqual([])
  pool.close()
  await first
  await second.catch(() => {})
})
