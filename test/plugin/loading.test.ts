import { expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { type AnyPlugin, type CommandCall, definePlugin, sql } from "#plugin"
import { startInstance } from "#plugin/test"
import { ExitFault } from "../../src/services/runtime/exit.ts"
import { type NotesPlugin, notes } from "./notes.ts"

const path = "/api/private/sites/1/notes"
const EVENT = { title: "Made", payload: t.Object({}) }

test("serves a plugin's routes, audits its writes and serves its open routes without a session", async () => {
  await using instance = await startInstance({ plugins: [notes()] })
  const { api, app } = instance
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  expect(await api.post(path, { text: "one" }, undefined, editor)).toMatchObject({ status: 201, body: { id: 1, site_id: 1, text: "one" } })
  expect(await api.get(path, undefined, editor)).toMatchObject({ status: 200, body: { data: [{ id: 1, text: "one" }] } })
  const row = await app.instance.catalog.get(sql`select action, actor_kind, target_label, site_id, changes_json from audit_log`)
  expect(row).toEqual({
    action: "notes.note.create",
    actor_kind: "user",
    target_label: "one",
    site_id: 1,
    changes_json: '{"text":[null,"one"]}',
  })
  const open = await api.get("/n/1")
  expect(open).toMatchObject({ status: 200, body: "Hello, one" })
  expect(open.headers.get("cache-control")).toBe("public, max-age=30")
  expect(open.headers.get("x-content-type-options")).toBe("nosniff")
})

test.each([
  ["without a session", undefined, path, { text: "one" }, 401, "session_required"],
  ["without a session and with a malformed body", undefined, path, "{", 401, "session_required"],
  ["as a viewer", "viewer", path, { text: "one" }, 403, "forbidden"],
  ["as a viewer with a malformed body", "viewer", path, "{", 403, "forbidden"],
  ["on an unknown site", "editor", "/api/private/sites/9/notes", { text: "one" }, 404, "site_not_found"],
  ["with a malformed body", "editor", path, "{", 400, "invalid_json"],
  ["with an unknown field", "editor", path, { text: "one", colour: 1 }, 422, "validation_failed"],
  ["at an unknown path", "editor", `${path}/x`, { text: "one" }, 404, "not_found"],
] as const)("rejects a note %s", async (_, role, path, body, status, code) => {
  await using instance = await startInstance({ plugins: [notes()] })
  await instance.signIn({ role: "owner" })
  const headers = role ? { cookie: await instance.signIn({ role }) } : {}
  expect(await instance.api.post(path, body, undefined, { "content-type": "application/json", ...headers })).toMatchObject({
    status,
    body: { code },
  })
})

test("roles and site-specific roles grant a plugin's permissions like those of the core", async () => {
  await using instance = await startInstance({ plugins: [notes()] })
  const permissionsOf = async (standing: object) => {
    const { body } = await instance.api.get("/api/private/me", undefined, { cookie: await instance.signIn(standing) })
    const { sites } = body as { sites: { permissions: string[] }[] }
    return sites.flatMap(({ permissions }) => permissions.filter((name) => name.startsWith("notes:")))
  }
  expect(await permissionsOf({ role: "owner" })).toEqual(["notes:read", "notes:write"])
  expect(await permissionsOf({ role: "viewer" })).toEqual(["notes:read"])
  expect(await permissionsOf({ role: "guest", siteRole: "editor" })).toEqual(["notes:read", "notes:write"])
  expect(await permissionsOf({})).toEqual([])
})

test("a disabled plugin is not reachable and keeps its data", async () => {
  await using instance = await startInstance({ plugins: [notes()] })
  const { api, app } = instance
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  const admin = { cookie: await instance.signIn({ isInstanceAdmin: true }) }
  const features = async () => ((await api.get("/api/private/me", undefined, editor)).body as { features: string[] }).features
  await api.post(path, { text: "one" }, undefined, editor)
  expect(await features()).toEqual(["notes"])

  expect(await app.instance.plugins.turn("notes", false, null)).toEqual({ id: "notes", title: "Notes", enabled: false, version: 2 })
  expect(await features()).toEqual([])
  expect(await api.get(path, undefined, editor)).toMatchObject({ status: 404, body: { code: "feature_disabled" } })
  expect(await api.post(path, "{", undefined, editor)).toMatchObject({ status: 404, body: { code: "feature_disabled" } })
  expect(await api.get("/api/private/all-notes", undefined, admin)).toMatchObject({ status: 404, body: { code: "feature_disabled" } })
  expect(await api.get(path)).toMatchObject({ status: 401, body: { code: "session_required" } })
  expect(await api.get("/n/1")).toMatchObject({ status: 404, body: { code: "not_found" } })

  await app.instance.plugins.turn("notes", true, null)
  expect(await api.get(path, undefined, editor)).toMatchObject({ status: 200, body: { data: [{ text: "one" }] } })
  expect(await api.get("/n/1")).toMatchObject({ status: 200, body: "Hello, one" })
  expect(await api.get("/api/private/all-notes", undefined, admin)).toMatchObject({ status: 200, body: { n: 1 } })
  expect(app.instance.plugins.turn("stranger", false, null)).rejects.toMatchObject({ code: "not_found" })
  expect(app.instance.plugins.turn("notes", false, null, { expected: [1] })).rejects.toMatchObject({ code: "precondition_failed" })
})

test("runs a plugin's command for the operator, unless the plugin is disabled", async () => {
  const form = { name: "note shout", about: "Print words in capitals.", takes: ["word…"] }
  const shout = async ({ rest, actor }: CommandCall) => ({ words: rest.map((word) => word.toUpperCase()), by: actor.kind })
  await using instance = await startInstance({ plugins: [notes({ commands: [form] }, () => ({ commands: { "note shout": shout } }))] })
  const { operations, instance: services } = instance.app
  const run = (name: string) => operations["plugin.run"]({ name, given: {}, rest: ["one", "two"], folder: "/" }, () => {})
  expect(await run("note shout")).toEqual({ words: ["ONE", "TWO"], by: "cli" })
  expect(run("note whisper")).rejects.toMatchObject({ exit: "usage" })
  await services.plugins.turn("notes", false, null)
  expect(run("note shout")).rejects.toMatchObject({ code: "feature_disabled" })
})

test("the core counts a plugin's clients, and the plugin never sees an address", async () => {
  await using instance = await startInstance({ plugins: [notes()] })
  await instance.api.post(path, { text: "one" }, undefined, { cookie: await instance.signIn({ role: "editor" }) })
  const get = async (address: string) => (await instance.fetch(new Request("http://localhost/n/1"), address)).status
  expect([await get("198.51.100.1"), await get("198.51.100.1"), await get("198.51.100.1"), await get("198.51.100.2")]).toEqual([
    200, 200, 429, 200,
  ])
  instance.clock.advance(30_000)
  expect(await get("198.51.100.1")).toBe(200)
})

test("reads settings and the open path from the plugin's section", async () => {
  const settings = { notes_greeting: "Hi", note_prefix: "memo", notes_loud: "1", notes_most: "1" }
  await using instance = await startInstance({ plugins: [notes()], settings })
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  await instance.api.post(path, { text: "one" }, undefined, editor)
  expect(await instance.api.get("/n/1")).toMatchObject({ status: 404 })
  expect(await instance.api.get("/memo/1")).toMatchObject({ status: 200, body: "HI, ONE" })
  expect(await instance.api.post(path, { text: "two" }, undefined, editor)).toMatchObject({
    status: 422,
    body: { code: "limit_reached", limit: 1 },
  })
})

/** Defines another plugin with the given faults. */
const other = (more: Partial<NotesPlugin>): AnyPlugin => definePlugin({ id: "other", title: "Other", setup: () => ({}), ...more })

test.each<[string, AnyPlugin[], string]>([
  [
    "an id with invalid characters",
    [other({ id: "Oth_er" })],
    "Oth_er: an id must consist of 2 to 31 lower-case letters and digits and begin with a letter",
  ],
  [
    "an id that is a prefix of the core's tables",
    [other({ id: "site" })],
    "site: the id is reserved for the core, which has a table site_keys",
  ],
  ["a duplicate id", [other({}), other({})], "other: another plugin has the same id"],
  ["an empty title", [other({ title: " " })], "other: the title is empty"],
  [
    "a path of another plugin",
    [notes(), other({ paths: { site: ["notes"] } })],
    "other: the site path notes is already taken by the plugin notes",
  ],
  ["a path of the core's site routes", [other({ paths: { site: ["goals"] } })], "other: the site path goals is reserved for the core"],
  [
    "a path of the core's instance routes",
    [other({ paths: { instance: ["auth"] } })],
    "other: the instance path auth is reserved for the core",
  ],
  [
    "an invalid path",
    [other({ paths: { site: ["a/b"] } })],
    "other: the site path a/b must consist of lower-case letters, digits and hyphens",
  ],
  [
    "an open path of the core",
    [other({ paths: { open: ["api/event"] } })],
    "other: the open path api/event overlaps with the core's path api/event",
  ],
  ["a page that emails link to", [other({ paths: { open: ["reset"] } })], "other: the open path reset overlaps with the core's path reset"],
  ["the whole API", [other({ paths: { open: ["api"] } })], "other: the open path api overlaps with the core's path api/public"],
  [
    "a configured open path of another plugin",
    [notes(), other({ paths: { open: ["n"] } })],
    "other: the open path n is already taken by the plugin notes",
  ],
  [
    "a malformed permission",
    [other({ permissions: { links: "viewer" } })],
    "other: the permission links does not have the form <things>:<verb>",
  ],
  [
    "a permission of the core",
    [other({ permissions: { "goals:write": "viewer" } })],
    "other: the permission goals:write is defined by the core: routes can use it without a declaration",
  ],
  [
    "a permission of another plugin",
    [notes(), other({ permissions: { "notes:read": "viewer" } })],
    "other: the permission notes:read is already taken by the plugin notes",
  ],
  [
    "a migration with an invalid name",
    [other({ migrations: [{ name: "x", sql: "" }] })],
    "other: the migration x needs a unique name such as 0001_other",
  ],
  [
    "a product event of the core",
    [other({ events: { "site.created": EVENT } })],
    "other: the product event site.created is defined by the core",
  ],
  [
    "a product event of another plugin",
    [notes({ events: { "note.made": EVENT } }), other({ events: { "note.made": EVENT } })],
    "other: the product event note.made is already taken by the plugin notes",
  ],
  [
    "a description of an internal event, which never leaves the process",
    [other({ events: { "internal.made": EVENT } })],
    "other: the product event internal.made does not have the form <thing>.<what_happened>",
  ],
  [
    "a command of one word",
    [other({ commands: [{ name: "import", about: "Import files." }] })],
    "other: the command import needs a name of two words such as import run",
  ],
  [
    "a command that begins like those of the core",
    [other({ commands: [{ name: "site clear", about: "Clear a site." }] })],
    "other: the command site clear begins with a word that is reserved for the core",
  ],
  [
    "a command of another plugin",
    [
      notes({ commands: [{ name: "note list", about: "List notes." }] }),
      other({ commands: [{ name: "note list", about: "List notes." }] }),
    ],
    "other: the command note list is already taken by the plugin notes",
  ],
  [
    "a command without a function",
    [other({ commands: [{ name: "note list", about: "List notes." }] })],
    "other: the command note list is either only described or only contributed",
  ],
  [
    "a route without an access rule",
    [other({ paths: { site: ["x"] }, setup: (host) => ({ routes: [host.siteRouter().get("/x", () => 1)] }) })],
    "other: GET /api/private/sites/:site/x has no access rule",
  ],
  [
    "a route that requires an undeclared permission",
    [other({ paths: { site: ["x"] }, setup: (host) => ({ routes: [host.siteRouter().get("/x", () => 1, { can: "x:read" })] }) })],
    "other: GET /api/private/sites/:site/x requires the undeclared permission x:read",
  ],
  [
    "a route below another path",
    [other({ paths: { site: ["x"] }, setup: (host) => ({ routes: [host.siteRouter().get("/xy", () => 1, { can: "site:read" })] }) })],
    "other: GET /api/private/sites/:site/xy is outside the paths of the plugin",
  ],
  [
    "an open route below another path",
    [other({ paths: { open: ["x"] }, setup: (host) => ({ openRoutes: [host.openRouter().get("/y", () => 1)] }) })],
    "other: GET /y is outside the open paths of the plugin",
  ],
])("%s prevents the start with one line", async (_, plugins, message) => {
  const failure = await startInstance({ plugins }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ExitFault)
  expect(failure).toMatchObject({ exit: "configuration", message: `The plugin ${message}` })
})

test("commits or rolls back a plugin's writes together with those of the core", async () => {
  const tries: Promise<unknown>[] = []
  const plugin = notes({}, ({ db, audit }) => {
    const deed = (action: string) => ({ action, target: { type: "note", id: 1, label: "" } })
    const write = (action: string) =>
      db.transaction(async (statements) => {
        await statements.run(sql`insert into notes_notes (site_id, text) values (1, ${action})`)
        await audit.write(statements, audit.system, deed(action))
      })
    tries.push(
      write("notes.note.create"),
      write("links.link.create").catch(({ message }: Error) => message),
    )
    return {}
  })
  await using instance = await startInstance({ plugins: [plugin] })
  expect(await Promise.all(tries)).toEqual([
    undefined,
    "The plugin notes writes the audit action links.link.create: it must begin with notes.",
  ])
  const { catalog } = instance.app.instance
  expect(await catalog.all(sql`select text from notes_notes`)).toEqual([{ text: "notes.note.create" }])
  expect(await catalog.all(sql`select action from audit_log`)).toEqual([{ action: "notes.note.create" }])
})

test("stops plugins one after another, even if one of them fails", async () => {
  const stopped: string[] = []
  const stopping = (id: string, stop: () => void | Promise<void>) => other({ id, setup: () => ({ stop }) })
  const failing = async () => {
    stopped.push("first")
    throw new Error("made up")
  }
  const failingAtOnce = () => {
    stopped.push("second")
    throw new Error("made up")
  }
  const instance = await startInstance({
    plugins: [stopping("first", failing), stopping("second", failingAtOnce), stopping("third", async () => void stopped.push("third"))],
  })
  await instance[Symbol.asyncDispose]()
  expect(stopped).toEqual(["first", "second", "third"])
  expect(instance.log.lines).toMatchObject([
    { level: "error", message: "a plugin did not stop", fields: { plugin: "first" } },
    { level: "error", message: "a plugin did not stop", fields: { plugin: "second" } },
  ])
})

test("records a plugin's migrations under the plugin's id", async () => {
  await using instance = await startInstance({ plugins: [notes()] })
  const rows = await instance.app.instance.catalog.all(sql`select owner, name from migrations where owner <> 'core'`)
  expect(rows).toEqual([{ owner: "notes", name: "0001_notes" }])
})
