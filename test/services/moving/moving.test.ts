/** Moving a whole instance with people, sales and frozen cohorts to ClickHouse and back. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { moveEvents, releaseSource, shipAgain } from "../../../src/services/moving/moving.ts"
import type { Report } from "../../../src/services/runtime/control.ts"
import { ClickhouseFault, type ClickhouseServer } from "../../../src/store/clickhouse/client.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../store/clickhouse/server.ts"
import { Stage } from "./stage.ts"
import { answersTo, eventOf, sendTraffic } from "./traffic.ts"

setDefaultTimeout(600_000)

const SITE = "/api/private/sites/1"
const RANGE = "from=2026-11-20&to=2026-11-30"
/** Reports of every kind that concern people, sales and visits. */
const REPORTS = [
  `${SITE}/stats/summary?${RANGE}`,
  `${SITE}/stats/timeseries?${RANGE}&interval=day&metrics=visitors,events`,
  ...["page", "source", "entry_page", "event", "browser"].map(
    (name) => `${SITE}/stats/breakdown?${RANGE}&dimension=${name}&metrics=visitors,events`,
  ),
  `${SITE}/power-users?window=7`,
  `${SITE}/engagement?${RANGE}`,
  `${SITE}/revenue/report?${RANGE}`,
  `${SITE}/revenue/report?${RANGE}&group_by=source`,
  `${SITE}/revenue/transactions?limit=100`,
  `${SITE}/cohorts`,
  `${SITE}/power-users/histogram?window=7&cohort_id=2`,
  `${SITE}/cohorts/2/members`,
]

const answers = (stage: Stage) => answersTo(stage, REPORTS)

