/** Moves on a disk that becomes full. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { appendFileSync, cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { canMountDisk } from "../../../scripts/reliability/disk-full.ts"
import type { Report } from "../../../src/services/runtime/control.ts"
import { temporaryFolder } from "../../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../store/clickhouse/server.ts"
import { Stage } from "./stage.ts"
import { answersTo, sendTraffic } from "./traffic.ts"

setDefaultTimeout(300_000)

const SITE = "/api/private/sites/1"
const RANGE = "from=2026-11-20&to=2026-11-30"
const REPORTS = [
  `${SITE}/stats/summary?${RANGE}`,
  `${SITE}/stats/breakdown?${RANGE}&dimension=page&metrics=visitors,events`,
  `${SITE}/revenue/transactions?limit=100`,
]

/** Puts the data folder of a stopped stage on a small disk of its own, and fills it when a move reports a step. */
function smallDisk({ dataDir }: Stage) {
  using copy = temporaryFolder()
  cpSync(dataDir, copy.path, { recursive: true })
  const options = "size=24m,mode=700"
  if (!Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "tmpfs", dataDir]).success) throw new Error("tmpfs cannot be mounted")
  cpSync(copy.path, dataDir, { recursive: true })
  const ballast = join(dataDir, "ballast")
  return {
    fillsAt: (step: string): Report => {
      return ({ what }) => {
        if (!what.startsWith(step)) return
        try {
          for (;;) appendFileSync(ballast, new Uint8Array(4_096))
        } catch {
          // The disk is full.
        }
      }
    },
    free: () => rmSync(ballast),
    [Symbol.dispose]: () => void Bun.spawnSync(["umount", "-l", dataDir]),
  }
}

describe.skipIf(!hasClickhouse() || !canMountDisk())("a move on a full disk", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  test("says so, switches nothing, and continues when there is space", async () => {
    await using stage = await Stage.start(running.server)
    await sendTraffic(stage, 2)
    const before = await answersTo(stage, REPORTS)
    await stage.stop()
    using disk = smallDisk(stage)
    const isFull = { exit: "storage", message: expect.stringMatching(/is on a full disk\. Free space\. Nothing was switched\./) }
    await expect(stage.move("clickhouse", { report: disk.fillsAt("comparing") })).rejects.toMatchObject(isFull)
    disk.free()
    await stage.move("clickhouse")
    await stage.open("clickhouse")
    expect(await answersTo(stage, REPORTS)).toEqual(before)
    const { events } = stage.app.instance
    events.releaseSource()
    await events.dropShipped(Number.MAX_SAFE_INTEGER, stage.clock.now())
    expect(events.facts().segments).toBe(0)
    await stage.stop()
    await expect(stage.move("embedded", { report: disk.fillsAt("fetching") })).rejects.toMatchObject(isFull)
    disk.free()
    await expect(stage.move("embedded", { report: disk.fillsAt("comparing") })).rejects.toMatchObject(isFull)
    disk.free()
    await stage.move("embedded")
    await stage.open("embedded")
    expect(await answersTo(stage, REPORTS)).toEqual(before)
    await stage.stop()
  })
})
