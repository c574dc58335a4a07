import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { auditOf, type Person, signedIn } from "../person.ts"

let instance: TestInstance
let admin: Person
let editor: Person
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-20T12:00:00Z" })
  // The clock advances by hours here, and an erasure needs a proof of identity from the last ten minutes.
  admin = await signedIn(instance, { role: "admin", provedAt: instance.clock.now() + 86_400_000 })
  editor = await signedIn(instance, { role: "editor" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const send = (page: string, address: string, on = instance) => on.collect({ n: "pageview", u: `https://shop.example${page}` }, { address })
const ERASE = "/sites/1/erase"
const SECRET = [{ dimension: "page", operator: "starts_with", values: ["/secret"] }]

/** Runs the jobs to completion, advancing the clock until replaced segments may be deleted. */
async function finish(on = instance): Promise<void> {
  let isOver = false
  const drained = on.app.instance.jobs.drain().then(() => {
    isOver = true
  })
  while (!isOver) {
    on.clock.advance(5_000)
    await Bun.sleep(20)
  }
  await drained
}
const pages = async (person = admin) =>
  ((await person.get("/sites/1/stats/breakdown?dimension=page&period=all")).body as { rows: { value: string }[] }).rows
    .map(({ value }) => value)
    .sort()

test("erases whole visits with a matching event, without remains", async () => {
  await send("/", "203.0.113.1")
  await send("/secret-ambrosia", "203.0.113.1")
  await instance.app.instance.events.seal(instance.clock.now() + 86_400_000, true)
  await send("/", "203.0.113.2")
  await send("/secret-nectar", "203.0.113.3")
  await send("/other", "203.0.113.4")
  const request = { period: "7d", filters: SECRET }
  const preview = await admin.post(`${ERASE}/preview`, request)
  expect(preview).toMatchObject({
    status: 200,
    body: { visits: 2, events: 3, range: { from: "2026-11-14", to: "2026-11-20" }, confirm_expires_at: "2026-11-20T12:10:00Z" },
  })
  const { confirm } = preview.body as { confirm: string }
  const begun = await admin.post(ERASE, { ...request, confirm })
  expect(begun).toMatchObject({ status: 202, body: { state: "queued" } })
  const path = begun.headers.get("location")!.replace("/api/private", "")
  await finish()
  expect((await admin.get(path)).body).toMatchObject({ state: "done", progress: { done: 2 } })
  expect(await pages()).toEqual(["/", "/other"])
  expect((await auditOf(instance)).slice(-2)).toEqual(["sites.erasure.begin", "sites.erasure.finish"])
  const rows = await instance.app.instance.catalog.all<{ changes_json: string }>(
    sql`select changes_json from audit_log order by id desc limit 1`,
  )
  expect(JSON.parse(rows[0]!.changes_json)).toEqual({ visits: [2, 0] })
  const kept =
    JSON.stringify(await instance.app.instance.catalog.all(sql`select * from jobs`)) +
    JSON.stringify(await instance.app.instance.catalog.all(sql`select * from audit_log`))
  expect(kept).not.toContain("secret")
  for (const file of ["events.db", "events.db-wal"]) {
    const bytes = readFileSync(join(instance.dataDir, file)).toString("latin1")
    expect(bytes).not.toContain("ambrosia")
    expect(bytes).not.toContain("nectar")
  }
})

test.each([3_600_000, -3_600_000])("waits equally long to delete replaced data when the wall clock jumps by %i ms", async (jump) => {
  await using other = await startInstance({ now: "2026-11-20T12:00:00Z" })
  const owner = await signedIn(other, { role: "owner" })
  await send("/secret-ambrosia", "203.0.113.1", other)
  await other.app.instance.events.seal(other.clock.now() + 86_400_000, true)
  const begun = await owner.post("/sites/1/reset", { confirm: "Shop" })
  const path = begun.headers.get("location")!.replace("/api/private", "")
  let isOver = false
  const drained = other.app.instance.jobs.drain().then(() => {
    isOver = true
  })
  const phase = async () => ((await owner.get(path)).body as { progress: { phase: string } | null }).progress?.phase
  while ((await phase()) !== "overwriting") await Bun.sleep(5)
  other.clock.jump(jump)
  const jumpedAt = other.clock.monotonic()
  while (!isOver) {
    other.clock.advance(100)
    await Bun.sleep(5)
  }
  await drained
  expect(other.clock.monotonic() - jumpedAt).toBeGreaterThanOrEqual(20_000)
  for (const file of ["events.db", "events.db-wal"])
    expect(readFileSync(join(other.dataDir, file)).toString("latin1")).not.toContain("ambrosia")
})

test("a reset deletes what was counted of dropped events", async () => {
  await using other = await startInstance({ now: "2026-11-20T12:00:00Z" })
  const owner = await signedIn(other, { role: "owner" })
  await other.collect({ n: "pageview", u: "https://elsewhere.example/", d: "shop.example" })
  await other.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })
  const dropped = async () => {
    const report = (await owner.get("/sites/1/drops?period=today")).body as { rows: { total: number }[] }
    const samples = (await owner.get("/sites/1/drops/sample")).body as { data: object[] }
    return [report.rows.reduce((sum, { total }) => sum + total, 0), samples.data.length]
  }
  expect(await dropped()).toEqual([1, 1])
  await owner.post("/sites/1/reset", { confirm: "Shop" })
  let isOver = false
  const drained = other.app.instance.jobs.drain().then(() => {
    isOver = true
  })
  while (!isOver) {
    other.clock.advance(1_000)
    await Bun.sleep(5)
  }
  await drained
  expect(await dropped()).toEqual([0, 0])
})

