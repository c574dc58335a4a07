import { existsSync } from "node:fs"
import type { Clock } from "../domain/clock.ts"
import { type Catalog, catalogUrl, openCatalog } from "../store/catalog/catalog.ts"
import { migrate, pendingMigrations } from "../store/catalog/migrate.ts"
import { catalogSchemas } from "../store/catalog/schema.ts"
import { lookIntoEventFile } from "../store/events/copy.ts"
import { eventSchemas } from "../store/events/database.ts"
import { type EventStore, openEventStore } from "../store/events/events.ts"
import type { StoreFault } from "../store/events/fault.ts"
import type { KeptValues } from "../store/events/writer.ts"
import { type CatalogLease, leaseCatalog } from "./catalog-lease.ts"
import { placesIn } from "./data-folder.ts"
import { nodeId } from "./node-id.ts"
import type { PluginFacts } from "./plugins.ts"
import { openRemoteCatalog, type RemoteCatalog } from "./remote-catalog.ts"
import type { Random } from "./secrets.ts"
import { toExitFault } from "./store-faults.ts"

export interface StoresOptions {
  dataDir: string
  version: string
  clock: Clock
  random: Random
  remoteCatalog: RemoteCatalog | undefined
  onFault(fault: StoreFault): void
  keptValues: KeptValues
  plugins: readonly PluginFacts[]
  /** Called before the first migration of stores that hold something. Rejecting stops the start with nothing changed. */
  backUp: ((catalog: Catalog) => Promise<unknown>) | undefined
  /** Called when readers may open the event store. */
  onEventsReadable?: (() => void) | undefined
}

export interface Stores {
  catalog: Catalog
  events: EventStore
  /** Of a catalog on a server. */
  lease: CatalogLease | undefined
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

/** Migrations that opening would run, of stores that nobody holds. Changes nothing; throws an `ExitFault` for a newer store. */
export async function pendingIn(
  options: Pick<StoresOptions, "dataDir" | "version" | "plugins" | "remoteCatalog">,
): Promise<{ pending: string[]; is_new: boolean }> {
  const { dataDir, version, plugins, remoteCatalog } = options
  const places = placesIn(dataDir)
  try {
    using ofEvents = lookIntoEventFile(places.events, { schemas: eventSchemas(plugins), version })
    const schemas = catalogSchemas(plugins)
    const all = schemas.flatMap(({ migrations }) => migrations.map(({ name }) => name))
    if (!remoteCatalog && !existsSync(places.catalog)) return { pending: [...all, ...ofEvents.pending], is_new: true }
    const catalog = remoteCatalog ? await openRemoteCatalog(remoteCatalog, () => {}) : await openCatalog(catalogUrl(places.catalog))
    try {
      const pending = (await pendingMigrations(catalog, schemas, version)).map(({ name }) => name)
      return { pending: [...pending, ...ofEvents.pending], is_new: ofEvents.isNew && pending.length === all.length }
    } finally {
      await catalog.close()
    }
  } catch (error) {
    throw toExitFault(error, dataDir)
  }
}

async function open(options: StoresOptions): Promise<Stores> {
  const { dataDir, version, clock, random, remoteCatalog, keptValues } = options
  const { events: eventsPath, catalog: catalogPath } = placesIn(dataDir)
  const schemas = catalogSchemas(options.plugins)
  // Looked at before the catalog is touched: one newer store refuses both.
  using ofEvents = lookIntoEventFile(eventsPath, { schemas: eventSchemas(options.plugins), version })
  if (ofEvents.isReadable) options.onEventsReadable?.()
  const catalog = remoteCatalog
    ? await openRemoteCatalog(remoteCatalog, options.onFault)
    : await openCatalog(catalogUrl(catalogPath), options)
  let lease: CatalogLease | undefined
  try {
    // Before anything is changed: two nodes must not migrate at once.
    if (remoteCatalog) lease = await leaseCatalog(catalog, { node: nodeId(dataDir, random), random, monotonic: clock.monotonic })
    const pending = await pendingMigrations(catalog, schemas, version)
    const ofCatalog = pending.map(({ name }) => name)
    // A catalog on a server is backed up there: what another node has filled is nothing to save here.
    const isNew = ofEvents.isNew && (catalog.remote || pending.length === schemas.flatMap((list) => list.migrations).length)
    const migrations = [...ofCatalog, ...ofEvents.pending]
    if (!isNew && migrations.length > 0) await options.backUp?.(catalog)
    await migrate(catalog, schemas, { version, now: clock.now() })
    const events = openEventStore(eventsPath, { now: clock.now(), version, keptValues, schemas: eventSchemas(options.plugins) })
    if (!ofEvents.isReadable) options.onEventsReadable?.()
    return { catalog, events, lease, migrations: isNew ? [] : migrations }
  } catch (error) {
    await lease?.give().catch(() => {}) // it runs out by itself; the first fault is told
    await catalog.close()
    throw error
  }
}
