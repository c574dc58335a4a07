import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { raw } from "#plugin"
import { type ConsoleInstance, startConsole } from "./console.ts"

const keyed = { headers: { "idempotency-key": "once-1" } }
const replayed = (answer: { headers: Headers }) => answer.headers.get("idempotency-replayed")

const jobsOf = async (console: ConsoleInstance) => ((await console.get("/jobs")).body as { data: { kind: string }[] }).data.length

test.each([
  ["POST", "/backups", { label: "Once" }],
  ["POST", "/storage/analyze", { store: "events" }],
  ["POST", "/retention/run", { retention_days: 30 }],
  ["POST", "/sites/1/purge", { before: "2026-11-01" }],
  ["POST", "/schedules/core.forget-old/run", undefined],
] as const)("starts the work once for a repeated %s %s", async (method, path, body) => {
  await using console = await startConsole()
  await console.instance.app.instance.schedules.start()
  const first = await console.send(method, path, body, keyed)
  expect(first).toMatchObject({ status: 202, body: { id: expect.any(Number) } })
  await console.instance.app.instance.jobs.drain()
  const again = await console.send(method, path, body, keyed)
  expect(again).toMatchObject({ status: 202, body: first.body as object })
  expect(again.headers.get("location")).toBe(first.headers.get("location"))
  expect([replayed(first), replayed(again)]).toEqual([null, "true"])
  expect(await jobsOf(console)).toBe(1)
  expect(await console.send(method, path, { colour: 1 }, keyed)).toMatchObject({
    status: 422,
    body: { code: body === undefined ? "validation_failed" : "idempotency_key_reused" },
  })
})

test("creates a user and an organization once per key, and repeats the link", async () => {
  await using console = await startConsole()
  const body = { email: "new@example.org", name: "New" }
  const first = await console.send("POST", "/users", body, keyed)
  expect(first).toMatchObject({ status: 201, body: { email: "new@example.org", link: expect.stringContaining("http") } })
  expect(await console.send("POST", "/users", body, keyed)).toMatchObject({ status: 201, body: first.body as object })
  const { id } = first.body as { id: number }
  const link = await console.send("POST", `/users/${id}/reset-password`, undefined, keyed)
  expect(await console.send("POST", `/users/${id}/reset-password`, undefined, keyed)).toMatchObject({
    status: 200,
    body: link.body as object,
  })
  const made = await console.send("POST", "/organizations", { name: "Made" }, keyed)
  expect(made).toMatchObject({ status: 201, body: { name: "Made", sites: 0 } })
  expect(await console.send("POST", "/organizations", { name: "Made" }, keyed)).toMatchObject({ body: made.body as object })
  expect((await console.get("/organizations?q=made")).body).toMatchObject({ data: [made.body as object] })
})

test("stores nothing that reveals the password of a request", async () => {
  await using console = await startConsole()
  const body = { email: "new@example.org", name: "New", password: "a walk along the river" }
  expect((await console.send("POST", "/users", body, keyed)).status).toBe(201)
  const rows = await console.instance.app.instance.catalog.all<{ body_hash: Uint8Array }>(raw("select body_hash from idempotent_answers"))
  expect(rows.length).toBe(1)
  const plain = new Bun.CryptoHasher("sha256").update(JSON.stringify(body)).digest("hex")
  expect(Buffer.from(rows[0]!.body_hash).toString("hex")).not.toContain(plain)
})

test("does not start work that cannot be audited", async () => {
  await using console = await startConsole()
  const { catalog, jobs, schedules } = console.instance.app.instance
  await schedules.start()
  await catalog.run(raw("create trigger audit_fails before insert on audit_log begin select raise(abort, 'no'); end"))
  for (const [path, body] of [
    ["/backups", {}],
    ["/storage/vacuum", { store: "catalog" }],
    ["/retention/run", { retention_days: 30 }],
    ["/schedules/core.forget-old/run", undefined],
  ] as const)
    expect((await console.send("POST", path, body)).status).toBe(500)
  expect(await jobs.list({}, { before: 1_000, limit: 10 })).toEqual([])
  expect(readdirSync(console.instance.dataDir)).not.toContain("backups")
})
