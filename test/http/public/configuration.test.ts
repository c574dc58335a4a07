import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { raw, sql } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { stateOf } from "../private/proofs/state.ts"
import { COUNTS } from "./configuration-kill.ts"

const SITE = "/api/public/v1/sites/1"
let instance: TestInstance
let key: string
beforeAll(async () => {
  instance = await startInstance()
  key = await instance.makeKey(["configuration:write", "settings:write", "goals:write"])
})
afterAll(() => instance[Symbol.asyncDispose]())

const get = (path: string) => instance.api.get(SITE + path, key)
const send = (method: string, path: string, body?: unknown) => instance.api.send(method, SITE + path, body, key)

interface Document {
  site: object
  settings: Record<string, unknown>
  shields: object[]
  goals: { name: string }[]
  funnels: object[]
  segments: object[]
}

const DOCUMENT = {
  site: { name: "Store", hosts: ["shop.example", "*.shop.example"] },
  settings: { respect_gpc: true, allowed_query_params: ["page"] },
  shields: [{ kind: "ip", value: "203.0.113.0/24", note: "Office" }],
  goals: [
    { kind: "event", value: "signup", name: "Signed up" },
    { kind: "scroll", value: "/", name: "Read", threshold: 80 },
  ],
  funnels: [
    {
      name: "Signup",
      steps: [
        { type: "page", value: "/pricing" },
        { type: "event", value: "signup" },
      ],
    },
  ],
  segments: [
    { name: "Germany", filters: [{ dimension: "country", values: ["DE"] }] },
    {
      name: "Germany or German",
      filters: [
        {
          any: [
            { dimension: "country", values: ["DE"] },
            { dimension: "language", values: ["de"] },
          ],
        },
      ],
    },
  ],
}

