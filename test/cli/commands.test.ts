import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pluginSettings } from "../../config/plugins.ts"
import { KEYS } from "../../config/schema.ts"
import { plugins } from "../../plugins/index.ts"
import { BROWSER, temporaryFolder } from "../kit.ts"
import { createInstance, footfall, serving, startDemo } from "./footfall.ts"

// Each test starts processes, which is slow on a busy machine.
setDefaultTimeout(60_000)

/** Runs a command on a folder and parses its JSON output. */
const runJson = async <Result>(dataDir: string, ...words: string[]): Promise<Result> => {
  const { code, out, err } = await footfall([...words, "--data-dir", dataDir, "--json"])
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${err}`)
  return JSON.parse(out)
}

test("creates, lists and ends sites and keys", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  const made = await runJson<{ id: number; tracking_id: string; snippet: string }>(
    folder.path,
    "site",
    "create",
    "--name",
    "Shop",
    "--hosts",
    "shop.example,*.shop.example",
    "--timezone",
    "Europe/Berlin",
    "--retention-days",
    "400",
    "--revenue-currency",
    "eur",
  )
  expect(made).toMatchObject({
    id: 1,
    hosts: ["shop.example", "*.shop.example"],
    timezone: "Europe/Berlin",
    retention_days: 400,
    revenue_currency: "EUR",
  })
  expect(made.snippet).toBe(`<script defer src="http://localhost:8080/js/script.js" data-site="${made.tracking_id}"></script>`)
  expect(await runJson<object[]>(folder.path, "site", "list")).toMatchObject([{ id: 1, name: "Shop" }])

  const key = await runJson<{ id: number; key: string }>(
    folder.path,
    "key",
    "create",
    "--name",
    "Numbers",
    "--scopes",
    "stats:read,events:write",
    "--sites",
    "1",
    "--expires",
    "30d",
  )
  expect(key.key).toMatch(/^ff_/)
  expect(key).toMatchObject({ id: 1, scopes: ["stats:read", "events:write"], site_ids: [1] })
  const [listed] = await runJson<object[]>(folder.path, "key", "list")
  expect(listed).toMatchObject({ id: 1, name: "Numbers", revoked_at: null })
  expect(JSON.stringify(listed)).not.toContain(key.key)
  await runJson(folder.path, "key", "revoke", "1")
  expect(await runJson<object[]>(folder.path, "key", "list")).toMatchObject([{ revoked_at: expect.any(Number) }])

  const { out } = await footfall(["site", "list", "--data-dir", folder.path])
  expect(out.split("\n")[0]).toMatch(/^id {2}name {2}hosts/)
  await runJson(folder.path, "site", "delete", "1")
  expect(await runJson<object[]>(folder.path, "site", "list")).toEqual([])
  expect(await footfall(["site", "show", "1", "--data-dir", folder.path])).toMatchObject({
    code: 64,
    err: "footfall: This site doesn't exist or you don't have access to it.\n",
  })
})

test("takes the host from a pasted URL, and prints a snippet that counts on a local host", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  const pasted = ["--name", "Home", "--hosts", "http://localhost:3000/start,https://shop.test"]
  const made = await runJson<{ tracking_id: string; snippet: string }>(folder.path, "site", "create", ...pasted)
  expect(made).toMatchObject({ id: 1, hosts: ["localhost", "shop.test"] })
  expect(made.snippet).toBe(`<script defer src="http://localhost:8080/js/script.js" data-site="${made.tracking_id}" data-local></script>`)
  const moved = await runJson<object>(folder.path, "site", "set", "1", "--hosts", "https://shop.example/about")
  expect(moved).toMatchObject({ hosts: ["shop.example"] })
})

test("a setting changed while serving takes effect immediately", async () => {
  using folder = temporaryFolder()
  await using server = await serving(folder.path)
  const { tracking_id } = await runJson<{ tracking_id: string }>(folder.path, "site", "create", "--name", "Shop", "--hosts", "shop.example")
  const { key } = await runJson<{ key: string }>(folder.path, "key", "create", "--name", "Numbers", "--scopes", "stats:read")
  const view = (path: string, agent: string) =>
    fetch(`${server.address}/api/event`, {
      method: "POST",
      headers: { "user-agent": agent },
      body: JSON.stringify({ n: "pageview", u: `https://shop.example${path}`, d: tracking_id }),
    })
  const counted = async () => {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${server.address}/api/public/v1/sites/1/stats/summary?metrics=pageviews`, { headers })
    // As documented in the public API.
    return ((await answer.json()) as { metrics: { pageviews: number } }).metrics.pageviews
  }
  await view("/", "Googlebot/2.1 (+http://www.google.com/bot.html)")
  await view("/admin/users", BROWSER)
  expect(await counted()).toBe(1)
  const set = await runJson<object>(folder.path, "site", "set", "1", "--drop-bots", "off", "--shields", "page=/admin/*,country=fr")
  expect(set).toMatchObject({ settings: { drop_bots: false, drop_spam: true, shields: [{ value: "/admin/*" }, { value: "FR" }] } })
  await view("/", "Googlebot/2.1 (+http://www.google.com/bot.html)")
  await view("/admin/users", BROWSER)
  expect(await counted()).toBe(2)
})

test("site set changes several fields at once and reports all faults", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  await runJson(folder.path, "site", "create", "--name", "Shop", "--hosts", "shop.example", "--retention-days", "30")
  const words = ["--name", "Boutique", "--retention-days", "forever", "--identity-mode", "weekly", "--allowed-query-params", "q, page"]
  const ids = ["--compat-plausible", "shop.example", "--compat-goatcounter", "shop", "--bounce-engaged-seconds=10"]
  expect(await runJson<object>(folder.path, "site", "set", "1", ...words, ...ids)).toMatchObject({
    name: "Boutique",
    hosts: ["shop.example"],
    retention_days: null,
    settings: {
      identity_mode: "weekly",
      allowed_query_params: ["q", "page"],
      bounce_engaged_seconds: 10,
      compat_ids: { plausible: ["shop.example"], umami: [], goatcounter: ["shop"] },
    },
  })
  const wrong = (...flags: string[]) => footfall(["site", "set", "1", ...flags, "--data-dir", folder.path])
  expect(await wrong()).toMatchObject({ code: 64, err: "footfall: Add at least one setting to change, such as --retention-days 400\n" })
  expect(await wrong("--drop-bots", "maybe")).toMatchObject({ code: 64, err: "footfall: --drop-bots must be on or off\n" })
  expect(await wrong("--shields", "city=Bonn")).toMatchObject({ code: 64, err: expect.stringContaining("KIND=VALUE") })
  expect(await wrong("--allowed-query-params", "token")).toMatchObject({ code: 64, err: expect.stringContaining("contains secrets") })
})

test("creates the first user once, with a password from standard input", async () => {
  using folder = temporaryFolder()
  const words = [
    "setup",
    "--email",
    "ada@example.org",
    "--name",
    "Ada",
    "--organization",
    "Shop",
    "--password-stdin",
    "--data-dir",
    folder.path,
  ]
  expect(await footfall(words, { input: "short\n" })).toMatchObject({ code: 64, err: expect.stringContaining("password: ") })
  expect(await footfall(words, { input: "" })).toMatchObject({ code: 64 })
  expect(await footfall(words, { input: "correct horse battery\n" })).toMatchObject({
    code: 0,
    out: "ada@example.org is an instance admin and the owner of Shop.\n",
  })
  expect(await footfall(words, { input: "correct horse battery\n" })).toMatchObject({
    code: 64,
    err: "footfall: This instance is already set up: the first user exists.\n",
  })
  expect(await runJson<object[]>(folder.path, "user", "list")).toMatchObject([{ email: "ada@example.org", is_instance_admin: true }])
  expect(
    await footfall(["user", "passwd", "ADA@example.org", "--password-stdin", "--data-dir", folder.path], {
      input: "another long password",
    }),
  ).toMatchObject({ code: 0 })
})

test("creates, lists, verifies and restores a backup", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  await runJson(folder.path, "site", "create", "--name", "Shop", "--hosts", "shop.example")
  const { id } = await runJson<{ id: string }>(folder.path, "backup", "create")
  await runJson(folder.path, "site", "create", "--name", "Later", "--hosts", "later.example")
  expect(await runJson<object[]>(folder.path, "backup", "list")).toMatchObject([{ id, kind: "manual" }])
  expect(await runJson(folder.path, "backup", "verify", id, "--full")).toMatchObject({ id, failed_at: null })
  expect(await runJson(folder.path, "backup", "restore", id)).toMatchObject({
    restored: id,
    safety_backup: expect.stringMatching(/-restore$/),
  })
  expect(await runJson<object[]>(folder.path, "site", "list")).toMatchObject([{ name: "Shop" }])
  expect(readdirSync(folder.path).filter((name) => name.startsWith(".restore") || name.startsWith("replaced"))).toEqual([])
})

test("backup list includes a backup with a damaged manifest", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  const [broken, good] = [
    await runJson<{ id: string }>(folder.path, "backup", "create"),
    await runJson<{ id: string }>(folder.path, "backup", "create", "--label", "Good"),
  ]
  writeFileSync(join(folder.path, "backups", broken.id, "manifest.json"), "")
  const damage = "manifest.json is damaged, so the backup cannot be checked or restored."
  expect(await runJson<object[]>(folder.path, "backup", "list")).toMatchObject([{ id: broken.id, damage }, { id: good.id }])
  const { code, out } = await footfall(["backup", "list", "--data-dir", folder.path])
  expect(code).toBe(0)
  expect(out).toMatch(new RegExp(`${broken.id} .* damaged `))
  expect(out).toContain(`${broken.id}: ${damage}`)
  expect(await footfall(["backup", "restore", broken.id, "--data-dir", folder.path])).toMatchObject({ code: 65 })
})

test("creates a backup of a serving instance within its process", async () => {
  using folder = temporaryFolder()
  await using server = await serving(folder.path)
  const { id } = await runJson<{ id: string }>(folder.path, "backup", "create")
  expect(await runJson<object[]>(folder.path, "backup", "list")).toMatchObject([{ id }])
  expect(await runJson<object[]>(folder.path, "doctor")).toBeArray()
  expect(await server.end("SIGTERM")).toBe(0)
})

test("doctor runs all checks and fails if one of them fails", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  const checks = await runJson<{ name: string; status: string }[]>(folder.path, "doctor")
  expect(checks.filter(({ status }) => status === "fail")).toEqual([])
  expect(checks.map(({ name }) => name)).toContainValues([
    "catalog_write",
    "events_write",
    "catalog_integrity",
    "events_integrity",
    "disk_free",
    "secret_key",
    "backup_age",
  ])
})

test("doctor reports values that no key can decrypt, and the remedy", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  await runJson(folder.path, "site", "create", "--name", "Shop", "--hosts", "shop.example")
  const { secret_key } = await runJson<{ secret_key: string }>(folder.path, "secrets", "export-key")
  const of = (bytes: number) => Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index + bytes)).toString("base64")
  const look = async (env: Record<string, string> = {}) => {
    const { code, out, err } = await footfall(["doctor", "--data-dir", folder.path, "--json"], { env })
    const checks: { name: string; status: string; detail: string; fix: string }[] = JSON.parse(out)
    return { code, err, check: checks.find(({ name }) => name === "sealed_values") }
  }
  expect(await look()).toMatchObject({ code: 0, check: { status: "ok", detail: "All 2 can be decrypted.", fix: "" } })
  expect(await look({ FOOTFALL_SECRET_KEY: of(100) })).toEqual({
    code: 1,
    err: expect.stringContaining("checks failed: sealed_values"),
    check: {
      name: "sealed_values",
      status: "fail",
      detail: "Neither the secret key nor a previous key decrypts 2 site keys.",
      fix: expect.stringMatching(
        /^Start with the key that encrypted them: FOOTFALL_SECRET_KEY.*If the key is lost.*footfall user reset-mfa/,
      ),
    },
  })
  // The previous key can still decrypt them.
  const env = { FOOTFALL_SECRET_KEY: of(100), FOOTFALL_SECRET_KEY_PREVIOUS: secret_key }
  expect(await look(env)).toMatchObject({ code: 0, check: { status: "ok" } })
})

test("migrate reports that there is nothing to do", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  expect(await runJson(folder.path, "migrate")).toEqual({ migrations: [], backup: null })
  expect(await footfall(["migrate", "--no-backup", "--data-dir", folder.path])).toMatchObject({
    code: 0,
    out: "Nothing to do: both stores are up to date.\n",
  })
})

test("config print shows the source of each value and no secret", async () => {
  const secret = Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index + 100)).toString("base64")
  const { out } = await footfall(["config", "print", "--port", "9", "--json"], {
    env: { FOOTFALL_HOST: "::1", FOOTFALL_SECRET_KEY: secret },
  })
  const printed: { key: string; value: unknown; source: string }[] = JSON.parse(out)
  expect(printed.map(({ key }) => key)).toEqual([...KEYS, ...pluginSettings(plugins).map(({ key }) => key)])
  expect(printed).toContainEqual({ key: "port", value: 9, source: "flag --port" })
  expect(printed).toContainEqual({ key: "host", value: "::1", source: "environment FOOTFALL_HOST" })
  expect(printed).toContainEqual({ key: "secret_key", value: "********", source: "environment FOOTFALL_SECRET_KEY" })
  expect(out).not.toContain(secret)
})

test.each([
  [["--help"], "usage: footfall <command> [flags]"],
  [["help", "site"], "site create"],
  [["backup"], "backup restore"],
  [["key", "create", "--help"], "usage: footfall key create --name NAME --scopes SCOPE,…"],
  [["version"], "0.1.0"],
  [["version", "--licenses"], "Copyright 2022 saltyAom"],
])("%j prints its help text", async (words, text) => {
  const { code, out } = await footfall(words)
  expect(out).toContain(text)
  expect(code).toBe(0)
})

test("help lists all settings only for commands that serve", async () => {
  const [serve, create] = await Promise.all([footfall(["serve", "--help"]), footfall(["key", "create", "--help"])])
  expect(serve.out).toContain("--api-rate-limit")
  expect(create.out).toContain("--data-dir PATH")
  expect(create.out).not.toContain("--api-rate-limit")
})

test("demo serves generated traffic and leaves nothing behind", async () => {
  await using server = await startDemo("--days", "10", "--events", "2000", "--seed", "3")
  const { data_dir, key, site_id } = server.printed
  expect(server.printed).toMatchObject({ site_id: 1, events: 2000 })
  const url = `${server.address}/api/public/v1/sites/${site_id}/stats/summary?period=28d`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  const { metrics } = (await answer.json()) as { metrics: { pageviews: number; visitors: number } }
  expect(metrics.pageviews).toBeWithin(600, 950)
  expect(metrics.visitors).toBeWithin(140, metrics.pageviews)
  const signedIn = await fetch(`${server.address}/api/private/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(server.printed.user),
  })
  const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!
  const me = await (await fetch(`${server.address}/api/private/me`, { headers: { cookie } })).json()
  expect(me).toMatchObject({ sites: ["Shop", "Magazine", "Wholesale"].map((name, index) => ({ id: index + 1, name, role: "owner" })) })
  const list = async (path: string) =>
    ((await (await fetch(`${server.address}/api/private/sites/1/${path}`, { headers: { cookie } })).json()) as { data: object[] }).data
  expect(await list("goals")).toHaveLength(3)
  expect(await list("funnels")).toMatchObject([{ name: "From product to order" }])
  expect(await list("segments")).toMatchObject([{ name: "From search engines", scope: "site" }])
  expect(await list("annotations")).toHaveLength(3)
  expect(await list("shares")).toMatchObject([{ name: "Shop in public" }])
  const members = await fetch(`${server.address}/api/private/organizations/1/members`, { headers: { cookie } })
  expect(((await members.json()) as { data: { role: string }[] }).data.map(({ role }) => role).sort()).toEqual([
    "admin",
    "editor",
    "owner",
    "viewer",
  ])
  if (plugins.some(({ id }) => id === "admin")) {
    // The console shows real durations: while traffic is generated, the clock of the instance stands still and jumps.
    const ingestion = await fetch(`${server.address}/api/private/admin/ingestion`, { headers: { cookie } })
    const { commit } = (await ingestion.json()) as { commit: { p50_ms: number; p99_ms: number } }
    expect(commit.p50_ms).toBeGreaterThan(0)
    expect(commit.p99_ms).toBeWithin(commit.p50_ms, 30_000)
  }
  if (plugins.some(({ id }) => id === "links")) expect((await list("links")).length).toBe(5)
  if (plugins.some(({ id }) => id === "cohorts")) expect((await list("cohorts")).length).toBe(2)
  if (plugins.some(({ id }) => id === "pixels")) expect((await list("pixels")).length).toBe(4)
  if (plugins.some(({ id }) => id === "integrations")) {
    expect(await list("alerts")).toMatchObject([{ type: "drop" }, { type: "spike" }])
    // A demo sends nothing to anyone.
    expect(await list("webhooks")).toMatchObject([{ enabled: false }])
    expect(await list("reports")).toMatchObject([{ kind: "weekly", channel: "chat", enabled: false }])
    expect(await list("integrations")).toMatchObject([
      { kind: "search-console", status: "ok", next_run_at: null },
      { kind: "mattermost", config: { events: [] } },
    ])
    expect(await list("integrations/hooks")).toMatchObject([{ kind: "stripe", last_event: null }])
    const search = await fetch(`${server.address}/api/private/sites/1/search-console/report?period=28d`, { headers: { cookie } })
    const { totals, withheld, rows } = (await search.json()) as Record<"totals" | "withheld", { clicks: number }> & { rows: object[] }
    expect(rows.length).toBeGreaterThan(20)
    expect(withheld.clicks).toBeWithin(1, totals.clicks)
  }
  if (plugins.some(({ id }) => id === "dashboards")) {
    const [board] = (await list("dashboards")).filter((one) => "name" in one && one.name === "Shop at a glance") as { id: number }[]
    expect(await list(`dashboards/${board!.id}/shares`)).toMatchObject([{ name: "Shop at a glance" }])
  }
  if (plugins.some(({ id }) => id === "revenue")) {
    const revenue = await fetch(`${server.address}/api/private/sites/1/revenue/report?period=28d`, { headers: { cookie } })
    expect(revenue.status).toBe(200)
  }
  if (plugins.some(({ id }) => id === "imports")) {
    const isCompleted = (one: object) => "state" in one && one.state === "completed"
    const latest = performance.now() + 30_000
    while (!(await list("imports")).some(isCompleted) && performance.now() < latest) await Bun.sleep(100)
    expect(await list("imports")).toMatchObject([{ label: "Plausible, before the move", source: "plausible", state: "completed" }])
    const whole = await fetch(url.replace("28d", "12mo"), { headers: { authorization: `Bearer ${key}` } })
    const { imports } = (await whole.json()) as { imports: object }
    expect(imports).toMatchObject({ included: true })
  }
  expect(existsSync(String(data_dir))).toBe(true)
  expect(await server.end("SIGINT")).toBe(0)
  expect(existsSync(String(data_dir))).toBe(false)
})
