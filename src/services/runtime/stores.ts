import { existsSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import { type Catalog, catalogUrl, openCatalog } from "../../store/catalog/catalog.ts"
import { migrate, pendingMigrations } from "../../store/catalog/migrate.ts"
import { catalogSchemas } from "../../store/catalog/schema.ts"
import { isInUse } from "../../store/catalog/users.ts"
import { type EventFileInspection, inspectEventFile } from "../../store/events/copy.ts"
import { eventSchemas } from "../../store/events/database.ts"
import { type EventStore, openEventStore } from "../../store/events/events.ts"
import type { StoreFault } from "../../store/events/fault.ts"
import type { KeptValues } from "../../store/events/writer.ts"
import type { Random } from "../secrets/secrets.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import type { PluginFacts } from "./plugins.ts"
import { type CatalogLease, leaseCatalog, nodeId, openRemoteCatalog, type RemoteCatalog } from "./remote-catalog.ts"
import { toExitFault } from "./store-states.ts"

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
    using ofEvents = inspectEventFile(places.events, { schemas: eventSchemas(plugins), version })
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

/**
 * Whether the stores hold nothing that has to be saved before a migration: they are new, or a first start was cut off at any moment
 * before its end. A catalog on a server is backed up there, and another node may have filled it.
 */
const holdNothing = async (catalog: Catalog, events: EventFileInspection): Promise<boolean> =>
  catalog.remote ? events.isNew : !(await isInUse(catalog))

/** An empty event store in the place of a lost one would answer with smaller numbers. */
const lostEvents = (path: string) =>
  new ExitFault(
    "damaged",
    `${path} is missing or empty, but the catalog is in use. Put the file back, or restore a backup: footfall backup list, then footfall backup restore <id>. To go on with an empty event store: footfall migrate up --no-backup`,
  )

async function open(options: StoresOptions): Promise<Stores> {
  const { dataDir, version, clock, random, remoteCatalog, keptValues } = options
  const { events: eventsPath, catalog: catalogPath } = placesIn(dataDir)
  const schemas = catalogSchemas(options.plugins)
  // Looked at before the catalog is touched: one newer store refuses both.
  using ofEvents = inspectEventFile(eventsPath, { schemas: eventSchemas(options.plugins), version })
  if (ofEvents.isReadable) options.onEventsReadable?.()
  const catalog = remoteCatalog
    ? await openRemoteCatalog(remoteCatalog, options.onFault)
    : await openCatalog(catalogUrl(catalogPath), options)
  let lease: CatalogLease | undefined
  try {
    // Before anything is changed: two nodes must not migrate at once.
    if (remoteCatalog) lease = await leaseCatalog(catalog, { node: nodeId(dataDir, random), random, monotonic: clock.monotonic })
    const ofCatalog = (await pendingMigrations(catalog, schemas, version)).map(({ name }) => name)
    const migrations = [...ofCatalog, ...ofEvents.pending]
    const isNew = migrations.length > 0 && (await holdNothing(catalog, ofEvents))
    if (options.backUp && !isNew && migrations.length > 0) {
      if (ofEvents.isNew) throw lostEvents(eventsPath)
      await options.backUp(catalog)
    }
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
