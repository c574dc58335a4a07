import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { sql } from "#plugin"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { type ImportStage, startImports } from "./kit.ts"
import { ANNA, BEN, body, CARA, HOUR, log, MINUTE, MORNING, NOON } from "./logs.ts"
import { filesOf, segmentsOf } from "./stores.ts"

/** Returns the figures that reports show. */
async function figures({ instance }: ImportStage): Promise<{ visitors: number; visits: number; pageviews: number }> {
  const { body: answer } = await instance.api.get("/api/public/v1/sites/1/stats/summary?period=all", instance.statsKey)
  const { visitors, visits, pageviews } = (answer as { metrics: Record<string, number> }).metrics // the response of the route
  return { visitors: visitors!, visits: visits!, pageviews: pageviews! }
}

/** The rows of visits that may go on are written after half an hour at the latest. */
async function wait({ instance }: ImportStage, ms = 31 * MINUTE): Promise<void> {
  instance.clock.advance(ms)
  await instance.runJobs()
}

test("a log that is sent twice counts once", async () => {
  await using stage = await startImports()
  const first = await stage.run(body(MORNING))
  // The last visit may go on, and waits.
  expect(first).toMatchObject({ id: 1, state: "completed", stream: "web", rows: { read: 4, imported: 3 }, totals: { visits: 2 } })
  expect(await figures(stage)).toEqual({ visitors: 2, visits: 2, pageviews: 3 })
  const again = await stage.run(body(MORNING))
  expect(again).toMatchObject({
    ...{ id: 1, state: "completed", rows: { read: 8, imported: 3, skipped: 4 }, skip_reasons: { already_imported: 4 } },
    ...{ totals: { visits: 2, pageviews: 3 }, progress: null, error: null },
  })
  await wait(stage)
  expect(await figures(stage)).toEqual({ visitors: 3, visits: 3, pageviews: 4 })
  expect((await stage.get("/1")).body).toMatchObject({
    ...{ rows: { read: 8, imported: 4, skipped: 4 }, totals: { visitors: 3, visits: 3, pageviews: 4 } },
    days: [{ from: "2026-11-21", to: "2026-11-21", state: "effective" }],
  })
})

test("rotated files that overlap count once, in one run and in several", async () => {
  await using stage = await startImports()
  await stage.run(body([MORNING, MORNING + NOON]))
  await stage.run(body(NOON))
  await wait(stage)
  expect(await figures(stage)).toEqual({ visitors: 3, visits: 5, pageviews: 6 })
  expect((await stage.get("")).body).toMatchObject({ data: [{ id: 1, totals: { visitors: 3, visits: 5, pageviews: 6 } }] })
})

test("a range that was left out is imported later", async () => {
  await using stage = await startImports()
  const [first, second, third] = ["2026-11-02", "2026-11-05", "2026-11-08"].map((day) =>
    log([`${day}T10:00:00Z`, ANNA, "/"], [`${day}T10:30:00Z`, BEN, "/"], [`${day}T11:30:00Z`, BEN, "/"]),
  )
  await stage.run(body(first!))
  await stage.run(body(third!))
  expect((await stage.run(body(second!))).days).toEqual(
    ["2026-11-02", "2026-11-05", "2026-11-08"].map((day) => ({ from: day, to: day, state: "effective", reason: null, masked_by: null })),
  )
  await wait(stage)
  expect(await figures(stage)).toMatchObject({ visits: 9 })
})

test("a visit that two runs contain is one visit of one visitor", async () => {
  await using stage = await startImports()
  const requests = [
    ["2026-11-21T11:40:00Z", ANNA, "/"],
    ["2026-11-21T11:55:00Z", ANNA, "/pricing"],
    ["2026-11-21T12:05:00Z", ANNA, "/order"],
  ] as const
  await stage.run(body(log(...requests.slice(0, 2))))
  expect(await figures(stage)).toEqual({ visitors: 0, visits: 0, pageviews: 0 })
  stage.instance.clock.advance(10 * MINUTE)
  await stage.run(body(log(...requests)))
  await wait(stage, 21 * MINUTE)
  expect(await figures(stage)).toEqual({ visitors: 1, visits: 1, pageviews: 3 })
})

