import { afterAll, beforeAll, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { unzipSync } from "fflate"
import { plugins as programPlugins } from "../../../../plugins/index.ts"
import type { VisitTraits } from "../../../../src/domain/visit.ts"
import type { VisitRow } from "../../../../src/query/rows/rows.ts"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { showImports } from "../../../visible-imports.ts"
import { auditOf, type Person, signedIn } from "../person.ts"

let instance: TestInstance
let editor: Person
let viewer: Person

const at = async (on: TestInstance, address: string, payload: object) =>
  on.collect({ n: "pageview", u: "https://shop.example/", ...payload }, { address })

beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-10T10:00:00Z" })
  const { clock } = instance
  for (let day = 0; day < 6; day++) {
    for (let visitor = 0; visitor < 8; visitor++) {
      const address = `203.0.113.${visitor}`
      await at(instance, address, { u: `https://shop.example/?utm_source=${visitor % 3 ? "mail" : "ads"}` })
      clock.advance(20_000)
      await at(instance, address, { n: "engagement", e: 9_000, sd: 40 + visitor })
      await at(instance, address, { u: `https://www.shop.example/page-${visitor % 4}`, r: "https://shop.example/" })
      clock.advance(10_000)
      if (visitor % 2)
        await at(instance, address, { n: "buy", p: { plan: `p${visitor % 3}` }, $: { amount: `${visitor}.25`, currency: "EUR" } })
    }
    if (day === 2) await instance.app.instance.events.seal(clock.now() + 40 * 86_400_000, true)
    clock.advance(86_400_000)
  }
  editor = await signedIn(instance, { role: "editor" })
  viewer = await signedIn(instance, { role: "viewer" })
  await editor.post("/sites/1/goals", { kind: "event", value: "buy" })
  await editor.post("/sites/1/funnels", {
    name: "Buy",
    steps: [
      { type: "page", value: "/" },
      { type: "event", value: "buy" },
    ],
  })
  await editor.post("/sites/1/segments", { name: "Mail", scope: "site", filters: [{ dimension: "source", values: ["mail"] }] })
  await editor.post("/sites/1/segments", { name: "Private thoughts", filters: [{ dimension: "source", values: ["ads"] }] })
  await editor.post("/sites/1/annotations", { at: "2026-11-11", text: "Launch" })
  await editor.post("/sites/1/annotations", { at: "2026-11-11", text: "Private note", scope: "personal" })
  const admin = await signedIn(instance, { role: "admin" })
  await admin.post("/sites/1/shields", { kind: "ip", value: "192.0.2.55" })
  await admin.patch("/sites/1/settings", { bounce_engaged_seconds: 8 })
})
afterAll(() => instance[Symbol.asyncDispose]())

async function takeOut(): Promise<{ path: string; files: Record<string, Uint8Array> }> {
  const begun = await editor.post("/sites/1/takeout", undefined)
  expect(begun).toMatchObject({ status: 202, body: { state: "queued" } })
  const path = begun.headers.get("location")!.replace("/api/private", "")
  expect(await editor.get(`${path}/file`)).toMatchObject({
    status: 409,
    body: { code: "invalid_state", state: expect.stringMatching(/^(queued|running)$/) },
  })
  await instance.app.instance.jobs.drain()
  expect((await editor.get(path)).body).toMatchObject({ state: "done", progress: { phase: "visits", done: 48 } })
  const request = new Request(`http://localhost/api/private${path}/file`, { headers: { cookie: editor.cookie } })
  const response = await instance.fetch(request)
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="site-1.zip"')
  return { path, files: unzipSync(await response.bytes()) }
}
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex")

test("the archive lists its contents and contains no personal data", async () => {
  const { files } = await takeOut()
  const areas = programPlugins.map(({ id }) => `${id}_`)
  const ofCore = Object.keys(files).filter((name) => !areas.some((area) => name.startsWith(area)))
  expect(ofCore.sort()).toEqual([
    "annotations.json",
    "clicks.ndjson",
    "funnels.json",
    "goals.json",
    "imported.ndjson",
    "manifest.json",
    "opens.ndjson",
    "segments.json",
    "visits.ndjson",
  ])
  const manifest = JSON.parse(text(files["manifest.json"]))
  expect(manifest).toMatchObject({
    format: "footfall-site",
    version: 2,
    site: { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", settings: { bounce_engaged_seconds: 8, shields: [] } },
    counts: { goals: 1, funnels: 1, segments: 1, annotations: 1, visits: 48, events: 120, clicks: 0, opens: 0, imported: 0 },
  })
  for (const [name, { sha256: hash, bytes }] of Object.entries<{ sha256: string; bytes: number }>(manifest.files)) {
    expect([name, hash, bytes]).toEqual([name, sha256(files[name]!), files[name]!.length])
  }
  expect(JSON.parse(text(files["segments.json"]))).toMatchObject([{ name: "Mail", filters: [{ dimension: "source", values: ["mail"] }] }])
  const all = Object.values(files).map(text).join("")
  for (const secret of ["203.0.113", "192.0.2.55", "Private", instance.site.tracking_id, "owner_user_id", "sequence"])
    expect(all).not.toContain(secret)
})

test("visitors have different pseudonyms in each archive, and one each within it", async () => {
  const names = async () =>
    text((await takeOut()).files["visits.ndjson"])
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).visitor as string)
  const [one, other] = [await names(), await names()]
  expect(one).toHaveLength(48)
  expect(new Set(one).size).toBe(48)
  expect(one.filter((name) => other.includes(name))).toEqual([])
})

