import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Job } from "../../../src/domain/job.ts"
import { JOBS } from "../../../src/domain/limits.ts"
import type { JobKind } from "../../../src/services/jobs/jobs.ts"
import { createJobQueue } from "../../../src/services/jobs/queue.ts"
import { createJobSlots, createSchedules } from "../../../src/services/jobs/schedules.ts"
import { openCatalog } from "../../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate } from "../../../src/store/catalog/schema.ts"
import { sql } from "../../../src/store/sql.ts"
import { libsqlServer } from "../../fakes/libsql-server.ts"
import { fixedClock, memoryLog, random, temporaryFolder } from "../../kit.ts"

/** Opens the jobs of several nodes, which share a catalog on a server. Each has its own connection, and its own clock. */
async function openNodes(kindsOf: (node: number) => Record<string, Partial<JobKind>>) {
  const folder = temporaryFolder()
  const server = await libsqlServer(join(folder.path, "server"))
  const live: number[] = []
  const closing: (() => Promise<void>)[] = []
  const open = async (own: number) => {
    live.push(own)
    const catalog = await openCatalog(server.url)
    const clock = fixedClock("2026-11-21T12:00:00Z")
    await migrate(catalog, [CATALOG_SCHEMA], { version: "0.1.0", now: clock.now() })
    const nodes = { own, live: () => live }
    const jobs = createJobQueue({ catalog, clock, log: memoryLog(), random, nodes })
    for (const [name, kind] of Object.entries(kindsOf(own))) jobs.define(name, { interrupted: "resume", run: async () => {}, ...kind })
    closing.push(async () => {
      await jobs.stop()
      await catalog.close()
    })
    return { jobs, catalog, clock, slots: createJobSlots({ catalog, clock, random, nodes }) }
  }
  const [one, two] = [await open(1), await open(2)]
  const states = () => two.catalog.all<Pick<Job, "id" | "state">>(sql`select id, state from jobs order by id`)
  return {
    one,
    two,
    states,
    /** Lets the time of all leases pass. */
    expire: () => two.catalog.run(sql`update jobs set leased_until = leased_until - ${JOBS.leaseMs}`),
    url: server.url,
    async [Symbol.asyncDispose]() {
      for (const close of closing) await close()
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test("another node takes over a job whose lease is over, and the first can neither continue nor end it", async () => {
  const seen: [node: number, payload: unknown][] = []
  const refusals: string[] = []
  const [paused, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using nodes = await openNodes((node) => ({
    "a.do-it": {
      async run({ payload, save, signal }) {
        seen.push([node, payload])
        if (node === 2) return finished.promise
        await save({ at: 5 })
        await paused.promise
        await save({ at: 9 }).catch((error) => refusals.push(error.message))
        signal.throwIfAborted()
      },
    },
  }))
  const { one, two } = nodes
  await one.jobs.enqueue({ kind: "a.do-it", payload: { at: 0 } })
  await one.jobs.tick()
  while (seen.length === 0) await Bun.sleep(1)
  await two.jobs.recover()
  await two.jobs.drain()
  expect(await nodes.states()).toEqual([{ id: 1, state: "running" }])
  await nodes.expire()
  await two.jobs.tick()
  await one.jobs.tick()
  paused.resolve()
  await one.jobs.drain()
  expect(await nodes.states()).toEqual([{ id: 1, state: "running" }])
  finished.resolve()
  await two.jobs.drain()
  expect(seen).toEqual([
    [1, { at: 0 }],
    [2, { at: 5 }],
  ])
  expect(refusals).toEqual(["Another process has ended this job or taken it over"])
  expect(await two.jobs.get(1)).toMatchObject({ state: "done", attempts: 2, error_code: null })
})

test("renews the leases of running jobs, so that no other node takes them over", async () => {
  const finished = Promise.withResolvers<void>()
  await using nodes = await openNodes(() => ({ "a.do-it": { run: () => finished.promise } }))
  const { one, two } = nodes
  await one.jobs.enqueue({ kind: "a.do-it" })
  await one.jobs.tick()
  await nodes.expire()
  one.clock.advance(JOBS.leaseMs / 3)
  await one.jobs.tick()
  await two.jobs.tick()
  finished.resolve()
  await one.jobs.drain()
  expect(await two.jobs.get(1)).toMatchObject({ state: "done", attempts: 1 })
})

test("runs one job of a kind and key at a time on all nodes together", async () => {
  let running = 0
  let most = 0
  const run = async () => {
    most = Math.max(most, ++running)
    await Bun.sleep(5)
    running--
  }
  await using nodes = await openNodes(() => ({ "a.same-key": { run } }))
  for (let i = 0; i < 6; i++) await nodes.one.jobs.enqueue({ kind: "a.same-key", key: "x" })
  while ((await nodes.states()).some(({ state }) => state !== "done"))
    await Promise.all([nodes.one.jobs.tick(), nodes.two.jobs.tick(), Bun.sleep(1)])
  expect(most).toBe(1)
})

test("jobs on a data folder run on the node that enqueued them, and scheduled ones on every live node", async () => {
  const runs: [kind: string, node: number][] = []
  await using nodes = await openNodes((node) => {
    const run: JobKind["run"] = async ({ job }) => void runs.push([job.kind, node])
    return { "a.write-file": { run, onDisk: true }, "a.delete-files": { run, onDisk: true }, "a.send-mail": { run } }
  })
  const { one, two } = nodes
  await two.jobs.enqueue({ kind: "a.write-file" })
  await one.jobs.drain()
  expect(runs).toEqual([])
  const schedules = createSchedules({ ...one, timezone: "UTC" })
  for (const kind of ["a.delete-files", "a.send-mail"]) schedules.declare(kind, { cron: "30 12 * * *" })
  await schedules.start()
  one.clock.advance(3_600_000)
  two.clock.advance(3_600_000)
  await schedules.tick()
  await one.jobs.drain()
  await two.jobs.drain()
  expect(runs).toEqual([
    ["a.delete-files", 1],
    ["a.send-mail", 1],
    ["a.write-file", 2],
    ["a.delete-files", 2],
  ])
})

test("cancels and follows a job that another node runs", async () => {
  const ended: string[] = []
  await using nodes = await openNodes(() => ({
    "a.do-it": {
      async run({ signal, progress }) {
        progress({ phase: "half", done: 1, total: 2 })
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
        ended.push("aborted")
        signal.throwIfAborted()
      },
    },
  }))
  const { one, two } = nodes
  const seen: unknown[] = []
  two.jobs.watch(1, ({ state, progress }) => seen.push([state, progress?.phase]))
  await one.jobs.enqueue({ kind: "a.do-it" })
  await one.jobs.tick()
  while ((await two.jobs.get(1))?.progress == null) await Bun.sleep(1)
  await two.jobs.tick()
  expect(await two.jobs.cancel(1)).toMatchObject({ state: "cancelled" })
  await one.jobs.drain()
  expect(ended).toEqual(["aborted"])
  expect(seen).toEqual([
    ["running", "half"],
    ["cancelled", "half"],
  ])
  expect(await nodes.states()).toEqual([{ id: 1, state: "cancelled" }])
})

test("upkeep runs once per slot on all nodes, or once on each if it is on the data folder", async () => {
  const runs: string[] = []
  await using nodes = await openNodes(() => ({}))
  const { one, two } = nodes
  const shared = { name: "check-updates", due: "2026-11-21" }
  const own = { name: "back-up", due: "2026-11-21", onDisk: true }
  for (const [node, { slots }] of [one, two].entries())
    for (const slot of [shared, own]) await slots.once(slot, async () => runs.push(`${slot.name} ${node + 1}`))
  expect(runs).toEqual(["check-updates 1", "back-up 1", "back-up 2"])
  // A node that died during its slot leaves it to the others.
  const never = one.slots.once({ ...shared, due: "2026-11-22" }, () => new Promise(() => {}))
  expect(never).toBeInstanceOf(Promise)
  while ((await nodes.states()).length < 4) await Bun.sleep(1)
  const again = () => two.slots.once({ ...shared, due: "2026-11-22" }, async () => runs.push("check-updates 2"))
  expect(await again()).toBe(false)
  await nodes.expire()
  await two.jobs.tick()
  expect(await again()).toBe(true)
  expect(await again()).toBe(false)
})

test("another node resumes the job of a process that was killed", async () => {
  await using nodes = await openNodes(() => ({ "a.do-it": {} }))
  const { two } = nodes
  await two.jobs.enqueue({ kind: "a.do-it" })
  const killed = Bun.spawn(["bun", join(import.meta.dir, "hanging-node.ts"), nodes.url], { stdout: "pipe", stderr: "inherit" })
  for await (const _ of killed.stdout) break
  killed.kill("SIGKILL")
  await killed.exited
  await two.jobs.drain()
  expect(await nodes.states()).toEqual([{ id: 1, state: "running" }])
  await nodes.expire()
  await two.jobs.drain()
  expect(await two.jobs.get(1)).toMatchObject({ state: "done", attempts: 2 })
})
