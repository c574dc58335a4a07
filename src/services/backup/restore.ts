import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import type { Actor } from "../../domain/audit.ts"
import type { Log } from "../../domain/log.ts"
import { catalogUrl, openCatalog } from "../../store/catalog/catalog.ts"
import { examineCatalogFile, listSiteIds } from "../../store/catalog/copy.ts"
import { catalogSchemas, migrate } from "../../store/catalog/schema.ts"
import { endAllSignIns } from "../../store/catalog/sessions.ts"
import { eventSchemas } from "../../store/events/database.ts"
import { openEventStore } from "../../store/events/events.ts"
import { createAudit } from "../audit/audit.ts"
import type { Report } from "../runtime/control.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { ExitFault, ForeignFile } from "../runtime/exit.ts"
import { replaceFile, syncPath } from "../runtime/files.ts"
import type { PluginFacts } from "../runtime/plugins.ts"
import { toExitFault } from "../runtime/store-states.ts"
import { createExclusive } from "../runtime/tasks.ts"
import { type Backups, checkBackup, createBackups, openSealed } from "./backup.ts"
import { backupFolder, type Manifest, readManifest, removeUnfinished } from "./folder.ts"
import { keyFor } from "./sealing.ts"

export interface RestoreOptions {
  /** Data folder whose lock is held and whose stores are closed. */
  dataDir: string
  version: string
  workerUrl: string
  now(): number
  log: Log
  plugins: readonly PluginFacts[]
  /** Whether the catalog is on a server. Only the event store is restored then. */
  remoteCatalog: boolean
  /** Passphrase of a sealed backup. */
  passphrase?: string | undefined
}

export interface Restored {
  restored: string
  /** Id of the backup of the previous stores. Null if they were too damaged to copy. */
  safety_backup: string | null
  /** Folder with the damaged files in that case. */
  replaced_files: string | null
}

/**
 * Replaces the current stores by a backup, after finishing an interrupted restore. The current files are never overwritten: all
 * work is done on copies, which are checked and migrated, and the last step is a rename. A failure before that leaves the
 * current files unchanged.
 */
export async function restoreBackup(options: RestoreOptions, idOrPath: string, report: Report): Promise<Restored> {
  const { dataDir, log } = options
  finishInterrupted(dataDir, log)
  const folder = backupFolder(dataDir, idOrPath)
  const manifest = readManifest(folder)
  const staged = join(dataDir, `.restore-${options.now()}`)
  const { safety, replaced } = await prepare(options, folder, staged, manifest, report)
  report({ what: "exchanging the files", done: 1, total: 1 })
  swapStores(dataDir, { staged, replaced, files: manifest.files.map(({ name }) => name), discard: safety !== undefined })
  return { restored: manifest.id, safety_backup: safety?.id ?? null, replaced_files: !safety && existsSync(replaced) ? replaced : null }
}

/** Performs all steps that may fail, without changing the current files. */
async function prepare(
  options: RestoreOptions,
  folder: string,
  staged: string,
  manifest: Manifest,
  report: Report,
): Promise<CurrentStores> {
  try {
    await stageBackup(options, { folder, staged, manifest, passphrase: options.passphrase }, report)
    return await backUpCurrent(options, report)
  } catch (error) {
    rmSync(staged, { recursive: true, force: true })
    throw toExitFault(error, options.dataDir)
  }
}

/**
 * Copies the files of a backup into a folder, checks them in full and migrates them to this version. The current stores may be
 * open meanwhile. Throws `wrong_passphrase`, `backup_corrupt`, and an `ExitFault` for files that do not fit.
 */
export async function stageBackup(
  options: Pick<RestoreOptions, "workerUrl" | "version" | "now" | "plugins">,
  { folder, staged, manifest, passphrase }: { folder: string; staged: string; manifest: Manifest; passphrase?: string | undefined },
  report: Report,
): Promise<void> {
  await stage(folder, staged, manifest, passphrase)
  const { sealed: _, ...plain } = manifest
  await checkBackup(staged, plain, { full: true, workerUrl: options.workerUrl }, report)
  await rejectForeign(staged, manifest)
  await migrateStaged(staged, manifest, options)
}

