import { expect, test } from "bun:test"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createAudit } from "../../../src/services/audit/audit.ts"
import { openKeys } from "../../../src/services/key-rotation/key-rotation.ts"
import { secretKeys, writeSecretKeys } from "../../../src/services/runtime/secret-key.ts"
import { keyName } from "../../../src/services/secrets/secrets.ts"
import type { Catalog } from "../../../src/store/catalog/catalog.ts"
import { raw, sql } from "../../../src/store/sql.ts"
import { ADA, type browserOf, setUp } from "../../http/private/browser.ts"
import { memoryLog, startInstance, type TestInstance, temporaryFolder } from "../../kit.ts"
import { openServices } from "../instance.ts"

const ACTOR = { kind: "cli", email: "root", ipPrefix: "", userAgent: "footfall test", requestId: "r" } as const
const FORMAT = 1

/** Returns the values of all tables that are sealed with the named key, as bytes or base64. */
async function sealedWith(catalog: Catalog, name: string): Promise<string[]> {
  const head = Uint8Array.of(FORMAT, ...Uint8Array.fromHex(name))
  const starts = (value: unknown): boolean => {
    if (value instanceof Uint8Array || value instanceof ArrayBuffer)
      return Buffer.from(value as Uint8Array)
        .subarray(0, 5)
        .equals(Buffer.from(head))
    return typeof value === "string" && Buffer.from(value.slice(0, 8), "base64").subarray(0, 5).equals(Buffer.from(head))
  }
  const tables = await catalog.all<{ name: string }>(sql`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`)
  const found: string[] = []
  for (const { name: table } of tables)
    for (const row of await catalog.all<Record<string, unknown>>(raw(`select * from ${table}`)))
      for (const [column, value] of Object.entries(row)) if (starts(value)) found.push(`${table}.${column}`)
  return [...new Set(found)].sort()
}

/** Starts an instance with a value in every sealed column. */
async function startWithSecrets(): Promise<TestInstance & { browser: ReturnType<typeof browserOf>; secretId: number; slug: string }> {
  const instance = await startInstance({ settings: { smtp_host: "127.0.0.1", smtp_port: "1", smtp_security: "none" }, plugins: [] })
  const browser = await setUp(instance)
  const { catalog, secretsOf, shares, salts } = instance.app.instance
  const place = { table: "things", row: 1, purpose: "token" }
  const secretId = await catalog.transaction((statements) => secretsOf("core").put(statements, place, "a secret of the core"))
  const { slug } = await shares.create(instance.site, { name: "Share" }, 1)
  await salts.get(1, { name: "2026-11-21", expiresAt: instance.clock.now() + 1_000_000 })
  await browser.post("/auth/forgot", { email: ADA.email })
  await instance.app.instance.accounts.background.settled()
  const own = (await browser.get("/organizations")).body.data[0].id
  expect((await browser.post(`/organizations/${own}/domains`, { domain: "example.org" }, { "idempotency-key": "once" })).status).toBe(201)
  // Written as the confirmation of the code does it.
  expect((await browser.post("/me/totp/start")).status).toBe(200)
  await catalog.run(sql`update users set totp_sealed = ${await sealedTotp(instance)} where id = 1`)
  return Object.assign(instance, { browser, secretId, slug })
}

async function sealedTotp({ app }: TestInstance): Promise<Uint8Array> {
  const row = await app.instance.catalog.get<{ payload_json: string }>(sql`select payload_json from login_tickets where kind = 'totp_new'`)
  return Uint8Array.fromBase64(JSON.parse(row!.payload_json).sealed)
}

const PLACES = [
  "idempotent_answers.body",
  "idempotent_answers.body_hash",
  "mails.sealed",
  "salts.sealed",
  "secrets.sealed",
  "shares.slug_sealed",
  "site_keys.sealed",
  "users.totp_sealed",
]

