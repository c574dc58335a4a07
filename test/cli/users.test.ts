import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { userInfo } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../scripts/instance.ts"
import { temporaryFolder } from "../kit.ts"
import { footfall } from "./footfall.ts"

// Each test starts processes, which is slow on a busy machine.
setDefaultTimeout(60_000)

const PASSWORD = "a fine long password"

/** Starts a server, waits for the text in its output and stops it cleanly. Returns the output. */
async function printedBy(dataDir: string, until: RegExp, { env = {}, flags = [] as string[] } = {}): Promise<string> {
  const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("FOOTFALL_")))
  const words = [...PROGRAM, "serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0", "--log-level", "warn", ...flags]
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "pipe", env: { ...plain, ...env }, cwd: "/" })
  let text = ""
  for await (const piece of child.stdout) {
    text += Buffer.from(piece).toString()
    if (until.test(text)) break
  }
  child.kill("SIGTERM")
  await child.exited
  return text
}

const setup = (dataDir: string) =>
  footfall(["setup", "--email", "ada@example.org", "--name", "Ada", "--organization", "Acme", "--password-stdin", "--data-dir", dataDir], {
    input: `${PASSWORD}\n`,
  })

const TOKEN = /^[A-Za-z0-9_-]{43}$/

test("a new server prints one link that contains the token of the set-up in its fragment, with a new token at each start", async () => {
  using folder = temporaryFolder()
  const first = /^http:\/\/127\.0\.0\.1:\d+\/setup#(\S+)$/m.exec(await printedBy(folder.path, /\/setup#\S+\n/))?.[1]
  expect(first).toMatch(TOKEN)
  const again = await printedBy(folder.path, /"expires_at"[^}]*\}\s*\}\n/, { flags: ["--json", "--base-url", "https://stats.example.org"] })
  const { setup: printed } = JSON.parse(again)
  expect(printed).toMatchObject({ url: "https://stats.example.org/setup", token: expect.stringMatching(TOKEN) })
  expect(printed.token).not.toBe(first)
  // After the set-up, neither is printed.
  expect((await setup(folder.path)).code).toBe(0)
  expect(await printedBy(folder.path, /Footfall listens/)).not.toContain("/setup")
})

