import { expect, test } from "bun:test"
import { AppError } from "../../../src/domain/error.ts"
import type { Job } from "../../../src/domain/job.ts"
import { formatProgress } from "../../../src/domain/job.ts"
import type { JobKind, Jobs } from "../../../src/services/jobs/jobs.ts"
import { createJobQueue } from "../../../src/services/jobs/queue.ts"
import { sql } from "../../../src/store/sql.ts"
import { memoryLog, temporaryFolder } from "../../kit.ts"
import { openCatalogWith } from "../catalog-kit.ts"

const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 50 }

/** Opens jobs on a real catalog. `open` creates the queue of a later process on the same catalog. */
async function openQueue(kinds: Record<string, Partial<JobKind>>) {
  const folder = temporaryFolder()
  const { catalog, clock } = await openCatalogWith(folder.path)
  const log = memoryLog()
  const open = (): Jobs => {
    const jobs = createJobQueue({ catalog, clock, log, random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)) })
    for (const [name, kind] of Object.entries(kinds)) jobs.define(name, { interrupted: "resume", run: async () => {}, ...kind })
    return jobs
  }
  const jobs = open()
  const rows = () => catalog.all<Pick<Job, "id" | "state">>(sql`select id, state from jobs order by id`)
  return {
    jobs,
    catalog,
    clock,
    log,
    rows,
    open,
    async [Symbol.asyncDispose]() {
      await jobs.stop()
      await catalog.close()
      folder[Symbol.dispose]()
    },
  }
}

test("runs a job after its commit and records the outcome", async () => {
  const seen: unknown[] = []
  await using queue = await openQueue({ "a.do-it": { run: async ({ payload }) => void seen.push(payload) } })
  const { jobs, catalog, rows } = queue
  const rolledBack = catalog.transaction(async (statements) => {
    await jobs.enqueue({ kind: "a.do-it", payload: "never" }, statements)
    throw new Error("made up")
  })
  await expect(rolledBack).rejects.toThrow("made up")
  await catalog.transaction(async (statements) => void (await jobs.enqueue({ kind: "a.do-it", payload: { n: 1 } }, statements)))
  await jobs.drain()
  expect(seen).toEqual([{ n: 1 }])
  expect(await rows()).toEqual([{ id: 1, state: "done" }])
  expect(await jobs.get(1)).toMatchObject({ attempts: 1, error_code: null, finished_at: expect.any(Number) })
  expect(jobs.enqueue({ kind: "a.no-such" })).rejects.toThrow("No job is called a.no-such")
})

test("runs one job per kind and key at a time, and as many per kind as the kind allows", async () => {
  let running = 0
  let most = 0
  const run = async () => {
    most = Math.max(most, ++running)
    await Bun.sleep(50)
    running--
  }
  await using queue = await openQueue({ "a.same-key": { run }, "a.two-keys": { run, atOnce: 3 } })
  for (let i = 0; i < 4; i++) await queue.jobs.enqueue({ kind: "a.same-key", key: "x" })
  await queue.jobs.drain()
  expect(most).toBe(1)
  for (let i = 0; i < 8; i++) await queue.jobs.enqueue({ kind: "a.two-keys", key: String(i) })
  await queue.jobs.drain()
  expect(most).toBe(3)
  expect((await queue.rows()).every(({ state }) => state === "done")).toBe(true)
})

test("retries a job that throws with increasing delays, then fails it with a public message", async () => {
  let tries = 0
  const run = async () => {
    tries++
    throw tries < 3 ? new Error("an internal detail") : new AppError("limit_reached", "There are too many of them.")
  }
  await using queue = await openQueue({ "a.try-it": { run, attempts: 3 } })
  const { jobs, clock, log } = queue
  await jobs.enqueue({ kind: "a.try-it" })
  await jobs.drain()
  const first = {
    state: "queued",
    attempts: 1,
    error_code: "internal_error",
    error_message: "An internal error occurred. See the log of the instance.",
  }
  expect(await jobs.get(1)).toMatchObject(first)
  clock.advance(29_000)
  await jobs.drain()
  expect(tries).toBe(1)
  clock.advance(1_000)
  await jobs.drain()
  expect(tries).toBe(2)
  clock.advance(60_000)
  await jobs.drain()
  expect(await jobs.get(1)).toMatchObject({
    state: "failed",
    attempts: 3,
    error_code: "limit_reached",
    error_message: "There are too many of them.",
  })
  expect(log.lines.map(({ message, fields }) => [message, fields?.kind])).toEqual([
    ["a job failed", "a.try-it"],
    ["a job failed", "a.try-it"],
  ])
})