test("a visitor is the same until the salt of the day is destroyed, and a new one afterwards", async () => {
  await using stage = await startImports()
  const { catalog } = stage.instance.app.instance
  const salts = () => catalog.all(sql`select purpose from secrets where owner = 'imports' order by id`)
  await stage.run(body(log(["2026-11-20T08:00:00Z", ANNA, "/"], ["2026-11-20T12:00:00Z", BEN, "/"])))
  await wait(stage)
  await stage.run(body(log(["2026-11-20T14:00:00Z", ANNA, "/a"], ["2026-11-20T20:00:00Z", BEN, "/b"])))
  await wait(stage)
  expect(await figures(stage)).toEqual({ visitors: 2, visits: 4, pageviews: 4 })
  expect(await salts()).toEqual([{ purpose: "key of lines" }, { purpose: "salts" }])
  // The day began at 23:00 in UTC, by the zone of the site.
  await wait(stage, 11 * HOUR)
  expect(await salts()).toEqual([{ purpose: "key of lines" }])
  await stage.run(body(log(["2026-11-20T22:00:00Z", ANNA, "/c"])))
  await wait(stage)
  expect(await figures(stage)).toEqual({ visitors: 3, visits: 5, pageviews: 5 })
})

test("rows and addresses of waiting visits are neither in the staging folder nor in the stores", async () => {
  await using stage = await startImports()
  await stage.run(body(log(["2026-11-21T11:59:00Z", ANNA, "/wait"])))
  const { dataDir } = stage.instance
  const waiting = filesOf(dataDir).filter((name) => name.startsWith("staging"))
  expect(waiting).toEqual(["staging/imports/stream-1/waiting-1"])
  for (const name of filesOf(dataDir)) expect(await Bun.file(`${dataDir}/${name}`).text()).not.toContain(ANNA!)
  await wait(stage)
  expect(filesOf(dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
})

test("a preview of a stream promises what the run adds", async () => {
  await using stage = await startImports()
  await stage.run(body(MORNING))
  const preview = (await stage.post("/preview", body(MORNING + NOON))).body as PreviewResponse
  expect(preview).toMatchObject({
    rows: { read: 6, accepted: 2, skipped: 4 },
    totals: { visits: 2 },
    skip_reasons: { already_imported: 4 },
    warnings: [{ code: "open_visits" }],
    overlap: { days_total: 1, days_effective: 1, days_masked: [] },
  })
  expect(preview.duplicate_of).toBeUndefined()
  const done = await stage.run({ ...body(MORNING + NOON), preview_hash: preview.preview_hash })
  expect(done).toMatchObject({ rows: { read: 10, imported: 5 }, totals: { visits: 4 } })
  expect(await stage.post("", { ...body(MORNING + NOON), preview_hash: preview.preview_hash })).toMatchObject({
    status: 409,
    body: { code: "preview_mismatch" },
  })
})

test("a run that is cancelled or fails removes only its own rows", async () => {
  await using stage = await startImports()
  await stage.run(body(MORNING))
  const before = segmentsOf(stage.instance)
  expect((await stage.post("", body(NOON))).body).toMatchObject({ id: 1, state: "completed", progress: { phase: "sort" } })
  expect((await stage.get("/1")).body).toMatchObject({ progress: { phase: "sort" } })
  // Only one run of a stream is in progress.
  expect(await stage.post("", body(NOON))).toMatchObject({ status: 409, body: { code: "invalid_state", state: "running" } })
  expect(await stage.post("/1/cancel")).toMatchObject({ status: 202, body: { state: "completed", progress: null } })
  expect(await stage.post("/1/cancel")).toMatchObject({ status: 409, body: { code: "invalid_state" } })
  await stage.instance.runJobs()
  expect(segmentsOf(stage.instance)).toEqual(before)

  const failed = await stage.run(body(`${NOON}not a line\nnor this one\nnor this\n`, "web", { format: "combined" }))
  expect(failed).toMatchObject({ state: "completed", error: { code: "too_many_rejects" }, rows: { read: 4, imported: 3, rejected: 0 } })
  expect(segmentsOf(stage.instance)).toEqual(before)
  const done = await stage.run(body(NOON))
  expect(done).toMatchObject({ state: "completed", error: null, rows: { read: 6, imported: 5 } })
})

test("undoing a stream removes all its runs, its keys and files, and ends a run in progress", async () => {
  await using stage = await startImports()
  await stage.run(body(MORNING))
  await stage.run(body(NOON))
  await stage.post("", body(log(["2026-11-21T11:50:00Z", CARA, "/late"])))
  expect(await stage.post("/1/undo")).toMatchObject({ status: 202, body: { state: "undoing" } })
  expect(await figures(stage)).toMatchObject({ visits: 0 })
  await stage.instance.runJobs()
  const { dataDir, app } = stage.instance
  expect((await stage.get("/1")).body).toMatchObject({ state: "undone" })
  expect(segmentsOf(stage.instance)).toEqual([])
  expect(filesOf(dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  expect(await app.instance.catalog.all(sql`select id from secrets where owner = 'imports'`)).toEqual([])
  // The name is free again, and the log is new to it.
  expect(await stage.run(body(MORNING))).toMatchObject({ id: 2, state: "completed", rows: { read: 4, imported: 3 } })
})

test("a first run that is cancelled leaves no stream", async () => {
  await using stage = await startImports()
  await stage.post("", body(MORNING))
  await stage.post("/1/cancel")
  await stage.instance.runJobs()
  expect(await stage.run(body(MORNING))).toMatchObject({ id: 2, state: "completed", rows: { imported: 3 } })
})

test("two streams of a site are two imports, and the second does not count the days of the first", async () => {
  await using stage = await startImports()
  await stage.run(body(MORNING))
  const other = await stage.run(body(NOON, "shop"))
  expect(other).toMatchObject({ id: 2, days: [{ state: "masked", masked_by: 1 }] })
  expect(await stage.run(body(NOON))).toMatchObject({ id: 1, days: [{ from: "2026-11-21", to: "2026-11-21", state: "effective" }] })
  expect((await stage.get("/2")).body).toMatchObject({ days: [{ state: "masked", masked_by: 1 }] })
})

test("names the options that a stream cannot have", async () => {
  await using stage = await startImports()
  const options = { from: "2026-11-01", to: "2026-11-30", hostnames: ["shop.example"], create_goals: true }
  const refused = await stage.post("", body(MORNING, "web", options))
  expect(refused).toMatchObject({ status: 422, body: { code: "validation_failed" } })
  const pointers = (refused.body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer)
  expect(pointers).toEqual(Object.keys(options).map((name) => `/options/${name}`))
  await stage.run(body(MORNING, "web", { overlap: "fill_gaps" }))
  expect(await stage.post("", body(NOON, "web", { overlap: "native_wins" }))).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/options/overlap" }] },
  })
  expect((await stage.run(body(NOON))) satisfies ImportResponse).toMatchObject({ overlap: "fill_gaps" })
})

test.each([
  ["a reset", "onVisitsErase"],
  ["a deletion", "onSiteDelete"],
] as const)("%s of the site ends its streams", async (_, hook) => {
  await using stage = await startImports()
  const { app, dataDir } = stage.instance
  await stage.run(body(MORNING))
  await stage.post("", body(NOON))
  if (hook === "onVisitsErase") await app.hooks.onVisitsErase(1, { all: true })
  else await app.hooks.onSiteDelete(1)
  await stage.instance.runJobs()
  expect(await app.instance.catalog.all(sql`select stream from imports_streams`)).toEqual([])
  expect(await app.instance.catalog.all(sql`select id from secrets where owner = 'imports'`)).toEqual([])
  expect(filesOf(dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  expect(segmentsOf(stage.instance)).toEqual([])
})

test("a new zone of the site moves the days of a stream, which then goes on", async () => {
  await using stage = await startImports()
  // In Berlin it is the next day.
  const late = log(["2026-11-19T23:30:00Z", ANNA, "/"], ["2026-11-20T00:30:00Z", BEN, "/"])
  expect((await stage.run(body(late))).days).toMatchObject([{ from: "2026-11-20", to: "2026-11-20" }])
  await stage.instance.app.instance.sites.update(1, { timezone: "UTC" })
  await wait(stage)
  await stage.run(body(late + NOON))
  await wait(stage)
  expect((await stage.get("/1")).body).toMatchObject({
    timezone: "UTC",
    days: [{ from: "2026-11-19", to: "2026-11-21", state: "effective" }],
  })
  expect(await figures(stage)).toMatchObject({ visits: 4 })
})

test("a backup has the key of the lines, and neither salts nor visitors", async () => {
  await using stage = await startImports()
  await stage.run(body(MORNING))
  const { dataDir, app } = stage.instance
  const { id } = await app.operations["backup.create"]({}, () => {})
  const read = (name: string, query: string) => {
    using db = new Database(join(dataDir, "backups", id, name), { readonly: true })
    return db.query(query).all()
  }
  expect(read("catalog.db", "select purpose from secrets where owner = 'imports'")).toEqual([{ purpose: "key of lines" }])
  expect(read("events.db", "select * from import_visitors")).toEqual([])
})
