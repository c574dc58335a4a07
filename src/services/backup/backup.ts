import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Log } from "../../domain/log.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listSiteIds } from "../../store/catalog/copy.ts"
import type { MoveLog } from "../../store/events/events.ts"
import type { Report } from "../runtime/control.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { ExitFault } from "../runtime/exit.ts"
import { syncPath } from "../runtime/files.ts"
import { openStores, type Stores, type StoresOptions } from "../runtime/stores.ts"
import type { Exclusive } from "../runtime/tasks.ts"
import type { Random } from "../secrets/secrets.ts"
import {
  type BackupKind,
  backupFolder,
  beginFolder,
  type DamagedBackup,
  expiredBackups,
  freeId,
  isTooOld,
  type KeepRules,
  listBackups,
  listDamagedBackups,
  type Manifest,
  readManifest,
  storedFiles,
  writeManifest,
} from "./folder.ts"
import { newSealing, openSealedFile, sealFile } from "./sealing.ts"
import { inBackupThread } from "./thread.ts"

export interface BackupOptions {
  dataDir: string
  version: string
  workerUrl: string
  now(): number
  log: Log
  keep: KeepRules
  exclusive: Exclusive
  /** Copies the catalog to a new file over the open connection. Undefined if the catalog is on a server. */
  copyCatalog: ((target: string) => Promise<void>) | undefined
  siteIds(): Promise<number[]>
}

/** Optional properties of a backup. */
export interface BackupTerms {
  label?: string
  /** Passphrase that encrypts the files. */
  passphrase?: string
  random?: Random
  /** Settings without secrets, as a readable file. */
  config?: object
}

/** Creates, lists, verifies and rotates backups. A backup listed as verified has passed every check of its kind. */
export interface Backups {
  create(kind: BackupKind, report?: Report, terms?: BackupTerms): Promise<Manifest>
  list(): Promise<Manifest[]>
  /** Lists backups whose manifest cannot be read. `list` does not include them. */
  listDamaged(): Promise<DamagedBackup[]>
  /** Verifies hashes, integrity and row counts again. A failure marks the backup and rejects with exit code 65. */
  verify(idOrPath: string, options: { full: boolean }, report?: Report): Promise<Manifest>
  /** Deletes a backup, damaged or not. Rejects with exit code 65 if it does not exist. */
  remove(id: string): Promise<void>
  /** Deletes the backups that the rules no longer keep. Returns their ids. */
  rotate(keep?: KeepRules): Promise<string[]>
}

export function createBackups(options: BackupOptions): Backups {
  const { dataDir, now, log } = options
  return {
    create: (kind, report = ignore, terms = {}) => options.exclusive.run(() => make(options, kind, report, terms)),
    list: async () => listBackups(dataDir),
    listDamaged: async () => listDamagedBackups(dataDir),
    async verify(idOrPath, { full }, report = ignore) {
      const folder = backupFolder(dataDir, idOrPath)
      const manifest = readManifest(folder)
      const at = new Date(now()).toISOString()
      try {
        await checkBackup(folder, manifest, { full, workerUrl: options.workerUrl }, report)
      } catch (error) {
        if (error instanceof ExitFault && error.exit === "damaged") writeManifest(folder, { ...manifest, verified_at: null, failed_at: at })
        throw error
      }
      const verified = { ...manifest, verified_at: at, failed_at: null }
      writeManifest(folder, verified)
      return verified
    },
    async remove(id) {
      rmSync(backupFolder(dataDir, id), { recursive: true })
      log.info("backups removed", { ids: [id] })
    },
    async rotate(keep = options.keep) {
      // A damaged backup still contains visitor data.
      const damaged = listDamagedBackups(dataDir).filter((backup) => isTooOld(backup, now()))
      const gone = [...expiredBackups(listBackups(dataDir), keep, now()), ...damaged.map(({ id }) => id)]
      for (const id of gone) rmSync(backupFolder(dataDir, id), { recursive: true, force: true })
      if (gone.length > 0) log.info("backups removed", { ids: gone })
      return gone
    },
  }
}

