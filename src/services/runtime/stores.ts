import { existsSync, statSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import { type Catalog, catalogUrl, openCatalog } from "../../store/catalog/catalog.ts"
import { hasOtherLiveNodes } from "../../store/catalog/nodes.ts"
import { catalogSchemas, migrate, pendingMigrations } from "../../store/catalog/schema.ts"
import { isInUse } from "../../store/catalog/users.ts"
import { type EventFileInspection, inspectEventFile } from "../../store/events/copy.ts"
import { eventSchemas } from "../../store/events/database.ts"
import { type EventStore, type MoveLog, openEventStore } from "../../store/events/events.ts"
import type { StoreFault } from "../../store/events/fault.ts"
import type { RowServer } from "../../store/rows/reader.ts"
import type { Random } from "../secrets/secrets.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { joinNodes, type LiveNodes, leaseMigration } from "./nodes.ts"
import type { PluginFacts } from "./plugins.ts"
import { type CatalogLease, leaseCatalog, nodeId, openRemoteCatalog, type RemoteCatalog } from "./remote-catalog.ts"
import { openRows } from "./row-server.ts"
import { toExitFault } from "./store-states.ts"

export interface StoresOptions {
  dataDir: string
  version: string
  clock: Clock
  random: Random
  remoteCatalog: RemoteCatalog | undefined
  /** Server with the row tables of plugins. Default: they are in the event store. */
  rowServer?: RowServer | undefined
  /** Whether several nodes share the catalog, which is then on a server. */
  severalNodes?: boolean
  /** Whether the instance is only opened to move its events. */
  isMoving?: boolean
  /** Whether nodes that share the catalog need the same row tables, because they have the same events. */
  sharesRows?: boolean
  onFault(fault: StoreFault): void
  plugins: readonly PluginFacts[]
  /** Memory for unsealed events in each thread. Default: that of the event store. */
  tailBytes?: number
  /** Moves the log of the event store into its file on another thread. */
  moveLog?: MoveLog
  /** Called before the first migration of stores that contain data. A rejection stops the start before anything is changed. */
  backUp: ((catalog: Catalog) => Promise<unknown>) | undefined
  /** Prepares the server that the events are on, while no other node migrates. */
  prepareServer?: ((events: EventStore, catalog: Catalog) => Promise<void>) | undefined
  /** Called when readers may open the event store. */
  onEventsReadable?: (() => void) | undefined
}

export interface Stores {
  catalog: Catalog
  events: EventStore
  /** The row tables of plugins on a server. */
  rowServer: Catalog | undefined
  /** Lease on a catalog server. */
  lease: CatalogLease | undefined
  /** The nodes that share the catalog. Undefined for its only process. */
  nodes: LiveNodes | undefined
  /** Migrations that were applied, in order. */
  migrations: string[]
}

/** Opens both stores and migrates them to this version. On failure throws an `ExitFault` and leaves nothing open. */
export async function openStores(options: StoresOptions): Promise<Stores> {
  try {
    return await open(options)
  } catch (error) {
    throw toExitFault(error, options.dataDir)
  }
}

/** Returns the migrations that opening would run. The stores must not be in use. Changes nothing; throws an `ExitFault` for a newer store. */
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
 * Returns whether the stores contain nothing that must be backed up before a migration: they are new, or their first start was
 * interrupted. A catalog on a server is backed up there, and may have been filled by another node.
 */
const areUnused = async (catalog: Catalog, events: EventFileInspection): Promise<boolean> =>
  catalog.remote ? events.isNew : !(await isInUse(catalog))

/** Returns the fault of a lost event store. Replacing it with an empty one would silently lower all figures. */
const lostEvents = (path: string) =>
  new ExitFault(
    "damaged",
    `${path} is missing or empty, but the catalog is in use. Put the file back, or restore a backup with footfall backup list, then footfall backup restore <id>. To continue with an empty event store, run footfall migrate up --no-backup`,
  )

/** Returns the fault of a lost catalog. A new one would have no accounts and no sites, and could not read the sealed salts. */
const lostCatalog = (path: string) =>
  new ExitFault(
    "damaged",
    `${path} is missing or empty, but the event store contains data. Put the file back, or restore a backup with footfall backup list, then footfall backup restore <id>. To start a new instance, use an empty folder`,
  )

const isEmptyFile = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0

async function open(options: StoresOptions): Promise<Stores> {
  const { dataDir, version, clock, random, remoteCatalog, severalNodes = false } = options
  const { events: eventsPath, catalog: catalogPath } = placesIn(dataDir)
  const schemas = catalogSchemas(options.plugins)
  // Inspected before the catalog is opened, so that nothing is changed if one of the stores is newer than this version.
  using ofEvents = inspectEventFile(eventsPath, { schemas: eventSchemas(options.plugins), version })
  if (!remoteCatalog && !ofEvents.isNew && isEmptyFile(catalogPath)) throw lostCatalog(catalogPath)
  if (ofEvents.isReadable) options.onEventsReadable?.()
  const catalog = remoteCatalog
    ? await openRemoteCatalog(remoteCatalog, options.onFault)
    : await openCatalog(catalogUrl(catalogPath), options)
  let lease: CatalogLease | undefined
  let events: EventStore | undefined
  let rowServer: Catalog | undefined
  try {
    // Taken before anything is changed, because two nodes must not migrate at the same time.
    const identity = { node: nodeId(dataDir, random), random, monotonic: clock.monotonic }
    if (remoteCatalog) lease = await (severalNodes ? leaseMigration : leaseCatalog)(catalog, identity)
    const ofCatalog = (await pendingMigrations(catalog, schemas, version)).map(({ name }) => name)
    const migrations = [...ofCatalog, ...ofEvents.pending]
    const isNew = migrations.length > 0 && (await areUnused(catalog, ofEvents))
    if (options.backUp && !isNew && migrations.length > 0) {
      if (ofEvents.isNew) throw lostEvents(eventsPath)
      await options.backUp(catalog)
    }
    await migrate(catalog, schemas, { version, now: clock.now() })
    const hasOthers = options.sharesRows === true && (await hasOtherLiveNodes(catalog, identity.node))
    rowServer = await openRows({ ...options, rowServer: options.rowServer, catalog, ofEvents, hasOthers, now: clock.now() })
    events = openEventStore(eventsPath, {
      now: clock.now(),
      version,
      schemas: eventSchemas(options.plugins),
      ...(options.tailBytes && { tailBytes: options.tailBytes }),
      ...(options.moveLog && { moveLog: options.moveLog }),
    })
    await options.prepareServer?.(events, catalog)
    const nodes = severalNodes ? await joinNodes(catalog, events, { ...identity, version }) : undefined
    if (nodes) {
      await lease?.release()
      lease = nodes
    }
    if (!ofEvents.isReadable) options.onEventsReadable?.()
    return { catalog, events, rowServer, lease, nodes, migrations: isNew ? [] : migrations }
  } catch (error) {
    events?.close()
    await rowServer?.close()
    await lease?.release().catch(() => {}) // the lease expires on its own, and the first fault is the one to report
    await catalog.close()
    throw error
  }
}
