/** Moving the rows of plugins to a libSQL server together with the events, after which other nodes can join. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Report } from "../../../src/services/runtime/control.ts"
import { sql } from "../../../src/store/sql.ts"
import { type LibsqlServer, libsqlServer } from "../../fakes/libsql-server.ts"
import { random, temporaryFolder } from "../../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../store/clickhouse/server.ts"
import { Stage } from "./stage.ts"
import { answersTo, eventOf, sendTraffic } from "./traffic.ts"

setDefaultTimeout(600_000)

const SITE = "/api/private/sites/1"
const RANGE = "from=2026-11-20&to=2026-11-30"
const REPORTS = [
  `${SITE}/stats/summary?${RANGE}`,
  `${SITE}/revenue/report?${RANGE}&group_by=source`,
  `${SITE}/revenue/transactions?limit=100`,
  `${SITE}/cohorts/2/members`,
]

describe.skipIf(!hasClickhouse())("moving events and rows", () => {
  let running: TestServer
  let databases = 0
  let folder = temporaryFolder()
  let server: LibsqlServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  beforeEach(async () => {
    folder = temporaryFolder()
    server = await libsqlServer(join(folder.path, "rows"))
  })
  afterEach(async () => {
    await server[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  /** Starts an instance with sales and a frozen cohort. */
  async function begin(): Promise<Stage> {
    const name = `rows_${++databases}`
    await running.clickhouse.run(`create database ${name}`)
    const stage = await Stage.start({ ...running.server, database: name })
    await sendTraffic(stage, 2, 6)
    const definition = { conditions: [{ type: "event", value: "Purchase" }] }
    expect(await stage.send("POST", `${SITE}/cohorts`, { name: "Buyers", definition })).toMatchObject({ status: 201 })
    expect(await stage.send("POST", `${SITE}/cohorts/1/freeze`, { name: "Frozen" })).toMatchObject({ status: 201 })
    return stage
  }
  const rowServer = () => ({ url: server.url, authToken: undefined })
  const target = () => ({ server: rowServer(), version: "0.0.0-test", random })
  const ownRows = (stage: Stage) =>
    stage.whileStopped(async ({ events }) => events.rows(({ all }) => all(sql`select id from revenue_transactions`).length))

  test("gives the same answers with the rows on a server, to another node too, and folds the sales that follow once", async () => {
    await using stage = await begin()
    const before = await answersTo(stage, REPORTS)
    expect(before.map(({ status }) => status)).toEqual(REPORTS.map(() => 200))
    await stage.stop()
    // The copy is interrupted after the switch of the events, and again in between.
    for (let left = 0; left < 2; left++) {
      const report: Report = ({ what, done }) => {
        if (what.startsWith("copying") && done === 2 * left) throw new Error("interrupted")
      }
      await expect(stage.move("clickhouse", { rows: target(), report })).rejects.toThrow("interrupted")
      await expect(stage.open("clickhouse", { rowServer: rowServer() })).rejects.toThrow("engine move")
    }
    const { rows } = await stage.move("clickhouse", { rows: target() })
    expect(rows).toBeGreaterThan(10)
    expect(await ownRows(stage)).toBe(0)
    await expect(stage.move("clickhouse", { rows: target() })).rejects.toThrow("on ClickHouse already")
    await expect(stage.open("clickhouse")).rejects.toThrow("FOOTFALL_ROWS_URL")
    await stage.open("clickhouse", { rowServer: rowServer() })
    expect(await answersTo(stage, REPORTS)).toEqual(before)
    for (const step of [0, 2, 3]) expect(await stage.collect(3, eventOf(3, step, 9))).toBe(202)
    stage.clock.advance(3_600_000)
    await stage.app.instance.lease!.renew()
    await Bun.sleep(300) // the confirmation of what was acknowledged is recorded
    await stage.runJobs()
    const after = await answersTo(stage, REPORTS)
    const transactions = (answers: typeof after) => (answers[2]!.body as { data: unknown[] }).data.length
    expect(transactions(after)).toBe(transactions(before) + 2)
    await stage.stop()
    await expect(stage.move("embedded", { rows: target() })).rejects.toThrow("Moving the events back without them is not supported")
    const other = join(folder.path, "other")
    mkdirSync(other, { mode: 0o700 })
    copyFileSync(join(stage.dataDir, "secret.key"), join(other, "secret.key"))
    await stage.open("clickhouse", { rowServer: rowServer(), dataDir: other })
    expect(stage.app.instance.nodes!.own).toBe(2)
    expect(await answersTo(stage, REPORTS)).toEqual(after)
  })

  test("refuses a database of another instance, and keeps the rows where they are", async () => {
    await using stage = await begin()
    await using another = await begin()
    const before = await answersTo(stage, REPORTS)
    await Promise.all([stage.stop(), another.stop()])
    await another.move("clickhouse", { rows: target() })
    await expect(stage.move("clickhouse", { rows: target() })).rejects.toMatchObject({
      exit: "configuration",
      message: expect.stringContaining("belongs to another instance"),
    })
    await stage.open("clickhouse")
    expect(await answersTo(stage, REPORTS)).toEqual(before)
  })
})
