import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Log } from "../domain/log.ts"
import { catalogUrl, openCatalog } from "../store/catalog/catalog.ts"
import { examineCatalogFile, listSiteIds } from "../store/catalog/copy.ts"
import { migrate } from "../store/catalog/migrate.ts"
import { catalogSchemas } from "../store/catalog/schema.ts"
import { endEveryEntry } from "../store/catalog/sessions.ts"
import { eventSchemas } from "../store/events/database.ts"
import { openEventStore } from "../store/events/events.ts"
import { checkBackup, createBackups, openSealed } from "./backup.ts"
import { backupFolder, type Manifest, readManifest } from "./backup-folder.ts"
import { keyFor } from "./backup-sealing.ts"
import type { Report } from "./control.ts"
import { placesIn } from "./data-folder.ts"
import { createExclusive } from "./exclusive.ts"
import { ExitFault } from "./exit.ts"
import type { PluginFacts } from "./plugins.ts"
import { toExitFault } from "./store-faults.ts"
import { swapStores } from "./swap.ts"

export interface RestoreOptions {
  /** Its lock is held, its stores are closed. */
  dataDir: string
  version: string
  workerUrl: string
  now(): number
  log: Log
  plugins: readonly PluginFacts[]
  /** The catalog is on a server: only the event store is restored. */
  remoteCatalog: boolean
  /** Of a sealed backup. */
  passphrase?: string | undefined
}

export interface Restored {
  restored: string
  /** The backup of what was there before; null when that was damaged beyond copying. */
  safety_backup: string | null
  /** Where the damaged files were put, then. */
  replaced_files: string | null
}

/**
 * Puts a backup in the place of the present stores. They are never written over: everything is done on copies, checked
 * and migrated, and the last step is a rename. Any failure before leaves the present files as they were.
 */
export async function restoreBackup(options: RestoreOptions, idOrPath: string, report: Report): Promise<Restored> {
  const { dataDir } = options
  const folder = backupFolder(dataDir, idOrPath)
  const manifest = readManifest(folder)
  const staged = join(dataDir, `.restore-${options.now()}`)
  const { safety, replaced } = await prepare(options, folder, staged, manifest, report)
  report({ what: "putting the restored files in place", done: 1, total: 1 })
  swapStores(dataDir, { staged, replaced, files: manifest.files.map(({ name }) => name) })
  if (safety) rmSync(replaced, { recursive: true, force: true })
  return { restored: manifest.id, safety_backup: safety?.id ?? null, replaced_files: !safety && existsSync(replaced) ? replaced : null }
}

/** Everything that may fail, with the present files untouched. */
async function prepare(options: RestoreOptions, folder: string, staged: string, manifest: Manifest, report: Report): Promise<Kept> {
  try {
    await stageBackup(options, { folder, staged, manifest, passphrase: options.passphrase }, report)
    return await keepPresent(options, report)
  } catch (error) {
    rmSync(staged, { recursive: true, force: true })
    throw toExitFault(error, options.dataDir)
  }
}

/**
 * Puts the files of a backup into a folder, checked in full and migrated to this version: ready to be exchanged. The present
 * stores may be open meanwhile. Throws `wrong_passphrase`, `backup_corrupt`, and an `ExitFault` for what does not fit.
 */
export async function stageBackup(
  options: Pick<RestoreOptions, "workerUrl" | "version" | "now" | "plugins">,
  { folder, staged, manifest, passphrase }: { folder: string; staged: string; manifest: Manifest; passphrase?: string | undefined },
  report: Report,
): Promise<void> {
  await stage(folder, staged, manifest, passphrase)
  const { sealed: _, ...plain } = manifest
  await checkBackup(staged, plain, { full: true, workerUrl: options.workerUrl }, report)
  await refuseForeign(staged, manifest)
  await migrateStaged(staged, manifest, options)
}

interface Kept {
  safety: Manifest | undefined
  replaced: string
}

/** Only the files that the manifest names, under the names that we know. */
async function stage(folder: string, staged: string, manifest: Manifest, passphrase: string | undefined): Promise<void> {
  const names = manifest.catalog === "remote" ? ["events.db"] : ["catalog.db", "events.db"]
  if (names.some((name) => !manifest.files.some((file) => file.name === name)) || manifest.files.length !== names.length)
    throw new ExitFault("damaged", `The manifest of ${manifest.id} does not name its stores`)
  mkdirSync(staged, { mode: 0o700 })
  if (manifest.sealed) return openSealed(await keyFor(passphrase, manifest.sealed), folder, staged, manifest)
  for (const name of names) {
    if (!existsSync(join(folder, name))) throw new ExitFault("damaged", `${join(folder, name)} is missing`)
    copyFileSync(join(folder, name), join(staged, name))
  }
}

async function refuseForeign(staged: string, manifest: Manifest): Promise<void> {
  if (manifest.catalog === "remote") return
  const { ours } = await examineCatalogFile(join(staged, "catalog.db"), { full: false })
  if (!ours) throw new ExitFault("damaged", `catalog.db of ${manifest.id} belongs to another program`)
}

/** Opening also refuses a newer file. Afterwards each store is one file again, without a log beside it. */
async function migrateStaged(
  staged: string,
  manifest: Manifest,
  { version, now, plugins }: Pick<RestoreOptions, "version" | "now" | "plugins">,
): Promise<void> {
  const events = openEventStore(join(staged, "events.db"), { now: now(), version, schemas: eventSchemas(plugins) })
  events.checkpoint("truncate")
  events.close()
  if (manifest.catalog === "remote") return
  const catalog = await openCatalog(catalogUrl(join(staged, "catalog.db")))
  try {
    await migrate(catalog, catalogSchemas(plugins), { version, now: now() })
    await endEveryEntry(catalog, now())
    await catalog.checkpoint("truncate")
  } finally {
    await catalog.close()
  }
}

/** A damaged store is the usual reason for a restore: then its files are kept aside instead of being backed up. */
async function keepPresent(options: RestoreOptions, report: Report): Promise<Kept> {
  const { dataDir, now, log } = options
  const replaced = join(dataDir, `replaced-${new Date(now()).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`)
  if (!existsSync(placesIn(dataDir).events)) return { safety: undefined, replaced }
  report({ what: "backing the present state up", done: 0, total: 1 })
  try {
    return { safety: await backUpPresent(options, report), replaced }
  } catch (error) {
    const fault = toExitFault(error, dataDir)
    if (!(fault instanceof ExitFault) || fault.exit === "storage") throw fault
    log.warn("the present stores cannot be backed up and are kept aside", { replaced, cause: fault.message })
    return { safety: undefined, replaced }
  }
}

/** As the files are: they are not migrated for it, so that a failure later leaves them as they were. */
async function backUpPresent(options: RestoreOptions, report: Report): Promise<Manifest> {
  const catalog = options.remoteCatalog ? undefined : await openCatalog(catalogUrl(placesIn(options.dataDir).catalog))
  try {
    const backups = createBackups({
      ...options,
      keep: { daily: 0, weekly: 0 },
      exclusive: createExclusive(),
      copyCatalog: catalog && ((target) => catalog.vacuumInto(target)),
      siteIds: async () => (catalog ? listSiteIds(catalog) : []),
    })
    return await backups.create("restore", report)
  } finally {
    await catalog?.close()
  }
}
