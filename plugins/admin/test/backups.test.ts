import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { actionsOf, type ConsoleInstance, startConsole } from "./console.ts"

const view = (path: string) => ({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example" })
const PASSPHRASE = "a long walk in the rain"

async function made(console: ConsoleInstance, body: object = {}): Promise<string> {
  const answer = await console.send("POST", "/backups", body)
  expect(answer).toMatchObject({ status: 202, body: { kind: "core.make-backup" } })
  await console.instance.app.instance.jobs.drain()
  const job = (await console.get(`/jobs/${(answer.body as { id: number }).id}`)).body
  expect(job).toMatchObject({ state: "done" })
  const { data } = (await console.get("/backups")).body as { data: { id: string }[] }
  return data[0]!.id
}
async function jobOf(console: ConsoleInstance, answer: { body: unknown }) {
  await console.instance.app.instance.jobs.drain()
  return (await console.get(`/jobs/${(answer.body as { id: number }).id}`)).body
}
async function download(console: ConsoleInstance, id: string): Promise<Uint8Array> {
  const request = new Request(`http://localhost/api/private/admin/backups/${id}/download`, { headers: { cookie: console.cookie } })
  const response = await console.instance.fetch(request)
  expect(response.status).toBe(200)
  expect(response.headers.get("content-type")).toBe("application/x-tar")
  expect(response.headers.get("content-disposition")).toBe(`attachment; filename="footfall-${id}.tar"`)
  return response.bytes()
}
const upload = (console: ConsoleInstance, bytes: Uint8Array, type = "application/x-tar") =>
  console.instance.api.send("POST", "/api/private/admin/backups/upload", bytes, undefined, { cookie: console.cookie, "content-type": type })

test("creates a backup, lists it as verified, verifies it again and deletes it", async () => {
  await using console = await startConsole()
  await console.instance.collect(view("/"))
  const id = await made(console, { label: "Before the move" })
  expect(await console.get(`/backups/${id}`)).toMatchObject({
    status: 200,
    body: {
      id,
      label: "Before the move",
      created_at: "2026-11-21T12:00:00.000Z",
      target: "local",
      includes: ["catalog", "events", "config"],
      encrypted: false,
      state: "verified",
      version: "0.0.0-test",
    },
  })
  const verified = await console.send("POST", `/backups/${id}/verify`, { full: true })
  expect(verified.status).toBe(202)
  expect(await jobOf(console, verified)).toMatchObject({ state: "done" })
  expect(await console.send("DELETE", `/backups/${id}`)).toMatchObject({ status: 204 })
  expect(await console.get(`/backups/${id}`)).toMatchObject({ status: 404, body: { code: "backup_not_found" } })
  expect(existsSync(join(console.instance.dataDir, "backups", id))).toBe(false)
  expect(await actionsOf(console)).toEqual([
    "admin.backup.create",
    "admin.backup.create-end",
    "admin.backup.verify",
    "admin.backup.verify-end",
    "admin.backup.delete",
  ])
})

test("the settings in a backup contain no secret", async () => {
  await using console = await startConsole({ settings: { smtp_host: "127.0.0.1", smtp_password: "s3cret-pass" } })
  const id = await made(console)
  const config = readFileSync(join(console.instance.dataDir, "backups", id, "config.json"), "utf8")
  expect(config).toContain("smtp_host")
  expect(config).not.toContain("s3cret-pass")
})

test("creates one backup at a time", async () => {
  await using console = await startConsole()
  expect((await console.send("POST", "/backups")).status).toBe(202)
  expect(await console.send("POST", "/backups")).toMatchObject({ status: 409, body: { code: "backup_running" } })
  await console.instance.app.instance.jobs.drain()
  expect((await console.send("POST", "/backups")).status).toBe(202)
})

test("detects a damaged backup and no longer lists it as verified", async () => {
  await using console = await startConsole()
  const id = await made(console)
  const path = join(console.instance.dataDir, "backups", id, "events.db")
  const bytes = readFileSync(path)
  bytes[5_000]! ^= 0xff
  writeFileSync(path, bytes)
  const verify = await console.send("POST", `/backups/${id}/verify`)
  expect(await jobOf(console, verify)).toMatchObject({
    state: "failed",
    error_code: "backup_corrupt",
    error_message: expect.not.stringContaining(console.instance.dataDir),
  })
  expect(await console.get(`/backups/${id}`)).toMatchObject({ body: { state: "failed" } })
  expect(await console.get("/notices")).toMatchObject({ body: { data: [{ kind: "backup_damaged", detail: { backup: id } }] } })
  const restore = await console.send("POST", `/backups/${id}/restore`, { confirm: id })
  expect(await jobOf(console, restore)).toMatchObject({ state: "failed", error_code: "backup_corrupt" })
  expect(readdirSync(console.instance.dataDir).filter((name) => name.startsWith(".restore"))).toEqual([])
  expect((await console.send("DELETE", `/backups/${id}`)).status).toBe(204)
  expect(await console.get("/notices")).toMatchObject({ body: { data: [] } })
})

test("downloads a backup as an archive that any tar can read, and uploads it again", async () => {
  await using console = await startConsole()
  await console.instance.collect(view("/"))
  const id = await made(console)
  const archive = await download(console, id)
  const listed = Bun.spawnSync(["tar", "-tf", "-"], { stdin: archive })
  expect(listed.stdout.toString().trim().split("\n")).toEqual(["manifest.json", "config.json", "catalog.db", "events.db"])
  const answer = await upload(console, archive)
  expect(answer).toMatchObject({ status: 201, body: { state: "unverified", label: `Uploaded: ${id}`, encrypted: false } })
  const copy = (answer.body as { id: string }).id
  expect(copy).not.toBe(id)
  expect(await jobOf(console, await console.send("POST", `/backups/${copy}/verify`, { full: true }))).toMatchObject({ state: "done" })
  expect(await console.get(`/backups/${copy}`)).toMatchObject({ body: { state: "verified" } })
  const form = new FormData()
  form.append("file", new Blob([archive as Uint8Array<ArrayBuffer>]), "backup.tar")
  const sent = new Response(form)
  expect(await upload(console, await sent.clone().bytes(), sent.headers.get("content-type")!)).toMatchObject({ status: 201 })
})

test.each([
  ["that is not an archive", () => new TextEncoder().encode("no archive at all".repeat(100)), "backup_corrupt"],
  ["that is truncated", (archive: Uint8Array) => archive.subarray(0, 6_000), "backup_corrupt"],
  ["that is empty", () => new Uint8Array(1_024), "backup_foreign"],
  ["with a changed byte", (archive: Uint8Array) => flipped(archive, archive.length - 20_000), "backup_corrupt"],
  ["with an unexpected file", (archive: Uint8Array) => renamed(archive, "config.json", "../../evil.js"), "backup_foreign"],
] as const)("an upload %s is refused, and leaves nothing behind", async (_, spoil, code) => {
  await using console = await startConsole()
  const id = await made(console)
  const archive = spoil(await download(console, id))
  expect(await upload(console, archive)).toMatchObject({ status: 422, body: { code } })
  expect(readdirSync(join(console.instance.dataDir, "backups"))).toEqual([id])
})

test("rejects an upload with another media type or without a recent confirmation of identity", async () => {
  await using console = await startConsole()
  expect(await upload(console, new Uint8Array(10), "text/plain")).toMatchObject({ status: 415 })
  const cookie = await console.instance.signIn({ isInstanceAdmin: true, provedAt: console.instance.clock.now() - 11 * 60_000 })
  for (const [method, path] of [
    ["POST", "/backups/upload"],
    ["GET", "/backups/x/download"],
    ["POST", "/backups/x/restore"],
    ["DELETE", "/backups/x"],
  ] as const)
    expect(await console.send(method, path, method === "POST" ? {} : undefined, { cookie })).toMatchObject({
      status: 403,
      body: { code: "reauth_required" },
    })
})

test("an encrypted backup contains nothing readable, and its passphrase is stored nowhere", async () => {
  await using console = await startConsole()
  await console.instance.collect(view("/a-page-to-look-for"))
  await console.instance.app.instance.events.seal(console.instance.clock.now(), true)
  const id = await made(console, { encrypt: { passphrase: PASSPHRASE } })
  expect(await console.get(`/backups/${id}`)).toMatchObject({ body: { encrypted: true, state: "verified" } })
  const folder = join(console.instance.dataDir, "backups", id)
  expect(readdirSync(folder).sort()).toEqual(["catalog.db.sealed", "config.json", "events.db.sealed", "manifest.json"])
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "latin1")
    expect(text).not.toContain("a-page-to-look-for")
    expect(text).not.toContain("SQLite format 3")
    expect(text).not.toContain(PASSPHRASE)
  }
  const jobs = await console.instance.app.instance.catalog.all<{ payload_json: string }>({
    text: "select payload_json from jobs",
    values: [],
  } as never)
  expect(JSON.stringify(jobs)).not.toContain(PASSPHRASE)
  expect(await console.send("POST", `/backups/${id}/restore`, { confirm: id })).toMatchObject({
    status: 422,
    body: { code: "wrong_passphrase" },
  })
  expect(await console.send("POST", `/backups/${id}/restore`, { confirm: id, passphrase: "another long walk" })).toMatchObject({
    status: 422,
    body: { code: "wrong_passphrase" },
  })
  expect(await console.send("POST", "/backups", { encrypt: { passphrase: "short" } })).toMatchObject({ status: 422 })
})