describe.skipIf(!hasClickhouse())("moving events", () => {
  let running: TestServer
  let databases = 0
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  async function database(): Promise<ClickhouseServer> {
    const name = `moving_${++databases}`
    await running.clickhouse.run(`create database ${name}`)
    return { ...running.server, database: name }
  }

  /** Starts an instance with traffic, a cohort and a frozen one. */
  async function begin(): Promise<Stage> {
    const stage = await Stage.start(await database())
    await sendTraffic(stage, 3)
    const definition = { conditions: [{ type: "event", value: "Purchase" }] }
    expect(await stage.send("POST", `${SITE}/cohorts`, { name: "Buyers", definition })).toMatchObject({ status: 201 })
    expect(await stage.send("POST", `${SITE}/cohorts/1/freeze`, { name: "Frozen" })).toMatchObject({ status: 201, body: { size: 2 } })
    return stage
  }

  test("gives the same answers in the data folder, on ClickHouse and back, with what happened in between", async () => {
    await using stage = await begin()
    const before = await answers(stage)
    expect(before.map(({ status }) => status)).toEqual(REPORTS.map(() => 200))
    // Some visits are still open.
    for (const visitor of [1, 3, 5]) await stage.collect(visitor, eventOf(visitor, 0, 9))
    const withOpen = await answers(stage)
    await stage.stop()
    expect(await stage.move("clickhouse")).toMatchObject({ sites: 1, visits: 39, fetched: 0, queries: 60 })
    await stage.open("clickhouse")
    expect(await answers(stage)).toEqual(withOpen)
    for (const visitor of [1, 3, 5]) await stage.collect(visitor, eventOf(visitor, 3, 9))
    await sendTraffic(stage, 2)
    const after = await answers(stage)
    expect(after).not.toEqual(withOpen)
    await stage.stop()
    expect(await stage.move("embedded")).toMatchObject({ visits: 60, fetched: 0 })
    await stage.open("embedded")
    expect(await answers(stage)).toEqual(after)
    await stage.stop()
    await expect(stage.move("clickhouse")).rejects.toThrow("engine release")
    expect(await stage.whileStopped(releaseSource)).toEqual({ copy: "clickhouse" })
    expect(await stage.move("clickhouse")).toMatchObject({ visits: 60, queries: 60 })
  })

  test("keeps people: their pages, their transactions and their erasure", async () => {
    await using stage = await begin()
    /** Returns the number of visits of the person of each transaction, by its id. */
    const visits = async () => {
      const { body } = await stage.send("GET", `${SITE}/revenue/transactions?limit=100`)
      const found: unknown[] = []
      for (const { id, person } of (body as { data: { id: number; person: string | null }[] }).data) {
        const { status, body: page } = await stage.send("GET", `${SITE}/power-users/${person}`)
        found.push({ id, status, visits: (page as { visits?: number }).visits })
      }
      return found
    }
    for (const [engine, user] of [
      ["clickhouse", "user 3"],
      ["embedded", "user 6"],
    ] as const) {
      const before = await visits()
      expect(before).toContainEqual(expect.objectContaining({ status: 200 }))
      await stage.stop()
      await stage.move(engine)
      await stage.open(engine)
      expect(await visits()).toEqual(before)
      const { body } = await stage.send("GET", `${SITE}/power-users?window=7`)
      const { person } = (body as { data: { label: string; person: string }[] }).data.find(({ label }) => label === user)!
      expect(await stage.app.erasure.person(1, [person])).toMatchObject({ visits: 3 })
      expect(await visits()).not.toEqual(before)
    }
    expect(await stage.send("GET", `${SITE}/cohorts/2`)).toMatchObject({ body: { size: 0 } })
  })

  test("fetches what the data folder has dropped", async () => {
    await using stage = await begin()
    await stage.stop()
    await stage.move("clickhouse")
    await stage.open("clickhouse")
    await sendTraffic(stage, 1)
    const before = await answers(stage)
    const { events } = stage.app.instance
    await events.dropShipped(Number.MAX_SAFE_INTEGER, stage.clock.now())
    expect(events.facts().segments).toBeGreaterThan(0)
    events.releaseSource()
    await events.dropShipped(Number.MAX_SAFE_INTEGER, stage.clock.now())
    expect(events.facts().segments).toBe(0)
    await stage.stop()
    // Interrupted after some of them were fetched.
    let steps = 0
    const report: Report = ({ what, done }) => {
      if (what.startsWith("fetching") && done > 0 && ++steps === 1) throw new Error("interrupted")
    }
    await expect(stage.move("embedded", { report })).rejects.toThrow("interrupted")
    await stage.open("clickhouse")
    expect(await answers(stage)).toEqual(before)
    await stage.stop()
    await stage.move("embedded")
    await stage.open("embedded")
    expect(await answers(stage)).toEqual(before)
  })

  test.each(["sending", "comparing"])(
    "an interruption while %s leaves the instance as it was, and the next attempt continues",
    async (phase) => {
      await using stage = await begin()
      const before = await answers(stage)
      await stage.stop()
      const report: Report = ({ what, done }) => {
        if (what.startsWith(phase) && (phase === "comparing" || done > 0)) throw new Error("interrupted")
      }
      await expect(stage.move("clickhouse", { report })).rejects.toThrow("interrupted")
      await expect(stage.open("clickhouse")).rejects.toThrow("not complete")
      expect(await stage.move("clickhouse")).toMatchObject({ queries: 60 })
      await stage.open("clickhouse")
      expect(await answers(stage)).toEqual(before)
    },
  )

  test("a ClickHouse that refuses rows is named, and a move that is given up leaves the data folder as it was", async () => {
    await using stage = await begin()
    const before = await answers(stage)
    await stage.stop()
    const insert = () => Promise.reject(new ClickhouseFault(243, "ClickHouse answered 500: Cannot reserve 1.00 MiB, not enough space"))
    const refusing = stage.whileStopped((options) =>
      moveEvents("clickhouse", { ...options, clickhouse: { ...options.clickhouse, insert } }),
    )
    await expect(refusing).rejects.toMatchObject({ exit: "unavailable", message: expect.stringContaining("not enough space") })
    await stage.open("embedded")
    expect(await answers(stage)).toEqual(before)
    await sendTraffic(stage, 1)
    const after = await answers(stage)
    await stage.stop()
    await stage.move("clickhouse")
    await stage.open("clickhouse")
    expect(await answers(stage)).toEqual(after)
  })

  test("a difference between the two sides is found, and nothing is switched", async () => {
    await using stage = await begin()
    await stage.stop()
    const forging = stage.whileStopped((options) => {
      let left = 1
      const report: Report = ({ what }) => {
        if (what.startsWith("comparing") && left-- > 0) throw new Error("interrupted")
      }
      return moveEvents("clickhouse", { ...options, report })
    })
    await expect(forging).rejects.toThrow("interrupted")
    await stage.clickhouse("insert into visits select * replace (version + 1 as version, pageviews + 1 as pageviews) from visits limit 1")
    await expect(stage.move("clickhouse")).rejects.toMatchObject({ exit: "damaged", message: expect.stringContaining("1 different") })
    await stage.clickhouse(
      "insert into visits (site_id, kind, opened_at, visit, version, gone) select site_id, kind, opened_at, visit, version + 1, 1 from visits limit 1",
    )
    await expect(stage.move("clickhouse")).rejects.toMatchObject({
      exit: "damaged",
      message: expect.stringContaining("1 are not on ClickHouse"),
    })
    await stage.open("embedded")
    expect((await answers(stage)).map(({ status }) => status)).toEqual(REPORTS.map(() => 200))
  })

  test("what a restored ClickHouse lacks is sent again", async () => {
    await using stage = await begin()
    await stage.stop()
    await stage.move("clickhouse")
    await stage.open("clickhouse")
    const before = await answers(stage)
    await stage.stop()
    await stage.clickhouse("truncate table visits")
    expect(await stage.whileStopped((options) => shipAgain(0, options))).toEqual({ visits: 36 })
    await stage.open("clickhouse")
    expect(await answers(stage)).toEqual(before)
  })
})
