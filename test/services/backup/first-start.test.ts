import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { earlierMigrations } from "../../../scripts/reliability/earlier-migrations.ts"
import { openInstance } from "../../../src/services/instance/instance.ts"
import { catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate } from "../../../src/store/catalog/schema.ts"
import { EVENT_SCHEMA, EVENTS_ID } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { temporaryFolder } from "../../kit.ts"
import { openWithSite, optionsFor } from "../stores-kit.ts"

const stamp = { version: "1.0.0", now: 1 }

async function makeCatalog(dataDir: string, migrations: number): Promise<void> {
  const catalog = await openCatalog(catalogUrl(join(dataDir, "catalog.db")))
  await migrate(catalog, [{ ...CATALOG_SCHEMA, migrations: CATALOG_SCHEMA.migrations.slice(0, migrations) }], stamp)
  await catalog.close()
}

const ALL = CATALOG_SCHEMA.migrations.length

/** Creates the event store that a kill in the middle of a write leaves behind: with a hot rollback journal. */
function makeHotJournal(dataDir: string): void {
  const path = join(dataDir, "events.db")
  const making = `${path}.making`
  const db = new Database(making, { create: true })
  db.run(`pragma application_id = ${EVENTS_ID}`)
  db.run("pragma cache_size = 1")
  db.run("begin immediate")
  db.run("create table half (content text) strict")
  for (let row = 0; row < 100; row++) db.run("insert into half values (?)", ["x".repeat(4_096)])
  cpSync(making, path)
  cpSync(`${making}-journal`, `${path}-journal`)
  db.run("rollback")
  db.close()
  rmSync(making)
}

test.each<[string, (dataDir: string) => Promise<void>]>([
  ["before its first file", async () => {}],
  ["within the catalog's schema", (dataDir) => makeCatalog(dataDir, 3)],
  ["between the two stores", (dataDir) => makeCatalog(dataDir, ALL)],
  [
    "with an empty event store",
    async (dataDir) => {
      await makeCatalog(dataDir, ALL)
      writeFileSync(join(dataDir, "events.db"), "")
    },
  ],
  [
    "in the middle of a write to the event store",
    async (dataDir) => {
      await makeCatalog(dataDir, ALL)
      makeHotJournal(dataDir)
    },
  ],
  [
    "within the event store's schema",
    async (dataDir) => {
      await makeCatalog(dataDir, ALL)
      const schemas = [{ ...EVENT_SCHEMA, migrations: earlierMigrations(1) }]
      openEventStore(join(dataDir, "events.db"), { ...stamp, schemas }).close()
    },
  ],
])("completes a first start that was interrupted %s, without backing up an empty store", async (_, leave) => {
  using folder = temporaryFolder()
  await leave(folder.path)
  await using instance = await openWithSite(folder.path)
  expect(instance.migrated).toEqual({ migrations: [], backup: null })
  expect(await instance.allSites()).toHaveLength(1)
  expect(await instance.backups.list()).toEqual([])
  expect(readdirSync(folder.path)).not.toContain("events.db-journal")
})

test("never replaces a missing event store by an empty one unless the operator requests it", async () => {
  using folder = temporaryFolder()
  await (await openWithSite(folder.path)).close()
  for (const part of ["", "-wal", "-shm"]) rmSync(join(folder.path, `events.db${part}`), { force: true })
  await expect(openInstance(optionsFor(folder.path))).rejects.toMatchObject({
    exit: "damaged",
    message: expect.stringMatching(/events\.db is missing.*backup restore.*migrate up --no-backup/),
  })
  expect(existsSync(join(folder.path, "events.db"))).toBe(false)
  const instance = await openInstance(optionsFor(folder.path, { backUpBeforeMigrating: false }))
  expect(await instance.allSites()).toHaveLength(1)
  await instance.close()
})

test("never starts with a new catalog beside an event store that is in use", async () => {
  using folder = temporaryFolder()
  await (await openWithSite(folder.path)).close()
  for (const part of ["", "-wal", "-shm"]) rmSync(join(folder.path, `catalog.db${part}`), { force: true })
  const refusal = { exit: "damaged", message: expect.stringMatching(/catalog\.db is missing.*backup restore.*use an empty folder/) }
  await expect(openInstance(optionsFor(folder.path))).rejects.toMatchObject(refusal)
  expect(existsSync(join(folder.path, "catalog.db"))).toBe(false)
  writeFileSync(join(folder.path, "catalog.db"), "", { mode: 0o600 })
  await expect(openInstance(optionsFor(folder.path))).rejects.toMatchObject(refusal)
})

test("an interrupted first start leaves no files behind", async () => {
  using folder = temporaryFolder()
  const left = [".probe-4711", "run.json.new", "secret.key.new", "node.id.new", ".swap.json.new"]
  for (const name of left) writeFileSync(join(folder.path, name), "half", { mode: 0o600 })
  await using _ = await openWithSite(folder.path)
  expect(readdirSync(folder.path).filter((name) => left.includes(name))).toEqual([])
})