test("reseals every sealed value of the catalog without ending sessions", async () => {
  await using instance = await startWithSecrets()
  const { app, browser, dataDir, clock, secretId, slug } = instance
  const { catalog, keyRotation, secretsOf, shares, cookieSecrets } = app.instance
  const before = secretKeys(dataDir, { key: undefined, previous: undefined }, () => new Uint8Array())
  expect(await sealedWith(catalog, keyName(before.current))).toEqual(PLACES)
  const [cookieBefore] = cookieSecrets

  const done = await keyRotation.rotate(ACTOR)
  expect(done).toMatchObject({ unreadable: 0, previous_until: "2026-12-21T12:00:00.000Z" })
  const after = secretKeys(dataDir, { key: undefined, previous: undefined }, () => new Uint8Array())
  expect(statSync(join(dataDir, "secret.key")).mode & 0o777).toBe(0o600)
  expect(after.former).toEqual([{ key: before.current, until: clock.now() + 30 * 86_400_000 }])
  expect(await sealedWith(catalog, keyName(before.current))).toEqual([])
  expect(await sealedWith(catalog, keyName(after.current))).toEqual(PLACES)
  expect(await secretsOf("core").open(secretId)).toBe("a secret of the core")
  expect((await shares.open(slug))?.owner.id).toBe(1)
  expect((await shares.list(instance.site, { after: 0, limit: 10 }))[0]!.slug).toBe(slug)
  expect(await keyRotation.export(ACTOR)).toBe(Buffer.from(after.current).toString("base64"))

  // The earlier cookie stays valid; new ones are signed with the new key without a restart.
  expect((await browser.get("/auth/session")).status).toBe(200)
  expect(cookieSecrets).toHaveLength(2)
  expect(cookieSecrets[1]).toBe(cookieBefore)
  const proved = await browser.post("/auth/reauth", { password: ADA.password })
  expect(proved.status).toBe(204)
  const [token, signature] = decodeURIComponent(browser.cookies.get("sid")!).split(".") as [string, string]
  expect(signature).toBe(new Bun.CryptoHasher("sha256", cookieSecrets[0]).update(token).digest("base64").replace(/=+$/, ""))
  expect((await browser.get("/auth/session")).status).toBe(200)

  expect(
    await catalog.all(sql`select actor_kind, action, changes_json from audit_log where action like 'admin.secret_key.%' order by id`),
  ).toEqual([
    { actor_kind: "cli", action: "admin.secret_key.rotate", changes_json: JSON.stringify({ sealed: [null, done.sealed] }) },
    { actor_kind: "cli", action: "admin.secret_key.export", changes_json: "{}" },
  ])
})

