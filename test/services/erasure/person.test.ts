import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { unzipSync } from "fflate"
import { personKey } from "../../../src/ingest/identity/visitor.ts"
import { hashBytes } from "../../../src/store/events/dictionary/hash-table.ts"
import { signedIn } from "../../http/private/person.ts"
import { startInstance, type TestInstance, temporaryFolder } from "../../kit.ts"

const HOUR = 3_600_000
const SECRET_ID = "user-4711-of-the-test"
const SECRET_WORD = "a word that only this person sent"

/** Starts an instance whose site identifies its users and stores their ids. */
async function startIdentified(): Promise<TestInstance> {
  const instance = await startInstance()
  const { sites, settings } = instance.app.instance
  await settings.change({ store_user_ids_allowed: true }, null)
  await sites.configure(1, { identity_mode: "identified", store_user_ids: true })
  return instance
}

const visit = ({ collect }: TestInstance, { user, page = "/", address, word, name = "pageview" }: Sent) =>
  collect(
    { n: name, u: `https://shop.example${page}`, d: "shop.example", ...(user && { x: user }), ...(word && { p: { word } }) },
    address === undefined ? {} : { address },
  )

interface Sent {
  user?: string
  page?: string
  name?: string
  address?: string
  word?: string
}

async function pseudonymsOf({ app, site }: TestInstance, user: string): Promise<string[]> {
  const { people } = app.instance
  return people.pseudonymsOf(site, await people.find({ ...site, settings: { ...site.settings, store_user_ids: true } }, user))
}

/** Returns the visits of the site as `[visitor, events]`. */
async function visitsOf({ api, key }: TestInstance): Promise<[visitor: string, events: number][]> {
  const { body } = await api.get("/api/public/v1/sites/1/export?type=visits&format=ndjson&period=7d", key)
  const lines = (body as string).trim().split("\n").filter(Boolean)
  return lines
    .map((line) => JSON.parse(line))
    .filter((row) => row.visitor)
    .map(({ visitor, events }) => [visitor, events])
}

/** Returns the files of the data folder that contain the bytes. */
function filesWith(folder: string, bytes: Uint8Array): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => readFileSync(path).includes(bytes))
}

test("an erased person is in no answer and no file, and others stay", async () => {
  await using instance = await startIdentified()
  const { app, clock, dataDir } = instance
  await visit(instance, { user: SECRET_ID, word: SECRET_WORD })
  await visit(instance, { user: "someone else", address: "198.51.100.9" })
  clock.advance(2 * HOUR)
  await app.instance.events.seal(clock.now(), true)
  clock.advance(20 * HOUR)
  await visit(instance, { user: SECRET_ID, address: "198.51.100.8" })
  await visit(instance, { user: SECRET_ID, name: "Signup", address: "198.51.100.8" })

  const key = hashBytes(personKey(await app.instance.siteKeys.identityKey(1), "user", SECRET_ID))
  const secrets = [Buffer.from(SECRET_ID), Buffer.from(SECRET_WORD), key]
  expect(secrets.map((secret) => filesWith(dataDir, secret).length > 0)).toEqual([true, true, true])

  const visitors = await pseudonymsOf(instance, SECRET_ID)
  expect(await app.erasure.person(1, visitors)).toMatchObject({ visits: 2, events: 3, clicks: 0, opens: 0 })
  expect(await visitsOf(instance)).toHaveLength(1)
  expect(await pseudonymsOf(instance, SECRET_ID)).toEqual([])
  expect(await app.erasure.person(1, visitors)).toMatchObject({ visits: 0, events: 0 })

  const waiting = app.erasure.overwrite()
  clock.advance(21_000)
  await waiting
  expect(secrets.flatMap((secret) => filesWith(dataDir, secret))).toEqual([])
})

/** Puts the temporary folders of this process into one that no other program uses, until the end of the scope. */
function ownTemporaryFolder(): Disposable & { path: string } {
  const folder = temporaryFolder()
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder.path
  return {
    path: folder.path,
    [Symbol.dispose]() {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
      folder[Symbol.dispose]()
    },
  }
}

