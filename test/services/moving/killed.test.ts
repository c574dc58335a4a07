/** Moves that are killed at each of their steps, and then continued or given up. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { releaseSource } from "../../../src/services/moving/moving.ts"
import { sample } from "../../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../store/clickhouse/server.ts"
import { STEPS, type Step } from "./move-and-die.ts"
import { Stage } from "./stage.ts"
import { answersTo, eventOf, sendTraffic } from "./traffic.ts"

setDefaultTimeout(600_000)

const SITE = "/api/private/sites/1"
const RANGE = "from=2026-11-20&to=2026-11-30"
const REPORTS = [
  `${SITE}/stats/summary?${RANGE}`,
  `${SITE}/stats/breakdown?${RANGE}&dimension=page&metrics=visitors,events`,
  `${SITE}/power-users?window=7`,
  `${SITE}/revenue/transactions?limit=100`,
]

describe.skipIf(!hasClickhouse())("a move that is killed", () => {
  let running: TestServer
  let databases = 0
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  async function begin(): Promise<Stage> {
    const name = `killed_${++databases}`
    await running.clickhouse.run(`create database ${name}`)
    const stage = await Stage.start({ ...running.server, database: name })
    await sendTraffic(stage, 2, 6)
    for (const visitor of [1, 3]) expect(await stage.collect(visitor, eventOf(visitor, 0, 9))).toBe(202)
    return stage
  }
  const dies = async (stage: Stage, to: "clickhouse" | "embedded", step: Step) => {
    await stage.stop()
    expect([step, await stage.moveAndDie(to, step)]).toEqual([step, "SIGKILL"])
  }
  /** Continues a move whose kill may have come after the switch. */
  async function goOn(stage: Stage, to: "clickhouse" | "embedded", step: Step): Promise<void> {
    if (step === "switched") await expect(stage.move(to)).rejects.toThrow("already")
    else await stage.move(to)
    await stage.open(to)
  }

  test.each(sample(STEPS.embedded.map((step, at) => [STEPS.clickhouse[at] ?? "begin", step] as const)))(
    "at the step %s on the way there and at the step %s on the way back, loses nothing and counts nothing twice",
    async (there, back) => {
      await using stage = await begin()
      const before = await answersTo(stage, REPORTS)
      await dies(stage, "clickhouse", there)
      await goOn(stage, "clickhouse", there)
      expect(await answersTo(stage, REPORTS)).toEqual(before)
      for (const visitor of [1, 3]) expect(await stage.collect(visitor, eventOf(visitor, 2, 9))).toBe(202)
      expect(await stage.collect(5, eventOf(5, 0, 9))).toBe(202)
      stage.clock.advance(3_600_000)
      await stage.runJobs()
      // The way back has to fetch the visits until now, and to send those that follow.
      const { events } = stage.app.instance
      await events.seal(stage.clock.now(), true)
      await stage.app.instance.shipped!.shipping.settled()
      await Bun.sleep(300) // the confirmation is recorded
      events.releaseSource()
      await events.dropShipped(Number.MAX_SAFE_INTEGER, stage.clock.now())
      expect(events.facts().segments).toBe(0)
      expect(await stage.collect(9, eventOf(9, 0, 9))).toBe(202)
      const after = await answersTo(stage, REPORTS)
      expect(after).not.toEqual(before)
      await stage.stop()
      await stage.whileStopped(async ({ events }) => events.shipAgain(0))
      await dies(stage, "embedded", back)
      await goOn(stage, "embedded", back)
      expect(await answersTo(stage, REPORTS)).toEqual(after)
      expect(await stage.collect(7, eventOf(7, 0, 9))).toBe(202)
    },
  )

  test.each(sample(["inserted", "begun", "confirmed", "switch", "compared"] as const))(
    "at the step %s can be given up at once, and begun again later",
    async (step) => {
      await using stage = await begin()
      const before = await answersTo(stage, REPORTS)
      await dies(stage, "clickhouse", step)
      await stage.open("embedded")
      expect(await answersTo(stage, REPORTS)).toEqual(before)
      expect(await stage.collect(5, eventOf(5, 0, 9))).toBe(202)
      const after = await answersTo(stage, REPORTS)
      await stage.stop()
      if (step !== "begun") {
        await expect(stage.move("clickhouse")).rejects.toThrow("engine release")
        expect(await stage.whileStopped(releaseSource)).toEqual({ copy: "clickhouse" })
      }
      await stage.move("clickhouse")
      await stage.open("clickhouse")
      expect(await answersTo(stage, REPORTS)).toEqual(after)
    },
  )
})
