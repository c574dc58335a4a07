import { expect, test } from "bun:test"
import { definePlugin, raw } from "#plugin"
import admin from "../admin.ts"
import { actionsOf, type ConsoleInstance, startConsole } from "./console.ts"

const DAY = 86_400_000
const view = (path: string) => ({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example" })

/** Records one visit a day at noon UTC for the given number of days before the start, then sets the clock to the start. */
async function startWithDays(days: number): Promise<ConsoleInstance> {
  const start = new Date(Date.parse("2026-11-21T12:00:00Z") - days * DAY).toISOString()
  const console = await startConsole({ now: start })
  for (let day = 0; day <= days; day++) {
    await console.instance.collect(view(`/day-${day}`))
    if (day < days) console.instance.clock.advance(DAY)
  }
  await console.instance.app.instance.events.seal(console.instance.clock.now(), true)
  return console
}
/** Creates a new session, because the first one expired when the clock advanced. */
const again = (console: ConsoleInstance) => console.instance.signIn({ isInstanceAdmin: true })
const visits = async ({ instance }: ConsoleInstance) =>
  (
    (await instance.api.get("/api/public/v1/sites/1/stats/summary?period=all&metrics=visits", instance.statsKey)).body as {
      metrics: { visits: number }
    }
  ).metrics.visits

test("a preview matches what the run then removes, also across midnight", async () => {
  await using console = await startWithDays(9)
  const cookie = await again(console)
  expect(await visits(console)).toBe(10)
  const preview = await console.send("POST", "/retention/preview", { site_id: 1, retention_days: 4 }, { cookie })
  // The limit is midnight in Berlin four days ago; the visits of 12 to 16 November are before it.
  expect(preview).toMatchObject({
    status: 200,
    body: { at: "2026-11-21T12:00:00Z", by: [{ site_id: 1, kind: "visits", cutoff: "2026-11-17", rows: 5, events: 5, days: 5 }] },
  })
  const { at, bytes } = preview.body as { at: string; bytes: number }
  expect(bytes).toBeGreaterThan(0)
  expect(await visits(console)).toBe(10)

  console.instance.clock.advance(12 * 3_600_000)
  const run = await console.send("POST", "/retention/run", { site_id: 1, retention_days: 4, at }, { cookie })
  expect(run).toMatchObject({ status: 202, body: { kind: "core.remove-visits", site_id: 1 } })
  await console.instance.app.instance.jobs.drain()
  expect(await console.get(`/jobs/${(run.body as { id: number }).id}`, cookie)).toMatchObject({
    body: { state: "done", progress: { done: 1, total: 1 } },
  })
  expect(await visits(console)).toBe(5)
  expect(await actionsOf(console)).toEqual(["admin.retention.run", "admin.retention.begin", "admin.retention.end"])
  const left = await console.send("POST", "/retention/preview", { site_id: 1, retention_days: 4, at }, { cookie })
  expect(left.body).toMatchObject({ by: [{ rows: 0, days: 0 }], bytes: 0 })
})

const spare = (rows: Readonly<Record<number, number>>) =>
  definePlugin({
    id: "spare",
    title: "Spare",
    setup: () => ({ countOverdue: async (siteId, day) => ({ months: rows[siteId] ?? 0, days: day === "2026-11-20" ? 1 : 0 }) }),
  })

test("a preview includes the plugin data that would be deleted", async () => {
  await using console = await startConsole({ plugins: [admin, spare({ 1: 4, 2: 5 })] })
  const other = { name: "Other", hosts: ["other.example"], timezone: "UTC" }
  await console.instance.app.instance.sites.create(1, other)
  const { body } = await console.send("POST", "/retention/preview", { retention_days: 1 })
  expect(body).toMatchObject({ cutoff: "2026-11-20", plugins: [{ id: "spare", rows: 11 }] })
  expect(await console.send("POST", "/retention/preview", { site_id: 1, retention_days: 2 })).toMatchObject({
    body: { cutoff: "2026-11-19", plugins: [{ id: "spare", rows: 4 }] },
  })
})

test("changes the default retention and those of sites atomically", async () => {
  await using console = await startConsole()
  const { catalog } = console.instance.app.instance
  await catalog.run(raw("create trigger no_sites before update on sites begin select raise(abort, 'no'); end"))
  const wanted = { default_days: 30, sites: [{ site_id: 1, retention_days: 2 }] }
  expect((await console.send("PUT", "/retention", wanted)).status).toBe(500)
  expect((await console.get("/retention")).body).toMatchObject({ default_days: null, sites: [{ retention_days: null }] })
  expect(await actionsOf(console)).toEqual([])
  await catalog.run(raw("drop trigger no_sites"))
  expect((await console.send("PUT", "/retention", wanted)).body).toMatchObject({ default_days: 30, sites: [{ retention_days: 2 }] })
  expect(await actionsOf(console)).toEqual(["admin.setting.update", "admin.retention.update"])
})

test("a site's retention overrides the default", async () => {
  await using console = await startWithDays(3)
  const cookie = await again(console)
  expect((await console.get("/retention", cookie)).body).toEqual({
    default_days: null,
    sites: [{ site_id: 1, name: "Shop", retention_days: null, source: "default" }],
  })
  expect((await console.send("POST", "/retention/preview", {}, { cookie })).body).toMatchObject({ by: [], bytes: 0 })
  expect((await console.send("PUT", "/retention", { default_days: 1 }, { cookie })).body).toMatchObject({
    default_days: 1,
    sites: [{ retention_days: 1, source: "default" }],
  })
  expect((await console.send("POST", "/retention/preview", {}, { cookie })).body).toMatchObject({ by: [{ cutoff: "2026-11-20", rows: 2 }] })
  await console.send("PUT", "/retention", { sites: [{ site_id: 1, retention_days: 2 }] }, { cookie })
  expect((await console.get("/retention", cookie)).body).toMatchObject({ sites: [{ retention_days: 2, source: "site" }] })
  expect((await console.send("POST", "/retention/preview", {}, { cookie })).body).toMatchObject({ by: [{ cutoff: "2026-11-19", rows: 1 }] })
})

test.each([
  [{ retention_days: 0 }, 422],
  [{ retention_days: null }, 422],
  [{ site_id: "1" }, 422],
  [{ site_id: 99 }, 404],
  [{ at: "2026-11-21T12:00:01Z" }, 422],
  [{ at: "2026-11-20T11:59:59Z" }, 422],
  [{ colour: 1 }, 422],
] as const)("rejects a retention preview with %j", async (body, status) => {
  await using console = await startConsole()
  expect((await console.send("POST", "/retention/preview", body)).status).toBe(status)
})

test("counts the visits before a day, and removes them after confirmation", async () => {
  await using console = await startWithDays(3)
  const cookie = await again(console)
  expect(await console.send("POST", "/sites/1/purge", { before: "2026-11-20", dry_run: true }, { cookie })).toMatchObject({
    status: 200,
    body: { by: [{ rows: 2 }] },
  })
  expect(await visits(console)).toBe(4)
  expect(await console.send("POST", "/sites/1/purge", { before: "2026-11-20" }, { cookie })).toMatchObject({ status: 202 })
  await console.instance.app.instance.jobs.drain()
  expect(await visits(console)).toBe(2)
  expect(await console.send("POST", "/sites/1/purge", { before: "2026-02-30" }, { cookie })).toMatchObject({ status: 422 })
  expect(await console.send("POST", "/sites/9/purge", { before: "2026-11-20" }, { cookie })).toMatchObject({ status: 404 })
})

test("a purge never includes the site's current day", async () => {
  // Half past midnight in the site's time zone, Berlin; still the 20th in UTC.
  await using console = await startConsole({ now: "2026-11-20T23:30:00Z" })
  await console.instance.collect(view("/of-today"))
  for (const dry_run of [true, false])
    for (const before of ["2026-11-22", "2126-01-01"])
      expect(await console.send("POST", "/sites/1/purge", { before, dry_run })).toMatchObject({
        status: 422,
        body: {
          code: "validation_failed",
          errors: [{ pointer: "/before", code: "out_of_range", detail: "before must be 2026-11-21 or earlier." }],
        },
      })
  expect(await console.send("POST", "/sites/1/purge", { before: "2026-11-21" })).toMatchObject({ status: 202 })
  await console.instance.app.instance.jobs.drain()
  expect(await visits(console)).toBe(1)
})

test("reports storage by store, table and site, and the forecast for a month", async () => {
  await using console = await startWithDays(2)
  const { storage } = console.instance.app.console
  let cookie = await again(console)
  const first = (await console.get("/storage", cookie)).body as { events: { bytes_per_day: number | null }; sites: object[]; disk: object }
  expect(first).toMatchObject({
    catalog: { tables: expect.arrayContaining([expect.objectContaining({ table: "users", rows: 2 })]) },
    events: { bytes_per_day: null, tables: expect.arrayContaining([expect.objectContaining({ table: "segments", rows: 1 })]) },
    // Today's visit may still continue.
    sites: [{ site_id: 1, kind: "visits", visits: 2, events: 2, bytes_per_day: null }],
    disk: { free_bytes: expect.any(Number), total_bytes: expect.any(Number), days_to_full: null },
  })
  await storage.task.run(new AbortController().signal)
  console.instance.clock.advance(2 * DAY)
  for (let i = 0; i < 20; i++) await console.instance.collect(view(`/more-${i}`), { address: `198.51.100.${i + 1}` })
  await console.instance.app.instance.events.seal(console.instance.clock.now(), true)
  cookie = await again(console)
  const later = (await console.get("/storage", cookie)).body as { sites: { bytes: number; bytes_per_day: number }[] }
  const before = (first.sites as { bytes: number }[])[0]!.bytes
  expect(later.sites[0]!.bytes_per_day).toBe(Math.round((later.sites[0]!.bytes - before) / 2))
  expect(later.sites[0]!.bytes_per_day).toBeGreaterThan(0)
})

test.each(["catalog", "events"])("vacuums the store %s without losing anything", async (store) => {
  await using console = await startWithDays(3)
  const cookie = await again(console)
  await console.send("POST", "/sites/1/purge", { before: "2026-11-20" }, { cookie })
  await console.instance.app.instance.jobs.drain()
  expect(await console.send("POST", "/storage/vacuum", { store }, { cookie })).toMatchObject({
    status: 202,
    body: { kind: "core.vacuum-store" },
  })
  expect(await console.send("POST", "/storage/analyze", { store }, { cookie })).toMatchObject({
    status: 202,
    body: { kind: "core.analyze-store" },
  })
  await console.instance.app.instance.jobs.drain()
  expect(
    ((await console.get("/jobs?state=done", cookie)).body as { data: { kind: string }[] }).data.map(({ kind }) => kind).sort(),
  ).toEqual(["core.analyze-store", "core.remove-visits", "core.vacuum-store"])
  expect(await visits(console)).toBe(2)
  expect((await console.instance.collect(view("/after"), { address: "198.51.100.9" })).status).toBe(202)
  expect(await visits(console)).toBe(3)
  expect(await console.send("POST", "/storage/vacuum", { store: "all" }, { cookie })).toMatchObject({ status: 422 })
})

test("reports the outcome of events by minute, and continues after a restart of the counters", async () => {
  await using console = await startConsole()
  const { instance } = console
  await instance.collect(view("/"))
  await instance.collect({ ...view("/"), u: "https://other.example/" })
  await instance.collect({ n: "pageview", u: "https://unknown.example/", d: "unknown.example" })
  const expected = { accepted: 1, dropped: { unknown_site: 1, host: 1 }, refused_storage: 0, refused_queue: 0 }
  const totals = async () => (await console.get("/ingestion")).body as { data: object[]; totals: object }
  const before = await totals()
  expect(before.data.length).toBe(60)
  expect(before.data.at(-1)).toEqual({ at: "2026-11-21T12:00:00Z", ...expected })
  expect(before).toMatchObject({ totals: expected, queue_depth: 0, oldest_unsealed_at: "2026-11-21T12:00:00Z" })
  instance.app.console.ingestion.flush()
  instance.clock.advance(60_000)
  await instance.collect(view("/2"))
  const after = await totals()
  expect(after.data.slice(-2)).toEqual([
    { at: "2026-11-21T12:00:00Z", ...expected },
    { at: "2026-11-21T12:01:00Z", ...expected, accepted: 1, dropped: {} },
  ])
  expect((await console.get("/ingestion?site=1")).body).toMatchObject({ totals: { accepted: 2, dropped: { host: 1 } } })
  for (const query of ["from=2026-11-21T13:00:00Z", "from=2026-11-20T11:00:00Z", "from=yesterday,+about+noon!", "site=x"])
    expect(await console.get(`/ingestion?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  // They are deleted after a week.
  instance.clock.advance(7 * DAY)
  instance.app.console.ingestion.flush()
  expect(instance.app.instance.events.ingestMinutes({ from: 0, to: Number.MAX_SAFE_INTEGER, siteId: undefined })).toEqual([
    expect.objectContaining({ outcome: "accepted", count: 1 }),
  ])
})

test("shows the dropped events of all sites without addresses or visitors", async () => {
  await using console = await startConsole()
  await console.instance.collect({ ...view("/"), u: "https://other.example/page" })
  console.instance.app.collector.flush()
  const { body } = await console.get("/ingestion/rejected/sample?reason=host")
  expect(body).toEqual({
    data: [
      {
        site_id: 1,
        at: "2026-11-21T12:00:00Z",
        reason: "host",
        host: "other.example",
        page: "/page",
        browser_family: "Chrome",
        country: "",
      },
    ],
  })
  expect((await console.get("/ingestion/rejected/sample?reason=bot")).body).toEqual({ data: [] })
  expect(await console.get("/ingestion/rejected/sample?reason=ugly")).toMatchObject({ status: 400 })
})

test("lists, changes and runs a schedule before the scheduler has started, and keeps the change", async () => {
  await using console = await startConsole()
  const { schedules } = console.instance.app.instance
  const named = async () =>
    ((await console.get("/schedules")).body as { data: { name: string }[] }).data.find(({ name }) => name === "core.forget-old")
  expect(await named()).toMatchObject({ cron: "40 2 * * *", enabled: true, last_run_at: null, next_run_at: null })
  expect(await console.send("PATCH", "/schedules/core.forget-old", { cron: "15 4 * * 1" })).toMatchObject({
    status: 200,
    body: { cron: "15 4 * * 1", enabled: true, next_run_at: "2026-11-23T04:15:00Z" },
  })
  expect(await console.send("POST", "/schedules/core.forget-old/run")).toMatchObject({ status: 202 })
  await schedules.start()
  expect(await named()).toMatchObject({ cron: "15 4 * * 1", enabled: true, next_run_at: "2026-11-23T04:15:00Z" })
})

test("lists and changes schedules, and runs them on demand", async () => {
  await using console = await startConsole()
  const { instance } = console.instance.app
  await instance.schedules.start()
  const named = async () =>
    ((await console.get("/schedules")).body as { data: { name: string; cron: string; enabled: boolean }[] }).data.find(
      ({ name }) => name === "core.forget-old",
    )
  expect(await named()).toMatchObject({ cron: "40 2 * * *", enabled: true })
  expect(await console.send("PATCH", "/schedules/core.forget-old", { cron: "15 4 * * 1", enabled: false })).toMatchObject({
    status: 200,
    body: { cron: "15 4 * * 1", enabled: false },
  })
  expect(await console.send("PATCH", "/schedules/core.forget-old", { cron: "99 4 * * 1" })).toMatchObject({ status: 422 })
  expect(await console.send("PATCH", "/schedules/core.nothing", { enabled: true })).toMatchObject({ status: 404 })
  const run = await console.send("POST", "/schedules/core.forget-old/run")
  expect(run).toMatchObject({ status: 202, body: { kind: "core.forget-old", state: "queued", created_by: console.adminId } })
  await instance.jobs.drain()
  expect(await console.get(`/jobs/${(run.body as { id: number }).id}`)).toMatchObject({ body: { state: "done" } })
  expect(await console.send("POST", `/jobs/${(run.body as { id: number }).id}/retry`)).toMatchObject({
    status: 409,
    body: { code: "invalid_state" },
  })
  expect(await console.get("/jobs/999")).toMatchObject({ status: 404, body: { code: "job_not_found" } })
  expect(await actionsOf(console)).toEqual(["admin.schedule.update", "admin.schedule.run"])
})
