import { afterAll, beforeAll, expect, test } from "bun:test"
import { TRAITS, type VisitTraits } from "../../../../src/domain/visit.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { showImports } from "../../../visible-imports.ts"
import { type Person, signedIn } from "../person.ts"

// The type requires every trait.
const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>

let instance: TestInstance
let editor: Person
let viewer: Person
beforeAll(async () => {
  instance = await startInstance()
  for (let i = 0; i < 3; i++) await instance.collect({ n: "pageview", u: `https://shop.example/${i}` }, { address: `203.0.113.${i}` })
  editor = await signedIn(instance, { role: "editor" })
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(() => instance[Symbol.asyncDispose]())

test.each(["type=page", "type=visits&format=ndjson", "type=events&format=json", "type=timeseries&period=7d", "type=goals"])(
  "%s equals the export of the public API",
  async (query) => {
    const open = await instance.api.get(`/api/public/v1/sites/1/export?${query}`, instance.key)
    const own = await editor.get(`/sites/1/export?${query}`)
    expect([own.status, own.body]).toEqual([200, open.body])
    expect(own.headers.get("content-disposition")).toBe(open.headers.get("content-disposition"))
  },
)

test("raw rows need people:read in addition to export:read", async () => {
  expect((await viewer.get("/sites/1/export?type=page")).status).toBe(200)
  for (const type of ["events", "visits"])
    expect(await viewer.get(`/sites/1/export?type=${type}`)).toMatchObject({
      status: 403,
      body: { code: "forbidden", required_permission: "people:read" },
    })
})

test("events contain revenue, so they also need revenue:read", async () => {
  const blind = await signedIn(instance, { role: "editor" })
  await instance.app.instance.catalog.script(
    `update memberships set denies_json = '["revenue:read"]' where id = (select max(id) from memberships)`,
  )
  const refused = { status: 403, body: { code: "forbidden", required_permission: "revenue:read" } }
  expect(await blind.get("/sites/1/export?type=events")).toMatchObject(refused)
  expect(await blind.post("/sites/1/takeout", undefined)).toMatchObject(refused)
  expect((await blind.get("/sites/1/export?type=visits")).status).toBe(200)
  expect(await blind.get("/sites/1/export?type=page&metrics=revenue")).toMatchObject({
    status: 400,
    body: { errors: [{ code: "unsupported_metric" }] },
  })
  expect((await blind.get("/sites/1/export?type=goals")).status).toBe(200)
})

test.each(["", "type=colour", "type=page&filters=x", "type=page&colour=1"])("rejects the export %j", async (query) => {
  expect(await editor.get(`/sites/1/export?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test("a download ends with the session that requested it", async () => {
  await using other = await startInstance()
  const at = Date.parse("2026-11-20T12:00:00Z")
  const event = { at, name: "pageview", page: "/", hostname: "", title: "", interactive: true, props: [] }
  const visits = Array.from({ length: 5_000 }, (_, i) => ({ visitor: `${i}`, traits: NO_TRAITS, events: [event], day: "2026-11-20" }))
  await other.app.instance.events.importVisits({ siteId: 1, importId: 1 }, visits)
  await showImports(other, [{ id: 1 }])
  const person = await signedIn(other, { role: "editor" })
  const request = new Request("http://localhost/api/private/sites/1/export?type=visits", { headers: { cookie: person.cookie } })
  const reader = (await other.fetch(request)).body!.getReader()
  await reader.read()
  const { user } = (await person.get("/me")).body as { user: { id: number } }
  await other.app.instance.catalog.transaction((statements) => other.app.instance.sessions.revokeAll(statements, user.id))
  await Bun.sleep(1_500)
  const rest = async () => {
    while (!(await reader.read()).done);
  }
  expect(
    await rest().then(
      () => "whole",
      () => "cut",
    ),
  ).toBe("cut")
})