/** Compares the files of a backup with its manifest: sizes and hashes, integrity by each store's own engine, row counts. */
export async function checkBackup(
  folder: string,
  manifest: Manifest,
  { full, workerUrl }: { full: boolean; workerUrl: string },
  report: Report = ignore,
): Promise<void> {
  const steps = manifest.files.length + 2
  for (const [done, file] of storedFiles(manifest).entries()) {
    report({ what: `hashing ${file.name}`, done, total: steps })
    await checkHash(folder, file, workerUrl)
  }
  // Sealed files can only be opened with the passphrase, so their content is not checked.
  if (manifest.sealed) return
  report({ what: "checking the event store", done: manifest.files.length, total: steps })
  const events = await inBackupThread<"examine">(workerUrl, { do: "examine", path: join(folder, "events.db"), full })
  refuseDifference(`${manifest.id}: events.db`, events, manifest.rows.events)
  if (manifest.catalog === "remote") return
  report({ what: "checking the catalog", done: steps - 1, total: steps })
  const catalog = await inBackupThread<"examine-catalog">(workerUrl, { do: "examine-catalog", path: join(folder, "catalog.db"), full })
  refuseDifference(`${manifest.id}: catalog.db`, catalog, manifest.rows.catalog)
}

const ignore: Report = () => {}

