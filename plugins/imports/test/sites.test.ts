import { expect, test } from "bun:test"
import { sql } from "#plugin"
import type { ImportResponse } from "../responses.ts"
import { file, type ImportStage, simpleAnalytics, startImports } from "./kit.ts"
import { filesOf, segmentsOf } from "./stores.ts"

const EXPORT = simpleAnalytics([
  { at: "2026-10-01T10:00:00Z", path: "/", session: "a" },
  { at: "2026-10-01T22:30:00Z", path: "/late", session: "b" },
])

async function work({ instance }: ImportStage): Promise<void> {
  instance.clock.advance(60_000)
  await instance.runJobs()
}

test("a reset of the site ends its imports", async () => {
  await using stage = await startImports()
  await stage.run(file(EXPORT))
  await stage.post("", file(EXPORT.replaceAll("/late", "/later")))
  expect(await stage.instance.app.hooks.onVisitsErase(1, { all: true })).toEqual({ imports_imports: 2 })
  await stage.instance.runJobs()
  expect(await stage.get("")).toMatchObject({
    body: {
      data: [
        { id: 2, state: "cancelled" },
        { id: 1, state: "undone" },
      ],
    },
  })
  expect(segmentsOf(stage.instance)).toEqual([])
  expect(filesOf(stage.instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
})

test("a new zone of the site becomes that of its imports, with their days", async () => {
  await using stage = await startImports()
  expect((await stage.run(file(EXPORT))).days).toMatchObject([{ from: "2026-10-01", to: "2026-10-02", state: "effective" }])
  await stage.instance.runJobs()
  const { sites } = stage.instance.app.instance
  await sites.update(1, { timezone: "UTC" })
  await work(stage)
  expect((await stage.get("/1")).body).toMatchObject({
    timezone: "UTC",
    days: [{ from: "2026-10-01", to: "2026-10-01", state: "effective" }],
  })
})

test("retention marks the days that it removes", async () => {
  await using stage = await startImports()
  const done = await stage.run(file(EXPORT))
  const { hooks } = stage.instance.app
  expect(await hooks.overdue(1, "2026-10-02")).toMatchObject([{ id: "imports", rows: 1 }])
  expect(await hooks.onRetention(1, "2026-10-02")).toMatchObject({ imports_days: 1 })
  expect((await stage.get(`/${done.id}`)).body as ImportResponse).toMatchObject({
    days_effective: 1,
    days: [
      { from: "2026-10-01", state: "skipped", reason: "beyond_retention" },
      { from: "2026-10-02", state: "effective" },
    ],
  })
})

test("a deleted site leaves no import, upload or file", async () => {
  await using stage = await startImports()
  await stage.run(file(EXPORT))
  await stage.post("/uploads", { name: "a.csv", bytes: 10 })
  await stage.post("", file(EXPORT.replaceAll("/late", "/later")))
  expect(await stage.instance.app.hooks.onSiteDelete(1)).toMatchObject({ imports_imports: 2, imports_uploads: 1 })
  const { catalog } = stage.instance.app.instance
  for (const table of [sql`imports_imports`, sql`imports_days`, sql`imports_uploads`, sql`visible_imports`])
    expect(await catalog.all(sql`select * from ${table}`)).toEqual([])
  expect(filesOf(stage.instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  expect(segmentsOf(stage.instance)).toEqual([])
})