test.each([
  ["without its id as confirmation", {}, 422],
  ["with another id", { confirm: "20200101T000000Z-manual" }, 422],
  ["with an unknown field", { confirm: "x", force: true }, 422],
])("does not restore a backup %s", async (_, body, status) => {
  await using console = await startConsole()
  const id = await made(console)
  expect((await console.send("POST", `/backups/${id}/restore`, body)).status).toBe(status)
})

test.each(["..", "x".repeat(90), "nothing", "%2e%2e"])("reports that the backup %s does not exist", async (id) => {
  await using console = await startConsole()
  expect((await console.get(`/backups/${id}`)).status).toBe(404)
})

test("creates backups on the chosen schedule and keeps the chosen number", async () => {
  await using console = await startConsole()
  expect((await console.get("/backups/schedule")).body).toEqual({
    cron: "0 3 * * *",
    keep: { daily: 7, weekly: 4 },
    target: "local",
    source: "default",
  })
  const wanted = { cron: "30 1 * * 1", keep: { daily: 3, weekly: 0 } }
  expect(await console.send("PUT", "/backups/schedule", wanted)).toMatchObject({ status: 200, body: { ...wanted, source: "db" } })
  const { schedule } = console.instance.app.instance
  // 16 November 2026 is a Monday.
  expect(new Date(schedule.lastDue(console.instance.clock.now())!).toISOString()).toBe("2026-11-16T01:30:00.000Z")
  for (const odd of [{ cron: "* * * * *" }, { cron: "30 25 * * *" }, { keep: { daily: 0, weekly: 0 } }, { target: "s3" }])
    expect(await console.send("PUT", "/backups/schedule", { ...wanted, ...odd })).toMatchObject({ status: 422 })
  expect(await console.send("PUT", "/backups/schedule", { cron: null, keep: wanted.keep })).toMatchObject({ body: { cron: null } })
  expect(schedule.lastDue(console.instance.clock.now())).toBeUndefined()
})