test("handles a job interrupted by a crash by its kind's rule, and resumes it from its saved progress", async () => {
  const seen: unknown[] = []
  const never = () => new Promise<void>(() => {})
  const kinds: Record<string, Partial<JobKind>> = {
    "a.resume-it": {
      interrupted: "resume",
      run: async ({ payload, save }) => {
        seen.push(payload)
        if (seen.length > 1) return
        await save({ at: 5 })
        await never()
      },
    },
    "a.fail-it": { interrupted: "fail", run: never },
  }
  await using queue = await openQueue(kinds)
  await queue.jobs.enqueue({ kind: "a.resume-it", payload: { at: 0 } })
  await queue.jobs.enqueue({ kind: "a.fail-it" })
  await queue.jobs.enqueue({ kind: "a.resume-it", key: "other", runAt: queue.clock.now() + 1 })
  await queue.jobs.tick()
  while (seen.length === 0) await Bun.sleep(1)
  await Bun.sleep(10)
  const after = queue.open()
  await queue.catalog.run(sql`update jobs set kind = 'gone.do-it' where kind = 'never'`)
  await after.recover()
  expect(await after.get(2)).toMatchObject({ state: "failed", error_code: "interrupted" })
  await after.drain()
  expect(seen.slice(0, 2)).toEqual([{ at: 0 }, { at: 5 }])
  expect(await after.get(1)).toMatchObject({ state: "done", attempts: 2 })
  await after.stop()
})

test("gives up a job that repeatedly crashes the process", async () => {
  await using queue = await openQueue({ "a.kill-it": { interrupted: "resume" } })
  await queue.jobs.enqueue({ kind: "a.kill-it" })
  const states: string[] = []
  for (let crash = 0; crash < 7; crash++) {
    await queue.catalog.run(sql`update jobs set state = 'running', attempts = attempts + 1 where state = 'queued'`)
    await queue.open().recover()
    states.push((await queue.rows())[0]!.state)
  }
  expect(states).toEqual(["queued", "queued", "queued", "queued", "queued", "failed", "failed"])
})

test("a shutdown aborts running jobs and requeues them without using up an attempt", async () => {
  const ended: string[] = []
  const run: JobKind["run"] = async ({ signal, job }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    ended.push(job.kind)
    throw new Error("cut off")
  }
  await using queue = await openQueue({ "a.go-on": { run, interrupted: "resume" }, "a.give-up": { run, interrupted: "fail" } })
  await queue.jobs.enqueue({ kind: "a.go-on" })
  await queue.jobs.enqueue({ kind: "a.give-up" })
  await queue.jobs.tick()
  await queue.jobs.stop()
  expect(ended).toEqual(["a.go-on", "a.give-up"])
  expect(await queue.rows()).toEqual([
    { id: 1, state: "queued" },
    { id: 2, state: "failed" },
  ])
  expect(await queue.jobs.get(1)).toMatchObject({ attempts: 0 })
  await queue.jobs.tick()
  expect((await queue.rows())[0]).toEqual({ id: 1, state: "queued" })
  expect(queue.log.lines).toEqual([])
})

test("a job that ignores the abort delays the shutdown by at most three seconds", async () => {
  await using queue = await openQueue({ "a.be-deaf": { run: () => new Promise(() => {}) } })
  await queue.jobs.enqueue({ kind: "a.be-deaf" })
  await queue.jobs.tick()
  const begun = performance.now()
  await queue.jobs.stop()
  expect(performance.now() - begun).toBeWithin(2_900, 4_000)
}, 10_000)

test("cancels a queued or running job, and can restart it", async () => {
  let runs = 0
  const run: JobKind["run"] = async ({ signal }) => {
    if (++runs > 1) return
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    signal.throwIfAborted()
  }
  await using queue = await openQueue({ "a.do-it": { run } })
  const { jobs } = queue
  await jobs.enqueue({ kind: "a.do-it" })
  await jobs.enqueue({ kind: "a.do-it" })
  await jobs.tick()
  const written: string[] = []
  const alongside = async (_: unknown, job: Job) => void written.push(`${job.id} ${job.state}`)
  await jobs.cancel(2, alongside)
  await jobs.cancel(1, alongside)
  await jobs.drain()
  expect(await queue.rows()).toEqual([
    { id: 1, state: "cancelled" },
    { id: 2, state: "cancelled" },
  ])
  await jobs.cancel(1, alongside)
  expect(written).toEqual(["2 queued", "1 running"])
  expect(await jobs.retry(1)).toMatchObject({ state: "queued", attempts: 0 })
  await jobs.drain()
  expect((await queue.rows())[0]).toEqual({ id: 1, state: "done" })
  expect(jobs.retry(1)).rejects.toMatchObject({ code: "invalid_state", members: { state: "done" } })
  expect(await jobs.cancel(9)).toBeUndefined()
})

