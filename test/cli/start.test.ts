import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../scripts/instance.ts"
import { temporaryFolder } from "../kit.ts"
import { sample } from "../size.ts"
import { createInstance, footfall, printedBy, serving } from "./footfall.ts"

// Each test starts processes, which is slow on a busy machine.
setDefaultTimeout(60_000)

const isRoot = process.getuid?.() === 0
const serve = (dataDir: string, flags: readonly string[] = [], env: Record<string, string> = {}) =>
  footfall(["serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0", ...flags], { env })

/** A data folder with a site, cleanly stopped, which each test copies. */
let template: string
beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), "footfall-template-"))
  await createInstance(template)
  expect(await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", template])).toMatchObject({ code: 0 })
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

const copyOfTemplate = (path: string) => {
  cpSync(template, path, { recursive: true })
  chmodSync(path, 0o700)
}

/** Returns the content of the stores, which a failed start must not change. */
const stores = (dataDir: string) =>
  ["catalog.db", "events.db"].map((name) =>
    statSync(join(dataDir, name), { throwIfNoEntry: false }) ? Bun.hash(readFileSync(join(dataDir, name))) : undefined,
  )

function change(path: string, sql: string): void {
  const db = new Database(path)
  db.run(sql)
  db.run("pragma wal_checkpoint(truncate)")
  db.close()
}

type Spoil = (dataDir: string) => void
const later = "insert into migrations (owner, name, version, applied_at) values ('core', '9999_later', '9.0.0', 1)"

test.each<[string, Spoil, number, RegExp]>([
  ["a folder that others can access", (dir) => chmodSync(dir, 0o755), 77, /Other users can access .*\. Run chmod 0700/],
  [
    "a key file that others can read",
    (dir) => chmodSync(join(dir, "secret.key"), 0o640),
    77,
    /Other users can access .*secret\.key\. Run chmod 0600/,
  ],
  [
    "a key file without a key",
    (dir) => writeFileSync(join(dir, "secret.key"), "short"),
    65,
    /secret\.key does not contain a key of 32 bytes/,
  ],
  [
    "a text file as the event store",
    (dir) => writeFileSync(join(dir, "events.db"), "no database ".repeat(1_000)),
    65,
    /Restore a backup: footfall backup list/,
  ],
  [
    "a text file as the catalog",
    (dir) => writeFileSync(join(dir, "catalog.db"), "no database ".repeat(1_000)),
    65,
    /Restore a backup: footfall backup list/,
  ],
  [
    "an event store of another program",
    (dir) => change(join(dir, "events.db"), "pragma application_id = 7"),
    65,
    /events\.db belongs to another program/,
  ],
  [
    "a catalog of another program",
    (dir) => change(join(dir, "catalog.db"), "pragma application_id = 7"),
    65,
    /catalog\.db belongs to another program/,
  ],
  ["a newer catalog", (dir) => change(join(dir, "catalog.db"), later), 78, /Install Footfall 9\.0\.0/],
  ["a newer event store", (dir) => change(join(dir, "events.db"), later), 78, /Install Footfall 9\.0\.0/],
])("%s prevents the start with one line and its exit code", async (_, spoil, code, line) => {
  using folder = temporaryFolder()
  copyOfTemplate(folder.path)
  spoil(folder.path)
  const before = stores(folder.path)
  const ended = await serve(folder.path)
  expect(ended.err).toMatch(line)
  expect(ended.err.trim().split("\n")).toHaveLength(1)
  expect(ended.code).toBe(code)
  expect(stores(folder.path)).toEqual(before)
})

test("restricts an empty folder that others can access, and logs that", async () => {
  using folder = temporaryFolder()
  chmodSync(folder.path, 0o755)
  const words = ["setup", "--email", "ada@example.org", "--name", "Ada", "--organization", "Acme", "--password-stdin"]
  const ended = await footfall([...words, "--data-dir", folder.path], { input: "correct horse battery staple" })
  expect(ended).toMatchObject({
    code: 0,
    err: expect.stringContaining("was empty and accessible to other users: its mode is now 0700"),
  })
  expect(statSync(folder.path).mode & 0o777).toBe(0o700)
})

test.skipIf(!isRoot)("a folder of another user prevents the start", async () => {
  using folder = temporaryFolder()
  copyOfTemplate(folder.path)
  chownSync(folder.path, 4_711, 4_711)
  expect(await serve(folder.path)).toMatchObject({ code: 77, err: expect.stringContaining("belongs to user 4711") })
})

test.each<[string, string[], Record<string, string>, number, RegExp]>([
  ["an unknown command", ["sevre"], {}, 64, /unknown command "sevre"/],
  ["an unknown subcommand", ["site", "mkae"], {}, 64, /unknown command "site mkae"/],
  ["an unknown flag", ["serve", "--prot", "1"], {}, 64, /unknown flag --prot\nusage: footfall serve/],
  ["a flag without its value", ["serve", "--port"], {}, 64, /--port needs a value/],
  ["a repeated flag", ["serve", "--port", "1", "--port", "2"], {}, 64, /--port is given twice/],
  ["a secret on the command line", ["serve", "--secret-key", "x"], {}, 64, /unknown flag --secret-key/],
  ["a missing flag", ["site", "create", "--name", "x"], {}, 64, /--hosts is missing/],
  ["a missing argument", ["site", "show"], {}, 64, /<id> is missing/],
  ["too many arguments", ["site", "list", "1"], {}, 64, /unexpected "1"/],
  ["an unknown setting in the environment", ["serve"], { FOOTFALL_PROT: "1" }, 78, /prot \(environment FOOTFALL_PROT\): unknown setting/],
  [
    "an invalid value on the command line",
    ["serve", "--port", "http"],
    {},
    78,
    /port \(flag --port\): must be a whole number from 0 to 65535/,
  ],
  ["an invalid value in the environment", ["serve"], { FOOTFALL_PORT: "70000" }, 78, /port \(environment FOOTFALL_PORT\)/],
  [
    "a sample secret",
    ["serve"],
    { FOOTFALL_SECRET_KEY: "00".repeat(32) },
    78,
    /secret_key \(environment FOOTFALL_SECRET_KEY\): must be 32 random bytes/,
  ],
  [
    "a missing geolocation database",
    ["serve", "--geo-db", "/nowhere.mmdb"],
    {},
    78,
    /geo_db: \/nowhere\.mmdb cannot be read as an mmdb file/,
  ],
  ["a missing settings file", ["serve", "--config", "/nowhere.toml"], {}, 78, /nowhere\.toml: does not exist/],
  ["a folder below a file", ["serve", "--data-dir", "/etc/passwd/data"], {}, 74, /has a parent that is not a folder/],
])("%s ends with its exit code and one line", async (_, words, env, code, line) => {
  using folder = temporaryFolder()
  const where = words.includes("--data-dir") ? [] : ["--data-dir", folder.path]
  const ended = await footfall([...words, ...where], { env })
  expect(ended.err).toMatch(line)
  expect(ended.err).not.toContain("    at ")
  expect(ended).toMatchObject({ code, out: "" })
  for (const secret of Object.values(env).filter((value) => value.length > 20)) expect(ended.err).not.toContain(secret)
})

const COMMANDS_ON_AN_INSTANCE = [
  "site create --name Shop --hosts shop.example",
  "site list",
  "key create --name Numbers --scopes stats:read",
  "user list",
  "organization list",
  "shield list",
  "export --site 1 --out /nowhere/site.zip",
  "backup create",
  "backup restore 20260101T000000Z-daily",
  "retention run",
  "secrets export-key",
  "migrate",
  "migrate status",
  "health",
  "doctor",
]

test("every command except serve, setup and demo rejects a folder without an instance, names it and creates nothing", async () => {
  using folder = temporaryFolder()
  const missing = join(folder.path, "missing")
  const refusal = (dataDir: string) =>
    `footfall: There is no Footfall instance in ${dataDir}. Set the data folder of your instance with --data-dir, or start a new instance with footfall serve\n`
  for (const command of sample(COMMANDS_ON_AN_INSTANCE)) {
    const { code, out, err } = await footfall([...command.split(" "), "--data-dir", folder.path])
    expect({ command, code, out, err }).toEqual({ command, code: 74, out: "", err: refusal(folder.path) })
  }
  expect(await footfall(["site", "list", "--data-dir", missing])).toEqual({ code: 74, out: "", err: refusal(missing) })
  expect(readdirSync(folder.path)).toEqual([])
})

test("restores a backup by its path into an empty folder, and reports a backup that does not exist", async () => {
  using folder = temporaryFolder()
  const made = await footfall(["backup", "create", "--data-dir", template, "--json"])
  const { id } = JSON.parse(made.out)
  const restored = await footfall(["backup", "restore", join(template, "backups", id), "--data-dir", folder.path])
  expect(restored).toMatchObject({ code: 0, err: "" })
  expect(JSON.parse((await footfall(["site", "list", "--data-dir", folder.path, "--json"])).out)).toMatchObject([{ id: 1, name: "Shop" }])
  expect(await footfall(["backup", "verify", "20260101T000000Z-daily", "--data-dir", folder.path])).toMatchObject({
    code: 65,
    err: expect.stringContaining("There is no backup 20260101T000000Z-daily"),
  })
})

test("a second instance reports which process holds the folder; a command runs within the first", async () => {
  using folder = temporaryFolder()
  await using first = await serving(folder.path)
  expect(await serve(folder.path)).toMatchObject({ code: 73, err: expect.stringMatching(new RegExp(`pid ${first.pid}, started 20`)) })
  for (const words of [["migrate"], ["backup", "restore", "any"]])
    expect(await footfall([...words, "--data-dir", folder.path])).toMatchObject({ code: 73 })
  const made = await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", folder.path, "--json"])
  expect(JSON.parse(made.out)).toMatchObject({
    id: 1,
    name: "Shop",
    snippet: expect.stringContaining(`src="${first.address}/js/script.js"`),
  })
  expect(await footfall(["site", "create", "--name", "Shop", "--hosts", "not a host", "--data-dir", folder.path])).toMatchObject({
    code: 64,
    err: expect.stringContaining("hosts/0"),
  })
})

test("a port in use prevents the start and releases the folder", async () => {
  using folder = temporaryFolder()
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") })
  const ended = await footfall(["serve", "--data-dir", folder.path, "--host", "127.0.0.1", "--port", String(other.port)])
  expect(ended).toMatchObject({ code: 69, err: `footfall: 127.0.0.1:${other.port} is in use: free it, or use another --port\n` })
  await other.stop(true)
  expect(await footfall(["site", "list", "--data-dir", folder.path])).toMatchObject({ code: 0 })
})

test("two instances never share a port", async () => {
  using folder = temporaryFolder()
  using second = temporaryFolder()
  await using first = await serving(folder.path)
  const { port } = new URL(first.address)
  expect(await footfall(["serve", "--data-dir", second.path, "--host", "127.0.0.1", "--port", port])).toMatchObject({ code: 69 })
})

test("a new instance prints the set-up link first, then where it listens and how to begin, then its log", async () => {
  using folder = temporaryFolder()
  const [lead, link, , address, ...rest] = (await printedBy(join(folder.path, "data"), '"listening"')).split("\n")
  expect(lead).toMatch(/^Finish setup in your browser \(link valid until \d\d:\d\d UTC\):$/)
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{20,}$/)
  expect(address).toBe(`Footfall listens at ${new URL(link!).origin}`)
  const steps = rest.findIndex((line) => line.startsWith("Or without a browser"))
  const log = rest.findIndex((line) => line.includes('"msg":"listening"'))
  expect(steps).toBeGreaterThan(-1)
  expect(log).toBeGreaterThan(steps)
})

