import { expect, test } from "bun:test"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { raw } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { S3_KEY, type S3Server, startS3 } from "./s3-server.ts"

const BASE = "/api/private/admin"
const ofOperator = ({ endpoint }: S3Server) => ({
  backup_s3_endpoint: endpoint,
  backup_s3_bucket: "backups",
  backup_s3_prefix: "footfall",
  backup_s3_region: S3_KEY.region,
  backup_s3_key_id: S3_KEY.key_id,
  backup_s3_secret: S3_KEY.secret,
})
const ofConsole = ({ endpoint }: S3Server) => ({
  endpoint,
  bucket: "backups",
  prefix: "footfall",
  region: S3_KEY.region,
  key_id: S3_KEY.key_id,
  secret: S3_KEY.secret,
})
/** A bucket entered in the console may be on a private address only if the operator allows it. */
const opened = ({ endpoint }: S3Server) => ({
  outbound_ports: new URL(endpoint).port,
  allow_http_webhooks: "1",
  allow_private_webhooks: "127.0.0.0/8",
})
const PLAN = { cron: "0 3 * * *", keep: { daily: 2, weekly: 0 } }

async function adminOf(instance: TestInstance) {
  const cookie = await instance.signIn({ isInstanceAdmin: true })
  return {
    get: (path: string) => instance.api.get(BASE + path, undefined, { cookie }),
    send: (method: string, path: string, body?: unknown) => instance.api.send(method, BASE + path, body, undefined, { cookie }),
    async done(path: string, body: object = {}) {
      const { body: job } = await this.send("POST", path, body)
      await instance.app.instance.jobs.drain()
      return (await this.get(`/jobs/${(job as { id: number }).id}`)).body as {
        state: string
        error_code: string | null
        error_message: string
      }
    },
    async listed() {
      return (await this.get("/backups")).body as { data: { id: string; target: string; state: string }[]; bucket_error?: string }
    },
  }
}

test("copies each backup to the bucket and fetches it back for a restore", async () => {
  using server = startS3({ pageSize: 3 })
  await using instance = await startInstance({ settings: ofOperator(server) })
  const admin = await adminOf(instance)
  await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })
  expect(await admin.done("/backups", { label: "Far away" })).toMatchObject({ state: "done" })
  const [{ id } = { id: "" }] = (await admin.listed()).data
  expect([...server.objects.keys()].sort()).toEqual(
    ["catalog.db", "config.json", "events.db", "manifest.json"].map((name) => `/backups/footfall/${id}/${name}`),
  )
  expect((await admin.listed()).data).toMatchObject([{ id, target: "local", state: "verified" }])

  rmSync(join(instance.dataDir, "backups"), { recursive: true })
  expect((await admin.listed()).data).toMatchObject([{ id, target: "s3", label: "Far away", state: "verified" }])
  expect(await admin.get(`/backups/${id}/download`)).toMatchObject({ status: 409, body: { code: "invalid_state" } })
  expect(await admin.done(`/backups/${id}/verify`, { full: true })).toMatchObject({ state: "done" })
  expect(await admin.get(`/backups/${id}`)).toMatchObject({
    body: { target: "local", state: "verified", includes: ["catalog", "events", "config"] },
  })

  rmSync(join(instance.dataDir, "backups"), { recursive: true })
  expect(await admin.done(`/backups/${id}/restore`, { confirm: id })).toMatchObject({ state: "done" })
  // From here on it is an ordinary restore.
  expect(await Promise.race([instance.app.restarting.then(() => "begins anew"), Bun.sleep(2_000)])).toBe("begins anew")
})

test("rejects a fetched backup that was changed, and leaves nothing behind", async () => {
  using server = startS3()
  await using instance = await startInstance({ settings: ofOperator(server) })
  const admin = await adminOf(instance)
  await admin.done("/backups")
  const [{ id } = { id: "" }] = (await admin.listed()).data
  rmSync(join(instance.dataDir, "backups"), { recursive: true })
  server.objects.get(`/backups/footfall/${id}/events.db`)![5_000]! ^= 0xff
  expect(await admin.done(`/backups/${id}/verify`)).toMatchObject({ state: "failed", error_code: "backup_corrupt" })
  expect(await admin.done(`/backups/${id}/restore`, { confirm: id })).toMatchObject({ state: "failed", error_code: "backup_corrupt" })
  expect(existsSync(join(instance.dataDir, "backups", id))).toBe(false)
  // A foreign object is not a backup.
  server.objects.set("/backups/footfall/strange/manifest.json", new TextEncoder().encode('{"id":"../../x","format":1,"files":[]}'))
  expect((await admin.listed()).data.map((backup) => backup.id)).toEqual([id])
  expect((await admin.get("/backups/strange")).status).toBe(404)
})

