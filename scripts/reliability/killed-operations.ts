/** The operations that `kill-at.ts` kills, and the conditions that must hold after each kill. */

import { Database } from "bun:sqlite"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { pluginFacts } from "../../src/plugin/load.ts"
import { catalogUrl, openCatalog } from "../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate } from "../../src/store/catalog/schema.ts"
import { EVENT_SCHEMA, eventSchemas } from "../../src/store/events/database.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { sql } from "../../src/store/sql.ts"
import { footfall, PROGRAM, prepareSite, serveFootfall } from "../instance.ts"
import { earlierMigrations } from "./earlier-migrations.ts"
import { IMPORT_ID, IMPORTED, importedEvents, NATIVE_VISITS, writeNativeVisits } from "./import-once.ts"

export interface Operation {
  /** Fills the folder that each run begins with. Its result is passed to the other functions. */
  prepare(dataDir: string): Promise<string>
  /** The command to kill. */
  command(dataDir: string, prepared: string): readonly string[]
  input?: string
  /** Output after which the command is stopped. */
  until?: string
  /** Restarts Footfall after the kill and returns the faults. */
  judge(dataDir: string, prepared: string): Promise<string[]>
}

const SETUP = ["setup", "--email", "ada@example.org", "--name", "Ada", "--organization", "Acme", "--password-stdin"]
const PASSWORD = "a fine long password\n"
const OLD = { version: "0.0.1", now: Date.parse("2026-01-01T00:00:00Z") }

const nothing = async () => ""

export const OPERATIONS = {
  /** The first start, by the command that creates the first user. */
  setup: {
    prepare: nothing,
    command: (dataDir) => [...PROGRAM, ...SETUP, "--data-dir", dataDir],
    input: PASSWORD,
    async judge(dataDir) {
      const again = await run([...SETUP, "--data-dir", dataDir], PASSWORD)
      // If the kill came after the commit that created the user, the second set-up fails with a usage error (64).
      const isMade = again.code === 0 || again.code === 64
      return [...(isMade ? [] : [`setup ended with ${again.code}: ${again.errors}`]), ...judgeNewInstance(dataDir, 1)]
    },
  },
  /** The first start, by serving. */
  serve: {
    prepare: nothing,
    command: (dataDir) => [...PROGRAM, "serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0", "--json"],
    // A log line contains the address before the process listens for signals.
    until: "is_new",
    async judge(dataDir) {
      const again = await serveFootfall({ dataDir })
      const code = await again.kill("SIGTERM")
      return [...(code === 0 ? [] : [`serve ended with ${code}`]), ...judgeNewInstance(dataDir, 0)]
    },
  },
  /** The start of this version on the stores of the first version. */
  migrate: {
    async prepare(dataDir) {
      const catalog = await openCatalog(catalogUrl(join(dataDir, "catalog.db")))
      await migrate(catalog, [{ ...CATALOG_SCHEMA, migrations: CATALOG_SCHEMA.migrations.slice(0, 1) }], OLD)
      await catalog.run(sql`insert into organizations (name, created_at, updated_at) values ('Acme', 1, 1)`)
      await catalog.checkpoint()
      await catalog.close()
      const schemas = [{ ...EVENT_SCHEMA, migrations: earlierMigrations(1) }]
      const events = openEventStore(join(dataDir, "events.db"), { ...OLD, schemas })
      writeNativeVisits(events)
      events.close()
      return ""
    },
    command: (dataDir) => [...PROGRAM, "migrate", "up", "--data-dir", dataDir],
    async judge(dataDir) {
      const again = await run(["migrate", "up", "--data-dir", dataDir])
      const status = await run(["migrate", "status", "--json", "--data-dir", dataDir])
      const { verified } = await backupsIn(dataDir)
      return [
        ...(again.code === 0 ? [] : [`migrate up ended with ${again.code}: ${again.errors}`]),
        ...(status.code === 0 && JSON.parse(status.output).pending.length === 0
          ? []
          : [`migrations are left: ${status.output}${status.errors}`]),
        ...(verified.some((id) => id.endsWith("-migration")) ? [] : ["there is no verified backup of the state before"]),
        ...judgeStores(dataDir),
        ...different("organizations", rowsIn(dataDir, "catalog.db", "organizations"), [1]),
        ...different("visits", visitsIn(dataDir).native, [NATIVE_VISITS]),
      ]
    },
  },
  /** A restore on the command line: copies, checks, safety backup, swap of the files. */
  restore: {
    async prepare(dataDir) {
      const site = await prepareSite(PROGRAM, dataDir)
      const { id } = await footfall<{ id: string }>(PROGRAM, dataDir, "backup", "create")
      // Data in both stores that the backup does not contain.
      await footfall(PROGRAM, dataDir, "site", "create", "--name", "Later", "--hosts", "later.example")
      const events = openEventStore(join(dataDir, "events.db"), { now: Date.now(), schemas: eventSchemas(pluginFacts(plugins)) })
      writeNativeVisits(events, site.siteId)
      events.checkpoint("truncate")
      events.close()
      return id
    },
    command: (dataDir, id) => [...PROGRAM, "backup", "restore", id, "--data-dir", dataDir],
    async judge(dataDir) {
      const started = await run(["site", "list", "--json", "--data-dir", dataDir])
      if (started.code !== 0) return [`site list ended with ${started.code}: ${started.errors}`]
      const state = [rowsIn(dataDir, "catalog.db", "sites"), visitsIn(dataDir).native].join(" sites and visits ")
      const whole = [`1 sites and visits 0`, `2 sites and visits ${NATIVE_VISITS}`]
      return [
        ...(whole.includes(state) ? [] : [`the stores are of two states: ${state}`]),
        ...judgeStores(dataDir),
        ...judgeLeftovers(dataDir),
      ]
    },
  },
  /** An import of visits into a store with native visits. */
  import: {
    prepare: async (dataDir) => prepareImport(dataDir, false),
    command: (dataDir) => [process.execPath, IMPORT_ONCE, "import", dataDir],
    judge: (dataDir) => judgeImport(dataDir, "import", IMPORTED),
  },
  /** The undo of an import. */
  undo: {
    prepare: async (dataDir) => prepareImport(dataDir, true),
    command: (dataDir) => [process.execPath, IMPORT_ONCE, "undo", dataDir],
    judge: (dataDir) => judgeImport(dataDir, "undo", 0),
  },
} satisfies Record<string, Operation> as Record<OperationName, Operation>

