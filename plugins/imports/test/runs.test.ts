import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { sql } from "#plugin"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { file, type ImportStage, PATH, simpleAnalytics, startImports } from "./kit.ts"
import { contentOf, segmentsOf } from "./stores.ts"

const EXPORT = simpleAnalytics([
  { at: "2026-10-01T10:00:00Z", path: "/", session: "a" },
  { at: "2026-10-01T10:05:00Z", path: "/pricing", session: "a" },
  { at: "2026-10-02T09:00:00Z", path: "/", session: "b", country: "FR" },
])

/** Stores visits of today, as the tracker sends them. */
async function collectNative({ instance }: ImportStage, pages: readonly string[]): Promise<void> {
  for (const [at, page] of pages.entries()) {
    const payload = { n: "pageview", u: `https://shop.example${page}`, d: instance.site.tracking_id }
    await instance.collect(payload, { address: `198.51.100.${at + 1}` })
  }
  await instance.app.instance.events.seal(instance.clock.now() + 86_400_000, true)
}

describe("a run", () => {
  test("shows its events in reports once it is completed, as the preview promised", async () => {
    await using stage = await startImports()
    const preview = (await stage.post("/preview", file(EXPORT))).body as PreviewResponse
    const started = await stage.post("", { ...file(EXPORT), preview_hash: preview.preview_hash })
    expect(started).toMatchObject({ status: 202, body: { id: 1, state: "pending", days: [] } })
    expect(started.headers.get("location")).toBe("/api/private/sites/1/imports/1")
    expect(await stage.totals()).toMatchObject({ visitors: 0 })
    await stage.instance.runJobs()
    expect(await stage.totals()).toMatchObject({ visitors: 2, visits: 2, pageviews: 3, visit_duration: 150 })
    const { body } = await stage.get("/1")
    expect(body).toMatchObject({
      ...{ state: "completed", totals: preview.totals, date_start: "2026-10-01", date_end: "2026-10-02", days_effective: 2 },
      ...{ rows: { total: 3, read: 3, imported: 3, skipped: 0, rejected: 0 }, progress: null, can_retry: false },
      days: [{ from: "2026-10-01", to: "2026-10-02", state: "effective" }],
    })
    expect(await stage.totals('&filters=[{"dimension":"country","operator":"is","values":["FR"]}]')).toMatchObject({ visitors: 1 })
  })

  test("counts the events that reports count: neither engagement nor vitals", async () => {
    await using stage = await startImports()
    const at = Date.parse("2026-10-01T10:00:00Z")
    const names = ["vitals", "pageview", "engagement", "Signup", "vitals", "engagement"]
    const events = names.map((name, second) => ({
      ...{ at: at + 1_000 * second, name, page: "/", hostname: "shop.example", interactive: name === "Signup" },
      ...(name === "vitals" && { vitals: { lcp: 900 + second } }),
      ...(name === "engagement" && { engagement: { engagedMs: 1_000 } }),
    }))
    const files = [
      { name: "manifest.json", content: JSON.stringify({ format: "footfall-site", version: 2 }) },
      { name: "visits.ndjson", content: JSON.stringify({ visitor: "00112233aabbccdd", visitor_kind: "rotating", events }) },
    ]
    const done = await stage.run({ source: "footfall", files, options: { create_goals: true } })
    // An engagement or vitals before the first counted event belongs to no visit.
    expect(done).toMatchObject({ state: "completed", totals: { visits: 1, pageviews: 1, events: 2 }, created_objects: [{ type: "goal" }] })
    expect(await stage.totals("&metrics=visits,pageviews,events,engaged_time")).toEqual({
      visits: 1,
      pageviews: 1,
      events: 2,
      engaged_time: 2,
    })
  })

  test("leaves out days with native visits, with the day of the first one", async () => {
    await using stage = await startImports()
    await collectNative(stage, ["/"])
    const rows = ["2026-11-19", "2026-11-20", "2026-11-21"].map((day) => ({ at: `${day}T10:00:00Z`, path: "/", session: day }))
    const done = await stage.run(file(simpleAnalytics(rows)))
    expect(done).toMatchObject({
      ...{ days_effective: 2, rows: { read: 3, imported: 2, skipped: 1 }, skip_reasons: { native: 1 } },
      days: [
        { from: "2026-11-19", to: "2026-11-20", state: "effective" },
        { from: "2026-11-21", to: "2026-11-21", state: "skipped", reason: "native" },
      ],
    })
    expect(await stage.totals()).toMatchObject({ visits: 3 })
  })

  test("leaves out days with native visits that came after it was started", async () => {
    await using stage = await startImports()
    const rows = ["2026-11-20", "2026-11-21"].map((day) => ({ at: `${day}T10:00:00Z`, path: "/", session: day }))
    await stage.post("", file(simpleAnalytics(rows)))
    await collectNative(stage, ["/"])
    await stage.instance.runJobs()
    expect((await stage.get("/1")).body).toMatchObject({ state: "completed", rows: { imported: 1 }, skip_reasons: { native: 1 } })
    expect(await stage.totals()).toMatchObject({ visits: 2 })
  })

  test("counts its days in the zone that the site has when it begins", async () => {
    await using stage = await startImports()
    await stage.post("", file(simpleAnalytics([{ at: "2026-10-01T22:30:00Z", path: "/", session: "a" }])))
    await stage.instance.app.instance.sites.update(1, { timezone: "UTC" })
    await stage.instance.runJobs()
    expect((await stage.get("/1")).body).toMatchObject({ timezone: "UTC", days: [{ from: "2026-10-01", to: "2026-10-01" }] })
  })

  test("fails when more than half of its lines are rejected, and is imported when that is accepted", async () => {
    await using stage = await startImports()
    const broken = `${EXPORT}\n${["x", "y", "z", "w"].map((time) => `${time},/,c,DE,shop.example,pageview`).join("\n")}`
    const failed = await stage.run(file(broken))
    expect(failed).toMatchObject({
      ...{ state: "failed", error: { code: "too_many_rejects" }, can_retry: true },
      rows: { read: 7, imported: 0, rejected: 4 },
    })
    const reasons = await stage.get(`/${failed.id}/rejects.csv`)
    expect(String(reasons.body).split("\r\n").slice(0, 2)).toEqual(['"file","line","code","excerpt"', '"export.csv",5,"bad_date","x"'])
    expect(await stage.totals()).toMatchObject({ visitors: 0 })
    expect(segmentsOf(stage.instance)).toEqual([])
    const done = await stage.run({ ...file(broken), options: { accept_rejects: true } })
    expect(done).toMatchObject({ state: "completed", rows: { read: 7, imported: 3, rejected: 4 } })
    const rejects = await stage.get(`/${done.id}/rejects.csv`)
    expect(String(rejects.body).split("\r\n").slice(0, 2)).toEqual(['"file","line","code","excerpt"', '"export.csv",5,"bad_date","x"'])
  })

  test("publishes an event and writes an audit entry at its start and its end", async () => {
    await using stage = await startImports()
    const { id } = await stage.run(file(EXPORT))
    const { catalog } = stage.instance.app.instance
    await stage.post(`/${id}/undo`)
    await stage.instance.runJobs()
    expect(await catalog.all(sql`select event from outbox where event like 'import.%' order by id`)).toEqual([
      { event: "import.completed" },
      { event: "import.undone" },
    ])
    expect(await catalog.all(sql`select action from audit_log where action like 'imports.%' order by id`)).toEqual([
      { action: "imports.import.create" },
      { action: "imports.import.complete" },
      { action: "imports.import.undo" },
      { action: "imports.import.undone" },
    ])
  })

  test("creates goals for event names, which its undoing removes unless they were changed", async () => {
    await using stage = await startImports()
    const events = ["Signup", "Order"].map((name) => `2026-10-01T10:06:00Z,/,a,DE,shop.example,${name}`)
    const done = await stage.run({ ...file(`${EXPORT}\n${events.join("\n")}`), options: { create_goals: true } })
    expect(done.created_objects.map(({ type }) => type)).toEqual(["goal", "goal"])
    const goals = `/api/private/sites/1/goals`
    const [first] = done.created_objects
    await stage.instance.api.send("PATCH", `${goals}/${first!.id}`, { name: "Sign-ups" }, undefined, stage.headers)
    await stage.post(`/${done.id}/undo`)
    await stage.instance.runJobs()
    expect(await stage.get(`/${done.id}`)).toMatchObject({ body: { state: "undone", created_objects: [first!] } })
    const left = await stage.instance.api.get(goals, undefined, stage.headers)
    expect(left.body).toMatchObject({ data: [{ id: first!.id, name: "Sign-ups" }] })
  })
})

