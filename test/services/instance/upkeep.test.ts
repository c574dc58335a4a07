import { expect, test } from "bun:test"
import { chmodSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { NO_HOOKS } from "../../../src/services/erasure/data-hooks.ts"
import { examine } from "../../../src/services/instance/doctor.ts"
import { openInstance } from "../../../src/services/instance/instance.ts"
import { checkStores, type UpkeepOptions, upkeepTasks } from "../../../src/services/instance/upkeep.ts"
import { ExitFault } from "../../../src/services/runtime/exit.ts"
import { createHealth } from "../../../src/services/runtime/health.ts"
import { createStoreStates } from "../../../src/services/runtime/store-states.ts"
import { createTimers, type Task } from "../../../src/services/runtime/tasks.ts"
import { CATALOG_SCHEMA } from "../../../src/store/catalog/schema.ts"
import { type FaultKind, StoreFault } from "../../../src/store/events/fault.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { sql } from "../../../src/store/sql.ts"
import { fixedClock, memoryLog, temporaryFolder } from "../../kit.ts"
import { backupWorkerUrl, NOW, openWithSite, optionsFor, quiet, recordView } from "../stores-kit.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Opens an instance with a function that runs its maintenance tasks by name. */
async function openUpkeep(dataDir: string, start = NOW) {
  const clock = fixedClock(start)
  const instance = await openWithSite(dataDir, { clock })
  const options: UpkeepOptions = {
    ...instance,
    dataDir,
    clock,
    log: quiet,
    hooks: NO_HOOKS,
    backupWorkerUrl,
  }
  const tasks = upkeepTasks(options)
  const run = async (name: string) => {
    const task = tasks.find((each) => each.name === name)
    if (!task) throw new Error(`There is no task ${name}`)
    await task.run(new AbortController().signal)
  }
  return { instance, clock, options, run, [Symbol.asyncDispose]: instance.close }
}

function storedEvents(dataDir: string): number {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 1 << 20 })
  const count = reader.snapshot(1).parts.reduce((sum, { events }) => sum + events, 0)
  reader.close()
  return count
}

test("deletes visits beyond the retention once a day, in the site's own night", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { instance, clock, run } = upkeep
  await instance.sites.update(1, { retention_days: 2, timezone: "America/New_York" })
  // New York is five hours behind UTC: its 19th begins at 05:00.
  recordView(instance, 1, Date.parse("2026-11-19T04:59:00Z"))
  recordView(instance, 2, Date.parse("2026-11-19T05:01:00Z"))
  await run("retain")
  expect(storedEvents(folder.path)).toBe(1)
  recordView(instance, 3, Date.parse("2026-11-18T12:00:00Z"))
  await run("retain")
  expect(storedEvents(folder.path)).toBe(2)
  clock.advance(Date.parse("2026-11-22T04:59:00Z") - clock.now())
  await run("retain")
  expect(storedEvents(folder.path)).toBe(2)
  clock.advance(2 * 60_000)
  await run("retain")
  expect(storedEvents(folder.path)).toBe(0)
})

test("passes the first remaining local day to the retention hooks of plugins", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { instance, clock, options, run } = upkeep
  const received: unknown[] = []
  options.hooks = {
    onRetention: async (...given) => {
      received.push(given)
      return { links_clicks: 2 }
    },
  }
  await instance.sites.update(1, { retention_days: 2, timezone: "America/New_York" })
  await run("retain")
  await run("retain")
  clock.advance(DAY)
  await run("retain")
  expect(received).toEqual([
    [1, "2026-11-19"],
    [1, "2026-11-20"],
  ])
})

test("deletes the counts of dropped events after 90 days, once a day", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path, "2026-11-21T18:00:00Z")
  const { events } = upkeep.instance
  for (const day of ["2026-08-21", "2026-08-22", "2026-11-21"]) events.write(upkeep.clock.now(), (writer) => writer.drop(1, day, "bot"))
  await upkeep.run("forget-days")
  expect(events.drops(1, "2026-01-01", "2026-12-31").map(({ day }) => day)).toEqual(["2026-08-22", "2026-11-21"])
  upkeep.clock.advance(DAY)
  await upkeep.run("forget-days")
  expect(events.drops(1, "2026-01-01", "2026-12-31").map(({ day }) => day)).toEqual(["2026-11-21"])
})

test("a failing disk ends the process during maintenance, and damage is reported as a state", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { events } = upkeep.options
  const meets = (kind: FaultKind) => {
    const seal = () => Promise.reject(new StoreFault(kind, "made up"))
    return upkeepTasks({ ...upkeep.options, events: { ...events, seal } })
      .find(({ name }) => name === "seal")!
      .run(new AbortController().signal)
  }
  expect(meets("damaged")).rejects.toThrow("made up")
  expect(meets("fsync")).rejects.toThrow("made up")
  expect(await upkeep.instance.states.lost).toBeInstanceOf(ExitFault)
  expect(upkeep.instance.health.has("storage_damaged")).toBe(true)
})