async function make(options: BackupOptions, kind: BackupKind, report: Report, terms: BackupTerms): Promise<Manifest> {
  const { dataDir, now, log } = options
  refuseSmallDisk(dataDir)
  const id = freeId(dataDir, now(), kind)
  const folder = beginFolder(dataDir, id)
  try {
    const head = { id, kind, created_at: new Date(now()).toISOString(), ...(terms.label !== undefined && { label: terms.label }) }
    const filled = await fill(options, folder, head, report)
    const manifest = terms.passphrase === undefined ? filled : await seal(options, folder, filled, terms)
    if (terms.config) writeConfig(folder, terms.config)
    await inBackupThread<"publish">(options.workerUrl, { do: "publish", dataDir, folder, manifest })
    log.info("backup made", { id })
    return manifest
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

type Head = Pick<Manifest, "id" | "kind" | "created_at" | "label">

function writeConfig(folder: string, config: object): void {
  const path = join(folder, "config.json")
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
  syncPath(path)
}

/** Replaces the files that were just checked by sealed ones. */
async function seal(
  { workerUrl }: BackupOptions,
  folder: string,
  manifest: Manifest,
  { passphrase = "", random }: BackupTerms,
): Promise<Manifest> {
  const bytes = random ?? ((count: number) => crypto.getRandomValues(new Uint8Array(count)))
  const { key, terms } = await newSealing(passphrase, bytes)
  for (const { name } of manifest.files) {
    await sealFile(key, name, join(folder, name), join(folder, `${name}.sealed`), bytes)
    rmSync(join(folder, name))
  }
  const names = manifest.files.map(({ name }) => `${name}.sealed`)
  return { ...manifest, sealed: { ...terms, files: await describeFiles(folder, names, workerUrl) } }
}

/** Opens the files of a sealed backup into another folder. Throws `backup_corrupt`. */
export async function openSealed(key: Buffer, folder: string, target: string, manifest: Manifest): Promise<void> {
  for (const { name } of manifest.files) await openSealedFile(key, name, join(folder, `${name}.sealed`), join(target, name))
}

async function fill(options: BackupOptions, folder: string, head: Head, report: Report): Promise<Manifest> {
  const { copyCatalog, workerUrl, version } = options
  const catalogPath = join(folder, "catalog.db")
  const eventsPath = join(folder, "events.db")
  const sites = await options.siteIds()
  report({ what: "copying the catalog", done: 0, total: 100 })
  if (copyCatalog) {
    await copyCatalog(catalogPath)
    await inBackupThread<"clean-catalog">(workerUrl, { do: "clean-catalog", path: catalogPath })
  }
  await copyEvents(options.dataDir, eventsPath, workerUrl, report)
  report({ what: "checking the copies", done: 90, total: 100 })
  const catalog = copyCatalog
    ? await inBackupThread<"examine-catalog">(workerUrl, { do: "examine-catalog", path: catalogPath, full: false })
    : { faults: [], schema: [], tables: {} }
  const events = await inBackupThread<"examine">(workerUrl, { do: "examine", path: eventsPath, full: false })
  refuseFaults(`${head.id}: the copy of the catalog`, catalog.faults)
  refuseFaults(`${head.id}: the copy of the event store`, events.faults)
  return {
    format: 1,
    ...head,
    version,
    catalog: copyCatalog ? "file" : "remote",
    schemas: { catalog: catalog.schema, events: events.schema },
    rows: { catalog: catalog.tables, events: events.tables },
    events_by_site: await inBackupThread<"count">(workerUrl, { do: "count", path: eventsPath, sites }),
    files: await describeFiles(folder, copyCatalog ? ["catalog.db", "events.db"] : ["events.db"], workerUrl),
    verified_at: new Date(options.now()).toISOString(),
    failed_at: null,
  }
}

/** Copies the event store. SQLite reports no progress, so it is estimated from the size of the growing copy. */
async function copyEvents(dataDir: string, target: string, workerUrl: string, report: Report): Promise<void> {
  const source = placesIn(dataDir).events
  const total = Math.max(1, statSync(source).size)
  const timer = setInterval(() => {
    const share = Math.min(1, (statSync(target, { throwIfNoEntry: false })?.size ?? 0) / total)
    report({ what: "copying the event store", done: 5 + Math.round(share * 80), total: 100 })
  }, 250)
  try {
    await inBackupThread<"copy">(workerUrl, { do: "copy", source, target })
  } finally {
    clearInterval(timer)
  }
}

async function describeFiles(folder: string, names: readonly string[], workerUrl: string): Promise<Manifest["files"]> {
  const files: Manifest["files"] = []
  for (const name of names) {
    const path = join(folder, name)
    files.push({ name, ...(await inBackupThread<"hash">(workerUrl, { do: "hash", path, sync: true })) })
  }
  return files
}

/** Throws if the disk has less free space than the stores take. */
function refuseSmallDisk(dataDir: string): void {
  const { catalog, events } = placesIn(dataDir)
  const needed = [catalog, events, `${events}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize < needed) throw new ExitFault("storage", `A backup needs ${mib(needed)} MiB, and ${mib(bavail * bsize)} MiB are free`)
}

const mib = (bytes: number): number => Math.ceil(bytes / 1_048_576)

async function checkHash(folder: string, file: Manifest["files"][number], workerUrl: string): Promise<void> {
  const path = join(folder, file.name)
  if (!existsSync(path)) throw new ExitFault("damaged", `${path} is missing`)
  const found = await inBackupThread<"hash">(workerUrl, { do: "hash", path })
  if (found.sha256 !== file.sha256) throw new ExitFault("damaged", `${path} has changed since the backup was made. Restore another backup`)
}

function refuseDifference(
  what: string,
  found: { faults: string[]; tables: Record<string, number> },
  expected: Record<string, number>,
): void {
  refuseFaults(what, found.faults)
  const wrong = Object.keys(expected).find((table) => found.tables[table] !== expected[table])
  if (wrong) throw new ExitFault("damaged", `${what} has ${found.tables[wrong] ?? 0} rows in ${wrong} instead of ${expected[wrong]}`)
}

function refuseFaults(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new ExitFault("damaged", `${what} is damaged: ${faults[0]}`)
}

interface SafeStoresOptions extends Omit<StoresOptions, "backUp"> {
  log: Log
  keep: KeepRules
  exclusive: Exclusive
  backupWorkerUrl: string
  /** Whether to make a backup before a migration. */
  backUpBeforeMigrating: boolean
}

interface SafeStores extends Stores {
  backups: Backups
  /** Id of the backup made before a migration. */
  safety: string | null
}

/** Opens both stores. If they have to be migrated, a backup of their content is made first. */
export async function openStoresWithBackup(options: SafeStoresOptions): Promise<SafeStores> {
  const backupsOver = (catalog: Catalog) => createBackups(backupOptions(options, catalog))
  let safety: string | null = null
  const backUp = async (catalog: Catalog) => {
    safety = (await backupsOver(catalog).create("migration")).id
  }
  const moveLog: MoveLog = (path, beforeLast, isEmptied = false) => {
    const task = { do: "move-pages", path, all: beforeLast !== undefined, isEmptied } as const
    return inBackupThread<"move-pages">(options.backupWorkerUrl, task, beforeLast)
  }
  const stores = await openStores({ ...options, moveLog, backUp: options.backUpBeforeMigrating ? backUp : undefined })
  return { ...stores, backups: backupsOver(stores.catalog), safety }
}

function backupOptions(options: SafeStoresOptions, catalog: Catalog): Parameters<typeof createBackups>[0] {
  return {
    dataDir: options.dataDir,
    version: options.version,
    workerUrl: options.backupWorkerUrl,
    now: options.clock.now,
    log: options.log,
    keep: options.keep,
    exclusive: options.exclusive,
    copyCatalog: catalog.remote ? undefined : (target) => catalog.copyTo(target),
    siteIds: () => listSiteIds(catalog),
  }
}