test("an erasure by user id leaves neither key nor user id in stores, archives and temporary folders", async () => {
  using folder = ownTemporaryFolder()
  await using instance = await startIdentified()
  const { app, clock, dataDir } = instance
  const admin = await signedIn(instance, { role: "owner", isInstanceAdmin: true })
  await visit(instance, { user: SECRET_ID, word: SECRET_WORD })
  await visit(instance, { user: "someone else", address: "198.51.100.9" })
  const key = personKey(await app.instance.siteKeys.identityKey(1), "user", SECRET_ID)
  const definition = { conditions: [{ type: "event", value: "Signup", negate: true }] }
  expect(await admin.post("/sites/1/cohorts", { name: "All", definition })).toMatchObject({ status: 201 })
  expect(await admin.post("/sites/1/cohorts/1/freeze", { name: "Frozen" })).toMatchObject({ status: 201, body: { size: 2 } })
  const { body: page } = await admin.get("/sites/1/power-users?as_of=2026-11-21")
  const { person } = (page as { data: { person: string; label: string }[] }).data.find(({ label }) => label === SECRET_ID)!
  expect((await admin.get(`/sites/1/people/${person}/export`)).status).toBe(200)
  expect((await admin.post("/sites/1/takeout", undefined)).status).toBe(202)
  await instance.runJobs()
  const archived = () => filesWith(dataDir, Buffer.from("PK\x03\x04")).flatMap((path) => Object.values(unzipSync(readFileSync(path))))
  expect(archived().some((file) => Buffer.from(file).includes(SECRET_WORD))).toBe(true)

  const requested = await admin.post("/sites/1/people/erase", { user_id: SECRET_ID, confirm: true })
  expect(requested).toMatchObject({ status: 202, body: { state: "queued" } })
  let isDone = false
  const done = instance.runJobs().finally(() => {
    isDone = true
  })
  while (!isDone) {
    clock.advance(10_000)
    await Bun.sleep(5)
  }
  await done
  expect((await admin.get("/sites/1/people/erasures/1")).body).toMatchObject({ state: "done", found: { visits: 1, events: 1 } })
  expect((await admin.get("/sites/1/cohorts/2")).body).toMatchObject({ kind: "static", size: 1 })
  expect((await admin.get(`/sites/1/power-users/${person}`)).body).toMatchObject({ code: "person_not_found" })
  const bytes = hashBytes(key)
  const traces = [SECRET_ID, SECRET_WORD, bytes, bytes.toReversed(), Buffer.from(bytes).toString("hex")].map((trace) => Buffer.from(trace))
  expect(dataDir.startsWith(folder.path)).toBe(true)
  expect(traces.flatMap((trace) => filesWith(folder.path, trace))).toEqual([])
  expect(archived()).toEqual([])
})

test("an event during or after an erasure is erased or begins a new history, also in a visit that was open", async () => {
  await using instance = await startIdentified()
  const { app, clock } = instance
  await visit(instance, { user: "ann" })
  const [before] = await pseudonymsOf(instance, "ann")
  const erasing = app.erasure.person(1, [before!])
  const arriving = visit(instance, { user: "ann", page: "/later" })
  const erased = await erasing
  expect(erased).toMatchObject({ visits: 1 })
  await arriving
  clock.advance(1_000)
  await visit(instance, { user: "ann", page: "/last" })
  const [after] = await pseudonymsOf(instance, "ann")
  expect(after).not.toBe(before!)
  expect(await visitsOf(instance)).toEqual([[after!, 3 - (erased.events ?? 0)]])
})

test("an event without user id does not revive the visit of an erased person", async () => {
  await using instance = await startIdentified()
  await visit(instance, { user: "ann" })
  const [ann] = await pseudonymsOf(instance, "ann")
  await instance.app.erasure.person(1, [ann!])
  await visit(instance, { page: "/anonymous" })
  const [[visitor, events]] = (await visitsOf(instance)) as [[string, number]]
  expect([visitor === ann, events]).toEqual([false, 1])
})

test("erasing an unknown pseudonym removes nothing", async () => {
  await using instance = await startIdentified()
  await visit(instance, { user: "ann" })
  expect(await instance.app.erasure.person(1, ["00112233445566ff"])).toMatchObject({ visits: 0, events: 0 })
  expect(await visitsOf(instance)).toHaveLength(1)
})