test("a disk that fails during shutdown leaves the folder unlocked and complete", async () => {
  using folder = temporaryFolder()
  const log = memoryLog()
  {
    await using instance = await openWithSite(folder.path, { log })
    recordView(instance, 1, Date.parse(NOW))
    instance.events.checkpoint = () => {
      throw new StoreFault("fsync", "made up")
    }
  }
  expect(log.lines).toMatchObject([{ level: "warn", message: "the log of a store could not be moved into its file" }])
  await using _again = await openWithSite(folder.path)
  expect(storedEvents(folder.path)).toBe(1)
})

test("makes one backup a day, at its time or as soon as possible, also across restarts", async () => {
  using folder = temporaryFolder()
  {
    await using upkeep = await openUpkeep(folder.path, "2026-11-21T02:59:00Z")
    await upkeep.run("back-up")
    expect(await upkeep.instance.backups.list()).toEqual([])
    upkeep.clock.advance(60_000)
    await upkeep.run("back-up")
    await upkeep.run("back-up")
    expect(await upkeep.instance.backups.list()).toMatchObject([{ id: "20261121T030000Z-daily" }])
  }
  await using later = await openUpkeep(folder.path, "2026-11-21T18:00:00Z")
  await later.run("back-up")
  expect(await later.instance.backups.list()).toHaveLength(1)
  later.clock.advance(12 * HOUR)
  await later.run("back-up")
  expect(await later.instance.backups.list()).toHaveLength(2)
})

test("runs a task again after a crash or a failure", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { slots, jobs, catalog } = upkeep.instance
  await catalog.run(sql`
    insert into jobs (kind, key, slot, state, payload_json, run_at, created_at)
    values ('core.back-up', '', '2026-11-21T03:00:00.000Z', 'running', '{}', 1, 1)`)
  await upkeep.run("back-up")
  expect(await upkeep.instance.backups.list()).toEqual([])
  await jobs.recover()
  const fails = () => Promise.reject(new Error("no room"))
  const other = { name: "other", due: "1" }
  await expect(slots.once(other, fails)).rejects.toThrow("no room")
  let runs = 0
  const count = async () => void runs++
  expect([await slots.once(other, count), await slots.once(other, count), runs]).toEqual([true, false, 1])
})

test("destroys salts in time, together with the lookup of their visitors", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { instance, clock, run } = upkeep
  await instance.salts.get(1, { name: "2026-11-21", expiresAt: Date.parse("2026-11-23T00:00:00Z") })
  recordView(instance, 1, clock.now())
  const salts = async () => (await instance.catalog.get<{ n: number }>(sql`select count(*) as n from salts`))?.n
  clock.advance(35 * HOUR)
  await run("destroy-salts")
  expect(await salts()).toBe(1)
  clock.advance(HOUR)
  await run("destroy-salts")
  expect(await salts()).toBe(0)
  const known = instance.events.write(clock.now(), (writer) => writer.findVisitor(1, "2026-11-21", { high: 1, low: 1 }))
  expect(known).toBeUndefined()
})

test("warns after two days without a backup, until the next one", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path, new Date().toISOString())
  const { instance, clock, run } = upkeep
  await run("watch-backups")
  expect(instance.health.warnings()).toEqual([])
  clock.advance(2 * DAY + HOUR)
  await run("watch-backups")
  expect(instance.health.warnings()).toMatchObject([{ code: "backup_stale" }])
  expect(instance.health.report()).toEqual({ status: "ok", reasons: [] })
  await instance.backups.create("manual")
  await run("watch-backups")
  expect(instance.health.warnings()).toEqual([])
})

test("intact stores pass their check, and every maintenance task runs", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  await checkStores(upkeep.options, { full: true })
  expect(upkeep.instance.health.report().status).toBe("ok")
  for (const { run } of upkeepTasks(upkeep.options)) await run(new AbortController().signal)
})

test("makes a verified backup before the first migration of an upgrade", async () => {
  using folder = temporaryFolder()
  await (await openWithSite(folder.path)).close()
  // The next release, as far as the catalog is concerned.
  const migrations = CATALOG_SCHEMA.migrations as { name: string; sql: string }[]
  migrations.push({ name: "9999_next", sql: "create table next_things (id integer primary key) strict" })
  try {
    const upgraded = await openInstance(optionsFor(folder.path, { version: "2.0.0" }))
    expect(upgraded.migrated).toEqual({ migrations: ["9999_next"], backup: "20261121T120000Z-migration" })
    const [backup] = await upgraded.backups.list()
    expect(backup).toMatchObject({
      kind: "migration",
      version: "2.0.0",
      schemas: { catalog: migrations.slice(0, -1).map(({ name }) => name) },
      rows: { catalog: { sites: 1 } },
    })
    await upgraded.close()
    const again = await openInstance(optionsFor(folder.path, { version: "2.0.0" }))
    expect(again.migrated).toEqual({ migrations: [], backup: null })
    await again.close()
  } finally {
    migrations.pop()
  }
  expect(openInstance(optionsFor(folder.path))).rejects.toThrow("Install Footfall 2.0.0 or later")
})

