import { expect, test } from "bun:test"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { backupTasks } from "../../../src/services/backup/tasks.ts"
import { sql } from "../../../src/store/sql.ts"
import { type StartOptions, startInstance } from "../../kit.ts"
import { openMailbox } from "../../mailbox.ts"
import { S3_KEY, startS3 } from "../backup/s3-server.ts"

const HOUR = 3_600_000
const BASE = "/api/private/admin"

/** Starts an instance with an administrator and a function that makes a backup due. */
async function startWithAdmin(options: StartOptions = {}) {
  const instance = await startInstance({ now: "2026-11-21T03:00:00Z", ...options })
  const cookie = await instance.signIn({ isInstanceAdmin: true, role: "owner" })
  const { dataDir, clock, app } = instance
  const tasks = backupTasks({ ...app.instance, dataDir, clock })
  const run = (name: string) => tasks.find((task) => task.name === name)!.run(new AbortController().signal)
  return {
    instance,
    run,
    fails: async (name: string) => expect(run(name)).rejects.toThrow(),
    get: (path: string, by = cookie) => instance.api.get(BASE + path, undefined, { cookie: by }),
    post: (path: string, body?: unknown) => instance.api.send("POST", BASE + path, body, undefined, { cookie }),
    notices: async () =>
      ((await instance.api.get(`${BASE}/notices`, undefined, { cookie })).body as { data: { id: number; kind: string; detail: object }[] })
        .data,
    events: () =>
      app.instance.catalog.all<{ event: string; organization_id: number }>(
        sql`select event, organization_id from outbox where event like 'backup.%' order by id`,
      ),
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}
const deliverMail = async (given: Awaited<ReturnType<typeof startWithAdmin>>) => given.instance.app.instance.accounts.mail.deliver()
/** Path for a file that prevents the creation of the backup folder. */
const blockedPath = (dataDir: string) => join(dataDir, "backups")

test("a failed backup raises a notice, a product event and one email a day until one succeeds", async () => {
  await using box = await openMailbox()
  await using given = await startWithAdmin({ settings: box.settings })
  const { instance, run, fails, notices, events } = given
  writeFileSync(blockedPath(instance.dataDir), "in the way")
  await fails("back-up")
  instance.clock.advance(HOUR)
  await fails("back-up")
  await deliverMail(given)
  expect(await notices()).toMatchObject([
    {
      kind: "backup_failed",
      title: "Backup failed",
      first_at: "2026-11-21T03:00:00Z",
      last_at: "2026-11-21T04:00:00Z",
      detail: { step: "making it" },
    },
  ])
  expect(await events()).toEqual([{ event: "backup.failed", organization_id: 1 }])
  expect(box.emails.length).toBe(1)
  expect(box.emails[0]!.text).toContain("Fix it, then create a backup")
  expect((await given.get("/system/health")).body).toMatchObject({
    checks: expect.arrayContaining([
      {
        name: "backup_age",
        status: "warn",
        detail: expect.stringContaining("Backup failed"),
        fix: expect.stringContaining("footfall backup create"),
      },
    ]),
  })
  instance.clock.advance(24 * HOUR)
  await fails("back-up")
  await deliverMail(given)
  expect(box.emails.length).toBe(2)
  rmSync(blockedPath(instance.dataDir))
  await run("back-up")
  expect(await notices()).toEqual([])
  expect((await given.get("/system/health")).body).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ name: "backup_age", status: "ok" })]),
  })
})

test("a dismissed notice disappears and is not emailed twice on the same day", async () => {
  await using given = await startWithAdmin()
  const { instance, fails, notices } = given
  writeFileSync(blockedPath(instance.dataDir), "in the way")
  await fails("back-up")
  const [{ id } = { id: 0 }] = await notices()
  expect((await given.post(`/notices/${id}/dismiss`)).status).toBe(204)
  expect(await given.post(`/notices/${id}/dismiss`)).toMatchObject({ status: 404, body: { code: "not_found" } })
  expect(await given.post("/notices/x/dismiss")).toMatchObject({ status: 404 })
  expect(await notices()).toEqual([])
  instance.clock.advance(HOUR)
  await fails("back-up")
  expect((await notices()).length).toBe(1)
  expect((await given.events()).length).toBe(1)
  const other = await instance.signIn({ role: "owner" })
  expect(await given.get("/notices", other)).toMatchObject({ status: 403 })
})

