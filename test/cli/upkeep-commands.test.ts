import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { temporaryFolder } from "../kit.ts"
import { footfall, serving } from "./footfall.ts"

const json = async (...words: string[]) => {
  const { code, out, err } = await footfall([...words, "--json"])
  return { code, err, value: out === "" ? undefined : JSON.parse(out) }
}

test("retention is counted and run, whether the instance serves or not", async () => {
  using folder = temporaryFolder()
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
  // Stores that are open in a server are looked at by nobody else.
  expect((await json("migrate", "status", ...at)).code).toBe(73)
  expect((await json("migrate", "up", ...at)).code).toBe(73)
  expect(await server.end("SIGTERM")).toBe(0)
}, 60_000)

test("what migrating would do is told without doing it", async () => {
  using folder = temporaryFolder()
  const at = ["--data-dir", `${folder.path}/data`]
  const fresh = await json("migrate", "status", ...at)
  expect(fresh).toMatchObject({ code: 0, value: { is_new: true, pending: expect.arrayContaining(["0001_catalog", "0001_events"]) } })
  expect(await json("migrate", "status", ...at)).toEqual(fresh)
  expect(await json("migrate", "up", ...at)).toMatchObject({ code: 0 })
  expect(await json("migrate", "status", ...at)).toMatchObject({ code: 0, value: { is_new: false, pending: [] } })
}, 60_000)

test("the key that seals secrets is printed, and nothing is made for it", async () => {
  using folder = temporaryFolder()
  const at = ["--data-dir", folder.path]
  expect((await json("secrets", "export-key", ...at)).code).toBe(74)
  await json("migrate", ...at)
  const stored = readFileSync(`${folder.path}/secret.key`, "utf8").trim()
  expect(await json("secrets", "export-key", ...at)).toMatchObject({ code: 0, value: { secret_key: stored } })
}, 60_000)

test("a sealed backup is made and restored by its passphrase alone", async () => {
  using folder = temporaryFolder()
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
