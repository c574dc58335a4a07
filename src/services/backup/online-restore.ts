import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Actor } from "../domain/audit.ts"
import { catalogUrl, openCatalog } from "../store/catalog/catalog.ts"
import { createAudit } from "./audit.ts"
import type { Backups } from "./backup.ts"
import type { Manifest } from "./backup-folder.ts"
import { swapStores } from "./swap.ts"

/** A backup whose files are ready to take the place of the present ones. */
export interface StagedBackup {
  staged: string
  manifest: Manifest
  /** Who wants it. */
  actor: Actor
}

/**
 * The last part of a restore, for which nobody may use the stores: the instance has stopped taking requests, makes a backup of
 * what is there, closes both stores, exchanges the files and begins anew.
 */
export interface OnlineRestore {
  /** From now on the instance is to stop for it. One at a time; false when one is under way. */
  ask(backup: StagedBackup): boolean
  readonly isAsked: boolean
  /** Resolves when somebody has asked. */
  readonly asked: Promise<void>
  /** While the stores are still open, and nothing is written any more. A failure leaves all as it was. */
  keepPresent(backups: Pick<Backups, "create">): Promise<void>
  /** With the stores closed. True when they were exchanged. */
  exchange(): boolean
}

export function createOnlineRestore({ dataDir, now }: { dataDir: string; now(): number }): OnlineRestore {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  let backup: StagedBackup | undefined
  let isKept = false
  return {
    asked,
    get isAsked() {
      return backup !== undefined
    },
    ask(wanted) {
      if (backup) return false
      backup = wanted
      resolve()
      return true
    },
    async keepPresent(backups) {
      if (!backup) return
      try {
        const safety = await backups.create("restore")
        await tellRestored(backup, safety.id, now)
        isKept = true
      } catch (error) {
        rmSync(backup.staged, { recursive: true, force: true })
        throw error
      }
    },
    exchange() {
      if (!backup || !isKept || !existsSync(backup.staged)) return false
      const replaced = join(dataDir, `replaced-${new Date(now()).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`)
      swapStores(dataDir, { staged: backup.staged, replaced, files: backup.manifest.files.map(({ name }) => name) })
      // All of it is in the backup that was just made.
      rmSync(replaced, { recursive: true, force: true })
      return true
    },
  }
}

/** The log that goes on is that of the restored catalog. */
async function tellRestored({ staged, manifest, actor }: StagedBackup, safetyId: string, now: () => number): Promise<void> {
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
