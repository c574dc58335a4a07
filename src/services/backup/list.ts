import { existsSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../domain/error.ts"
import type { Report } from "../runtime/control.ts"
import { backupFolder, type DamagedBackup, listBackups, listDamagedBackups, type Manifest } from "./folder.ts"
import type { RemoteBackups } from "./remote-backups.ts"

/** A backup and its location. */
export interface ListedBackup extends Manifest {
  target: "local" | "s3"
  /** Included stores, and `config` for a readable copy of the settings. */
  includes: string[]
}

/** Access to backups by id, in the data folder and in the bucket. */
export interface BackupList {
  /**
   * Lists all backups, newest first, including damaged ones and those that only exist in the bucket. `bucketError` describes why
   * the bucket could not be read.
   */
  list(): Promise<{ backups: (ListedBackup | DamagedBackup)[]; bucketError: string | undefined }>
  /** Returns a backup, damaged or not. Throws `backup_not_found`. */
  find(id: string | undefined): Promise<ListedBackup | DamagedBackup>
  /** Returns an intact backup. Throws `backup_not_found`, and `backup_corrupt` for a damaged one. */
  get(id: string | undefined): Promise<ListedBackup>
  /** Returns a backup, fetching it from the bucket if it does not exist locally. */
  fetchMissing(id: string, report: Report): Promise<Manifest>
}

const ID = /^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$/

export function createBackupList({ dataDir, remoteBackups }: { dataDir: string; remoteBackups: RemoteBackups }): BackupList {
  const localById = (id: string | undefined): Manifest | undefined =>
    ID.test(id ?? "") ? listBackups(dataDir).find((manifest) => manifest.id === id) : undefined
  const listed = (manifest: Manifest, target: ListedBackup["target"]): ListedBackup => ({
    ...manifest,
    target,
    includes: [
      ...(manifest.catalog === "remote" ? [] : ["catalog"]),
      "events",
      ...(target === "local" && existsSync(join(backupFolder(dataDir, manifest.id), "config.json")) ? ["config"] : []),
    ],
  })
  async function find(id: string | undefined): Promise<ListedBackup | DamagedBackup> {
    const found = localById(id)
    if (found) return listed(found, "local")
    const damaged = listDamagedBackups(dataDir).find((backup) => backup.id === id)
    if (damaged) return damaged
    const copy = remoteBackups.isOn() ? await remoteBackups.find(id ?? "") : undefined
    if (!copy) throw new AppError("backup_not_found", "This backup does not exist.")
    return listed(copy, "s3")
  }

  return {
    find,
    async get(id) {
      const found = await find(id)
      if ("damage" in found) throw new AppError("backup_corrupt", found.damage)
      return found
    },
    fetchMissing: async (id, report) => localById(id) ?? remoteBackups.fetch(id, report),
    async list() {
      const local = listBackups(dataDir)
      const damaged = listDamagedBackups(dataDir)
      const { copies, bucketError } = await copiesIn(remoteBackups)
      const known = new Set([...local, ...damaged].map(({ id }) => id))
      const others = copies.filter(({ id }) => !known.has(id)).map((copy) => listed(copy, "s3"))
      const all = [...local.map((manifest) => listed(manifest, "local")), ...damaged, ...others]
      return { backups: all.sort((left, right) => right.created_at.localeCompare(left.created_at)), bucketError }
    },
  }
}

/** Lists the backups in the bucket. An unreachable bucket must not prevent listing the local ones. */
async function copiesIn(remote: RemoteBackups): Promise<{ copies: Manifest[]; bucketError: string | undefined }> {
  if (!remote.isOn()) return { copies: [], bucketError: undefined }
  try {
    return { copies: await remote.list(), bucketError: undefined }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { copies: [], bucketError: error.message }
  }
}
