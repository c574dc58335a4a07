import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { auditOf, type Person, signedIn } from "../person.ts"

let instance: TestInstance
let admin: Person
let viewer: Person
beforeAll(async () => {
  instance = await startInstance()
  admin = await signedIn(instance, { role: "admin" })
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const SHIELDS = "/sites/1/shields"

test("creates, updates and deletes a shield, which keeps its id when its value changes", async () => {
  const made = await admin.post(SHIELDS, { kind: "page", value: "/secret", note: "mine" })
  expect(made).toMatchObject({
    status: 201,
    body: { id: 1, kind: "page", value: "/secret", note: "mine", enabled: true, hits_7d: 0, version: 1 },
  })
  expect(made.headers.get("location")).toBe("/api/private/sites/1/shields/1")
  expect(await admin.patch(`${SHIELDS}/1`, made.body)).toMatchObject({ status: 200, body: { id: 1, version: 1 } })
  expect(await admin.patch(`${SHIELDS}/1`, { value: "/hidden/*" })).toMatchObject({
    status: 200,
    body: { id: 1, value: "/hidden/*", version: 2 },
  })
  expect(await admin.patch(`${SHIELDS}/1`, { enabled: false, version: 1 })).toMatchObject({
    status: 409,
    body: { current: { version: 2 } },
  })
  expect(await admin.remove(`${SHIELDS}/1`, { "if-match": '"1"' })).toMatchObject({ status: 412 })
  expect((await admin.remove(`${SHIELDS}/1`)).status).toBe(204)
  expect((await viewer.get(SHIELDS)).body).toMatchObject({ data: [] })
  expect((await auditOf(instance)).slice(-3)).toEqual(["sites.shield.create", "sites.shield.update", "sites.shield.delete"])
})

test("counts the drops of each shield", async () => {
  await admin.post(SHIELDS, { kind: "page", value: "/wp/*" })
  await admin.post(SHIELDS, { kind: "ip", value: "203.0.113.0/24" })
  await admin.post(SHIELDS, { kind: "rule", value: "old", conditions: [{ dimension: "page", operator: "starts_with", values: ["/old"] }] })
  await admin.post(SHIELDS, { kind: "referrer", value: "spam.example" })
  const send = (page: string, more: object = {}, address = "198.51.100.7") =>
    instance.collect({ n: "pageview", u: `https://shop.example${page}`, ...more }, { address })
  await send("/wp/login")
  await send("/wp/admin")
  await send("/", {}, "203.0.113.9")
  await send("/old/news")
  await send("/", { r: "https://spam.example/" })
  await send("/fine")
  instance.app.collector.flush()
  const { data } = (await viewer.get(SHIELDS)).body as { data: { value: string; hits_7d: number }[] }
  expect(data.map(({ value, hits_7d }) => [value, hits_7d])).toEqual([
    ["/wp/*", 2],
    ["203.0.113.0/24", 1],
    ["old", 1],
    ["spam.example", 1],
  ])
})

test("lists drops by reason and day, including zero counts", async () => {
  const { body } = await viewer.get("/sites/1/drops?period=7d")
  const { days, rows, counters } = body as {
    days: string[]
    rows: { reason: string; total: number; counts: number[]; entries: object[] }[]
    counters: object[]
  }
  expect([days[0], days.at(-1), days.length]).toEqual(["2026-11-15", "2026-11-21", 7])
  expect(rows.map(({ reason, total }) => [reason, total])).toEqual([
    ["unknown_site", 0],
    ["host_disputed", 0],
    ["invalid", 0],
    ["rate", 0],
    ["prefetch", 0],
    ["bot", 0],
    ["host", 0],
    ["ip", 1],
    ["datacenter", 0],
    ["spam", 1],
    ["probe", 0],
    ["page", 2],
    ["country", 0],
    ["rule", 1],
    ["gpc", 0],
    ["duplicate", 0],
    ["no_visit", 0],
  ])
  expect(rows.find(({ reason }) => reason === "page")).toEqual({
    reason: "page",
    total: 2,
    counts: [0, 0, 0, 0, 0, 0, 2],
    entries: [{ entry: "/wp/*", count: 2 }],
  })
  expect(counters).toHaveLength(5)
  const { data } = (await viewer.get("/sites/1/drops/sample")).body as { data: object[] }
  expect(data[0]).toEqual({
    at: "2026-11-21T12:00:00Z",
    reason: "spam",
    hostname: "shop.example",
    page: "/",
    browser: "Chrome",
    country: "",
  })
  expect(data).toHaveLength(5)
  expect(JSON.stringify(data)).not.toContain("203.0.113")
  expect(await viewer.get("/sites/1/drops?period=century&filters=[]")).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test.each([
  [{ kind: "ip", value: "localhost" }, "/value invalid_choice"],
  [{ kind: "country", value: "Germany" }, "/value invalid_choice"],
  [{ kind: "colour", value: "red" }, "/kind invalid_choice"],
  [{ kind: "page" }, "/value required"],
  [{ kind: "rule", value: "x" }, "/conditions required"],
  [{ kind: "page", value: "/wp/*" }, " not_unique"],
  [{ kind: "page", value: "/a", colour: 1 }, "/colour unknown_field"],
])("rejects the shield %j", async (body, fault) => {
  const answer = await admin.post(SHIELDS, body)
  const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
  expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, [fault]])
})

test.each([
  ["creating one as a viewer", () => viewer.post(SHIELDS, {}), 403, "forbidden"],
  ["updating an unknown one", () => admin.patch(`${SHIELDS}/99`, {}), 404, "shield_not_found"],
  ["deleting an unknown one", () => admin.remove(`${SHIELDS}/x`), 404, "shield_not_found"],
])("rejects %s", async (_, ask, status, code) => {
  expect(await ask()).toMatchObject({ status, body: { code } })
})

test("applies both of two simultaneous changes", async () => {
  await Promise.all(["/a", "/b", "/c"].map((value) => admin.post(SHIELDS, { kind: "page", value })))
  const { data } = (await viewer.get(`${SHIELDS}?limit=200`)).body as { data: { id: number; value: string }[] }
  expect(data.filter(({ value }) => ["/a", "/b", "/c"].includes(value))).toHaveLength(3)
  expect(new Set(data.map(({ id }) => id)).size).toBe(data.length)
})