test("rejects changes to a backup time that is set in the configuration", async () => {
  await using console = await startConsole({ settings: { backup_time: "04:30" } })
  expect((await console.get("/backups/schedule")).body).toMatchObject({ cron: "30 4 * * *", source: "env" })
  expect(await console.send("PUT", "/backups/schedule", { cron: "0 3 * * *", keep: { daily: 1, weekly: 0 } })).toMatchObject({
    status: 409,
    body: { code: "set_elsewhere", source: "env" },
  })
})

function flipped(archive: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(archive)
  copy[at]! ^= 0xff
  return copy
}

/** Renames a file in the archive and corrects the header's checksum. */
function renamed(archive: Uint8Array, from: string, to: string): Uint8Array {
  const copy = Buffer.from(archive)
  const at = copy.indexOf(from)
  copy.write(to.padEnd(100, "\0"), at, 100, "latin1")
  copy.write("        ", at + 148)
  const sum = copy.subarray(at, at + 512).reduce((total, byte) => total + byte, 0)
  copy.write(`${sum.toString(8).padStart(6, "0")}\0 `, at + 148)
  return new Uint8Array(copy)
}

test("lists a backup with a damaged manifest as damaged, which can only be deleted", async () => {
  await using console = await startConsole()
  const broken = await made(console, { label: "Broken" })
  const good = await made(console, { label: "Good" })
  writeFileSync(join(console.instance.dataDir, "backups", broken, "manifest.json"), "{")
  const listed = await console.get("/backups")
  expect(listed.status).toBe(200)
  const { data } = listed.body as { data: { id: string; state: string }[] }
  expect(data.map(({ id, state }) => [id, state]).sort()).toEqual(
    [
      [broken, "damaged"],
      [good, "verified"],
    ].sort(),
  )
  const note = "manifest.json is damaged, so the backup cannot be checked or restored."
  expect(await console.get(`/backups/${broken}`)).toMatchObject({ status: 200, body: { state: "damaged", verified_at: null, note } })
  const refusal = { status: 422, body: { code: "backup_corrupt", detail: note } }
  expect(await console.send("POST", `/backups/${broken}/verify`, {})).toMatchObject(refusal)
  expect(await console.send("POST", `/backups/${broken}/restore`, { confirm: broken })).toMatchObject(refusal)
  expect(await console.get(`/backups/${broken}/download`)).toMatchObject(refusal)
  const { body } = await console.get("/system/health")
  expect(JSON.stringify(body)).toContain(`The manifest of ${broken} is damaged.`)
  expect(await console.send("DELETE", `/backups/${broken}`)).toMatchObject({ status: 204 })
  expect((await console.get("/backups")).body).toMatchObject({ data: [{ id: good, state: "verified" }] })
})
