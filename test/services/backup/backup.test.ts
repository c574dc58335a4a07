import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createClient } from "@libsql/client"
import { restoreBackup } from "../../../src/services/backup/restore.ts"
import { ExitFault } from "../../../src/services/runtime/exit.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { fixedClock, temporaryFolder } from "../../kit.ts"
import { backupWorkerUrl, NOW, openWithSite, quiet, recordView } from "../stores-kit.ts"

const at = Date.parse(NOW)

const faultOf = async (work: Promise<unknown>): Promise<unknown> => {
  const thrown = await work.then(
    () => undefined,
    (error) => error,
  )
  return thrown instanceof ExitFault ? { exit: thrown.exit, message: thrown.message } : thrown
}

function storedEvents(dataDir: string): number {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 1 << 20 })
  const count = reader.snapshot(1).parts.reduce((sum, { events }) => sum + events, 0)
  reader.close()
  return count
}

const restore = (dataDir: string, id: string) =>
  restoreBackup(
    {
      dataDir,
      version: "1.0.0",
      workerUrl: backupWorkerUrl,
      now: () => at + 60_000,
      log: quiet,
      remoteCatalog: false,
      plugins: [],
    },
    id,
    () => {},
  )

test("a backup contains everything except salts and visitor lookups, and verifies", async () => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  await instance.salts.get(1, { name: "2026-11-21", expiresAt: Date.parse("2026-11-23T00:00:00Z") })
  recordView(instance, 1, at)
  await instance.events.seal(at + 3_600_000, true)
  recordView(instance, 2, at + 3_600_000)
  const backup = await instance.backups.create("manual")
  expect(backup).toMatchObject({
    id: "20261121T120000Z-manual",
    catalog: "file",
    events_by_site: { 1: 2 },
    rows: { catalog: { sites: 1, salts: 0, organizations: 1 }, events: { visitor_ids: 0, segments: 1 } },
    verified_at: "2026-11-21T12:00:00.000Z",
    failed_at: null,
  })
  expect(readdirSync(join(folder.path, "backups", backup.id)).sort()).toEqual(["catalog.db", "events.db", "manifest.json"])
  expect(await instance.backups.verify(backup.id, { full: true })).toMatchObject({ failed_at: null })
  expect(await instance.backups.list()).toHaveLength(1)
})

test("a copy contains no trace of a salt", async () => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  await instance.salts.get(1, { name: "2026-11-21", expiresAt: Date.parse("2026-11-23T00:00:00Z") })
  const client = createClient({
    url: `file:${join((await instance.backups.create("manual")).id && folder.path, "backups", "20261121T120000Z-manual", "catalog.db")}`,
  })
  expect((await client.execute("select count(*) as n from salts")).rows[0]?.n).toBe(0)
  client.close()
})

test("restores a backup after backing up the previous state", async () => {
  using folder = temporaryFolder()
  const instance = await openWithSite(folder.path)
  recordView(instance, 1, at)
  const { id } = await instance.backups.create("manual")
  recordView(instance, 2, at)
  await instance.sites.create(1, { name: "Later", hosts: ["later.example"] })
  await instance.close()

  expect(await restore(folder.path, id)).toEqual({ restored: id, safety_backup: "20261121T120100Z-restore", replaced_files: null })
  expect(storedEvents(folder.path)).toBe(1)
  await using restored = await openWithSite(folder.path)
  expect((await restored.allSites()).map(({ name }) => name)).toEqual(["Shop"])
  expect(await restored.backups.list()).toHaveLength(2)
  await restored.close()

  await restore(folder.path, "20261121T120100Z-restore")
  expect(storedEvents(folder.path)).toBe(2)
})

