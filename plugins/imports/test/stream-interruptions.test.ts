import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { bySize, type TestInstance } from "#plugin/test"
import { run, type StageByHand, startByHand } from "./by-hand.ts"
import { PATH, startImports } from "./kit.ts"
import { ANNA, body, log, MINUTE } from "./logs.ts"
import { filesOf, segmentsOf } from "./stores.ts"

/** Returns visits of ten visitors, of whom some have several visits. */
const hours = (first: number, last: number) =>
  log(
    ...Array.from({ length: last - first + 1 }, (_, at) => first + at).flatMap((hour) =>
      [0, 1, 2, 3].map((part) => {
        const at = `2026-11-21T${String(hour).padStart(2, "0")}:${String(part * 12).padStart(2, "0")}:00Z`
        return [at, `203.0.113.${(hour * 3 + part) % 10}`, `/${part}`] as const
      }),
    ),
  )
const [FIRST, SECOND] = [hours(1, 5), hours(5, 11)]

const totalsOf = async ({ api, statsKey }: TestInstance) =>
  (await api.get("/api/public/v1/sites/1/stats/timeseries?period=all&metrics=visitors,visits,pageviews", statsKey)).body

async function send({ instance, headers }: StageByHand, content: string): Promise<void> {
  const { status, body: answer } = await instance.api.post(PATH, body(content), undefined, headers)
  if (status !== 202) throw new Error(JSON.stringify(answer))
}

/** Runs the run in progress that extends the stream. Aborts it when it reports progress for the given time. */
async function extend({ instance, runs }: StageByHand, abortAt?: number): Promise<string> {
  const [row] = await instance.app.instance.catalog.all<{ pending_json: string }>(sql`select pending_json from imports_streams`)
  const { folder } = JSON.parse(row!.pending_json) as { folder: string }
  await run(runs, 1, abortAt, undefined, folder)
  return folder
}

const imported = async ({ instance, headers }: StageByHand) => (await instance.api.get(`${PATH}/1`, undefined, headers)).body

test("an interrupted run of a stream continues where it stopped, and ends with the rows of an undisturbed one", async () => {
  await using undisturbed = await startByHand()
  await send(undisturbed, FIRST)
  await run(undisturbed.runs, 1)
  await send(undisturbed, SECOND)
  await extend(undisturbed)
  const expected = await totalsOf(undisturbed.instance)
  expect(await imported(undisturbed)).toMatchObject({ rows: { read: 48, skipped: 4 } })
  const { rows, totals, days } = (await imported(undisturbed)) as Record<string, object>

  for (const abortAt of bySize({ check: [1, 6], full: [1, 2, 4, 6], release: [1, 2, 3, 4, 5, 6] })) {
    await using disturbed = await startByHand()
    await send(disturbed, FIRST)
    await expect(run(disturbed.runs, 1, abortAt)).rejects.toThrow()
    await run(disturbed.runs, 1)
    const before = await totalsOf(disturbed.instance)
    await send(disturbed, SECOND)
    await expect(extend(disturbed, abortAt)).rejects.toThrow()
    // What the earlier run has completed stays as it is.
    expect(await totalsOf(disturbed.instance)).toEqual(before)
    await expect(extend(disturbed, 1)).rejects.toThrow()
    await extend(disturbed)
    expect(await imported(disturbed)).toMatchObject({ state: "completed", rows: rows!, totals: totals!, days: days! })
    expect(await totalsOf(disturbed.instance)).toEqual(expected)
  }
})

test("a run that is repeated after its completion changes nothing", async () => {
  await using stage = await startByHand()
  await send(stage, FIRST)
  await run(stage.runs, 1)
  await run(stage.runs, 1)
  await send(stage, SECOND)
  const folder = await extend(stage)
  const expected = { totals: await totalsOf(stage.instance), segments: segmentsOf(stage.instance), one: await imported(stage) }
  await run(stage.runs, 1, undefined, undefined, folder)
  await run(stage.runs, 1)
  expect({ totals: await totalsOf(stage.instance), segments: segmentsOf(stage.instance), one: await imported(stage) }).toEqual(expected)
  expect(expected.segments.length).toBeGreaterThan(1)
})

test("a run that was interrupted and then cancelled leaves no rows to the next one", async () => {
  await using stage = await startByHand()
  const { instance, headers, runs } = stage
  await send(stage, FIRST)
  await run(runs, 1)
  const before = segmentsOf(instance)
  await send(stage, SECOND)
  const [{ folder }] = (
    await instance.app.instance.catalog.all<{ pending_json: string }>(sql`select pending_json from imports_streams`)
  ).map(({ pending_json }) => JSON.parse(pending_json) as { folder: string }) as [{ folder: string }]
  await expect(extend(stage, 4)).rejects.toThrow()
  expect(segmentsOf(instance).length).toBeGreaterThan(before.length)
  await instance.api.post(`${PATH}/1/cancel`, undefined, undefined, headers)
  // The next run begins before the cancelled one was resumed.
  await send(stage, log(["2026-11-21T10:00:00Z", ANNA, "/last"]))
  await extend(stage)
  await run(runs, 1, undefined, undefined, folder)
  expect(await imported(stage)).toMatchObject({ state: "completed", rows: { read: 21 } })
  expect(filesOf(instance.dataDir).filter((name) => name.includes("import-"))).toEqual([])
  const { totals } = (await imported(stage)) as { totals: { visitors: number; visits: number; pageviews: number } }
  const { visitors, visits, pageviews } = totals
  const report = "/api/public/v1/sites/1/stats/summary?period=all&metrics=visitors,visits,pageviews"
  expect((await instance.api.get(report, instance.statsKey)).body).toMatchObject({ metrics: { visitors, visits, pageviews } })
  expect(pageviews).toBe(20)
})

test("a run whose job was cancelled fails, and the stream goes on", async () => {
  await using stage = await startImports()
  const { instance } = stage
  await stage.run(body(FIRST))
  const before = segmentsOf(instance)
  await stage.post("", body(SECOND))
  const { jobs } = instance.app.instance
  const [job] = await jobs.list({ kind: "imports.run-import", state: "queued" }, { before: Number.MAX_SAFE_INTEGER, limit: 1 })
  await jobs.cancel(job!.id)
  instance.clock.advance(5 * MINUTE)
  await instance.runJobs()
  expect((await stage.get("/1")).body).toMatchObject({ state: "completed", error: { code: "internal_error" }, progress: null })
  expect(segmentsOf(instance)).toEqual(before)
  expect(await stage.run(body(SECOND))).toMatchObject({ error: null, rows: { read: 48, skipped: 4 } })
})

test("a run of a stream without its staged files fails, and the stream goes on", async () => {
  await using stage = await startByHand()
  await send(stage, FIRST)
  await run(stage.runs, 1)
  await send(stage, SECOND)
  const { catalog } = stage.instance.app.instance
  await catalog.run(sql`update imports_streams set pending_json = json_set(pending_json, '$.folder', 'import-lost')`)
  await extend(stage)
  expect(await imported(stage)).toMatchObject({ state: "completed", error: { code: "source_missing" }, progress: null })
  await send(stage, SECOND)
  await extend(stage)
  expect(await imported(stage)).toMatchObject({ state: "completed", error: null, rows: { read: 48, skipped: 4 } })
})