test("imported data gives the same results in another site", async () => {
  const { files } = await takeOut()
  await using other = await startInstance({ now: new Date(instance.clock.now()).toISOString() })
  const { site } = JSON.parse(text(files["manifest.json"]))
  await other.app.instance.sites.configure(1, { bounce_engaged_seconds: site.settings.bounce_engaged_seconds })
  const visits = text(files["visits.ndjson"])
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Omit<VisitRow, "visitor"> & { visitor: string })
  await other.app.instance.events.importVisits(
    { siteId: 1, importId: 7 },
    visits.map(({ visitor, visitor_kind: visitorKind, events, started_at, ...visit }) => ({
      visitor,
      visitorKind,
      events,
      traits: visit as VisitTraits,
      day: new Date(started_at).toISOString().slice(0, 10),
    })),
  )
  await showImports(other, [{ id: 7 }])
  const { kind, value } = JSON.parse(text(files["goals.json"]))[0]
  await other.app.instance.goals.create(other.site, { kind, value })
  const range = "from=2026-11-10&to=2026-11-15"
  for (const report of [
    "summary?metrics=visitors,visits,pageviews,events,views_per_visit,bounce_rate,visit_duration,engaged_time",
    "summary?metrics=conversions,conversion_rate,revenue",
    "timeseries?metrics=visitors,pageviews,visits",
    "breakdown?dimension=page&metrics=visitors,pageviews,time_on_page,scroll_depth,exit_rate",
    "breakdown?dimension=entry_page&metrics=visitors,visits,bounce_rate",
    "breakdown?dimension=source",
    "breakdown?dimension=hostname",
    "breakdown?dimension=browser_version",
    "breakdown?dimension=property&property=plan&metrics=visitors,events,revenue",
    "goals?",
  ]) {
    const ask = (on: TestInstance) => on.api.get(`/api/public/v1/sites/1/stats/${report}&${range}`, on.key)
    const [before, after] = [await ask(instance), await ask(other)]
    expect(before.status).toBe(200)
    const imports = { included: true, import_ids: [7] }
    const { points } = before.body as { points?: object[] }
    const marked = points && { points: points.map((point) => ({ ...point, imported: true })) }
    expect<object>({ ...(after.body as object), funnels: [] }).toEqual({ ...(before.body as object), ...marked, imports, funnels: [] })
  }
})

test("needs people:read, and only the creator can download it", async () => {
  for (const ask of [viewer.post("/sites/1/takeout", undefined), viewer.get("/sites/1/takeout/1"), viewer.get("/sites/1/takeout/1/file")])
    expect(await ask).toMatchObject({ status: 403, body: { required_permission: "people:read" } })
  const { path } = await takeOut()
  expect(await editor.get("/sites/1/takeout/999/file")).toMatchObject({ status: 404, body: { code: "work_not_found" } })
  const [file] = [...new Bun.Glob("*.zip").scanSync(join(instance.dataDir, "takeouts"))]
  expect(statSync(join(instance.dataDir, "takeouts", file!)).mode & 0o777).toBe(0o600)
  expect((await auditOf(instance)).slice(-2)).toEqual(["sites.takeout.begin", "sites.takeout.finish"])
  for (const name of new Bun.Glob("*.zip").scanSync(join(instance.dataDir, "takeouts")))
    await Bun.file(join(instance.dataDir, "takeouts", name)).delete()
  expect(await editor.get(`${path}/file`)).toMatchObject({ status: 404, body: { code: "work_not_found" } })
})

test("a repeated request creates one archive, and one interrupted by a crash is completed", async () => {
  const headers = { "idempotency-key": "once" }
  const first = await editor.post("/sites/1/takeout", undefined, headers)
  const again = await editor.post("/sites/1/takeout", undefined, headers)
  expect([first.status, again.status]).toEqual([202, 202])
  expect(again.body).toEqual(first.body)
  expect(again.headers.get("idempotency-replayed")).toBe("true")
  const { catalog, jobs } = instance.app.instance
  const path = first.headers.get("location")!.replace("/api/private", "")
  const id = Number(path.split("/").at(-1))
  const { file } = (await jobs.get(id))!.payload as { file: string }
  // Simulates a process that ended while writing the archive.
  await Bun.write(join(instance.dataDir, "takeouts", file), "PK half of it")
  await catalog.run(sql`update jobs set state = 'running', attempts = 1, leased_by = 'gone', leased_until = 0 where id = ${id}`)
  await jobs.recover()
  instance.clock.advance(3_600_000)
  await jobs.drain()
  expect((await editor.get(path)).body).toMatchObject({ state: "done" })
  const request = new Request(`http://localhost/api/private${path}/file`, { headers: { cookie: editor.cookie } })
  const files = unzipSync(await (await instance.fetch(request)).bytes())
  expect(text(files["visits.ndjson"]).trim().split("\n")).toHaveLength(48)
  expect((await auditOf(instance)).slice(-2)).toEqual(["sites.takeout.begin", "sites.takeout.finish"])
})

test("an erasure deletes archives that may contain erased data", async () => {
  const visitor = await visitorOf(instance)
  const { path } = await takeOut()
  expect(await instance.app.erasure.person(1, [visitor])).toMatchObject({ visits: 1 })
  expect(await editor.get(`${path}/file`)).toMatchObject({ status: 404, body: { code: "work_not_found" } })
})

/** Returns the pseudonym of a visitor, as exports of the site show it. */
async function visitorOf({ api, key }: TestInstance): Promise<string> {
  const { body } = await api.get("/api/public/v1/sites/1/export?type=visits&format=ndjson&from=2026-11-10&to=2026-11-15", key)
  return JSON.parse((body as string).split("\n")[0]!).visitor
}
