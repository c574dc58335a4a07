import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate, pendingMigrations } from "../../../src/store/catalog/schema.ts"
import type { MigrationList } from "../../../src/store/migrations.ts"
import { sql } from "../../../src/store/sql.ts"
import { temporaryFolder } from "../../kit.ts"

const first = { name: "0001_things", sql: "create table things (n integer) strict; insert into things values (1)" }
const second = { name: "0002_more", sql: "update things set n = n + 1; create table more (n integer) strict" }
const core = (...migrations: MigrationList["migrations"]): MigrationList => ({ owner: "core", migrations })
const stamp = { version: "1.2.0", now: 1_795_000_000_000 }

async function openTemporary(path: string) {
  const catalog = await openCatalog(catalogUrl(path))
  return Object.assign(catalog, { [Symbol.asyncDispose]: () => catalog.close() })
}

test("creates the schema of the catalog once", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  expect((await pendingMigrations(catalog, [CATALOG_SCHEMA], stamp.version)).map(({ name }) => name)).toEqual(
    CATALOG_SCHEMA.migrations.map(({ name }) => name),
  )
  await migrate(catalog, [CATALOG_SCHEMA], stamp)
  await migrate(catalog, [CATALOG_SCHEMA], stamp)
  expect(await pendingMigrations(catalog, [CATALOG_SCHEMA], stamp.version)).toEqual([])
  const rows = await catalog.all(sql`select owner, name, version, applied_at from migrations order by id`)
  expect(rows[0]).toEqual({ owner: "core", name: "0001_catalog", version: "1.2.0", applied_at: 1_795_000_000_000 })
  expect(rows).toHaveLength(CATALOG_SCHEMA.migrations.length)
})

test("runs only the new migrations of each owner", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  await migrate(catalog, [core(first)], stamp)
  const links = { owner: "links", migrations: [{ name: "0001_things", sql: "create table links_links (n integer) strict" }] }
  const pending = await pendingMigrations(catalog, [core(first, second), links], stamp.version)
  expect(pending.map(({ owner, name }) => `${owner}/${name}`)).toEqual(["core/0002_more", "links/0001_things"])
  await migrate(catalog, [core(first, second), links], { version: "1.3.0", now: 5 })
  expect(await catalog.get(sql`select n from things`)).toEqual({ n: 2 })
})

test("rejects a store of a newer version, names the version and leaves the file unchanged", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  {
    await using newer = await openTemporary(path)
    await migrate(newer, [core(first, second)], stamp)
    await newer.checkpoint()
  }
  const before = readFileSync(path)
  {
    await using catalog = await openTemporary(path)
    const refusal = { name: "StoreRefusal", reason: "newer", message: expect.stringContaining("Install Footfall 1.2.0") }
    await expect(pendingMigrations(catalog, [core(first)], stamp.version)).rejects.toMatchObject(refusal)
    await expect(migrate(catalog, [core(first)], stamp)).rejects.toMatchObject(refusal)
  }
  expect(readFileSync(path).equals(before)).toBe(true)
})

test("keeps the tables of a removed plugin, unless a newer version added it", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  const links = { owner: "links", migrations: [{ name: "0001_links", sql: "create table links_links (id integer) strict" }] }
  await migrate(catalog, [core(first), links], { version: "1.2.0", now: 5 })
  expect(await pendingMigrations(catalog, [core(first)], "1.2.0")).toEqual([])
  expect(await catalog.all(sql`select id from links_links`)).toEqual([])
  await expect(pendingMigrations(catalog, [core(first)], "1.1.9")).rejects.toMatchObject({ reason: "newer" })
})

test("rolls back a failed migration completely", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  const broken = { name: "0002_broken", sql: "create table half (n integer) strict; insert into nowhere values (1)" }
  await expect(migrate(catalog, [core(first, broken)], stamp)).rejects.toThrow("nowhere")
  expect((await pendingMigrations(catalog, [core(first, broken)], stamp.version)).map(({ name }) => name)).toEqual(["0002_broken"])
  expect(await catalog.all(sql`select name from sqlite_schema where name = 'half'`)).toEqual([])
})

test("leaves the state before or after a migration when killed in between", async () => {
  using folder = temporaryFolder()
  const seen = new Set<string>()
  for (let run = 0; run < 8; run++) {
    const path = join(folder.path, `${run}.db`)
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "migrating.ts"), path], { stdout: "pipe" })
    await child.stdout.getReader().read()
    await Bun.sleep(run * 8)
    child.kill("SIGKILL")
    await child.exited
    await using catalog = await openTemporary(path)
    const pending = await pendingMigrations(catalog, [core(first, { name: "0002_long", sql: "" })], stamp.version)
    const tables = await catalog.all<{ name: string }>(
      sql`select name from sqlite_schema where name in ('things', 'numbers') order by name`,
    )
    const rows = tables.length === 2 ? await catalog.get(sql`select count(*) as n from numbers`) : undefined
    seen.add(JSON.stringify({ pending: pending.length, tables: tables.length, rows }))
    expect(await catalog.get(sql`pragma quick_check`)).toEqual({ quick_check: "ok" })
  }
  const whole = ['{"pending":2,"tables":0}', '{"pending":1,"tables":1}', '{"pending":0,"tables":2,"rows":{"n":60000}}']
  expect([...seen].filter((state) => !whole.includes(state))).toEqual([])
  expect(seen).toContain('{"pending":1,"tables":1}')
}, 20_000)