test("tasks run at their interval, never concurrently with themselves, and log their errors", async () => {
  const log = memoryLog()
  const clock = fixedClock(NOW)
  let runs = 0
  const slow = Promise.withResolvers<void>()
  const wait = () => {
    runs++
    return slow.promise
  }
  const tasks: Task[] = [
    { name: "slow", every: 1, run: wait },
    { name: "broken", every: 1, run: () => Promise.reject(new Error("no luck")) },
  ]
  const timers = createTimers(tasks, { clock, log, onJump: () => {} })
  timers.start()
  await Bun.sleep(2_300)
  slow.resolve()
  await timers.stop()
  expect(runs).toBe(1)
  expect(log.lines.filter(({ message }) => message === "upkeep failed").map(({ fields }) => fields?.task)).toEqual(["broken", "broken"])
})

test("runs a task that is woken at once, but not twice at the same time", async () => {
  let runs = 0
  const slow = Promise.withResolvers<void>()
  const run = () => {
    runs++
    return slow.promise
  }
  const tasks: Task[] = [{ name: "slow", every: 3_600, run }]
  const timers = createTimers(tasks, { clock: fixedClock(NOW), log: quiet, onJump: () => {} })
  timers.start()
  const [first, second] = [timers.wake("slow"), timers.wake("slow")]
  expect(runs).toBe(1)
  slow.resolve()
  await Promise.all([first, second])
  await timers.wake("slow")
  expect(runs).toBe(2)
  await timers.stop()
  await timers.wake("slow")
  expect(runs).toBe(2)
})

test("moves the log of the catalog only when it is long", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { instance, run } = upkeep
  const logBytes = () => statSync(join(folder.path, "catalog.db-wal")).size
  await instance.catalog.checkpoint()
  await instance.catalog.run(sql`create table filler (bytes blob) strict`)
  const short = logBytes()
  await run("checkpoint")
  expect(logBytes()).toBe(short)
  await instance.catalog.run(sql`insert into filler values (zeroblob(${2 << 20}))`)
  await run("checkpoint")
  expect(logBytes()).toBe(0)
})

test("detects a jump of the clock, but not an ordinary second", async () => {
  let [now, monotonic] = [Date.parse(NOW), 0]
  const jumps: number[] = []
  const timers = createTimers([], { clock: { now: () => now, monotonic: () => monotonic }, log: quiet, onJump: (by) => jumps.push(by) })
  timers.start()
  now += 1_000
  monotonic += 1_000
  await Bun.sleep(1_100)
  now += HOUR
  await Bun.sleep(1_100)
  await timers.stop()
  expect(jumps).toEqual([HOUR])
})

test("enters a state once, leaves it when no store is in it, and ends the process on a fault that makes the data unreliable", async () => {
  const log = memoryLog()
  const clock = fixedClock(NOW)
  const health = createHealth({ now: clock.now, log })
  const states = createStoreStates({ health, log, monotonic: clock.monotonic })
  states.hinder("full", true)
  clock.advance(1_000)
  states.note(new StoreFault("full", "the catalog is full"))
  expect(health.report()).toEqual({ status: "degraded", reasons: [{ code: "storage_full", since: "2026-11-21T12:00:00.000Z" }] })
  states.hinder("full", false)
  expect(health.has("storage_full")).toBe(true)
  states.probe(() => false)
  expect(health.has("storage_full")).toBe(true)
  states.probe(() => true)
  expect(health.report()).toEqual({ status: "ok", reasons: [] })
  expect(log.lines.filter(({ message }) => message.startsWith("health condition")).map(({ message }) => message)).toEqual([
    "health condition raised",
    "health condition cleared",
  ])

  let ended = false
  states.lost.then(() => {
    ended = true
  })
  for (const wait of [0, 61_000, 1_000]) {
    clock.advance(wait)
    states.hinder("io", true)
  }
  await Bun.sleep(0)
  expect(ended).toBe(false)
  states.hinder("io", true)
  expect(await states.lost).toMatchObject({ exit: "fsync" })
})

test("doctor reports problems and their remedies", async () => {
  using folder = temporaryFolder()
  await using upkeep = await openUpkeep(folder.path)
  const { instance, clock } = upkeep
  const look = async () =>
    examine(
      {
        ...instance,
        dataDir: folder.path,
        now: clock.now,
        backupWorkerUrl,
        baseUrl: "http://numbers.example",
        geoDb: undefined,
        keyIsConfigured: false,
        smtp: undefined,
        plugins: [],
        version: "1.0.0",
      },
      () => {},
    )
  const { id } = await instance.backups.create("manual")
  writeFileSync(join(folder.path, "backups", id, "catalog.db"), "spoilt")
  await instance.backups.verify(id, { full: false }).catch(() => {})
  chmodSync(join(folder.path, "secret.key"), 0o644)
  instance.health.enter("clock_jump")
  const wrong = (await look()).filter(({ status }) => status !== "ok").map(({ name, status, fix }) => [name, status, fix !== ""])
  expect(wrong).toEqual([
    ["clock_skew", "warn", true],
    ["tls", "warn", true],
    ["secret_key", "fail", true],
    ["backup_age", "warn", true],
    ["backup_verified", "fail", true],
    ["states", "warn", true],
  ])
})