test("prints the text shown in the README: the link for the set-up, then the commands", async () => {
  using folder = temporaryFolder()
  const printed = await printedBy(folder.path, /stats\/summary.*\n/)
  const same = printed
    .replaceAll(`--data-dir ${folder.path}`, "--data-dir /srv/footfall/data")
    .replaceAll(/http:\/\/[\w.]+:\d+/g, "http://localhost:8080")
    .replace(/#[A-Za-z0-9_-]{43}$/m, "#mB0x…the token of this start…Q4")
    .replace(/until \d\d:\d\d UTC/, "until 12:30 UTC")
  const readme = await Bun.file(join(import.meta.dir, "../../README.md")).text()
  expect(/```text\n(Finish setup[^`]*)```/.exec(readme)?.[1]).toBe(`${same.trim()}\n`)
  // After the set-up, only the commands are printed.
  expect((await setup(folder.path)).code).toBe(0)
  const later = await printedBy(folder.path, /stats\/summary.*\n/)
  expect(later).toContain("\nGetting started, in a second terminal")
  expect(later).not.toContain("footfall setup")
})

test("creates the first user from the environment, only at the first start", async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, "password")
  await Bun.write(file, `${PASSWORD}\nsecond line`)
  const env = { FOOTFALL_ADMIN_EMAIL: "Ada@example.org", FOOTFALL_ADMIN_PASSWORD_FILE: file }
  expect(await printedBy(folder.path, /Footfall listens/, { env })).not.toContain("/setup\n")
  const { out } = await footfall(["user", "list", "--json", "--data-dir", folder.path])
  expect(JSON.parse(out)).toMatchObject([{ id: 1, email: "Ada@example.org", name: "Ada", is_instance_admin: true }])
  const later = await printedBy(folder.path, /Footfall listens/, { env: { ...env, FOOTFALL_ADMIN_EMAIL: "eve@example.org" } })
  expect(later).toContain("admin_email and admin_password are ignored")
  expect(JSON.parse((await footfall(["user", "list", "--json", "--data-dir", folder.path])).out)).toHaveLength(1)
})

test.each<[string, Record<string, string>, string]>([
  ["only an email address", { FOOTFALL_ADMIN_EMAIL: "ada@example.org" }, "admin_email and admin_password create the first user together"],
  [
    "a short password",
    { FOOTFALL_ADMIN_EMAIL: "ada@example.org", FOOTFALL_ADMIN_PASSWORD: "short" },
    "admin_password: password must have at least 12 characters",
  ],
  [
    "an invalid email address",
    { FOOTFALL_ADMIN_EMAIL: "ada", FOOTFALL_ADMIN_PASSWORD: PASSWORD },
    "admin_email: email must be an email address",
  ],
  [
    "a missing file",
    { FOOTFALL_ADMIN_EMAIL: "ada@example.org", FOOTFALL_ADMIN_PASSWORD_FILE: "/nowhere" },
    "FOOTFALL_ADMIN_PASSWORD_FILE: cannot read the file",
  ],
  ["a file for a setting that is not a secret", { FOOTFALL_ADMIN_EMAIL_FILE: "/nowhere" }, "unknown setting"],
])("a server does not start with %s in its environment", async (_, env, line) => {
  using folder = temporaryFolder()
  const { code, err } = await footfall(["serve", "--data-dir", folder.path, "--port", "0"], { env })
  expect(code).toBe(78)
  expect(err).toContain(line)
  expect(err.trim().split("\n")).toHaveLength(1)
  expect(err).not.toContain(PASSWORD)
})

const folder = temporaryFolder()
beforeAll(async () => {
  expect((await setup(folder.path)).code).toBe(0)
})
afterAll(() => folder[Symbol.dispose]())

const run = (words: string[], input?: string) =>
  footfall(["user", ...words, "--data-dir", folder.path], input === undefined ? {} : { input })
const shown = async (email: string): Promise<Record<string, unknown>> =>
  JSON.parse((await run(["list", "--json"])).out).find((user: { email: string }) => user.email === email)

test("creates users with a password or with a link to choose one", async () => {
  const made = await run(
    ["create", "--email", "bob@example.org", "--name", "Bob", "--organization", "1", "--role", "editor", "--password-stdin", "--json"],
    PASSWORD,
  )
  expect(JSON.parse(made.out)).toEqual({ user: { id: 2, email: "bob@example.org" } })
  const linked = await run(["create", "--email", "cleo@example.org", "--name", "Cleo", "--admin"])
  expect(linked.out).toMatch(
    /^Created user 3, cleo@example\.org\.\nLink to choose a password, valid for 7 days:\nhttp:\/\/localhost:8080\/reset\/[\w-]{43}\n$/,
  )
  expect(await shown("cleo@example.org")).toMatchObject({ is_instance_admin: true })
  expect(await run(["create", "--email", "BOB@example.org", "--name", "B"])).toMatchObject({ code: 64 })
  expect(await run(["create", "--email", "dan@example.org", "--name", "D", "--role", "king", "--organization", "1"])).toMatchObject({
    code: 64,
  })
})

test("disables and enables users, grants and revokes instance administration, and always keeps one administrator", async () => {
  expect((await run(["disable", "bob@example.org"])).out).toBe("bob@example.org is disabled.\n")
  expect(await shown("bob@example.org")).toMatchObject({ status: "disabled" })
  expect((await run(["enable", "Bob@example.org"])).out).toBe("bob@example.org can sign in again.\n")
  expect(await shown("bob@example.org")).toMatchObject({ status: "active" })
  expect((await run(["grant-admin", "bob@example.org"])).code).toBe(0)
  expect((await run(["revoke-admin", "ada@example.org"])).code).toBe(0)
  expect((await run(["revoke-admin", "cleo@example.org"])).code).toBe(0)
  for (const words of [
    ["revoke-admin", "bob@example.org"],
    ["disable", "bob@example.org"],
  ])
    expect(await run(words)).toMatchObject({
      code: 64,
      err: "footfall: At least one active instance admin must remain. Make another user an instance admin first.\n",
    })
  expect(await run(["reset-mfa", "bob@example.org"])).toMatchObject({ code: 0, out: "bob@example.org no longer has a second factor.\n" })
  expect(await run(["disable", "nobody@example.org"])).toMatchObject({
    code: 64,
    err: "footfall: There is no user with this email address.\n",
  })
})

test("replaces a password and audits all commands under the system's user", async () => {
  expect((await run(["passwd", "bob@example.org", "--password-stdin"], "another fine password\n")).out).toBe(
    "bob@example.org has a new password.\n",
  )
  expect(await run(["passwd", "bob@example.org", "--password-stdin"], "short\n")).toMatchObject({ code: 64 })
  // No server is running, so the file can be opened.
  using catalog = new Database(join(folder.path, "catalog.db"), { readonly: true })
  const { password_hash } = catalog
    .query<{ password_hash: string }, []>("select password_hash from users where email = 'bob@example.org'")
    .get()!
  expect(await Bun.password.verify("another fine password", password_hash)).toBe(true)
  const rows = catalog
    .query<{ action: string; actor_kind: string; actor_email: string }, []>(
      "select action, actor_kind, actor_email from audit_log order by id",
    )
    .all()
  expect(rows.map(({ action }) => action)).toEqual([
    "accounts.instance.set-up",
    "admin.user.create",
    "admin.user.create",
    "admin.user.disable",
    "admin.user.enable",
    "admin.user.update",
    "admin.user.update",
    "admin.user.update",
    "admin.user.reset-mfa",
    "accounts.password.set",
  ])
  expect(new Set(rows.map(({ actor_kind, actor_email }) => `${actor_kind} ${actor_email}`))).toEqual(
    new Set([`cli ${userInfo().username}`]),
  )
})
