import { existsSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../domain/error.ts"
import { backupFolder, listBackups, type Manifest } from "../backup-folder.ts"
import type { Report } from "../control.ts"
import type { RemoteBackups } from "../remote-backups.ts"

/** A backup, and where it lies. */
export interface ListedBackup extends Manifest {
  target: "local" | "s3"
  /** Stores, and settings for people to read. */
  includes: string[]
}

/** Backups by their ids, wherever they lie. */
export interface BackupList {
  /** The youngest first, those that only the bucket has among them; and what hinders asking it, if anything. */
  list(): Promise<{ backups: ListedBackup[]; hindrance: string | undefined }>
  /** Throws `backup_not_found`. */
  get(id: string | undefined): Promise<ListedBackup>
  /** Brings it into the folder, if only the bucket has it. */
  bring(id: string, report: Report): Promise<Manifest>
}

const ID = /^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$/

export function createBackupList({ dataDir, remoteBackups }: { dataDir: string; remoteBackups: RemoteBackups }): BackupList {
  const here = (id: string | undefined): Manifest | undefined =>
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
  async function get(id: string | undefined): Promise<ListedBackup> {
    const found = here(id)
    if (found) return listed(found, "local")
    const copy = remoteBackups.isOn() ? await remoteBackups.find(id ?? "") : undefined
    if (!copy) throw new AppError("backup_not_found", "No backup has this id")
    return listed(copy, "s3")
  }

  return {
    get,
    bring: async (id, report) => here(id) ?? remoteBackups.fetch(id, report),
    async list() {
      const local = listBackups(dataDir)
      const { copies, hindrance } = await copiesIn(remoteBackups)
      const known = new Set(local.map(({ id }) => id))
      const others = copies.filter(({ id }) => !known.has(id)).map((copy) => listed(copy, "s3"))
      const all = [...local.map((manifest) => listed(manifest, "local")), ...others]
      return { backups: all.sort((left, right) => right.created_at.localeCompare(left.created_at)), hindrance }
    },
  }
}

/** A bucket that does not answer hides nothing of what is here. */
async function copiesIn(remote: RemoteBackups): Promise<{ copies: Manifest[]; hindrance: string | undefined }> {
  if (!remote.isOn()) return { copies: [], hindrance: undefined }
  try {
    return { copies: await remote.list(), hindrance: undefined }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { copies: [], hindrance: error.message }
  }
}
