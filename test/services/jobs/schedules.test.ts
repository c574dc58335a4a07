import { expect, test } from "bun:test"
import { createJobQueue } from "../../../src/services/jobs/queue.ts"
import { createSchedules, nextRun, type Recurring } from "../../../src/services/jobs/schedules.ts"
import { temporaryFolder } from "../../kit.ts"
import { openCatalogWith } from "../catalog-kit.ts"
import { quiet } from "../stores-kit.ts"

const HOUR = 3_600_000

async function openSchedules(recurring: Recurring, now = "2026-11-21T12:00:00Z") {
  const folder = temporaryFolder()
  const { catalog, clock } = await openCatalogWith(folder.path, now)
  const runs: string[] = []
  let isOn = true
  const open = async () => {
    const jobs = createJobQueue({ catalog, clock, log: quiet, random: (bytes) => new Uint8Array(bytes) })
    jobs.define("a.do-it", { interrupted: "resume", run: async ({ job }) => void runs.push(job.slot ?? "") })
    const schedules = createSchedules({ catalog, clock, jobs, timezone: "Europe/Berlin" })
    schedules.declare("a.do-it", recurring, () => isOn)
    await schedules.start()
    return { jobs, schedules }
  }
  let { jobs, schedules } = await open()
  return {
    clock,
    runs,
    schedules: () => schedules,
    switchTo: (on: boolean) => {
      isOn = on
    },
    /** Simulates one second of the running process. */
    async second() {
      await schedules.tick()
      await jobs.drain()
    },
    async restart() {
      await jobs.stop()
      ;({ jobs, schedules } = await open())
    },
    async [Symbol.asyncDispose]() {
      await jobs.stop()
      await catalog.close()
      folder[Symbol.dispose]()
    },
  }
}

test("enqueues a job once, when it is due in its time zone", async () => {
  await using process = await openSchedules({ cron: "30 14 * * *" })
  const { clock, runs } = process
  clock.advance(1.5 * HOUR - 1_000)
  await process.second()
  expect(runs).toEqual([])
  clock.advance(1_000)
  await process.second()
  await process.second()
  expect(runs).toEqual(["2026-11-21T13:30:00.000Z"])
  const [schedule] = await process.schedules().list()
  expect(schedule).toEqual({
    name: "a.do-it",
    cron: "30 14 * * *",
    timezone: "Europe/Berlin",
    enabled: true,
    last_run_at: Date.parse("2026-11-21T13:30:00Z"),
    last_state: "done",
    next_run_at: Date.parse("2026-11-22T13:30:00Z"),
  })
  await process.restart()
  await process.second()
  expect(runs).toHaveLength(1)
})

test("makes up for the latest missed run, once", async () => {
  await using process = await openSchedules({ cron: "0 * * * *", timezone: "UTC" })
  process.clock.advance(5.5 * HOUR)
  await process.restart()
  await process.second()
  await process.second()
  expect(process.runs).toEqual(["2026-11-21T13:00:00.000Z"])
  process.clock.advance(0.5 * HOUR)
  await process.second()
  expect(process.runs).toEqual(["2026-11-21T13:00:00.000Z", "2026-11-21T18:00:00.000Z"])
})

test("skips runs that would find nothing to do, and shows the next one", async () => {
  let hasWork = false
  let tests = 0
  const recurring: Recurring = {
    cron: "* * * * *",
    timezone: "UTC",
    hasWork() {
      tests++
      return hasWork
    },
  }
  await using process = await openSchedules(recurring)
  const { clock, runs } = process
  const next = async () => new Date((await process.schedules().list())[0]!.next_run_at!).toISOString()
  for (let second = 0; second < 180; second++) {
    clock.advance(1_000)
    await process.second()
  }
  expect([runs, tests, await next()]).toEqual([[], 3, "2026-11-21T12:04:00.000Z"])
  hasWork = true
  clock.advance(59_000)
  await process.second()
  expect(runs).toEqual([])
  clock.advance(1_000)
  await process.second()
  expect([runs, await next()]).toEqual([["2026-11-21T12:04:00.000Z"], "2026-11-21T12:05:00.000Z"])
  // A skipped run is tested again after a start, as one that was missed.
  hasWork = false
  clock.advance(60_000)
  await process.second()
  await process.restart()
  hasWork = true
  await process.second()
  expect(runs).toEqual(["2026-11-21T12:04:00.000Z", "2026-11-21T12:05:00.000Z"])
})

test("runs a job whose test for work fails", async () => {
  const recurring: Recurring = { cron: "* * * * *", timezone: "UTC", hasWork: () => Promise.reject(new Error("made by the test")) }
  await using process = await openSchedules(recurring)
  process.clock.advance(60_000)
  await process.second()
  expect(process.runs).toEqual(["2026-11-21T12:01:00.000Z"])
})

test("a clock that jumps ahead and back repeats no run and omits none", async () => {
  await using process = await openSchedules({ cron: "0 3 * * *", timezone: "UTC" })
  const { clock, runs } = process
  clock.advance(24 * HOUR)
  await process.schedules().replan()
  await process.second()
  clock.advance(-24 * HOUR)
  await process.schedules().replan()
  await process.second()
  clock.advance(16 * HOUR)
  await process.second()
  clock.advance(24 * HOUR)
  await process.second()
  expect(runs).toEqual(["2026-11-22T03:00:00.000Z", "2026-11-23T03:00:00.000Z"])
})

test("every local day of a year has one run, including days of 23 and 25 hours", () => {
  const days: string[] = []
  for (let at = Date.parse("2026-01-01T00:00:00Z"); days.length < 365; ) {
    at = nextRun("30 2 * * *", "Europe/Berlin", at)!
    days.push(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("Europe/Berlin").toPlainDate().toString())
  }
  const first = Temporal.PlainDate.from("2026-01-01")
  expect(days).toEqual(Array.from({ length: 365 }, (_, day) => first.add({ days: day }).toString()))
})

test("enqueues nothing while the kind is disabled, and makes up for nothing later", async () => {
  await using process = await openSchedules({ cron: "0 * * * *" })
  process.switchTo(false)
  process.clock.advance(3 * HOUR)
  await process.second()
  process.switchTo(true)
  await process.second()
  expect(process.runs).toEqual([])
  process.clock.advance(HOUR)
  await process.second()
  expect(process.runs).toHaveLength(1)
})

test("a changed schedule survives a restart, and an invalid time is rejected", async () => {
  await using process = await openSchedules({ cron: "0 3 * * *", timezone: "UTC" })
  const next = Date.parse("2026-11-21T12:15:00Z")
  expect(await process.schedules().change("a.do-it", { cron: "15 12 * * *" })).toMatchObject({ cron: "15 12 * * *", next_run_at: next })
  await process.restart()
  expect(await process.schedules().list()).toMatchObject([{ cron: "15 12 * * *", next_run_at: next }])
  for (const cron of ["61 * * * *", "* * * *", "* * * * * *", "@daily", "0 3 30 2 *", ""])
    expect(process.schedules().change("a.do-it", { cron })).rejects.toMatchObject({ code: "validation_failed" })
  expect(await process.schedules().change("a.no-such", { enabled: false })).toBeUndefined()
  expect(await process.schedules().change("a.do-it", { enabled: false })).toMatchObject({ enabled: false })
  process.clock.advance(48 * HOUR)
  await process.second()
  expect(process.runs).toEqual([])
})