test("jobs of a disabled kind wait until it is enabled", async () => {
  let isOn = false
  await using queue = await openQueue({})
  queue.jobs.define("a.do-it", { interrupted: "resume", run: async () => {} }, () => isOn)
  await queue.jobs.enqueue({ kind: "a.do-it" })
  await queue.jobs.drain()
  expect((await queue.rows())[0]?.state).toBe("queued")
  isOn = true
  await queue.jobs.drain()
  expect((await queue.rows())[0]?.state).toBe("done")
})

test("joins a queued job of the same key and runs a slot once", async () => {
  await using queue = await openQueue({ "a.do-it": {} })
  const { jobs } = queue
  const make = async (more: object) => (await jobs.enqueue({ kind: "a.do-it", ...more }))?.id
  expect([await make({ join: true }), await make({ join: true }), await make({ join: true, key: "x" }), await make({})]).toEqual([
    1, 1, 2, 3,
  ])
  expect([await make({ slot: "monday" }), await make({ slot: "monday" }), await make({ slot: "tuesday" })]).toEqual([
    4,
    undefined,
    expect.any(Number),
  ])
})

test("reports progress immediately and stores it at intervals, including the last one", async () => {
  const reported: number[] = []
  const run: JobKind["run"] = async ({ progress }) => {
    for (let done = 1; done <= 100; done++) progress({ phase: "reading", done, total: 100 })
  }
  await using queue = await openQueue({ "a.do-it": { run } })
  await queue.jobs.enqueue({ kind: "a.do-it" })
  const unwatch = queue.jobs.watch(1, ({ progress }) => void reported.push(progress?.done ?? 0))
  await queue.jobs.drain()
  unwatch()
  expect(reported).toEqual([...Array.from({ length: 100 }, (_, i) => i + 1), 100])
  expect((await queue.open().get(1))?.progress).toEqual({ phase: "reading", done: 100, total: 100 })
})

test("formats progress with the share and the seconds left if the total is known", () => {
  const job = { state: "running", started_at: 0, progress: { phase: "reading", done: 25, total: 100 } } as Job
  expect(formatProgress(job, 10_000)).toEqual({ phase: "reading", done: 25, total: 100, fraction: 0.25, eta_s: 30 })
  expect(formatProgress({ ...job, progress: { phase: "reading", done: 25 } }, 10_000)).toEqual({ phase: "reading", done: 25 })
  expect(formatProgress({ ...job, state: "done" }, 10_000)).toEqual({ phase: "reading", done: 25, total: 100, fraction: 0.25 })
  expect(formatProgress({ ...job, progress: null }, 10_000)).toBeNull()
})

test("lists jobs by state, kind and site, newest first, and deletes them a month after their end", async () => {
  await using queue = await openQueue({ "a.do-it": {}, "b.do-it": {} })
  const { jobs, clock } = queue
  await jobs.enqueue({ kind: "a.do-it", siteId: 1 })
  await jobs.drain()
  clock.advance(31 * 86_400_000)
  await jobs.enqueue({ kind: "b.do-it", siteId: 1, key: "x" })
  await jobs.enqueue({ kind: "b.do-it", siteId: 2, runAt: clock.now() + 1 })
  const ids = async (filter: object) => (await jobs.list(filter, ALL)).map(({ id }) => id)
  expect([await ids({}), await ids({ siteId: 1 }), await ids({ kind: "b.do-it" }), await ids({ state: "done" })]).toEqual([
    [3, 2, 1],
    [2, 1],
    [3, 2],
    [1],
  ])
  expect((await jobs.list({}, { before: 3, limit: 1 })).map(({ id }) => id)).toEqual([2])
  await jobs.forgetOld()
  expect(await ids({})).toEqual([3, 2])
})

test("stores the outcome of a job as soon as the store accepts writes again", async () => {
  await using queue = await openQueue({ "a.do-it": {} })
  const { jobs, catalog, clock, log, rows } = queue
  await jobs.recover()
  await jobs.enqueue({ kind: "a.do-it" })
  await jobs.enqueue({ kind: "a.do-it", key: "other" })
  await catalog.script(
    "create trigger full before update on jobs when new.state = 'done' begin select raise(abort, 'database or disk is full'); end",
  )
  await jobs.drain()
  expect(await rows()).toEqual([
    { id: 1, state: "running" },
    { id: 2, state: "running" },
  ])
  expect(log.lines.map(({ message }) => message)).toContain("the end of a job could not be stored")
  // A cancellation in the meantime is not overwritten.
  expect(await jobs.cancel(2)).toMatchObject({ state: "cancelled" })
  await catalog.script("drop trigger full")
  clock.advance(1_000)
  await jobs.tick()
  expect(await rows()).toEqual([
    { id: 1, state: "done" },
    { id: 2, state: "cancelled" },
  ])
})