test("a failing bucket fails the job but not the backup, and does not hide local backups", async () => {
  const server = startS3()
  await using instance = await startInstance({ settings: { ...ofOperator(server), backup_s3_secret: "another secret" } })
  const admin = await adminOf(instance)
  expect(await admin.done("/backups")).toMatchObject({
    state: "failed",
    error_code: "outbound_failed",
    error_message: "The bucket answered 403 SignatureDoesNotMatch.",
  })
  server[Symbol.dispose]()
  expect(await admin.listed()).toMatchObject({
    data: [{ target: "local", state: "verified" }],
    bucket_error: "The server did not respond.",
  })
})

test("removes copies together with the backups of the folder", async () => {
  using server = startS3()
  await using instance = await startInstance({ settings: ofOperator(server) })
  const { backups, remoteBackups } = instance.app.instance
  for (let day = 0; day < 4; day++) {
    await remoteBackups.copy((await backups.create("daily")).id)
    instance.clock.advance(86_400_000)
  }
  expect((await remoteBackups.list()).length).toBe(4)
  await remoteBackups.rotate(PLAN.keep)
  expect((await remoteBackups.list()).map(({ created_at }) => created_at.slice(0, 10))).toEqual(["2026-11-23", "2026-11-24"])
  const admin = await adminOf(instance)
  for (const { id } of (await admin.listed()).data) expect((await admin.send("DELETE", `/backups/${id}`)).status).toBe(204)
  expect(server.objects.size).toBe(0)
  expect(await admin.listed()).toEqual({ data: [] })
})

test("sets a bucket in the console and never returns its secret", async () => {
  using server = startS3()
  await using instance = await startInstance({ settings: opened(server) })
  const admin = await adminOf(instance)
  const s3 = ofConsole(server)
  expect(await admin.send("PUT", "/backups/schedule", { ...PLAN, target: "s3" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/s3", code: "required" }] },
  })
  const saved = await admin.send("PUT", "/backups/schedule", { ...PLAN, target: "s3", s3 })
  expect(saved).toMatchObject({
    status: 200,
    body: { target: "s3", source: "db", s3: { prefix: "footfall/", secret: { set: true, hint: "…4711" } } },
  })
  expect(JSON.stringify(saved.body)).not.toContain(S3_KEY.secret)
  expect(await admin.done("/backups")).toMatchObject({ state: "done" })
  expect(server.objects.size).toBe(4)
  // The body of GET can be sent back unchanged and keeps the secret.
  expect((await admin.send("PUT", "/backups/schedule", saved.body)).status).toBe(200)
  expect(await instance.app.instance.remoteBackups.list()).toHaveLength(1)
  const rows = await instance.app.instance.catalog.all<object>(raw("select changes_json, value_json from audit_log, settings"))
  expect(JSON.stringify(rows)).not.toContain(S3_KEY.secret)
  expect(await admin.send("PUT", "/backups/schedule", { ...PLAN, target: "local" })).toMatchObject({
    body: { target: "local", s3: { bucket: "backups" } },
  })
  expect(instance.app.instance.remoteBackups.isOn()).toBe(false)
})

test.each([
  ["on a private address", { endpoint: "https://127.0.0.1" }, {}, 200, undefined],
  ["with a local name", { endpoint: "https://bucket.local" }, {}, 422, "blocked_address"],
  ["over plain HTTP", { endpoint: "http://s3.example.com" }, {}, 422, "blocked_address"],
  ["with a path", { endpoint: "https://s3.example.com/here" }, {}, 422, "validation_failed"],
  ["with an invalid name", { bucket: "UPPER" }, {}, 422, "validation_failed"],
  ["with a path traversal", { prefix: "../x" }, {}, 422, "validation_failed"],
  ["while outbound requests are off", {}, { outbound: "off" }, 422, "outbound_disabled"],
] as const)("a bucket %s", async (_, given, settings, status, code) => {
  await using instance = await startInstance({ settings })
  const admin = await adminOf(instance)
  const s3 = { endpoint: "https://s3.example.com", bucket: "backups", key_id: "AKTEST", secret: "a secret", ...given }
  const answer = await admin.send("PUT", "/backups/schedule", { ...PLAN, target: "s3", s3 })
  expect(answer.status).toBe(status)
  if (code) expect(answer.body).toMatchObject({ code })
})

test("rejects changes in the console to a bucket of the operator's configuration", async () => {
  using server = startS3()
  await using instance = await startInstance({ settings: ofOperator(server) })
  const admin = await adminOf(instance)
  expect((await admin.get("/backups/schedule")).body).toMatchObject({ target: "s3", s3: { bucket: "backups", secret: { set: true } } })
  expect(await admin.send("PUT", "/backups/schedule", { ...PLAN, s3: { ...ofConsole(server), bucket: "others" } })).toMatchObject({
    status: 409,
    body: { code: "set_elsewhere" },
  })
  expect(await admin.send("PUT", "/backups/schedule", { ...PLAN, target: "local" })).toMatchObject({
    status: 200,
    body: { target: "local" },
  })
})