test("a backup made during collection contains all earlier events and restores to an intact store", async () => {
  using folder = temporaryFolder()
  const instance = await openWithSite(folder.path)
  for (let visitor = 0; visitor < 500; visitor++) recordView(instance, visitor, at + visitor)
  let during = 0
  const timer = setInterval(() => recordView(instance, 1_000 + during++, at + 1_000 + during), 1)
  const { id, events_by_site } = await instance.backups.create("manual")
  clearInterval(timer)
  await instance.close()
  expect(during).toBeGreaterThan(0)
  expect(events_by_site["1"]).toBeWithin(500, 500 + during + 1)
  await restore(folder.path, id)
  expect(storedEvents(folder.path)).toBe(events_by_site["1"]!)
})

test.each<[string, (backup: string) => void, string, RegExp]>([
  ["with a changed byte", (backup) => spoil(join(backup, "events.db"), 5_000), "damaged", /has changed since the backup was made/],
  [
    "with a truncated file",
    (backup) => truncateSync(join(backup, "catalog.db"), 4_096),
    "damaged",
    /has changed since the backup was made/,
  ],
  [
    "with a missing file",
    (backup) =>
      writeFileSync(join(backup, "manifest.json"), readFileSync(join(backup, "manifest.json"), "utf8").replace("catalog.db", "other.db")),
    "damaged",
    /does not name its stores/,
  ],
  ["with a foreign manifest", (backup) => writeFileSync(join(backup, "manifest.json"), "{}"), "damaged", /is not a backup manifest/],
  [
    "with the file of another program",
    (backup) => replaceFile(backup, "events.db", "pragma application_id = 1"),
    "damaged",
    /is not a Footfall event store/,
  ],
  [
    "from a newer version",
    (backup) =>
      replaceFile(
        backup,
        "events.db",
        "insert into migrations (owner, name, version, applied_at) values ('core', '9999_later', '9.0.0', 1)",
      ),
    "configuration",
    /newer version/,
  ],
])("rejects a backup %s and leaves the current files unchanged", async (_, damage, exit, message) => {
  using folder = temporaryFolder()
  const instance = await openWithSite(folder.path)
  recordView(instance, 1, at)
  const { id } = await instance.backups.create("manual")
  recordView(instance, 2, at)
  await instance.close()
  damage(join(folder.path, "backups", id))
  const before = readFileSync(join(folder.path, "events.db"))
  expect(await faultOf(restore(folder.path, id))).toMatchObject({ exit, message: expect.stringMatching(message) })
  expect(readFileSync(join(folder.path, "events.db"))).toEqual(before)
  expect(readdirSync(folder.path).filter((name) => name.startsWith(".restore") || name.startsWith("replaced"))).toEqual([])
})

test.each([
  [
    "a column",
    "update segment_columns set data = cast(substr(data, 1, 30) || x'ff00' || substr(data, 33) as blob) where id = (select min(id) from segment_columns)",
  ],
  [
    "a record of the log",
    "update log set record = cast(substr(record, 1, 3) || x'ff00' || substr(record, 6) as blob) where id = (select min(id) from log)",
  ],
])("the full check finds damage inside %s", async (_, sql) => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  for (let visitor = 0; visitor < 50; visitor++) recordView(instance, visitor, at + visitor ** 2)
  await instance.events.seal(at + 3_600_000, true)
  recordView(instance, 2, at + 3_600_000)
  const { id } = await instance.backups.create("manual")
  await instance.backups.verify(id, { full: true })
  replaceFile(join(folder.path, "backups", id), "events.db", sql)
  expect(await faultOf(instance.backups.verify(id, { full: true }))).toMatchObject({
    exit: "damaged",
    message: expect.stringMatching(/the checksum of row/),
  })
})

test("marks a backup that fails its verification", async () => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  const { id } = await instance.backups.create("manual")
  spoil(join(folder.path, "backups", id, "catalog.db"), 5_000)
  expect(await faultOf(instance.backups.verify(id, { full: false }))).toMatchObject({ exit: "damaged" })
  expect(await instance.backups.list()).toMatchObject([{ id, verified_at: null, failed_at: "2026-11-21T12:00:00.000Z" }])
})

