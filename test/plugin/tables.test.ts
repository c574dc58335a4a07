import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { Glob } from "bun"
import { plugins } from "../../plugins/index.ts"
import { CORE_TABLES } from "../../src/plugin/words.ts"
import { CATALOG_SCHEMA } from "../../src/store/catalog/schema.ts"
import { EVENT_SCHEMA } from "../../src/store/events/database.ts"
import type { MigrationList } from "../../src/store/migrations.ts"

const ROOT = join(import.meta.dir, "../..")

/** The plugins with their migrations in each store. */
const SCHEMAS = plugins.flatMap(({ id, migrations = [], rowMigrations = [] }) => [
  { id, store: "catalog", core: CATALOG_SCHEMA, migrations },
  { id, store: "event store", core: EVENT_SCHEMA, migrations: rowMigrations },
])

test.each(SCHEMAS)("the migrations of $id create only its own tables and indexes in the $store", ({ id, core, migrations }) => {
  using db = new Database(":memory:")
  apply(db, core.migrations)
  const before = schemaOf(db)
  apply(db, migrations)
  const after = schemaOf(db)
  expect([...before].filter(([name, sql]) => after.get(name) !== sql)).toEqual([])
  expect([...after.keys()].filter((name) => !before.has(name) && !name.startsWith(`${id}_`))).toEqual([])
})

const apply = (db: Database, migrations: MigrationList["migrations"]) => {
  for (const { sql } of migrations) db.run(sql)
}

const schemaOf = (db: Database): Map<string, string> => {
  const all = "select name, coalesce(sql, '') from sqlite_schema where name not like 'sqlite_%'"
  return new Map(db.query<[], []>(all).values() as [string, string][])
}

test.each(plugins.map(({ id }) => id))("the statements of %s name no table of the core or of another plugin", async (id) => {
  const ofOthers = plugins.filter((plugin) => plugin.id !== id).map((plugin) => `${plugin.id}_\\w+`)
  const ofCore = CORE_TABLES.map((name) => (name.endsWith("_") ? `${name}\\w+` : name))
  const foreign = new RegExp(`\\b(?:from|join|into|update|table|references)\\s+(?:${[...ofCore, ...ofOthers].join("|")})\\b`, "g")
  const found: string[] = []
  let statements = 0
  for await (const path of new Glob(`plugins/${id}/**/*.{ts,tsx,sql}`).scan(ROOT)) {
    if (path.includes("/test/")) continue
    const code = (await Bun.file(join(ROOT, path)).text()).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
    statements += [...code.matchAll(new RegExp(`\\b(?:from|into|update)\\s+${id}_\\w+`, "g"))].length
    found.push(...[...code.matchAll(foreign)].map(([text]) => `${path}: ${text}`))
  }
  expect(found).toEqual([])
  // The admin area has no tables.
  expect(statements > 0).toBe(id !== "admin")
})