/** Opens a catalog with one secret and reads the keys of a folder as a start does. */
async function openRotation() {
  const folder = temporaryFolder()
  const services = await openServices()
  const { catalog, clock, settings } = services
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const read = () => secretKeys(folder.path, { key: undefined, previous: undefined }, random)
  const start = (keys = read()) =>
    openKeys({
      dataDir: folder.path,
      keys,
      catalog,
      clock,
      random,
      log: memoryLog(),
      audit: createAudit({ catalog, clock }),
      settings,
      nodes: undefined,
      sealedSlugs: [],
    })
  const place = { table: "users", row: 1, purpose: "totp" }
  const first = await start()
  await catalog.run(sql`
    insert into users (id, email, email_key, name, totp_sealed, created_at)
    values (1, 'a@example.org', 'a@example.org', 'A', ${first.secrets.seal(new TextEncoder().encode("plain"), place)}, 0)`)
  const plain = async (keys: Awaited<ReturnType<typeof start>>) => {
    const row = await catalog.get<{ sealed: Uint8Array }>(sql`select totp_sealed as sealed from users where id = 1`)
    const found = keys.secrets.open(new Uint8Array(row!.sealed), place)
    return found && new TextDecoder().decode(found)
  }
  return {
    ...services,
    path: folder.path,
    read,
    start,
    first,
    plain,
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test("a rotation interrupted before the commit leaves the old key in use", async () => {
  await using services = await openRotation()
  const { read, start, plain, path, catalog } = services
  const before = read()
  // The state right after the new key was written, while the transaction fails.
  await catalog.run(sql`create trigger no_more before update on users begin select raise(abort, 'full'); end`)
  await expect(services.first.rotate(ACTOR)).rejects.toThrow()
  expect(read().next).toBeDefined()
  expect(services.first.secrets.isCurrent(services.first.secrets.seal(new Uint8Array(1), { table: "t", row: 1, purpose: "p" }))).toBe(true)
  const again = await start()
  expect(await plain(again)).toBe("plain")
  expect(await again.export(ACTOR)).toBe(Buffer.from(before.current).toString("base64"))
  // The next attempt succeeds.
  await catalog.run(sql`drop trigger no_more`)
  expect(await again.rotate(ACTOR)).toMatchObject({ sealed: 1, unreadable: 0 })
  expect(readFileSync(join(path, "secret.key"), "utf8")).not.toContain("next")
  expect(await plain(await start())).toBe("plain")
})

test("the next start completes a rotation interrupted after the commit", async () => {
  await using services = await openRotation()
  const { read, start, plain, path, clock } = services
  const before = read()
  await services.first.rotate(ACTOR)
  const after = read()
  // The file after a power cut between the commit and its last write.
  writeSecretKeys(path, { current: before.current, former: [], next: after.current })
  const again = await start()
  expect(await plain(again)).toBe("plain")
  expect(read()).toMatchObject({ current: after.current, former: [{ key: before.current, until: clock.now() + 30 * 86_400_000 }] })
  expect(again.cookieSecrets).toHaveLength(2)
})

test("a former key expires with the cookies it signed, without losing a sealed value", async () => {
  await using services = await openRotation()
  const { start, plain, clock, catalog, read } = services
  const old = services.first.secrets
  const late = old.seal(new TextEncoder().encode("plain"), { table: "users", row: 1, purpose: "totp" })
  await services.first.rotate(ACTOR)
  // Sealed before the rotation and written after it, like a code that is confirmed a moment later.
  await catalog.run(sql`update users set totp_sealed = ${late} where id = 1`)
  clock.advance(30 * 86_400_000 - 1)
  expect((await start()).cookieSecrets).toHaveLength(2)
  clock.advance(1)
  const ended = await start()
  expect(ended.cookieSecrets).toHaveLength(1)
  expect(read().former).toEqual([])
  expect(await plain(await start())).toBe("plain")
})

test("reseals the values after a change of the configured key", async () => {
  await using services = await openRotation()
  const { catalog, start, plain, read } = services
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const first = Buffer.from(read().current).toString("base64")
  const second = Buffer.from(random(32)).toString("hex")
  const configured = (key: string, previous?: string) => start(secretKeys("/nowhere", { key, previous }, random))
  const alone = await configured(first)
  await expect(alone.rotate(ACTOR)).rejects.toMatchObject({ exit: "usage" })
  const both = await configured(second, first)
  expect(await plain(both)).toBe("plain")
  expect(both.cookieSecrets).toHaveLength(2)
  expect(await both.rotate(ACTOR)).toEqual({ sealed: 1, unreadable: 0 })
  expect(await plain(await configured(second))).toBe("plain")
  // A value that cannot be decrypted is counted and left unchanged.
  await catalog.run(sql`update users set totp_sealed = ${new Uint8Array(60).fill(1)} where id = 1`)
  expect(await both.rotate(ACTOR)).toEqual({ sealed: 0, unreadable: 1 })
})

test.each([
  ["a line that is not a key", "AAAA\n"],
  ["a former key without an expiry", `${"A".repeat(43)}=\n${"B".repeat(43)}= until\n`],
])("rejects a key file with %s", (_, text) => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "secret.key"), text, { mode: 0o600 })
  expect(() => secretKeys(folder.path, { key: undefined, previous: undefined }, () => new Uint8Array(32))).toThrow("does not contain a key")
})
