import { expect, test } from "bun:test"
import { unzipSync } from "fflate"
import { actionsOf, startConsole } from "./console.ts"

test("the system page shows versions and settings but no secret", async () => {
  await using console = await startConsole({ settings: { base_url: "http://localhost" } })
  const { status, body } = await console.get("/system")
  expect(status).toBe(200)
  expect(body).toMatchObject({
    version: "0.0.0-test",
    bun: Bun.version,
    started_at: "2026-11-21T12:00:00Z",
    uptime_s: 0,
    base_url: "http://localhost",
    catalog: { kind: "file", schema: expect.arrayContaining(["0001_catalog", "0004_accounts"]) },
    events: { schema: expect.arrayContaining(["0001_events", "0002_ingest_minutes"]), segments: 0, hot_rows: 0 },
    plugins: expect.arrayContaining([{ id: "admin", title: "Administration", enabled: true, schema: [] }]),
  })
  const { config } = body as { config: { key: string; source: string }[] }
  expect(config.find(({ key }) => key === "base_url")).toEqual({ key: "base_url", source: "env" })
  expect(config.find(({ key }) => key === "port")).toEqual({ key: "port", source: "default" })
})

test("health includes every check of doctor, with a remedy for each problem", async () => {
  await using console = await startConsole({ settings: { base_url: "http://localhost:8080" } })
  const { body } = await console.get("/system/health")
  const { status, checks } = body as { status: string; checks: { name: string; status: string; detail: string; fix: string }[] }
  expect(checks.map(({ name }) => name)).toEqual((await console.instance.app.operations.doctor({}, () => {})).map(({ name }) => name))
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "catalog_write",
      "events_write",
      "catalog_integrity",
      "events_integrity",
      "wal_size",
      "disk_free",
      "clock_skew",
      "base_url",
      "proxy_headers",
      "tls",
      "smtp",
      "secret_key",
      "backup_age",
      "backup_verified",
      "job_lag",
      "ingest_lag",
      "geo_database_age",
      "timezone_data",
      "schema",
      "outbound",
      "audit_chain",
    ]),
  )
  const named = (name: string) => checks.find((check) => check.name === name)
  expect(named("schema")).toMatchObject({ status: "ok" })
  expect(named("tls")).toMatchObject({
    status: "warn",
    detail: "http://localhost:8080 does not use HTTPS.",
    fix: "Run the instance behind a proxy with a TLS certificate, and set FOOTFALL_BASE_URL to its https URL.",
  })
  expect(checks.filter((check) => check.status !== "ok").every(({ fix }) => fix !== "")).toBe(true)
  expect(status).toBe("warn")
})

test("explains clock, backup and encryption checks with units and remedies", async () => {
  await using console = await startConsole()
  const { app, clock } = console.instance
  const { backups, health } = app.instance
  const looked = async (name: string) => {
    const cookie = await console.instance.signIn({ isInstanceAdmin: true })
    const { checks } = (await console.get("/system/health", cookie)).body as { checks: { name: string }[] }
    return checks.find((check) => check.name === name)
  }
  const MAKE = "Create one on the Backups page or with footfall backup create."
  expect(await looked("tls")).toMatchObject({ status: "ok", detail: "Unknown until the base URL is set." })
  expect(await looked("clock_skew")).toMatchObject({
    status: "ok",
    detail: "The clock has not jumped since the start and shows 2026-11-21 12:00:00 UTC.",
  })
  health.enter("clock_jump", "61 minutes back")
  expect(await looked("clock_skew")).toMatchObject({
    status: "warn",
    detail: "The clock jumped 61 minutes back.",
    fix: "Synchronize the clock with NTP.",
  })
  expect(await looked("backup_age")).toMatchObject({ status: "warn", detail: "There is no verified backup yet.", fix: MAKE })
  const { id } = await backups.create("manual")
  const ages = [
    [17, "ok", "17 hours", ""],
    [54, "warn", "2 days", MAKE],
    [24 * 7 + 1, "fail", "7 days", `The log says why the daily backup fails. ${MAKE}`],
  ] as const
  let hours = 0
  for (const [age, status, words, fix] of ages) {
    clock.advance((age - hours) * 3_600_000)
    hours = age
    expect(await looked("backup_age")).toMatchObject({ status, detail: `The last verified backup was created ${words} ago (${id}).`, fix })
  }
})