test("a preview lists what a document changes, and putting it makes the site equal to it, with the same ids", async () => {
  const preview = await send("POST", "/configuration/preview", DOCUMENT)
  const { changes } = preview.body as { changes: { action: string; kind: string; name: string; fields: object }[] }
  expect(changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`)).toEqual([
    "update site Store",
    "create shield ip 203.0.113.0/24",
    "create goal Signed up",
    "create goal Read",
    "create funnel Signup",
    "create segment Germany",
    "create segment Germany or German",
  ])
  expect(changes[0]!.fields).toMatchObject({ name: ["Shop", "Store"], respect_gpc: [false, true] })
  expect((await get("/goals")).body).toMatchObject({ data: [] })

  expect((await send("PUT", "/configuration", DOCUMENT)).body).toEqual(preview.body as object)
  const stored = (await get("/configuration")).body as Document
  expect(stored).toMatchObject({ site: DOCUMENT.site, settings: DOCUMENT.settings, shields: DOCUMENT.shields, segments: DOCUMENT.segments })
  expect((await send("PUT", "/configuration", stored)).body).toEqual({ changes: [] })

  const { data } = (await get("/goals")).body as { data: { id: number; name: string }[] }
  const next = {
    goals: [
      { kind: "event", value: "register", name: "Signed up" },
      { kind: "event", value: "read", name: "Read" },
    ],
  }
  expect((await send("PUT", "/configuration", next)).body).toMatchObject({
    changes: [
      { action: "update", kind: "goal", name: "Signed up", fields: { value: ["signup", "register"] } },
      { action: "update", kind: "goal", name: "Read", fields: { kind: ["scroll", "event"], threshold: [80, null] } },
    ],
  })
  const after = (await get("/goals")).body as { data: { id: number; value: string }[] }
  expect(after.data.map(({ value }) => value)).toEqual(["register", "read"])
  expect(after.data[0]!.id).toBe(data[0]!.id)
  // Parts that the document does not have are as before.
  expect((await get("/configuration")).body).toMatchObject({ funnels: stored.funnels, segments: stored.segments, shields: stored.shields })
  expect((await send("PUT", "/configuration", { goals: [], shields: [] })).body).toMatchObject({
    changes: [
      { action: "delete", kind: "shield" },
      { action: "delete", kind: "goal" },
      { action: "delete", kind: "goal" },
    ],
  })
  expect((await get("/configuration")).body).toMatchObject({ goals: [], shields: [] })
})

test("the document of one site configures another", async () => {
  const { app, api, makeKey } = instance
  await send("PUT", "/configuration", DOCUMENT)
  const { id } = await app.instance.sites.create(1, { name: "Copy", hosts: ["copy.example"] })
  const own = await makeKey(["configuration:write"], [id])
  const { site: _, ...rest } = (await get("/configuration")).body as Document
  const path = `/api/public/v1/sites/${id}/configuration`
  expect((await api.send("PUT", path, rest, own)).status).toBe(200)
  const { site, ...copied } = (await api.get(path, own)).body as Document
  expect(copied).toEqual(rest)
  expect(site).toMatchObject({ name: "Copy", hosts: ["copy.example"] })
})

test("all faults of a document are found at once, and nothing is changed", async () => {
  const before = (await get("/configuration")).body as object
  const { status, body } = await send("PUT", "/configuration", {
    site: { timezone: "Mars/Base" },
    settings: { identity_mode: "forever", public: true },
    shields: [{ kind: "ip", value: "nowhere" }],
    goals: [
      { kind: "event", value: "a", name: "Same" },
      { kind: "event", value: "b", name: "same" },
    ],
    funnels: [{ name: "Short", steps: [] }],
    segments: [{ name: "Odd", filters: [{ dimension: "colour", values: ["red"] }] }],
  })
  expect(status).toBe(422)
  const { errors } = body as { errors: { pointer: string }[] }
  expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
    "/funnels/0/steps",
    "/goals/1/name",
    "/segments/0/filters/0/dimension",
    "/settings/identity_mode",
    "/settings/public",
    "/shields/0/value",
    "/site/timezone",
  ])
  expect((await get("/configuration")).body).toEqual(before)
})

test("the audit log names the key", async () => {
  const { api, signIn } = instance
  const cookie = await signIn({ role: "owner" })
  await send("PUT", "/configuration", { segments: [] })
  const { data } = (await api.get("/api/private/organizations/1/audit?limit=1", undefined, { cookie })).body as { data: object[] }
  expect(data).toMatchObject([{ action: "sites.segment.delete", actor_kind: "key", target_label: "Germany or German" }])
})

test("changes nothing if one of the changes cannot be stored", async () => {
  const { app } = instance
  const { catalog, goals } = app.instance
  await send("PUT", "/configuration", DOCUMENT)
  const [before, shown, rules] = [await stateOf({ instance }), (await get("/configuration")).body, goals.rules(1)]
  await catalog.run(sql`${raw("create trigger fails before insert on segments begin select raise(abort, 'no room'); end")}`)
  const next = {
    site: { name: "Half" },
    settings: { respect_gpc: false },
    shields: [],
    goals: [{ kind: "event", value: "other", name: "Other" }],
    funnels: [],
    segments: [{ name: "Austria", filters: [{ dimension: "country", values: ["AT"] }] }],
  }
  expect(await send("PUT", "/configuration", next)).toMatchObject({ status: 500 })
  await catalog.run(sql`drop trigger fails`)
  expect(await stateOf({ instance })).toEqual(before)
  // What is kept in memory is unchanged, too.
  expect((await get("/configuration")).body).toEqual(shown as object)
  expect(goals.rules(1)).toBe(rules)
  expect((await send("PUT", "/configuration", next)).status).toBe(200)
  expect((await get("/configuration")).body).toMatchObject({ site: { name: "Half" }, funnels: [] })
  expect(goals.rules(1)).toMatchObject([{ value: "other" }])
})

test("a process that is killed while it stores a document leaves nothing of it", async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "configuration-kill.ts")], { stdout: "pipe", stderr: "inherit" })
  const { dataDir, counts } = JSON.parse(await new Response(child.stdout).text()) as { dataDir: string; counts: object }
  await child.exited
  expect(child.signalCode).toBe("SIGKILL")
  using db = new Database(join(dataDir, "catalog.db"))
  expect(db.query(COUNTS).get()).toEqual(counts)
  expect(db.query("pragma integrity_check").get()).toEqual({ integrity_check: "ok" })
  rmSync(dataDir, { recursive: true })
})

test("definitions are those that the new settings allow", async () => {
  const goals = [{ kind: "page", value: "/app#/orders", name: "Orders" }]
  expect(await send("PUT", "/configuration", { settings: { hash_routing: false }, goals })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/goals/0/value", code: "invalid_path" }] },
  })
  expect((await send("PUT", "/configuration", { settings: { hash_routing: true }, goals })).status).toBe(200)
  expect((await get("/goals")).body).toMatchObject({ data: [{ value: "/app#/orders" }] })
})

test("a goal can get the definition that another one gives up, and two of a document cannot have the same", async () => {
  const goalsOf = (...values: string[]) => ({ goals: values.map((value, i) => ({ kind: "event", value, name: `Step ${i + 1}` })) })
  const ids = async () => ((await get("/goals")).body as { data: { id: number }[] }).data.map(({ id }) => id)
  await send("PUT", "/configuration", goalsOf("a", "b", "c"))
  const before = await ids()
  expect(await send("PUT", "/configuration", goalsOf("b", "c", "d"))).toMatchObject({
    status: 200,
    body: { changes: [{ action: "update" }, { action: "update" }, { action: "update" }] },
  })
  expect((await get("/goals")).body).toMatchObject({ data: [{ value: "b" }, { value: "c" }, { value: "d" }] })
  expect(await ids()).toEqual(before)
  expect(await send("PUT", "/configuration", goalsOf("c", "b", "d"))).toMatchObject({ status: 409, body: { code: "goal_exists" } })
  expect(await send("PUT", "/configuration", goalsOf("e", "e", "d"))).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/goals/1", code: "not_unique" }] },
  })
  expect((await get("/goals")).body).toMatchObject({ data: [{ value: "b" }, { value: "c" }, { value: "d" }] })
})

test("two documents at the same time are stored one after the other", async () => {
  const documents = ["first", "second"].map((value) => ({
    goals: [1, 2, 3].map((i) => ({ kind: "event", value: `${value} ${i}`, name: `${value} ${i}` })),
    funnels: [],
  }))
  const answers = await Promise.all(documents.map((document) => send("PUT", "/configuration", document)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const { goals } = (await get("/configuration")).body as Document
  expect(new Set(goals.map(({ name }) => name.split(" ")[0])).size).toBe(1)
  expect(goals).toHaveLength(3)
})

test("a segment that a shared view uses is not deleted, nor is anything else changed", async () => {
  const { shares } = instance.app.instance
  const filters = [{ dimension: "country", values: ["DE"] }]
  await send("PUT", "/configuration", { segments: [{ name: "Germany", filters }] })
  const site = await instance.app.instance.sites.get(1)
  const [segment] = await instance.app.instance.segments.of({ userId: null, permissions: new Set() }).list(site, { after: 0, limit: 1 })
  await shares.create(site, { name: "Germans", locked_filters: [{ dimension: "segment", values: [String(segment!.id)] }] }, null)
  expect(await send("PUT", "/configuration", { goals: [], segments: [] })).toMatchObject({
    status: 409,
    body: { code: "segment_in_use", used_by: [{ type: "share", name: "Germans" }] },
  })
  expect(((await get("/configuration")).body as Document).goals).toHaveLength(3)
  for (const scope of ["site", "personal"])
    expect(await send("PUT", "/configuration", { segments: [{ name: "Germany", filters, scope }] })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "/segments/0/scope", code: "unknown_field" }] },
    })
})
