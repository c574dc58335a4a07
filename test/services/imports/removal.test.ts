import { expect, test } from "bun:test"
import { definePlugin, type ErasedVisits } from "#plugin"
import { signedIn } from "../../http/private/person.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"
import { showImports } from "../../visible-imports.ts"

const DAYS = ["2026-10-01", "2026-10-02", "2026-10-03"]

/** Starts an instance with totals (import 7), a visible import of visits (8) and a hidden one (9). `told` receives the erased visits. */
async function startWithImports(told: ErasedVisits[] = []): Promise<TestInstance> {
  const plugin = definePlugin({
    id: "derived",
    title: "Derived",
    setup: () => ({
      onVisitsErase: async (_siteId, removed) => {
        told.push(removed)
        return {}
      },
    }),
  })
  const instance = await startInstance({ now: "2026-11-21T12:00:00Z", plugins: [plugin] })
  const { events } = instance.app.instance
  const cursor = { position: "{}", visits: 0, rows: 3, batches: 1 }
  const rows = DAYS.map((day) => ({ day, texts: {}, counts: { visitors: 1, visits: 1, pageviews: 1 } }))
  await events.importTotals({ siteId: 1, importId: 7, cursor: () => cursor }, "imported_visitors", rows)
  await events.nameVisitors({ siteId: 1, importId: 7 }, ["00"])
  for (const importId of [8, 9])
    await events.importVisits(
      { siteId: 1, importId },
      DAYS.map((day) => ({ visitor: day, traits: NO_TRAITS, events: [event({ at: Date.parse(`${day}T10:00:00Z`), page: "/x" })], day })),
    )
  await showImports(instance, [
    { id: 7, days: [[DAYS[0]!, DAYS[2]!]] },
    { id: 8, days: [[DAYS[1]!, DAYS[1]!]] },
  ])
  return instance
}

/** Runs the jobs to completion, advancing the clock until replaced segments may be deleted. */
async function finish(instance: TestInstance): Promise<void> {
  let isOver = false
  const drained = instance.app.instance.jobs.drain().then(() => {
    isOver = true
  })
  while (!isOver) {
    instance.clock.advance(5_000)
    await Bun.sleep(20)
  }
  await drained
}

async function visitorsOf({ api, key }: TestInstance): Promise<number> {
  const { body } = await api.get("/api/public/v1/sites/1/stats/summary?from=2026-10-01&to=2026-10-31&metrics=visitors", key)
  return (body as { metrics: { visitors: number } }).metrics.visitors
}

test("an erasure by filter reaches hidden and masked visits, keeps totals and names the visits to areas before", async () => {
  const told: ErasedVisits[] = []
  await using instance = await startWithImports(told)
  const admin = await signedIn(instance, { role: "admin", provedAt: instance.clock.now() + 86_400_000 })
  expect(await visitorsOf(instance)).toBe(4)
  const request = { from: "2026-10-01", to: "2026-10-31", filters: [{ dimension: "page", values: ["/x"] }] }
  const preview = await admin.post("/sites/1/erase/preview", request)
  expect(preview.body).toMatchObject({ visits: 6, events: 6 })
  await admin.post("/sites/1/erase", { ...request, confirm: (preview.body as { confirm: string }).confirm })
  await finish(instance)
  expect(await visitorsOf(instance)).toBe(3)
  const visits = told.flatMap((removed) => ("visits" in removed ? removed.visits : []))
  expect([told.length, visits.length, new Set(visits.map(({ sequence }) => sequence)).size]).toEqual([1, 6, 6])
  expect(visits.map(({ started_at }) => started_at).sort()).toEqual(
    DAYS.flatMap((day) => [day, day]).map((day) => Date.parse(`${day}T10:00:00Z`)),
  )
  for (const { visitor } of visits) expect(visitor).toMatch(/^[0-9a-f]{16}$/)
})

test("a reset removes totals, visits of all imports, cursors and the visible set, and tells areas", async () => {
  const told: ErasedVisits[] = []
  await using instance = await startWithImports(told)
  const { events, imports } = instance.app.instance
  const owner = await signedIn(instance, { role: "owner", provedAt: instance.clock.now() + 86_400_000 })
  expect(imports.firstAt(1)).toBe(Date.parse("2026-09-30T22:00:00Z"))
  expect((await owner.post("/sites/1/reset", { confirm: "Shop" })).status).toBe(202)
  await finish(instance)
  expect(told).toEqual([{ all: true }])
  expect([imports.of(1), imports.firstAt(1)]).toEqual([[], undefined])
  expect([events.importCursor(7, 1), events.countVisitors(7, 1)]).toEqual([undefined, 0])
  await showImports(instance, [{ id: 7 }, { id: 8 }, { id: 9 }])
  expect(await visitorsOf(instance)).toBe(0)
})

test("the purge of a site removes its totals and its visible imports", async () => {
  await using instance = await startWithImports()
  expect(await instance.app.erasure.site(1)).toMatchObject({ visits: 6, imported_totals: 3 })
  expect(instance.app.instance.imports.of(1)).toEqual([])
  expect(await instance.app.erasure.site(1)).toMatchObject({ visits: 0, imported_totals: 0 })
})

test("erasing a person keeps totals", async () => {
  const told: ErasedVisits[] = []
  await using instance = await startWithImports(told)
  expect(await instance.app.erasure.person(1, ["0123456789abcdef"])).toMatchObject({ visits: 0 })
  expect(await visitorsOf(instance)).toBe(4)
})

test("retention removes earlier totals and visits, and the visible days with them", async () => {
  await using instance = await startWithImports()
  const { imports } = instance.app.instance
  // 50 days before 21 November.
  await instance.app.operations["retention.run"]({ site_id: 1, retention_days: 50 }, () => {})
  expect(imports.of(1).map(({ id, days }) => [id, days.length])).toEqual([
    [7, 1],
    [8, 1],
  ])
  expect(imports.firstAt(1)).toBe(Date.parse("2026-10-01T22:00:00Z"))
  expect(await visitorsOf(instance)).toBe(3)
  await showImports(instance, [{ id: 7 }, { id: 9 }])
  expect(await visitorsOf(instance)).toBe(4)
})