/** A restored store would count its events again from an earlier number, under which ClickHouse has other events. */
const IS_SHIPPED = new ExitFault(
  "configuration",
  "The events of this backup are on ClickHouse, and only the server can restore them. Start the node with an empty data folder",
)

interface CurrentStores {
  safety: Manifest | undefined
  replaced: string
}

/** Copies the files that the manifest names, under known names only. */
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

async function rejectForeign(staged: string, manifest: Manifest): Promise<void> {
  if (manifest.catalog === "remote") return
  const { ours } = examineCatalogFile(join(staged, "catalog.db"), { full: false })
  if (!ours) throw new ForeignFile(`catalog.db of ${manifest.id} belongs to another program`)
}

/** Migrates the staged stores. Opening also rejects files of a newer version. Afterwards each store is a single file without a log. */
async function migrateStaged(
  staged: string,
  manifest: Manifest,
  { version, now, plugins }: Pick<RestoreOptions, "version" | "now" | "plugins">,
): Promise<void> {
  const events = openEventStore(join(staged, "events.db"), { now: now(), version, schemas: eventSchemas(plugins) })
  const isShipped = events.holding() === "shipped"
  events.checkpoint("truncate")
  events.close()
  if (isShipped) throw IS_SHIPPED
  if (manifest.catalog === "remote") return
  const catalog = await openCatalog(catalogUrl(join(staged, "catalog.db")))
  try {
    await migrate(catalog, catalogSchemas(plugins), { version, now: now() })
    await endAllSignIns(catalog, now())
    await catalog.checkpoint()
  } finally {
    await catalog.close()
  }
}

/** Backs up the current stores. If they are damaged, which is the usual reason for a restore, their files are moved aside instead. */
async function backUpCurrent(options: RestoreOptions, report: Report): Promise<CurrentStores> {
  const { dataDir, now, log } = options
  const replaced = join(dataDir, `replaced-${new Date(now()).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`)
  if (!existsSync(placesIn(dataDir).events)) return { safety: undefined, replaced }
  report({ what: "backing up the current stores", done: 0, total: 1 })
  try {
    return { safety: await createSafetyBackup(options, report), replaced }
  } catch (error) {
    const fault = toExitFault(error, dataDir)
    if (!(fault instanceof ExitFault) || fault.exit === "storage") throw fault
    log.warn("the current stores cannot be backed up and are moved aside", { replaced, cause: fault.message })
    return { safety: undefined, replaced }
  }
}

/** Backs up the files without migrating them, so that a later failure leaves them unchanged. */
async function createSafetyBackup(options: RestoreOptions, report: Report): Promise<Manifest> {
  const catalog = options.remoteCatalog ? undefined : await openCatalog(catalogUrl(placesIn(options.dataDir).catalog))
  try {
    const backups = createBackups({
      ...options,
      keep: { daily: 0, weekly: 0 },
      exclusive: createExclusive(),
      copyCatalog: catalog && ((target) => catalog.copyTo(target)),
      siteIds: async () => (catalog ? listSiteIds(catalog) : []),
    })
    return await backups.create("restore", report)
  } finally {
    await catalog?.close()
  }
}

/** Description of an exchange of stores, written to disk before it starts. */
interface Swap {
  /** Folder with the new files, complete and checked. */
  staged: string
  /** Folder that the current files are moved to. Both folders are inside the data folder. */
  replaced: string
  files: string[]
  /** Whether the replaced files are deleted afterwards, because a backup contains them. */
  discard?: boolean
}

/** Exchanges closed store files by renames. `finishInterrupted` completes the exchange after a crash. */
function swapStores(dataDir: string, swap: Swap): void {
  const missing = swap.files.find((file) => !existsSync(join(swap.staged, file)))
  if (missing) throw new Error(`${missing} is not in ${swap.staged}`)
  for (const file of swap.files) syncPath(join(swap.staged, file))
  syncPath(swap.staged)
  const { staged, replaced } = swap
  replaceFile(placesIn(dataDir).swap, JSON.stringify({ ...swap, staged: basename(staged), replaced: basename(replaced) }))
  finishSwap(dataDir)
}

/** Completes a restore that a crash interrupted, and removes other unfinished files. The folder's lock must be held. */
export function finishInterrupted(dataDir: string, log: Log): void {
  if (finishSwap(dataDir)) log.warn("an interrupted restore has been completed")
  removeUnfinished(dataDir)
}