test("reports a host that users visit but that is not configured", async () => {
  await using console = await startConsole({ settings: { base_url: "http://numbers.example", allowed_hosts: "localhost" } })
  const { cookie, instance } = console
  const { body } = await instance.api.get("/api/private/admin/system/health", undefined, { cookie, host: "localhost" })
  const { checks } = body as { checks: { name: string; status: string; detail: string }[] }
  expect(checks.find(({ name }) => name === "base_url")).toMatchObject({ status: "warn", detail: expect.stringContaining("localhost") })
})

test("detects a changed row of the audit log", async () => {
  await using console = await startConsole()
  const { id } = await console.person()
  for (const name of ["B", "C", "D"]) await console.send("PATCH", `/users/${id}`, { name })
  expect(await console.get("/audit/verify")).toMatchObject({ status: 200, body: { ok: true, rows: 3 } })
  const { catalog } = console.instance.app.instance
  await catalog.script("update audit_log set target_label = 'somebody else' where id = 2")
  expect(await console.get("/audit/verify")).toMatchObject({ body: { ok: false, first_broken_id: 2 } })
  const { body } = await console.get("/system/health")
  expect((body as { checks: object[] }).checks).toContainEqual(expect.objectContaining({ name: "audit_chain", status: "fail" }))
})

test.each([
  ["the first row", "delete from audit_log where id = 1", 2],
  ["a row in the middle", "delete from audit_log where id = 2", 3],
  ["the last row", "delete from audit_log where id = 4", 4],
  [
    "the last rows, and the highest id with them",
    "delete from audit_log where id > 2; update sqlite_sequence set seq = 2 where name = 'audit_log'",
    3,
  ],
  ["all rows", "delete from audit_log", 1],
  ["all rows and the highest id", "delete from audit_log; delete from sqlite_sequence where name = 'audit_log'", 1],
  ["the anchor", "delete from audit_anchor", 1],
])("detects the removal of %s from the audit log, also after more rows were written", async (_, removal, first_broken_id) => {
  await using console = await startConsole()
  const { id } = await console.person()
  for (const name of ["B", "C", "D", "E"]) await console.send("PATCH", `/users/${id}`, { name })
  expect(await console.get("/audit/verify")).toMatchObject({ body: { ok: true, rows: 4 } })
  await console.instance.app.instance.catalog.script(removal)
  expect(await console.get("/audit/verify")).toMatchObject({ body: { ok: false, first_broken_id } })
  expect((await console.send("PATCH", `/users/${id}`, { name: "F" })).status).toBe(200)
  expect(await console.get("/audit/verify")).toMatchObject({ body: { ok: false } })
})

