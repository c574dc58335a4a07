import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { SealingTerms } from "./backup-sealing.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { syncPath } from "./sync-path.ts"

/** Why a backup was made: by hand, by the daily job, before a migration, before a restore. */
const BACKUP_KINDS = ["manual", "daily", "migration", "restore"] as const
export type BackupKind = (typeof BACKUP_KINDS)[number]

/** `manifest.json` of a backup: what is in it and how that is checked. */
export interface Manifest {
  format: 1
  id: string
  kind: BackupKind
  created_at: string
  /** Of the Footfall that made it. */
  version: string
  /** `remote`: the catalog's server has to be backed up by its own means. */
  catalog: "file" | "remote"
  schemas: { catalog: string[]; events: string[] }
  rows: { catalog: Record<string, number>; events: Record<string, number> }
  events_by_site: Record<string, number>
  files: { name: string; bytes: number; sha256: string }[]
  /** When the copies last passed their checks. */
  verified_at: string | null
  /** When they failed them. */
  failed_at: string | null
  /** In the words of whoever made it. */
  label?: string
  /** Its files are sealed by a passphrase: what lies there is not what `files` describes, but these. */
  sealed?: SealingTerms & { files: Manifest["files"] }
}

const manifestPath = (folder: string): string => join(folder, "manifest.json")

/** Finished backups, oldest first. A folder without a manifest of ours is none. */
export function listBackups(dataDir: string): Manifest[] {
  const { backups } = placesIn(dataDir)
  if (!existsSync(backups)) return []
  return readdirSync(backups)
    .filter((name) => !name.startsWith("."))
    .map((name) => join(backups, name))
    .filter((folder) => existsSync(manifestPath(folder)))
    .map((folder) => readManifest(folder))
    .sort((left, right) => left.created_at.localeCompare(right.created_at))
}

/** The folder of a backup that is named by its id or by a path. */
export function backupFolder(dataDir: string, idOrPath: string): string {
  const inside = join(placesIn(dataDir).backups, idOrPath)
  const folder = [inside, idOrPath].find((path) => existsSync(manifestPath(path)))
  if (folder === undefined)
    throw new ExitFault("damaged", `There is no backup ${idOrPath}: footfall backup list shows those in ${placesIn(dataDir).backups}`)
  return folder
}

/** Undefined for what is no manifest of ours. */
export function manifestOf(text: string): Manifest | undefined {
  try {
    // Checked for what tells our manifests from others; the rest is checked against the files.
    const manifest = JSON.parse(text) as Manifest
    const isOurs = manifest.format === 1 && Array.isArray(manifest.files) && typeof manifest.id === "string"
    return isOurs && typeof manifest.created_at === "string" ? manifest : undefined
  } catch {
    return undefined
  }
}

export function readManifest(folder: string): Manifest {
  const path = manifestPath(folder)
  try {
    const manifest = manifestOf(readFileSync(path, "utf8"))
    if (manifest) return manifest
  } catch {}
  throw new ExitFault("damaged", `${path} is no manifest of a backup that this version reads`)
}

export function writeManifest(folder: string, manifest: Manifest): void {
  const path = manifestPath(folder)
  writeFileSync(`${path}.new`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  syncPath(`${path}.new`)
  renameSync(`${path}.new`, path)
  syncPath(folder)
}

/** Files of a backup as they lie in its folder. */
export const storedFiles = ({ files, sealed }: Manifest): Manifest["files"] => sealed?.files ?? files

/** A folder for a backup in the making; invisible until it is renamed. */
export function beginFolder(dataDir: string, id: string): string {
  const folder = join(placesIn(dataDir).backups, `.tmp-${id}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** Makes a finished folder a backup. */
export function publishFolder(dataDir: string, temporary: string, id: string): void {
  const { backups } = placesIn(dataDir)
  renameSync(temporary, join(backups, id))
  syncPath(backups)
}

/** What a crash left half made; called at start, after `finishSwap` and before anything makes a backup. */
export function removeUnfinished(dataDir: string): void {
  const { backups } = placesIn(dataDir)
  for (const [folder, prefix] of [
    [dataDir, ".restore-"],
    [backups, ".tmp-"],
  ] as const) {
    const left = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : []
    for (const name of left) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** `20261121T030000Z-daily`; numbered when that second has one already. */
export function freeId(dataDir: string, now: number, kind: BackupKind): string {
  const base = `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z-${kind}`
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`
    if (!existsSync(join(placesIn(dataDir).backups, id))) return id
  }
}