/** Continues a swap from any point. Returns whether there was one. */
function finishSwap(dataDir: string): boolean {
  const journal = placesIn(dataDir).swap
  if (!existsSync(journal)) return false
  // Only `swapStores` writes this file, and atomically. The data folder may have been moved since, so only the folders' names
  // matter.
  const swap = JSON.parse(readFileSync(journal, "utf8")) as Swap
  const [staged, replaced] = [join(dataDir, basename(swap.staged)), join(dataDir, basename(swap.replaced))]
  const left = swap.files.filter((file) => existsSync(join(staged, file)))
  if (left.length > 0) mkdirSync(replaced, { recursive: true, mode: 0o700 })
  for (const file of left) exchange(dataDir, staged, replaced, file)
  if (existsSync(replaced)) syncPath(replaced)
  syncPath(dataDir)
  if (swap.discard) rmSync(replaced, { recursive: true, force: true })
  rmSync(journal)
  rmSync(staged, { recursive: true, force: true })
  return true
}

/** Exchanges one file. The old file's log is moved first, because SQLite would take it for the new file's log. */
function exchange(dataDir: string, staged: string, replaced: string, file: string): void {
  for (const part of [`${file}-wal`, `${file}-shm`, file]) {
    if (existsSync(join(dataDir, part))) renameSync(join(dataDir, part), join(replaced, part))
  }
  renameSync(join(staged, file), join(dataDir, file))
}

/** A backup whose files are ready to replace the current ones. */
export interface StagedBackup {
  staged: string
  manifest: Manifest
  /** Actor who requested the restore. */
  actor: Actor
}

/**
 * Last phase of a restore, which needs exclusive use of the stores: the instance has stopped accepting requests, backs up its
 * current stores, closes them, exchanges the files and restarts.
 */
export interface OnlineRestore {
  /** Requests the restore, so that the instance stops for it. Returns false if another restore was requested before. */
  ask(backup: StagedBackup): boolean
  readonly isAsked: boolean
  /** Resolves when a restore was requested. */
  readonly requested: Promise<void>
  /** Backs up the current stores, while they are open but no longer written. A failure changes nothing. */
  backUpCurrent(backups: Pick<Backups, "create">): Promise<void>
  /** Exchanges the closed stores. Returns whether they were exchanged. */
  exchange(): boolean
}

export function createOnlineRestore({ dataDir, now }: { dataDir: string; now(): number }): OnlineRestore {
  const { promise: requested, resolve } = Promise.withResolvers<void>()
  let backup: StagedBackup | undefined
  let isBackedUp = false
  return {
    requested,
    get isAsked() {
      return backup !== undefined
    },
    ask(wanted) {
      if (backup) return false
      backup = wanted
      resolve()
      return true
    },
    async backUpCurrent(backups) {
      if (!backup) return
      try {
        const safety = await backups.create("restore")
        await recordRestore(backup, safety.id, now)
        isBackedUp = true
      } catch (error) {
        rmSync(backup.staged, { recursive: true, force: true })
        throw error
      }
    },
    exchange() {
      if (!backup || !isBackedUp || !existsSync(backup.staged)) return false
      const replaced = join(dataDir, `replaced-${new Date(now()).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`)
      // The replaced files are in the backup that was just made.
      swapStores(dataDir, { staged: backup.staged, replaced, files: backup.manifest.files.map(({ name }) => name), discard: true })
      return true
    },
  }
}

/** Writes the audit entry to the restored catalog, because its log continues. */
async function recordRestore({ staged, manifest, actor }: StagedBackup, safetyId: string, now: () => number): Promise<void> {
  if (manifest.catalog === "remote") return
  const catalog = await openCatalog(catalogUrl(join(staged, "catalog.db")))
  try {
    await createAudit({ catalog, clock: { now } }).writeAlone(actor, {
      action: "admin.backup.restore",
      target: { type: "backup", id: manifest.id, label: manifest.label ?? manifest.id },
      changes: { safety_backup: [null, safetyId] },
    })
    await catalog.checkpoint()
  } finally {
    await catalog.close()
  }
}