test.each([
  ["serve", []],
  ["demo", ["--events", "100", "--days", "2"]],
])("%s --json prints nothing but its result on standard output, and the log on standard error", async (command, flags) => {
  using folder = temporaryFolder()
  const words = [command, "--data-dir", join(folder.path, "data"), "--host", "127.0.0.1", "--port", "0", "--json", ...flags]
  const child = Bun.spawn([...PROGRAM, ...words], { stdout: "pipe", stderr: "pipe", cwd: "/" })
  const log = new Response(child.stderr).text()
  let printed = ""
  for await (const piece of child.stdout) {
    printed += Buffer.from(piece).toString()
    if (printed.endsWith("}\n")) child.kill("SIGTERM")
  }
  const messages = (await log)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).msg)
  expect({ code: await child.exited, ...JSON.parse(printed) }).toMatchObject({
    code: 0,
    address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  })
  expect(messages).toEqual(expect.arrayContaining(["listening", "stopped"]))
})

test("an instance that is set up prints no link", async () => {
  using folder = temporaryFolder()
  copyOfTemplate(folder.path)
  const setup = ["setup", "--email", "ada@example.com", "--name", "Ada", "--organization", "Acme", "--password-stdin"]
  expect(await footfall([...setup, "--data-dir", folder.path], { input: "correct horse battery staple" })).toMatchObject({ code: 0 })
  const printed = await printedBy(folder.path, '"listening"')
  expect(printed).toStartWith("Footfall listens at http://127.0.0.1:")
  expect(printed).not.toContain("/setup")
})