const DAMAGE: [string, (backup: string) => void, string][] = [
  ["empty", (backup) => writeFileSync(join(backup, "manifest.json"), ""), "damaged"],
  ["truncated", (backup) => truncateSync(join(backup, "manifest.json"), 100), "damaged"],
  ["of the wrong type", (backup) => writeFileSync(join(backup, "manifest.json"), "[]"), "damaged"],
  ["without its schemas", (backup) => changeManifest(backup, { schemas: null }), "damaged"],
  ["with an impossible time", (backup) => changeManifest(backup, { created_at: "yesterday" }), "damaged"],
  ["missing", (backup) => rmSync(join(backup, "manifest.json")), "missing"],
]

test.each(DAMAGE)("lists a backup as unusable if its manifest is %s, without hiding other backups", async (_, damage, state) => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  const [broken, good] = [await instance.backups.create("daily"), await instance.backups.create("manual")]
  damage(join(folder.path, "backups", broken.id))
  expect((await instance.backups.list()).map(({ id }) => id)).toEqual([good.id])
  expect(await instance.backups.listDamaged()).toEqual([
    {
      id: broken.id,
      created_at: "2026-11-21T12:00:00.000Z",
      bytes: broken.files.reduce((sum, { bytes }) => sum + bytes, 0),
      damage: `manifest.json is ${state}, so the backup cannot be checked or restored.`,
    },
  ])
  expect(await faultOf(instance.backups.verify(broken.id, { full: false }))).toMatchObject({ exit: "damaged" })
  await instance.backups.remove(broken.id)
  expect(await instance.backups.listDamaged()).toEqual([])
  expect(await instance.backups.verify(good.id, { full: false })).toMatchObject({ failed_at: null })
})

test("removes a damaged backup after 35 days", async () => {
  using folder = temporaryFolder()
  const clock = fixedClock(NOW)
  await using instance = await openWithSite(folder.path, { clock })
  const { id } = await instance.backups.create("manual")
  writeFileSync(join(folder.path, "backups", id, "manifest.json"), "")
  clock.advance(35 * 86_400_000)
  expect(await instance.backups.rotate()).toEqual([])
  clock.advance(1)
  expect(await instance.backups.rotate()).toEqual([id])
  expect(await instance.backups.listDamaged()).toEqual([])
})

test("lists and finds a backup under the new name of its folder", async () => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  const { id } = await instance.backups.create("manual")
  renameSync(join(folder.path, "backups", id), join(folder.path, "backups/before-the-move"))
  mkdirSync(join(folder.path, "backups/notes"))
  expect(await instance.backups.list()).toMatchObject([{ id: "before-the-move" }])
  expect(await instance.backups.verify("before-the-move", { full: false })).toMatchObject({ failed_at: null })
})

test("sets an unreadable current store aside instead of backing it up", async () => {
  using folder = temporaryFolder()
  const instance = await openWithSite(folder.path)
  recordView(instance, 1, at)
  const { id } = await instance.backups.create("manual")
  await instance.close()
  writeFileSync(join(folder.path, "events.db"), "this is no database at all, only text".repeat(300))
  const outcome = await restore(folder.path, id)
  expect(outcome).toMatchObject({ restored: id, safety_backup: null, replaced_files: join(folder.path, "replaced-20261121T120100Z") })
  expect(existsSync(join(folder.path, "replaced-20261121T120100Z/events.db"))).toBe(true)
  expect(storedEvents(folder.path)).toBe(1)
})

