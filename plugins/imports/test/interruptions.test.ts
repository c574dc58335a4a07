import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { sql } from "#plugin"
import type { TestInstance } from "#plugin/test"
import { run, type StageByHand, startByHand } from "./by-hand.ts"
import { file, PATH, simpleAnalytics } from "./kit.ts"
import { filesOf, segmentsOf } from "./stores.ts"

const ROWS = Array.from({ length: 40 }, (_, at) => ({
  at: new Date(Date.UTC(2026, 8, 1 + (at % 20), 10, at)).toISOString(),
  path: `/${at % 7}`,
  session: `s${at % 23}`,
}))

const totalsOf = async ({ api, site, statsKey }: TestInstance) =>
  (await api.get(`/api/public/v1/sites/${site.id}/stats/timeseries?period=all&metrics=visitors,visits,pageviews`, statsKey)).body

test("an interrupted run continues where it stopped, and ends with the rows of an undisturbed one", async () => {
  await using undisturbed = await startByHand()
  const body = file(simpleAnalytics(ROWS))
  await undisturbed.instance.api.post(PATH, body, undefined, undisturbed.headers)
  await run(undisturbed.runs, 1)
  const expected = await totalsOf(undisturbed.instance)
  const rows = { imported: 40 }

  for (const abortAt of [1, 2, 4, 7]) {
    await using disturbed = await startByHand()
    const { instance, runs, headers } = disturbed
    await instance.api.post(PATH, body, undefined, headers)
    await expect(run(runs, 1, abortAt)).rejects.toThrow()
    expect(await instance.api.get(`${PATH}/1`, undefined, headers)).toMatchObject({ body: { state: "running" } })
    await expect(run(runs, 1, 1)).rejects.toThrow()
    await run(runs, 1)
    expect(await instance.api.get(`${PATH}/1`, undefined, headers)).toMatchObject({ body: { state: "completed", rows } })
    expect(await totalsOf(instance)).toEqual(expected)
    expect(segmentsOf(instance)).toHaveLength(segmentsOf(undisturbed.instance).length)
  }
})

test("rows that an earlier version sorted are sorted again, also when some of them are written", async () => {
  await using undisturbed = await startByHand()
  const body = file(simpleAnalytics(ROWS))
  await undisturbed.instance.api.post(PATH, body, undefined, undisturbed.headers)
  await run(undisturbed.runs, 1)

  for (const abortAt of [2, 4]) {
    await using updated = await startByHand()
    const { instance, runs, headers } = updated
    await instance.api.post(PATH, body, undefined, headers)
    await expect(run(runs, 1, abortAt)).rejects.toThrow()
    const staging = join(instance.dataDir, "staging/imports")
    const [summary] = filesOf(staging).filter((name) => name.endsWith("sorted.json"))
    const path = join(staging, summary!)
    await Bun.write(path, JSON.stringify({ ...(await Bun.file(path).json()), format: 1 }))
    await Bun.write(join(dirname(path), "sorted/visits"), "the visits of another format")
    await run(runs, 1)
    expect(await instance.api.get(`${PATH}/1`, undefined, headers)).toMatchObject({ body: { state: "completed", rows: { imported: 40 } } })
    expect(await totalsOf(instance)).toEqual(await totalsOf(undisturbed.instance))
    expect(segmentsOf(instance)).toHaveLength(segmentsOf(undisturbed.instance).length)
  }
})

test("a run without its staged files fails and leaves no rows", async () => {
  await using stage = await startByHand()
  const { instance, runs, headers } = stage
  await instance.api.post(PATH, file(simpleAnalytics(ROWS)), undefined, headers)
  await expect(run(runs, 1, 4)).rejects.toThrow()
  const staging = join(instance.dataDir, "staging/imports")
  for (const folder of readdirSync(staging)) rmSync(join(staging, folder), { recursive: true })
  await run(runs, 1)
  expect(await instance.api.get(`${PATH}/1`, undefined, headers)).toMatchObject({
    body: { state: "failed", error: { code: "source_missing" }, can_retry: false },
  })
  expect(segmentsOf(instance)).toEqual([])
  expect(await instance.api.post(`${PATH}/1/retry`, undefined, undefined, headers)).toMatchObject({
    status: 409,
    body: { code: "source_missing" },
  })
})

