import { type Catalog, catalogUrl, openCatalog } from "../store/catalog/catalog.ts"
import { migrate, pendingMigrations } from "../store/catalog/migrate.ts"
import { CATALOG_SCHEMA } from "../store/catalog/schema.ts"
import { pendingInEventFile } from "../store/events/copy.ts"
import { type EventStore, openEventStore } from "../store/events/events.ts"
import type { StoreFault } from "../store/events/fault.ts"
import type { KeptValues } from "../store/events/writer.ts"
import { StoreRefusal } from "../store/refusal.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { toExitFault } from "./store-faults.ts"

export interface StoresOptions {
  dataDir: string
  version: string
  now(): number
  /** Of a catalog on a server, with its token. */
  remoteCatalog: { url: string; authToken: string | undefined } | undefined
  onFault(fault: StoreFault): void
  keptValues: KeptValues
  /** Called before the first migration of stores that hold something. Rejecting stops the start with nothing changed. */
  backUp: ((catalog: Catalog) => Promise<unknown>) | undefined
}

export interface Stores {
  catalog: Catalog
  events: EventStore
  /** What was run now, in order. */
  migrations: string[]
}

/** Opens both stores and brings them to this version. Any fault is an `ExitFault`, and nothing stays open. */
export async function openStores(options: StoresOptions): Promise<Stores> {
  try {
    return await open(options)
  } catch (error) {
    throw toExitFault(error, options.dataDir)
  }
}

async function open(options: StoresOptions): Promise<Stores> {
  const { dataDir, version, now, remoteCatalog, keptValues } = options
  const { events: eventsPath, catalog: catalogPath } = placesIn(dataDir)
  // Looked at before the catalog is touched: one newer store refuses both.
  const ofEvents = pendingInEventFile(eventsPath)
  const catalog = remoteCatalog ? await openRemote(remoteCatalog, options) : await openCatalog(catalogUrl(catalogPath), options)
  try {
    const ofCatalog = (await pendingMigrations(catalog, [CATALOG_SCHEMA])).map(({ name }) => name)
    const isNew = ofEvents.isNew && ofCatalog.length === CATALOG_SCHEMA.migrations.length
    const migrations = [...ofCatalog, ...ofEvents.pending]
    if (!isNew && migrations.length > 0) await options.backUp?.(catalog)
    await migrate(catalog, [CATALOG_SCHEMA], { version, now: now() })
    return { catalog, events: openEventStore(eventsPath, { now: now(), version, keptValues }), migrations: isNew ? [] : migrations }
  } catch (error) {
    await catalog.close()
    throw error
  }
}

/** A server may come up later than we do. */
const REMOTE_TRIES = 30

async function openRemote(
  { url, authToken }: { url: string; authToken: string | undefined },
  { onFault }: StoresOptions,
): Promise<Catalog> {
  const catalog = await openCatalog(url, { onFault, ...(authToken !== undefined && { authToken }) })
  for (let attempt = 1; ; attempt++) {
    try {
      await pendingMigrations(catalog, [CATALOG_SCHEMA])
      return catalog
    } catch (error) {
      if (error instanceof StoreRefusal) throw error
      if (attempt === REMOTE_TRIES) throw new ExitFault("unavailable", `The catalog server ${url} cannot be reached`, { cause: error })
      await Bun.sleep(1_000)
    }
  }
}