test("emails after two days without a good backup, and clears the alarm with the next one", async () => {
  await using box = await openMailbox()
  // The age of an instance is the age of its folder in the file system.
  await using given = await startWithAdmin({ now: new Date().toISOString(), settings: { ...box.settings, backup_time: "04:00" } })
  await given.run("watch-backups")
  expect(await given.notices()).toEqual([])
  given.instance.clock.advance(49 * HOUR)
  await given.run("watch-backups")
  await deliverMail(given)
  expect(await given.notices()).toMatchObject([{ kind: "backup_stale", detail: { last_good: null } }])
  expect(box.emails.map(({ text }) => text.includes("No good backup in the last two days"))).toEqual([true])
  await given.instance.app.instance.backups.create("manual")
  await given.run("watch-backups")
  expect(await given.notices()).toEqual([])
})

test("retries the copy of an automatic backup an hour later without making the backup again", async () => {
  using server = startS3()
  const settings = {
    backup_s3_endpoint: server.endpoint,
    backup_s3_bucket: "backups",
    backup_s3_region: S3_KEY.region,
    backup_s3_key_id: S3_KEY.key_id,
    backup_s3_secret: S3_KEY.secret,
  }
  await using given = await startWithAdmin({ settings })
  const { instance, run, fails } = given
  await run("back-up")
  server.down = true
  await fails("copy-backup")
  expect(await given.notices()).toMatchObject([{ kind: "backup_failed", detail: { step: "copying it to the bucket" } }])
  server.down = false
  await run("copy-backup")
  expect(server.objects.size).toBe(0)
  instance.clock.advance(HOUR)
  await run("back-up")
  await run("copy-backup")
  expect(server.objects.size).toBe(3)
  expect(await given.notices()).toEqual([])
  expect((await instance.app.instance.backups.list()).length).toBe(1)
})

const RELEASE = { version: "1.2.0", released_at: "2026-11-20", notes: "Faster.\u001b[31m", changes_schema: true, more: "x" }
function releases(answer: () => Response) {
  const requests: { url: string; headers: string[] }[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      requests.push({ url: new URL(request.url).search, headers: [...request.headers.keys()].sort() })
      return answer()
    },
  })
  return { requests, url: `http://127.0.0.1:${server.port}/latest.json`, [Symbol.dispose]: () => server.stop(true) }
}

test("the update check sends only the version and reports what it found", async () => {
  using server = releases(() => Response.json(RELEASE))
  await using given = await startWithAdmin({ settings: { updates_url: server.url } })
  expect((await given.get("/updates")).body).toEqual({
    ...{ current: "0.0.0-test", is_possible: true, is_automatic: false, checked_at: null, failure: null, latest: null, is_newer: false },
  })
  const { body } = await given.post("/updates/check")
  const latest = { version: "1.2.0", released_at: "2026-11-20", notes: "Faster. [31m", changes_schema: true }
  expect(body).toMatchObject({ checked_at: "2026-11-21T03:00:00Z", latest, is_newer: true })
  expect(server.requests).toEqual([
    { url: "?version=0.0.0-test", headers: ["accept", "accept-encoding", "connection", "host", "user-agent"] },
  ])
  expect(await given.notices()).toMatchObject([{ kind: "update_available", detail: { latest: "1.2.0" } }])
  expect((await given.get("/updates")).body).toEqual(body as object)
})

test.each([
  ["an answer that is not JSON", () => new Response("<html>")],
  ["an answer without a version", () => Response.json({ version: "soon" })],
  ["a failure", () => new Response("no", { status: 500 })],
])("the update check reports %s and ignores it", async (_, answer) => {
  using server = releases(answer)
  await using given = await startWithAdmin({ settings: { updates_url: server.url } })
  expect(await given.post("/updates/check")).toMatchObject({
    status: 200,
    body: { failure: expect.any(String), latest: null, is_newer: false },
  })
})

test("checks for updates only if enabled, once a day", async () => {
  using server = releases(() => Response.json({ version: "0.0.0-test" }))
  await using given = await startWithAdmin({ settings: { updates_url: server.url } })
  const { tasks, settings } = given.instance.app.console
  const task = tasks.find(({ name }) => name === "check-updates")!
  await task.run(new AbortController().signal)
  expect(server.requests).toEqual([])
  await settings.change({ kind: "cli", email: "root", ipPrefix: "", userAgent: "", requestId: "" }, { changes: { updates_check: true } })
  for (let hour = 0; hour < 30; hour++) {
    await task.run(new AbortController().signal)
    given.instance.clock.advance(HOUR)
  }
  expect(server.requests.length).toBe(2)
})

test.each([
  [{}, 409, "invalid_state"],
  [{ updates_url: "https://releases.example.com/latest.json", outbound: "off" }, 422, "outbound_disabled"],
])("rejects an update check with %j", async (settings, status, code) => {
  await using given = await startWithAdmin({ settings: settings as Record<string, string> })
  expect(await given.post("/updates/check")).toMatchObject({ status, body: { code } })
})
