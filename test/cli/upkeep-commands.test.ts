import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { temporaryFolder } from "../kit.ts"
import { createInstance, footfall, serving } from "./footfall.ts"

const json = async (...words: string[]) => {
  const { code, out, err } = await footfall([...words, "--json"])
  return { code, err, value: out === "" ? undefined : JSON.parse(out) }
}

test("previews and runs retention, whether or not the instance is serving", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  const at = ["--data-dir", folder.path]
  await json("site", "create", "--name", "Shop", "--hosts", "shop.example", "--retention-days", "30", ...at)
  expect(await json("retention", "run", "--dry-run", ...at)).toMatchObject({
    code: 0,
    value: { by: [{ site_id: 1, kind: "visits", rows: 0 }], bytes: 0 },
  })
  expect(await json("retention", "run", ...at)).toMatchObject({ code: 0, value: { visits: 0 } })
  expect((await json("retention", "run", "--site", "9", ...at)).code).toBe(64)
  expect((await json("retention", "run", "--days", "0", ...at)).code).toBe(64)
  await using server = await serving(folder.path)
  expect(await json("retention", "run", "--days", "5", ...at)).toMatchObject({ code: 0, value: { visits: 0 } })
  expect(await json("health", ...at)).toMatchObject({ code: 0, value: { status: "ok", reasons: [] } })
  // No other process may open the stores of a running server.
  expect((await json("migrate", "status", ...at)).code).toBe(73)
  expect((await json("migrate", "up", ...at)).code).toBe(73)
  expect(await server.end("SIGTERM")).toBe(0)
}, 60_000)

test("doctor explains how to find the process that has locked the catalog", async () => {
  using folder = temporaryFolder()
  const at = ["--data-dir", folder.path]
  await using server = await serving(folder.path)
  const other = new Database(`${folder.path}/catalog.db`)
  other.run("begin immediate")
  const { code, value } = await json("doctor", ...at)
  other.run("rollback")
  other.close()
  expect(code).toBe(1)
  expect((value as { name: string }[]).find(({ name }) => name === "catalog_write")).toMatchObject({
    status: "fail",
    detail: "The catalog database answered SQLITE_BUSY",
    fix: expect.stringMatching(
      /^Find the process with fuser on catalog\.db .* end it\. Events are then accepted again without a restart\.$/,
    ),
  })
  expect(await server.end("SIGTERM")).toBe(0)
}, 60_000)

test("migrate status lists pending migrations without running them", async () => {
  using folder = temporaryFolder()
  const at = ["--data-dir", folder.path]
  await createInstance(folder.path)
  // A catalog that lacks the migrations of the pixels plugin.
  const catalog = new Database(`${folder.path}/catalog.db`)
  const pending = catalog
    .query<{ name: string }, []>("delete from migrations where owner = 'pixels' returning name")
    .all()
    .map(({ name }) => name)
  catalog.close()
  const found = await json("migrate", "status", ...at)
  expect(found).toMatchObject({ code: 0, value: { is_new: false, pending } })
  expect(await json("migrate", "status", ...at)).toEqual(found)
}, 60_000)

test("prints the secret key and never creates one", async () => {
  using folder = temporaryFolder()
  const at = ["--data-dir", folder.path]
  await createInstance(folder.path)
  const stored = readFileSync(`${folder.path}/secret.key`, "utf8").trim()
  expect(await json("secrets", "export-key", ...at)).toMatchObject({ code: 0, value: { secret_key: stored } })
  rmSync(`${folder.path}/secret.key`)
  expect(await json("secrets", "export-key", ...at)).toMatchObject({ code: 74, err: expect.stringContaining("has no secret.key") })
  expect(existsSync(`${folder.path}/secret.key`)).toBe(false)
}, 60_000)

test("rotates the key while the instance serves, and audits it", async () => {
  using folder = temporaryFolder()
  const at = ["--data-dir", folder.path]
  await createInstance(folder.path)
  const first = readFileSync(`${folder.path}/secret.key`, "utf8").trim()
  expect((await json("backup", "create", ...at)).code).toBe(0)
  const [made] = (await json("backup", "list", ...at)).value as { id: string }[]
  expect((await json("backup", "verify", made!.id, ...at)).code).toBe(0)
  await using server = await serving(folder.path)
  expect(await json("secrets", "rotate", ...at)).toMatchObject({ code: 0, value: { unreadable: 0 } })
  const { secret_key } = (await json("secrets", "export-key", ...at)).value as { secret_key: string }
  expect(secret_key).not.toBe(first)
  expect(readFileSync(`${folder.path}/secret.key`, "utf8")).toStartWith(`${secret_key}\n${first} until `)
  expect(await server.end("SIGTERM")).toBe(0)
  const catalog = new Database(`${folder.path}/catalog.db`, { readonly: true })
  const rows = catalog.query("select actor_kind, action, outcome from audit_log where action like 'admin.%' order by id").all()
  catalog.close()
  expect(rows).toEqual(
    ["admin.backup.create", "admin.backup.verify", "admin.secret_key.rotate", "admin.secret_key.export"].map((action) => ({
      actor_kind: "cli",
      action,
      outcome: "ok",
    })),
  )
}, 60_000)

test("creates an encrypted backup and restores it only with its passphrase", async () => {
  using folder = temporaryFolder()
  await createInstance(folder.path)
  const at = ["--data-dir", folder.path, "--json"]
  await footfall(["site", "create", "--name", "Before", "--hosts", "shop.example", ...at])
  expect((await footfall(["backup", "create", "--passphrase-stdin", ...at], { input: "short" })).code).toBe(64)
  const made = await footfall(["backup", "create", "--label", "Sealed", "--passphrase-stdin", ...at], { input: "a long walk in the rain" })
  expect(made.code).toBe(0)
  const { id, sealed } = JSON.parse(made.out)
  expect(sealed).toMatchObject({ kdf: "argon2id" })
  await footfall(["site", "set", "1", "--name", "After", ...at])
  expect((await footfall(["backup", "restore", id, ...at])).code).not.toBe(0)
  expect((await footfall(["backup", "restore", id, "--passphrase-stdin", ...at], { input: "another long walk" })).code).not.toBe(0)
  expect((await json("site", "list", "--data-dir", folder.path)).value).toMatchObject([{ name: "After" }])
  expect((await footfall(["backup", "restore", id, "--passphrase-stdin", ...at], { input: "a long walk in the rain" })).code).toBe(0)
  expect((await json("site", "list", "--data-dir", folder.path)).value).toMatchObject([{ name: "Before" }])
}, 60_000)
