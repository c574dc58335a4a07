import { expect, test } from "bun:test"
import { Pool } from "../../../src/query/engine/pool.ts"
import { AT_ONCE, BUG, DEAF, DIES, UNTIL_STOPPED } from "./scripted-worker.ts"

const workerUrl = new URL("./scripted-worker.ts", import.meta.url).href
const GOAL = { id: 1, name: "a", kind: "event", match: "exact", value: "a" } as const

function openPool(more: { workers?: number; timeoutMs?: number; graceMs?: number } = {}) {
  const pool = new Pool({ workerUrl, path: "unused", cacheBytes: 0, workers: 1, ...more })
  const ask = (site: number, organizationId = 1, signal?: AbortSignal) =>
    pool.ask({ kind: "lastMatch", query: { site: { id: site }, goal: GOAL } }, { organizationId, ...(signal && { signal }) })
  return { ask, close: () => pool.close(), [Symbol.dispose]: () => pool.close() }
}

/** The code of an AppError, or the message of another one. */
const outcome = (answer: Promise<unknown>) =>
  answer.then(
    (value) => value,
    (error) => error.code ?? error.message,
  )

test("questions are answered one after another", async () => {
  using pool = openPool()
  expect(await Promise.all([pool.ask(AT_ONCE), pool.ask(AT_ONCE), pool.ask(AT_ONCE)])).toEqual([1, 2, 3])
})

test("several workers answer at the same time", async () => {
  using pool = openPool({ workers: 2 })
  const stuck = outcome(pool.ask(UNTIL_STOPPED))
  expect(await pool.ask(AT_ONCE)).toBe(1)
  pool.close()
  expect(await stuck).toBe("unavailable")
})

test("a question ends when its time is up, counted from its arrival, and the next one goes on", async () => {
  using pool = openPool({ timeoutMs: 300 })
  const asked = performance.now()
  const answers = [outcome(pool.ask(UNTIL_STOPPED)), outcome(pool.ask(UNTIL_STOPPED))]
  expect(await Promise.all(answers)).toEqual(["query_timeout", "query_timeout"])
  // The second one has waited behind the first and is no later for it.
  expect(performance.now() - asked).toBeLessThan(600)
  // Whether the second one came to run in its last moment does not matter.
  expect(await pool.ask(AT_ONCE)).toBeNumber()
})

test("a late answer says when to try again", async () => {
  using pool = openPool({ timeoutMs: 20 })
  expect(pool.ask(UNTIL_STOPPED)).rejects.toMatchObject({ code: "query_timeout", members: { retry_after: 5 } })
})

test("a question that is given up ends, whether it runs, waits, or has not begun", async () => {
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

test("a worker that dies takes its own question with it, and is replaced", async () => {
  using pool = openPool()
  const answers = [outcome(pool.ask(AT_ONCE)), outcome(pool.ask(DIES)), outcome(pool.ask(AT_ONCE)), outcome(pool.ask(AT_ONCE))]
  expect(await Promise.all(answers)).toEqual([1, "unavailable", 1, 2])
})

test("a worker that does not hear that its question was given up is replaced", async () => {
  using pool = openPool({ timeoutMs: 50, graceMs: 50 })
  expect(await pool.ask(AT_ONCE)).toBe(1)
  expect(await outcome(pool.ask(DEAF))).toBe("query_timeout")
  // The deaf one would hold its place for a minute.
  const answered = async () => {
    for (;;) {
      const answer = await outcome(pool.ask(AT_ONCE))
      if (answer !== "query_timeout") return answer
    }
  }
  expect(await answered()).toBeNumber()
})

test("a bug in a worker is an error with its cause, and the worker goes on", async () => {
  using pool = openPool()
  expect(await Promise.all([outcome(pool.ask(BUG)), outcome(pool.ask(AT_ONCE))])).toEqual(["A query worker failed: a bug", 2])
})

test("of one organization 8 are admitted and 32 wait, the rest are refused; others go on meanwhile", async () => {
  using pool = openPool()
  const giveUp = new AbortController()
  const stuck = Array.from({ length: 8 }, () => outcome(pool.ask(UNTIL_STOPPED, 1, giveUp.signal)))
  const waiting = Array.from({ length: 32 }, () => outcome(pool.ask(AT_ONCE, 1)))
  const other = outcome(pool.ask(AT_ONCE, 2))
  expect(await outcome(pool.ask(AT_ONCE, 1))).toBe("rate_limited")
  giveUp.abort()
  expect(await Promise.all(stuck)).toEqual(Array(8).fill("unavailable"))
  // The other organization's question was in the pool before the 32 that waited to be admitted.
  expect(await other).toBe(2)
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 32 }, (_, i) => i + 3))
  expect(await outcome(pool.ask(AT_ONCE, 1))).toBe(35)
})

test("when 256 wait on the instance, one more is refused", async () => {
  using pool = openPool()
  const giveUp = new AbortController()
  const running = outcome(pool.ask(UNTIL_STOPPED, 1_000, giveUp.signal))
  const waiting = Array.from({ length: 256 }, (_, i) => outcome(pool.ask(AT_ONCE, i % 10)))
  expect(await outcome(pool.ask(AT_ONCE, 99))).toBe("unavailable")
  giveUp.abort()
  expect(await running).toBe("unavailable")
  expect((await Promise.all(waiting)).every((answer) => typeof answer === "number")).toBeTrue()
})

test("closing ends what runs and what waits, and refuses what comes later", async () => {
  const pool = openPool()
  const answers = [outcome(pool.ask(UNTIL_STOPPED)), outcome(pool.ask(AT_ONCE))]
  pool.close()
  expect(await Promise.all(answers)).toEqual(["unavailable", "unavailable"])
  expect(await outcome(pool.ask(AT_ONCE))).toBe("unavailable")
})