test("filters the audit log, exports it as lines and audits the export", async () => {
  await using console = await startConsole()
  const [one, two] = [await console.person(), await console.person()]
  await console.send("PATCH", `/users/${one.id}`, { name: "B" })
  await console.send("POST", `/users/${two.id}/disable`)
  const found = async (query: string) =>
    ((await console.get(`/audit${query}`)).body as { data: { action: string; target_id: string }[] }).data.map(({ action }) => action)
  expect(await found("")).toEqual(["admin.user.disable", "admin.user.update"])
  expect(await found("?action=admin.user.*&limit=1")).toEqual(["admin.user.disable"])
  expect(await found(`?target=user:${one.id}`)).toEqual(["admin.user.update"])
  expect(await found(`?actor=${console.adminId}`)).toEqual(["admin.user.disable", "admin.user.update"])
  expect(await found("?organization=1")).toEqual([])
  expect(await found("?outcome=failed")).toEqual([])
  expect(await console.get("/audit?from=2026-11-22&to=2026-11-21")).toMatchObject({ status: 400, body: { code: "invalid_query" } })

  const { headers, body } = await console.get("/audit/export.ndjson?action=admin.user.*")
  expect(headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8")
  expect(headers.get("content-disposition")).toBe('attachment; filename="audit.ndjson"')
  const lines = String(body).trimEnd().split("\n")
  expect(lines.map((line) => JSON.parse(line).action)).toEqual(["admin.user.disable", "admin.user.update"])
  expect(await actionsOf(console)).toEqual(["admin.user.update", "admin.user.disable", "admin.audit.export"])
})

test("filters log lines by level and text", async () => {
  await using console = await startConsole()
  const { log } = console.instance
  console.instance.app.instance.health.enter("storage_low", "a test")
  expect(log.lines.at(-1)).toMatchObject({ message: "health condition raised" })
  const { status, body } = await console.get("/logs?level=warn&q=storage_low")
  expect(status).toBe(200)
  expect(body).toMatchObject({
    data: [{ level: "warn", message: "health condition raised", fields: { code: "storage_low" }, at: "2026-11-21T12:00:00Z" }],
  })
  for (const query of ["level=loud", "since=yesterday", "limit=0", "limit=10001", "x=1"])
    expect(await console.get(`/logs?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test("the support bundle contains no secret, address or email", async () => {
  await using console = await startConsole({
    settings: { smtp_host: "mail.intern.example", smtp_password: "s3cret-pass", trusted_proxies: "10.1.2.0/24" },
  })
  const { instance, cookie, adminId } = console
  const { email } = (await console.get(`/users/${adminId}`)).body as { email: string }
  instance.app.instance.health.enter("storage_low", `seen by ${email} at 198.51.100.77 and 2001:db8::77, token=abcdef`)
  const response = await instance.fetch(new Request("http://localhost/api/private/admin/diagnostics.zip", { headers: { cookie } }))
  expect(response.headers.get("content-type")).toBe("application/zip")
  const files = unzipSync(await response.bytes())
  expect(Object.keys(files)).toEqual(["system.json", "health.json", "settings.json", "warnings.json"])
  const text = Object.values(files)
    .map((bytes) => new TextDecoder().decode(bytes))
    .join("\n")
  for (const secret of ["s3cret-pass", email, "198.51.100.77", "2001:db8::77", "abcdef", "10.1.2.0", instance.dataDir])
    expect(text).not.toContain(secret)
  expect(text).toContain(`seen by user ${adminId} at (address)`)
  expect(text).toContain("0.0.0-test")
  expect(await actionsOf(console)).toEqual(["admin.diagnostics.download"])
})

test("maintenance allows reports and collection but blocks writes", async () => {
  await using console = await startConsole()
  const { instance } = console
  const owner = await console.person({ role: "owner" })
  const rename = (cookie: string) => instance.api.send("PATCH", "/api/private/organizations/1", { name: "Mill" }, undefined, { cookie })
  const until = "2026-11-21T13:00:00Z"
  expect(await console.send("POST", "/maintenance", { enabled: true, message: "Moving house", until })).toMatchObject({
    status: 200,
    body: { enabled: true, message: "Moving house", until },
  })
  const refused = await rename(owner.cookie)
  expect(refused).toMatchObject({ status: 503, body: { code: "maintenance", detail: "Moving house" } })
  expect(refused.headers.get("retry-after")).toBe("3600")
  expect((await instance.api.get("/api/private/organizations/1", undefined, { cookie: owner.cookie })).status).toBe(200)
  expect((await rename(console.cookie)).status).toBe(200)
  // Changes to the own account are blocked as well, but signing out is not.
  const own = (method: string, path: string, body?: object) =>
    instance.api.send(method, `/api/private${path}`, body, undefined, { cookie: owner.cookie })
  expect(await own("PATCH", "/me", { name: "Anna" })).toMatchObject({ status: 503, body: { code: "maintenance" } })
  expect(await own("POST", "/me/totp/start")).toMatchObject({ status: 503, body: { code: "maintenance" } })
  expect(await own("DELETE", "/me")).toMatchObject({ status: 503, body: { code: "maintenance" } })
  const leaving = await console.person({ role: "viewer" })
  expect((await instance.api.send("POST", "/api/private/auth/logout", {}, undefined, { cookie: leaving.cookie })).status).toBe(204)

  const goal = { kind: "event", value: "signup" }
  const write = await instance.api.post("/api/public/v1/sites/1/goals", goal, instance.key)
  expect(write).toMatchObject({ status: 503, body: { code: "unavailable" } })
  expect(write.headers.get("retry-after")).toBe("3600")
  expect((await instance.api.get("/api/public/v1/sites/1/goals", instance.key)).status).toBe(200)
  expect((await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })).status).toBe(202)
  const sent = { events: [{ name: "pageview", url: "https://shop.example/", ip: "198.51.100.9", user_agent: "Mozilla/5.0" }] }
  expect((await instance.api.post("/api/public/v1/sites/1/events", sent, instance.eventsKey)).status).toBe(202)

  // It ends automatically at its time, or manually before.
  instance.clock.advance(3_600_000)
  expect((await rename(owner.cookie)).status).toBe(200)
  expect(await console.get("/maintenance")).toMatchObject({ body: { enabled: false, message: null, until: null } })
  await console.send("POST", "/maintenance", { enabled: true })
  expect((await rename(owner.cookie)).headers.get("retry-after")).toBe("60")
  await console.send("POST", "/maintenance", { enabled: false })
  expect((await rename(owner.cookie)).status).toBe(200)
})

test.each([
  [{}, "/enabled", "required"],
  [{ enabled: "yes" }, "/enabled", "invalid_type"],
  [{ enabled: true, until: "2026-11-21T11:00:00Z" }, "/until", "out_of_range"],
  [{ enabled: true, until: "tomorrow at some time or so" }, "/until", "out_of_range"],
  [{ enabled: true, message: "" }, "/message", "too_short"],
] as const)("rejects maintenance with %j", async (body, pointer, code) => {
  await using console = await startConsole()
  const answer = await console.send("POST", "/maintenance", body)
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } })
})

test("lists queries slower than a second by site and time, without their content", async () => {
  await using console = await startConsole()
  const { app, clock, site } = console.instance
  const caller = { organizationId: 1 }
  const goal = { id: 1, name: "secret", kind: "event", match: "exact", value: "secret" } as const
  const slow = async (ms: number) => {
    const answer = app.engine.lastMatch({ site: { id: site.id }, goal }, caller)
    clock.advance(ms)
    await answer
  }
  const PATH = "/system/slow-questions"
  expect(await console.get(PATH)).toMatchObject({ status: 200, body: { last_hour: 0, data: [] } })
  await slow(999)
  await slow(4_000)
  await slow(1_000)
  const answer = await console.get(PATH)
  const entry = (seconds: number, at: string) => ({
    at,
    kind: "last_match",
    site_id: 1,
    range_days: null,
    waited_ms: 0,
    took_ms: seconds * 1_000,
    ending: "answered",
  })
  expect(answer.body).toEqual({ last_hour: 2, data: [entry(1, "2026-11-21T12:00:05Z"), entry(4, "2026-11-21T12:00:04Z")] })
  expect((await console.get(`${PATH}?sort=took_ms`)).body).toMatchObject({ data: [{ took_ms: 4_000 }, { took_ms: 1_000 }] })
  expect(await console.get(`${PATH}?sort=site`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  clock.advance(3_600_000)
  expect((await console.get(PATH)).body).toMatchObject({ last_hour: 0, data: [{}, {}] })
  const other = await console.person({ role: "owner" })
  expect(await console.get(PATH, other.cookie)).toMatchObject({ status: 403, body: { code: "forbidden" } })
})
