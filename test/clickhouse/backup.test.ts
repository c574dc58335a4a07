/** Backups of an instance with events on ClickHouse: the server makes them, and a backup of the data folder is refused. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import { pluginFacts } from "../../src/plugin/load.ts"
import { backupTasks } from "../../src/services/backup/tasks.ts"
import { examine } from "../../src/services/instance/doctor.ts"
import { ClickhouseFault } from "../../src/store/clickhouse/client.ts"
import { startInstance, type TestInstance, WORKERS } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

const DAY_MS = 86_400_000

describe.skipIf(!hasClickhouse())("backups of events on ClickHouse", () => {
  let running: TestServer
  let databases = 0
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  /** Starts an instance with three visits. `place` is the setting. */
  async function start(place?: string): Promise<TestInstance> {
    const database = `backup_${++databases}`
    await running.clickhouse.run(`create database ${database}`)
    const instance = await startInstance({
      now: "2027-02-01T12:00:00Z", // later than the data folder was made
      clickhouse: { ...running.server, database },
      ...(place !== undefined && { settings: { clickhouse_backup: place } }),
    })
    for (const visitor of [1, 2, 3]) {
      const event = { n: "pageview", u: "https://shop.example/", d: "shop.example" }
      expect(await instance.collect(event, { address: `198.51.100.${visitor}` })).toMatchObject({ status: 202 })
    }
    return instance
  }
  const task = ({ app, dataDir, clock }: TestInstance, name: string) =>
    backupTasks({ ...app.instance, dataDir, clock })
      .find((each) => each.name === name)!
      .run(new AbortController().signal)
  async function backupAge({ app, dataDir, clock }: TestInstance): Promise<unknown> {
    const more = { baseUrl: undefined, geoDb: undefined, keyIsConfigured: true, smtp: undefined, version: "0.0.0-test" }
    const options = { ...app.instance, ...more, dataDir, now: clock.now, plugins: pluginFacts(plugins), backupWorkerUrl: WORKERS.backup }
    return (await examine(options, () => {})).find(({ name }) => name === "backup_age")
  }

  test("ClickHouse makes one a day, whichever node is due, and what is restored from it has every visit", async () => {
    await using instance = await start("Memory('{name}')")
    const { app, clock } = instance
    const backups = app.instance.clickhouseBackups!
    expect(await backupAge(instance)).toMatchObject({ status: "warn", detail: "There is no verified backup yet." })
    clock.advance(DAY_MS)
    await task(instance, "back-up")
    const made = await backups.last()
    expect(made).toMatchObject({ name: "footfall-20270202T120000Z", created_at: "2027-02-02T12:00:00.000Z" })
    expect(made!.bytes).toBeGreaterThan(0)
    clock.advance(60_000)
    await task(instance, "back-up")
    expect(await backups.last()).toEqual(made!)
    expect(await backupAge(instance)).toMatchObject({ status: "ok", detail: expect.stringContaining(made!.name) })

    const { clickhouse } = app.instance.shipped!
    const rows = (table: string) => clickhouse.rows(`select * from ${table} order by opened_at, visit, version`)
    await clickhouse.run(`restore table visits as restored from Memory('${made!.name}')`)
    expect(await rows("restored")).toEqual(await rows("visits"))
    expect(await clickhouse.rows("exists table migrations_of_backup")).toEqual([{ result: 0 }])

    clock.advance(3 * DAY_MS)
    await task(instance, "watch-backups")
    expect(app.instance.health.warnings()).toMatchObject([{ code: "backup_stale" }])
    await task(instance, "back-up")
    await task(instance, "watch-backups")
    expect(app.instance.health.warnings()).toEqual([])
  })

  test("a place that the server refuses raises an alarm, and is not shown in the message", async () => {
    await using instance = await start("File('/a-secret-place/{name}')")
    const { app } = instance
    await expect(task(instance, "back-up")).rejects.toMatchObject({ exit: "unavailable", cause: expect.any(ClickhouseFault) })
    const [alarm] = await app.instance.alarms.list()
    expect(alarm).toMatchObject({ kind: "backup_failed", detail: { step: "making it" } })
    expect(JSON.stringify(alarm)).toContain("allowed_path")
    expect(JSON.stringify(alarm)).not.toContain("a-secret-place")
    expect(await app.instance.clickhouseBackups!.last()).toBeUndefined()
  })

  test("a backup of the data folder is refused, also without a place for those of ClickHouse", async () => {
    await using instance = await start()
    const { backups, health } = instance.app.instance
    await expect(backups.create("manual")).rejects.toMatchObject({
      exit: "configuration",
      message: expect.stringContaining("set FOOTFALL_CLICKHOUSE_BACKUP"),
    })
    instance.clock.advance(5 * DAY_MS)
    await task(instance, "back-up")
    await task(instance, "watch-backups")
    expect([await backups.list(), health.warnings()]).toEqual([[], []])
    expect(await backupAge(instance)).toMatchObject({ status: "ok", detail: expect.stringContaining("responsible for their backups") })
  })

  test("a place without {name} stops the start", async () => {
    await expect(start("Disk('backups', 'footfall')")).rejects.toMatchObject({ exit: "configuration" })
  })
})