describe("undoing", () => {
  test("leaves the stores as they were before, bit for bit", async () => {
    await using stage = await startImports()
    await collectNative(stage, ["/", "/about"])
    const before = { segments: segmentsOf(stage.instance), totals: await stage.totals() }
    const first = await stage.run(file(EXPORT))
    const second = await stage.run(file(simpleAnalytics([{ at: "2026-10-05T10:00:00Z", path: "/other", session: "c" }])))
    const withBoth = segmentsOf(stage.instance)
    expect(await stage.post(`/${first.id}/undo`)).toMatchObject({ status: 202, body: { state: "undoing" } })
    // Gone from answers at once, before any row is removed.
    expect(await stage.totals()).toMatchObject({ visits: 3 })
    await stage.instance.runJobs()
    expect(await stage.get(`/${first.id}`)).toMatchObject({ body: { state: "undone", rows: { imported: 3 } } })
    expect(segmentsOf(stage.instance)).toEqual(withBoth.filter((segment) => segment.import !== first.id))
    expect(await stage.post(`/${first.id}/undo`)).toMatchObject({ status: 202, body: { state: "undone" } })
    await stage.post(`/${second.id}/undo`)
    await stage.instance.runJobs()
    expect({ segments: segmentsOf(stage.instance), totals: await stage.totals() }).toEqual(before)
  })

  test("unmasks the days of later imports, and hiding does so without removing anything", async () => {
    await using stage = await startImports()
    const day = (session: string, at = "2026-10-01T10:00:00Z") => file(simpleAnalytics([{ at, path: `/${session}`, session }]))
    const first = await stage.run(day("a"))
    const second = await stage.run(day("b"))
    const third = await stage.run({ ...day("c"), options: { overlap: "import_wins_over_imports" } })
    const states = async () => {
      const rows = await Promise.all([first, second, third].map(({ id }) => stage.get(`/${id}`)))
      return rows.map(({ body }) => (body as ImportResponse).days.map(({ state, masked_by }) => masked_by ?? state))
    }
    expect(await states()).toEqual([[3], [3], ["effective"]])
    expect(await stage.send("PATCH", `/${third.id}`, { enabled: false })).toMatchObject({ status: 200, body: { enabled: false } })
    expect(await states()).toEqual([["effective"], [1], ["masked"]])
    await stage.post(`/${first.id}/undo`)
    expect(await states()).toEqual([["masked"], ["effective"], ["masked"]])
    await stage.send("PATCH", `/${third.id}`, { enabled: true })
    expect(await states()).toEqual([["masked"], [3], ["effective"]])
    expect(await stage.totals()).toMatchObject({ visits: 1 })
  })
})