test("completes an interrupted swap at the next start", async () => {
  using folder = temporaryFolder()
  const instance = await openWithSite(folder.path)
  recordView(instance, 1, at)
  await instance.backups.create("manual")
  recordView(instance, 2, at)
  await instance.close()
  // The state after a crash between the swap of the catalog and that of the event store.
  const [staged, replaced] = [join(folder.path, ".restore-1"), join(folder.path, "replaced-1")]
  mkdirSync(staged)
  cpSync(join(folder.path, "backups/20261121T120000Z-manual/events.db"), join(staged, "events.db"))
  writeFileSync(join(folder.path, ".swap.json"), JSON.stringify({ staged, replaced, files: ["catalog.db", "events.db"] }))
  await using again = await openWithSite(folder.path)
  expect(storedEvents(folder.path)).toBe(1)
  expect(existsSync(staged)).toBe(false)
  expect(existsSync(join(folder.path, ".swap.json"))).toBe(false)
  expect(await again.allSites()).toHaveLength(1)
})

test("completes an interrupted swap in a data folder that was moved in the meantime", async () => {
  using folder = temporaryFolder()
  const [before, after] = [join(folder.path, "before"), join(folder.path, "after")]
  const instance = await openWithSite(before)
  recordView(instance, 1, at)
  const { id } = await instance.backups.create("manual")
  recordView(instance, 2, at)
  await instance.close()
  mkdirSync(join(before, ".restore-1"))
  cpSync(join(before, "backups", id, "events.db"), join(before, ".restore-1/events.db"))
  const journal = { staged: join(before, ".restore-1"), replaced: join(before, "replaced-1"), files: ["catalog.db", "events.db"] }
  writeFileSync(join(before, ".swap.json"), JSON.stringify(journal))
  renameSync(before, after)
  await using _ = await openWithSite(after)
  expect(storedEvents(after)).toBe(1)
  expect(existsSync(before)).toBe(false)
})

test("a restore first completes an interrupted swap", async () => {
  using folder = temporaryFolder()
  const instance = await openWithSite(folder.path)
  recordView(instance, 1, at)
  const { id } = await instance.backups.create("manual")
  recordView(instance, 2, at)
  await instance.close()
  const staged = join(folder.path, ".restore-1")
  mkdirSync(staged)
  cpSync(join(folder.path, "backups", id, "events.db"), join(staged, "events.db"))
  writeFileSync(
    join(folder.path, ".swap.json"),
    JSON.stringify({ staged, replaced: join(folder.path, "replaced-1"), files: ["catalog.db", "events.db"], discard: true }),
  )
  const { safety_backup } = await restore(folder.path, id)
  expect(JSON.parse(readFileSync(join(folder.path, "backups", safety_backup!, "manifest.json"), "utf8")).events_by_site).toEqual({ 1: 1 })
  expect(readdirSync(folder.path).filter((name) => /^\.swap|^\.restore|^replaced/.test(name))).toEqual([])
})

test("does not list an unfinished backup folder, and removes it at the next start", async () => {
  using folder = temporaryFolder()
  const unfinished = join(folder.path, "backups/.tmp-20261121T120000Z-daily")
  mkdirSync(unfinished, { recursive: true })
  writeFileSync(join(unfinished, "events.db"), "half")
  await using instance = await openWithSite(folder.path)
  expect(await instance.backups.list()).toEqual([])
  expect(existsSync(unfinished)).toBe(false)
})

function changeManifest(backup: string, change: object): void {
  const path = join(backup, "manifest.json")
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...change }))
}

function spoil(path: string, offset: number): void {
  const bytes = readFileSync(path)
  bytes[offset]! ^= 0xff
  writeFileSync(path, bytes)
}

/** Changes a store of a backup and updates its manifest, so that only the store itself reveals the damage. */
function replaceFile(backup: string, name: string, sql: string): void {
  const path = join(backup, name)
  const db = new Database(path)
  db.run(sql)
  db.close()
  const manifest = JSON.parse(readFileSync(join(backup, "manifest.json"), "utf8"))
  const file = manifest.files.find((each: { name: string }) => each.name === name)
  file.sha256 = new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")
  if (sql.startsWith("insert")) manifest.rows.events.migrations++
  writeFileSync(join(backup, "manifest.json"), JSON.stringify(manifest))
}