test("a lost key does not prevent the start", async () => {
  using folder = temporaryFolder()
  copyOfTemplate(folder.path)
  rmSync(join(folder.path, "secret.key"))
  await using again = await serving(folder.path)
  expect((await fetch(`${again.address}/health`)).status).toBe(200)
})

const canMount = isRoot && process.platform === "linux" && Bun.which("mount") !== null
const mount = (path: string, options: string) => Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path]).success
const unmount = (path: string) => Bun.spawnSync(["umount", "-l", path])

test.skipIf(!canMount)("a full disk at the start ends with its exit code", async () => {
  using folder = temporaryFolder()
  if (!mount(folder.path, "size=64k,mode=700")) throw new Error("tmpfs cannot be mounted")
  try {
    try {
      writeFileSync(join(folder.path, "ballast"), new Uint8Array(1 << 20))
    } catch {}
    expect(await serve(folder.path)).toMatchObject({ code: 74, err: expect.stringContaining("is on a full disk") })
    expect(readdirSync(folder.path)).toEqual(["ballast"])
  } finally {
    unmount(folder.path)
  }
})

test.skipIf(!canMount)("a read-only folder ends with its exit code", async () => {
  using folder = temporaryFolder()
  if (!mount(folder.path, "size=1m,mode=700,ro")) throw new Error("tmpfs cannot be mounted")
  try {
    expect(await serve(folder.path)).toMatchObject({ code: 74, err: expect.stringContaining("is read-only") })
  } finally {
    unmount(folder.path)
  }
})