describe("a preview", () => {
  test.each([
    ["good input", file(EXPORT), 200],
    ["a file that no source knows", { files: [{ name: "photo.bin", content_base64: "AAECAwQF" }] }, 422],
    ["an unknown option", { ...file(EXPORT), options: { colour: "red" } }, 422],
    ["an archive that is cut off", { files: [{ name: "export.zip", content_base64: "UEsDBAoAAAAA" }] }, 422],
  ])("writes nothing for %s", async (_, body, status) => {
    await using stage = await startImports()
    // The thread and the session are there before the comparison.
    await stage.post("/preview", file(EXPORT))
    const before = contentOf(stage.instance)
    expect(await stage.post("/preview", body)).toMatchObject({ status })
    expect(contentOf(stage.instance)).toEqual(before)
  })

  test("writes nothing when the client disconnects while the rows are read", async () => {
    await using stage = await startImports()
    await stage.post("/preview", file(EXPORT))
    const before = contentOf(stage.instance)
    const rows = Array.from({ length: 100_000 }, (_, at) => ({ at: "2026-10-01T10:00:00Z", path: `/${at}`, session: String(at) }))
    const [body, headers] = [JSON.stringify(file(simpleAnalytics(rows))), { ...stage.headers, "content-type": "application/json" }]
    const client = new AbortController()
    const request = new Request(`http://localhost${PATH}/preview`, { method: "POST", body, headers, signal: client.signal })
    const answer = stage.instance.fetch(request)
    const staged = join(stage.instance.dataDir, "staging/imports")
    // The files as they were sent, and the folder of the thread.
    while (!existsSync(staged) || readdirSync(staged).length < 2) await Bun.sleep(1)
    client.abort()
    expect((await answer).status).not.toBe(200)
    expect(contentOf(stage.instance)).toEqual(before)
  })

  test("says what a run would do to days that are held", async () => {
    await using stage = await startImports()
    await collectNative(stage, ["/"])
    await stage.run(file(simpleAnalytics([{ at: "2026-10-02T10:00:00Z", path: "/", session: "z" }])))
    const rows = ["2026-10-01", "2026-10-02", "2026-11-21", "2026-12-24"].map((day) => ({
      at: `${day}T10:00:00Z`,
      path: "/",
      session: day,
    }))
    expect(await stage.post("/preview", file(simpleAnalytics(rows)))).toMatchObject({
      body: {
        overlap: {
          ...{ policy: "native_wins", native_start: "2026-11-21", days_total: 4, days_effective: 1 },
          days_skipped: [
            { from: "2026-11-21", to: "2026-11-21", reason: "native" },
            { from: "2026-12-24", to: "2026-12-24", reason: "in_future" },
          ],
          days_masked: [{ from: "2026-10-02", to: "2026-10-02", import_id: 1 }],
        },
        rows: { read: 4, accepted: 2, skipped: 2 },
      },
    })
  })
})