test("a cancelled run removes its rows and files", async () => {
  await using stage = await startByHand()
  const { instance, runs, headers } = stage
  await instance.api.post(PATH, file(simpleAnalytics(ROWS)), undefined, headers)
  await expect(run(runs, 1, 5)).rejects.toThrow()
  expect(segmentsOf(instance).length).toBeGreaterThan(0)
  expect(await instance.api.post(`${PATH}/1/cancel`, undefined, undefined, headers)).toMatchObject({
    status: 202,
    body: { state: "cancelled" },
  })
  await run(runs, 1)
  expect(segmentsOf(instance)).toEqual([])
  expect(filesOf(instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  expect(await instance.api.post(`${PATH}/1/cancel`, undefined, undefined, headers)).toMatchObject({
    status: 409,
    body: { code: "invalid_state", state: "cancelled" },
  })
})

test("a run that is cancelled while it works stops at once", async () => {
  await using stage = await startByHand()
  const { instance, runs, headers } = stage
  await instance.api.post(PATH, file(simpleAnalytics(ROWS)), undefined, headers)
  const working = run(runs, 1)
  // The route stops the runs of the plugin; those of this test are its own.
  await instance.api.post(`${PATH}/1/cancel`, undefined, undefined, headers)
  const begun = performance.now()
  runs.stop(1)
  await working
  expect(performance.now() - begun).toBeLessThan(2_000)
  expect(segmentsOf(instance)).toEqual([])
})

test("sorted files hold neither addresses nor raw lines, and are gone after the run", async () => {
  await using stage = await startByHand()
  const { instance, runs, headers } = stage
  const line =
    '203.0.113.77 - - [01/Oct/2026:10:00:00 +0000] "GET /log HTTP/1.1" 200 12 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"'
  const body = { source: "server_log", files: [{ name: "access.log", content: Array.from({ length: 9 }, () => line).join("\n") }] }
  expect(await instance.api.post(PATH, body, undefined, headers)).toMatchObject({ status: 202 })
  await expect(run(runs, 1, 2)).rejects.toThrow()
  const staging = join(instance.dataDir, "staging")
  const sorted = filesOf(staging).filter((name) => !name.includes("source/"))
  expect(sorted.length).toBeGreaterThan(0)
  for (const name of sorted) expect(await Bun.file(join(staging, name)).text()).not.toContain("203.0.113.77")
  await run(runs, 1)
  expect(existsSync(staging)).toBe(false)
  const stored = await instance.app.instance.catalog.all(sql`select state from imports_imports`)
  expect(stored).toEqual([{ state: "completed" }])
})

describe("an import whose job has ended without it", () => {
  /** Interrupts a run, and ends its job as a process does that was killed too often. */
  async function abandoned(): Promise<StageByHand> {
    const stage = await startByHand()
    const { instance, runs, headers } = stage
    await instance.api.post(PATH, file(simpleAnalytics(ROWS)), undefined, headers)
    await expect(run(runs, 1, 6)).rejects.toThrow()
    expect(segmentsOf(instance).length).toBeGreaterThan(0)
    await endJobs(stage)
    return stage
  }
  const endJobs = ({ instance: { app, clock } }: StageByHand) =>
    app.instance.catalog.run(sql`
      update jobs set state = 'failed', finished_at = ${clock.now()}, error_message = 'interrupted'
      where kind in ('imports.run-import', 'imports.undo-import')`)
  async function settle({ instance }: StageByHand): Promise<void> {
    await instance.runJobs()
    instance.clock.advance(5 * 60_000)
    await instance.runJobs()
  }
  const imported = async ({ instance, headers }: StageByHand) => (await instance.api.get(`${PATH}/1`, undefined, headers)).body

  test("fails within minutes, leaves no rows and can be retried", async () => {
    await using stage = await abandoned()
    await settle(stage)
    expect(await imported(stage)).toMatchObject({ state: "failed", error: { code: "internal_error" }, can_retry: true })
    expect(segmentsOf(stage.instance)).toEqual([])
    await stage.instance.api.post(`${PATH}/1/retry`, undefined, undefined, stage.headers)
    await stage.instance.runJobs()
    expect(await imported(stage)).toMatchObject({ state: "completed", rows: { imported: 40 } })
  })

  test("leaves neither rows nor files if it was cancelled", async () => {
    await using stage = await abandoned()
    await stage.instance.api.post(`${PATH}/1/cancel`, undefined, undefined, stage.headers)
    await settle(stage)
    expect(await imported(stage)).toMatchObject({ state: "cancelled" })
    expect(segmentsOf(stage.instance)).toEqual([])
    expect(filesOf(stage.instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  })

  test("is undone if that was under way", async () => {
    await using stage = await startByHand()
    const { instance, runs, headers } = stage
    await instance.api.post(PATH, file(simpleAnalytics(ROWS)), undefined, headers)
    await run(runs, 1)
    await instance.api.post(`${PATH}/1/undo`, undefined, undefined, headers)
    await endJobs(stage)
    await settle(stage)
    expect(await imported(stage)).toMatchObject({ state: "undone" })
    expect(segmentsOf(instance)).toEqual([])
  })
})