export type OperationName = "setup" | "serve" | "migrate" | "restore" | "import" | "undo"

const IMPORT_ONCE = join(import.meta.dir, "import-once.ts")

async function prepareImport(dataDir: string, isImported: boolean): Promise<string> {
  const store = openEventStore(join(dataDir, "events.db"), { now: Date.now() })
  writeNativeVisits(store)
  if (isImported) await store.importVisits({ siteId: 1, importId: IMPORT_ID }, importedEvents())
  store.checkpoint("truncate")
  store.close()
  return ""
}

/** Checks that the import exists completely or not at all, and that the same operation then succeeds. */
async function judgeImport(dataDir: string, operation: "import" | "undo", end: number): Promise<string[]> {
  const cutOff = visitsIn(dataDir)
  if (operation === "undo" || cutOff.imported === 0) {
    const again = Bun.spawn([process.execPath, IMPORT_ONCE, operation, dataDir], { stdout: "ignore", stderr: "inherit" })
    if ((await again.exited) !== 0) return [`the second ${operation} failed`]
  }
  return [
    ...different("imported visits after the kill", cutOff.imported, [0, IMPORTED]),
    ...different("native visits after the kill", cutOff.native, [NATIVE_VISITS]),
    ...different("imported visits", visitsIn(dataDir).imported, [end]),
    ...different("native visits", visitsIn(dataDir).native, [NATIVE_VISITS]),
    ...judgeFile(join(dataDir, "events.db")),
  ]
}

const different = (what: string, found: number, expected: readonly number[]): string[] =>
  expected.includes(found) ? [] : [`${found} ${what} instead of ${expected.join(" or ")}`]

/** Checks that a new instance has intact stores, no backups and no files of the interrupted first start. */
function judgeNewInstance(dataDir: string, users: number): string[] {
  const backups = join(dataDir, "backups")
  const made = existsSync(backups) ? readdirSync(backups) : []
  return [
    ...judgeStores(dataDir),
    ...judgeLeftovers(dataDir),
    ...different("users", rowsIn(dataDir, "catalog.db", "users"), [users]),
    ...(made.length === 0 ? [] : [`a new instance has backups: ${made.join(", ")}`]),
  ]
}

const judgeStores = (dataDir: string): string[] => ["catalog.db", "events.db"].flatMap((name) => judgeFile(join(dataDir, name)))

function judgeFile(path: string): string[] {
  if (!existsSync(path)) return [`${path} is missing`]
  const db = new Database(path, { readwrite: true })
  const rows = db.query<{ integrity_check: string }, []>("pragma integrity_check").all()
  db.close()
  return rows.map((row) => row.integrity_check).filter((line) => line !== "ok")
}

/** Temporary files of an operation, which the next start has to remove. */
function judgeLeftovers(dataDir: string): string[] {
  const inside = readdirSync(dataDir, { recursive: true, encoding: "utf8" })
  const left = inside.filter((name) => /(^|\/)(\.tmp-|\.restore-|\.swap\.json|\.probe-|replaced-)|-journal$/.test(name))
  return left.length === 0 ? [] : [`left behind: ${left.join(", ")}`]
}

function rowsIn(dataDir: string, file: string, table: string): number {
  const db = new Database(join(dataDir, file), { readwrite: true })
  const { n } = db.query<{ n: number }, []>(`select count(*) as n from ${table}`).get()!
  db.close()
  return n
}

function visitsIn(dataDir: string): { native: number; imported: number } {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 8 << 20 })
  const found = { native: 0, imported: 0 }
  for (const { importId, visits } of reader.snapshot(1, "visits", "all").parts) found[importId === 0 ? "native" : "imported"] += visits
  reader.close()
  return found
}

async function backupsIn(dataDir: string): Promise<{ verified: string[] }> {
  const { code, output } = await run(["backup", "list", "--json", "--data-dir", dataDir])
  const all: { id: string; verified_at: string | null }[] = code === 0 ? JSON.parse(output) : []
  return { verified: all.filter(({ verified_at }) => verified_at !== null).map(({ id }) => id) }
}

async function run(words: readonly string[], input = ""): Promise<{ code: number; output: string; errors: string }> {
  const child = Bun.spawn([...PROGRAM, ...words], { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" })
  const [output, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { code, output, errors }
}