test("reports contain nothing that was erased", async () => {
  const request = { period: "7d", filters: SECRET }
  const { confirm } = (await admin.post(`${ERASE}/preview`, request)).body as { confirm: string }
  await admin.post(ERASE, { ...request, confirm })
  await finish()
  expect(await pages()).toEqual(["/", "/other"])
})

test("a confirmation is valid for one user, one site, one request and ten minutes", async () => {
  const request = { from: "2026-11-20", to: "2026-11-20", filters: SECRET }
  const confirmed = async (person = admin) => ((await person.post(`${ERASE}/preview`, request)).body as { confirm: string }).confirm
  const confirm = await confirmed()
  const other = await signedIn(instance, { role: "admin" })
  await admin.post("/organizations/1/sites", { name: "Second", hosts: ["second.example"] })
  const invalid = { status: 422, body: { code: "token_invalid" } }
  expect(await other.post(ERASE, { ...request, confirm })).toMatchObject(invalid)
  expect(await admin.post("/sites/2/erase", { ...request, confirm })).toMatchObject(invalid)
  expect(await admin.post(ERASE, { ...request, filters: [], confirm })).toMatchObject(invalid)
  expect(await admin.post(ERASE, { ...request, from: "2026-11-19", confirm })).toMatchObject(invalid)
  for (const forged of [`${confirm}x`, confirm.replace(/^\d+/, "99999999999999"), "", 5, null])
    expect(await admin.post(ERASE, { ...request, confirm: forged })).toMatchObject(invalid)
  expect(await admin.post(ERASE, request)).toMatchObject({ status: 422, body: { errors: [{ pointer: "/confirm", code: "required" }] } })
  instance.clock.advance(600_000)
  expect(await admin.post(ERASE, { ...request, confirm })).toMatchObject(invalid)
})

test.each([
  [{}, ["/period required"]],
  [{ period: "decade" }, ["/period invalid_choice"]],
  [{ from: "2026-11-01" }, ["/to invalid_range"]],
  [
    { period: "7d", filters: [{ dimension: "colour", values: ["x"] }], colour: 1 },
    ["/filters/0/dimension invalid_choice", "/colour unknown_field"],
  ],
  [[], [" invalid_type"]],
])("rejects previewing %j", async (body, faults) => {
  const answer = await admin.post(`${ERASE}/preview`, body)
  const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
  expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, faults])
})

test("erasing and resetting need the permission to delete the site", async () => {
  for (const ask of [
    editor.post(`${ERASE}/preview`, {}),
    editor.post(ERASE, {}),
    editor.post("/sites/1/reset", {}),
    editor.get(`${ERASE}/1`),
  ])
    expect(await ask).toMatchObject({ status: 403, body: { required_permission: "site:delete" } })
  expect(await admin.get(`${ERASE}/999`)).toMatchObject({ status: 404, body: { code: "work_not_found" } })
  const { id } = (await admin.post("/organizations/1/sites", { name: "Third", hosts: ["third.example"] })).body as { id: number }
  expect(await admin.get(`/sites/${id}/erase/1`)).toMatchObject({ status: 404, body: { code: "work_not_found" } })
})

test("a repeated request starts one erasure", async () => {
  const request = { period: "today" }
  const { confirm } = (await admin.post(`${ERASE}/preview`, { ...request, filters: SECRET })).body as { confirm: string }
  const body = { ...request, filters: SECRET, confirm }
  const first = await admin.post(ERASE, body, { "idempotency-key": "erase" })
  const second = await admin.post(ERASE, body, { "idempotency-key": "erase" })
  expect([second.status, second.body]).toEqual([202, first.body])
  await finish()
})

test("a reset erases all data and keeps the settings", async () => {
  await using other = await startInstance({ now: "2026-11-20T12:00:00Z" })
  const owner = await signedIn(other, { role: "owner" })
  await owner.patch("/sites/1/settings", { drop_bots: false })
  await owner.post("/sites/1/goals", { kind: "event", value: "buy" })
  await send("/", "203.0.113.1", other)
  await other.app.instance.events.seal(other.clock.now() + 86_400_000, true)
  await send("/late", "203.0.113.2", other)
  for (const confirm of [undefined, "shop", ""])
    expect(await owner.post("/sites/1/reset", { confirm })).toMatchObject({ status: 422, body: { errors: [{ pointer: "/confirm" }] } })
  const begun = await owner.post("/sites/1/reset", { confirm: "Shop" })
  expect(begun.status).toBe(202)
  await finish(other)
  expect(await pages(owner)).toEqual([])
  expect((await owner.get("/sites/1/settings")).body).toMatchObject({ drop_bots: false })
  expect((await owner.get("/sites/1/goals")).body).toMatchObject({ data: [{ value: "buy" }] })
  expect((await auditOf(other)).slice(-2)).toEqual(["sites.reset.begin", "sites.reset.finish"])
  await send("/new", "203.0.113.3", other)
  expect(await pages(owner)).toEqual(["/new"])
})
