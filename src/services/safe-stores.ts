import type { Log } from "../domain/log.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { listSiteIds } from "../store/catalog/copy.ts"
import { type Backups, createBackups } from "./backup.ts"
import type { KeepRules } from "./backup-rotation.ts"
import type { Exclusive } from "./exclusive.ts"
import { openStores, type Stores, type StoresOptions } from "./stores.ts"

interface SafeStoresOptions extends Omit<StoresOptions, "backUp"> {
  log: Log
  keep: KeepRules
  exclusive: Exclusive
  backupWorkerUrl: string
  /** False: migrate without a backup before. */
  backUpBeforeMigrating: boolean
}

interface SafeStores extends Stores {
  backups: Backups
  /** The backup that was made before a migration. */
  safety: string | null
}

/** Opens both stores, with a backup of what they hold before anything is migrated. */
export async function openSafely(options: SafeStoresOptions): Promise<SafeStores> {
  const backupsOver = (catalog: Catalog) => createBackups(backupOptions(options, catalog))
  let safety: string | null = null
  const backUp = async (catalog: Catalog) => {
    safety = (await backupsOver(catalog).create("migration")).id
  }
  const stores = await openStores({ ...options, backUp: options.backUpBeforeMigrating ? backUp : undefined })
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
    copyCatalog: catalog.remote ? undefined : (target) => catalog.vacuumInto(target),
    siteIds: () => listSiteIds(catalog),
  }
}
