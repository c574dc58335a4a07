import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Actor } from "../../domain/audit.ts"
import { catalogUrl, openCatalog } from "../../store/catalog/catalog.ts"
import { createAudit } from "../audit/audit.ts"
import type { Backups } from "./backup.ts"
import type { Manifest } from "./folder.ts"
import { swapStores } from "./restore.ts"

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
    await catalog.checkpoint("truncate")
  } finally {
    await catalog.close()
  }
}
