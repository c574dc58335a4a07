import type { Clock } from "../../domain/clock.ts"
import type { HostRulings } from "../../domain/host.ts"
import type { Log } from "../../domain/log.ts"
import { CORE_PERMISSIONS, type Permissions } from "../../domain/permission.ts"
import type { Site } from "../../domain/site.ts"
import type { SiteDefaults } from "../../domain/site-input.ts"
import type { IdentityKeys } from "../../ingest/identity/salt-period.ts"
import type { SavedOf } from "../../query/parse/array-filters.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listSites } from "../../store/catalog/sites.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { RowServer } from "../../store/rows/reader.ts"
import { type Access, createAccess } from "../access/access.ts"
import { createHandover, type Handover } from "../access/handover.ts"
import { type AccountSettings, type Accounts, createAccounts } from "../accounts/accounts.ts"
import { createKeys, type Keys } from "../api-keys/api-keys.ts"
import { createIdempotency, type Idempotency } from "../api-keys/idempotency.ts"
import { type Audit, createAudit } from "../audit/audit.ts"
import { type Backups, openStoresWithBackup } from "../backup/backup.ts"
import type { BucketPlace } from "../backup/bucket.ts"
import { type ClickhouseBackups, createClickhouseBackups, withoutNewBackups } from "../backup/clickhouse-backups.ts"
import type { KeepRules } from "../backup/folder.ts"
import { createRemoteBackups, type RemoteBackups, withCopies } from "../backup/remote-backups.ts"
import { finishInterrupted } from "../backup/restore.ts"
import { type BackupSchedule, createBackupSchedule } from "../backup/schedule.ts"
import { type Changes, followChanges } from "../changes/changes.ts"
import { type Connections, createConnections } from "../connections/connections.ts"
import type { ConnectionProvider } from "../connections/providers.ts"
import { type Annotations, createAnnotations } from "../definitions/annotations.ts"
import { createExemptValues } from "../definitions/exempt-values.ts"
import { createFunnels, createGoals, type Funnels, type Goals } from "../definitions/goals.ts"
import { createSegments, type Segments } from "../definitions/segments.ts"
import { createInstanceShields, type InstanceShields } from "../definitions/shields.ts"
import { createVisibleImports, type VisibleImports, type VisibleImportsHolder } from "../imports/visible-imports.ts"
import type { Jobs } from "../jobs/jobs.ts"
import { createOutbox, type Outbox } from "../jobs/outbox.ts"
import { createJobQueue } from "../jobs/queue.ts"
import { createJobSlots, createSchedules, type JobSlots, type Schedules } from "../jobs/schedules.ts"
import { type KeyRotation, openKeys } from "../key-rotation/key-rotation.ts"
import { type StoredSecrets, storedSecrets } from "../key-rotation/stored-secrets.ts"
import { inSlices } from "../lists/paging.ts"
import { type Alarms, createAlarms } from "../mail/alarms.ts"
import { createOrganizations, type Organizations } from "../organizations/organizations.ts"
import { createOutbound, type Outbound, type OutboundSettings } from "../outbound/outbound.ts"
import { resolveAt } from "../outbound/socket.ts"
import { createPeople, type People } from "../people/people.ts"
import { createVisitorSets, type VisitorSetSources } from "../people/visitor-sets.ts"
import { type Lock, placesIn, prepareDataFolder, takeLock } from "../runtime/data-folder.ts"
import { createHealth, type Health } from "../runtime/health.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import { createPlugins, type PluginFacts, type Plugins } from "../runtime/plugins.ts"
import type { CatalogLease, RemoteCatalog } from "../runtime/remote-catalog.ts"
import { type SecretKeys, secretKeys } from "../runtime/secret-key.ts"
import { createStoreStates, type StoreStates } from "../runtime/store-states.ts"
import type { Stores } from "../runtime/stores.ts"
import { createExclusive, type Exclusive } from "../runtime/tasks.ts"
import { createSales, type StoredSales } from "../sales/sales.ts"
import type { Random } from "../secrets/secrets.ts"
import { type ConfiguredSettings, createInstanceSettings, type InstanceSettings } from "../settings/settings.ts"
import { type CreateShareList, createShareList } from "../sharing/share-list.ts"
import { createShares, type Shares } from "../sharing/shares.ts"
import { type ClickhouseOptions, connectClickhouse, requireLocal, type ShippedEvents } from "../shipping/clickhouse.ts"
import { createSessions, type Sessions } from "../sign-in/sessions.ts"
import { loadHostRulings } from "../sites/host-claims.ts"
import { createSalts, createSiteKeys, type SaltStore, type SiteKeys } from "../sites/site-keys.ts"
import { createSites, type Sites } from "../sites/sites.ts"
import { siteFacts } from "../stats/open-report.ts"
import { ownTallies, type StoredTallies } from "../tallies/tallies.ts"
import { createMaintenance, type MaintenanceMode } from "./maintenance.ts"

export interface InstanceOptions {
  dataDir: string
  version: string
  clock: Clock
  log: Log
  random: Random
  /** Configured secret key. Default: the key in the data folder. */
  secretKey: string | undefined
  /** Previous secret key, whose sealed values and cookies are still valid. */
  previousSecretKey?: string | undefined
  /** Address of a catalog on a server. */
  remoteCatalog: RemoteCatalog | undefined
  /** Server with the row tables of plugins. Default: they are in the event store. */
  rowServer?: RowServer | undefined
  /** Whether several nodes share the catalog, which is then on a server. */
  severalNodes?: boolean
  /** Where the events are. Default: in the store of this node. With it, several nodes share the catalog. */
  clickhouse?: ClickhouseOptions
  /** Whether the instance is only opened to move its events to ClickHouse or back: nothing is shipped meanwhile. */
  isMoving?: boolean
  defaults: SiteDefaults
  accounts: AccountSettings
  /** Outside services whose accounts can be connected. */
  providers: readonly ConnectionProvider[]
  /** Settings of the instance from the environment or the configuration file. */
  configured?: ConfiguredSettings
  /** Returns the base URL of the instance. */
  publicUrl(): string
  maxSites: number
  plugins: readonly PluginFacts[]
  outbound: OutboundSettings
  /** For tests only: name servers for outgoing requests. Default: the resolver of the system. */
  nameServers?: readonly string[] | undefined
  keep: KeepRules
  /** Time of automatic backups, `03:00` in UTC or `off`, its source, and the bucket configured by the operator. */
  backups: { time: string; setBy: "env" | "file" | undefined; bucket?: Omit<BucketPlace, "byOperator"> | undefined }
  backupWorkerUrl: string
  /** Whether to make a backup before a migration. */
  backUpBeforeMigrating: boolean
  /** Memory for unsealed events in each thread. Default: that of the event store. */
  tailBytes?: number
  /** Holder that the query engine asks for the visible imports. Default: a new one. */
  imports?: VisibleImportsHolder
  /** Called when readers may open the event store. The rest of the opening continues meanwhile. */
  onEventsReadable?: (states: Pick<StoreStates, "damaged">) => void
}

/** An instance with its stores open and its services, not serving yet. */
export interface Instance {
  lock: Lock
  catalog: Catalog
  events: EventStore
  /** The row tables of plugins on a server. */
  rowServer: Catalog | undefined
  storedSales: StoredSales
  tallies: StoredTallies
  /** Imports that answers include. */
  imports: VisibleImports
  /** Owners of disputed hosts, as used by the directory of sites. */
  hostRulings: HostRulings
  sites: Sites
  goals: Goals
  funnels: Funnels
  annotations: Annotations
  segments: Segments
  /** Filters of saved segments, for the query parsers. */
  saved: SavedOf
  /** Sets of visitors, which an area registers. */
  visitorSets: VisitorSetSources
  /** Hands over what belongs to people who leave. */
  handover: Handover
  people: People
  shares: Shares
  /** Creates the shares of another kind. */
  shareList: CreateShareList
  instanceShields: InstanceShields
  settings: InstanceSettings
  maintenance: MaintenanceMode
  /** Schedule of backups. */
  schedule: BackupSchedule
  remoteBackups: RemoteBackups
  sessions: Sessions
  access: Access
  /** Permissions of the core and of all plugins. */
  permissions: Permissions
  plugins: Plugins
  outbound: Outbound
  /** Connections to accounts at outside services. */
  connections: Connections
  accounts: Accounts
  audit: Audit
  /** Keys that sign cookies; the first one is used, the others still verify. */
  cookieSecrets: readonly [string, ...string[]]
  /** Rotation and export of the secret key. */
  keyRotation: Pick<KeyRotation, "rotate" | "export" | "checkValues">
  /** Stored answers to requests with an idempotency key. */
  idempotency: Idempotency
  keys: Keys
  organizations: Organizations
  salts: SaltStore
  identityKeys: IdentityKeys
  siteKeys: Pick<SiteKeys, "siteKey" | "identityKey">
  backups: Backups
  /** Undefined when the events are in the data folder. */
  clickhouseBackups: ClickhouseBackups | undefined
  health: Health
  states: StoreStates
  /**
   * Runs work on both stores one at a time: retention, erasure and the deletion of a site must not change one store after a backup has
   * copied the other.
   */
  exclusive: Exclusive
  slots: JobSlots
  jobs: Jobs
  schedules: Schedules
  outbox: Outbox
  alarms: Alarms
  /** Returns the encrypted values of the core or of a plugin. */
  secretsOf(owner: string): StoredSecrets
  /** Lease on a catalog server. */
  lease: CatalogLease | undefined
  /** What ships the events to ClickHouse, and removes them there. Undefined when they are only in the store of this node. */
  shipped: ShippedEvents | undefined
  /** Returns whether events that were acknowledged a while ago may be missing in answers. */
  hasLateEvents(): boolean
  /** The nodes that share the catalog, and what they change. Undefined for its only process. */
  nodes: LiveNodes | undefined
  changes: Changes | undefined
  /** Returns all sites of all organizations, except deleted ones. */
  allSites(): Promise<Site[]>
  /** Migrations that were applied while opening, and the backup made before them. */
  migrated: { migrations: string[]; backup: string | null }
  /** Closes the instance: moves both stores into one file each and releases the folder. */
  close(): Promise<void>
}

/**
 * Opens the instance of a data folder, in the order of reliability.md 3.1. A failure throws an `ExitFault`, and nothing stays
 * locked or open.
 */
export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const { dataDir, log } = options
  for (const warning of prepareDataFolder(dataDir)) log.warn(warning)
  const lock = lockFolder(options)
  try {
    const keys = secretKeys(dataDir, { key: options.secretKey, previous: options.previousSecretKey }, options.random)
    finishInterrupted(dataDir, log)
    return await open(options, lock, keys)
  } catch (error) {
    lock.release()
    throw error
  }
}

export const lockFolder = ({ dataDir, version, clock }: Pick<InstanceOptions, "dataDir" | "version" | "clock">): Lock =>
  takeLock(dataDir, { pid: process.pid, started_at: new Date(clock.now()).toISOString(), version })

async function open(options: InstanceOptions, lock: Lock, keys: SecretKeys): Promise<Instance> {
  const { clock, log, random } = options
  const health = createHealth({ now: clock.now, log })
  const states = createStoreStates({ health, log, monotonic: clock.monotonic })
  const exclusive = createExclusive()
  const connection = options.clickhouse && connectClickhouse(options.clickhouse, options)
  const stores = await openStoresWithBackup({
    ...options,
    exclusive,
    onFault: states.note,
    prepareServer: options.isMoving && connection ? (_, catalog) => connection.prepareMove(catalog) : (connection?.prepare ?? requireLocal),
    onEventsReadable: () => options.onEventsReadable?.(states),
    // Events of another node would be missing in what this one derives from events, such as revenue.
    sharesRows: connection !== undefined,
  })
  const { rowServer, lease, nodes } = stores
  const changes = nodes && (await followChanges(stores.catalog))
  const catalog = changes?.catalog ?? stores.catalog
  const imports = await (options.imports ?? createVisibleImports()).load(catalog, stores.events)
  const settings = await createInstanceSettings({ catalog, clock, ...(options.configured && { configured: options.configured }) })
  const audit = createAudit({ catalog, clock })
  const sealedSlugs = options.plugins.flatMap((plugin) => plugin.sealedSlugs)
  const keyOptions = { dataDir: options.dataDir, keys, catalog, clock, random, log, audit, settings, nodes, sealedSlugs }
  const keyRotation = await openKeys(keyOptions).catch(async (error) => {
    await lease?.release()
    throw error
  })
  const { secrets, cookieSecrets } = keyRotation
  const siteKeys = createSiteKeys({ catalog, secrets, random })
  const storedSales = createSales(stores.events, rowServer)
  const shipped = await (options.isMoving ? undefined : connection)?.ship({
    catalog,
    ...{ store: stores.events, path: placesIn(options.dataDir).events },
    ...{ nodes: nodes!, siteKey: siteKeys.siteKey, states }, // events on ClickHouse have nodes
    deleteSales: storedSales.deleteShared,
  })
  if (shipped) nodes!.reportLate(shipped.shipping.isBehind) // it exists with ClickHouse
  const events = storedSales.following(shipped?.store ?? stores.events)
  const tallies = shipped?.tallies ?? ownTallies(events)
  const hostRulings = await loadHostRulings(catalog)
  const handover = createHandover()
  const outbox = createOutbox({ catalog, clock, log, nodes })
  const sites = await createSites({ ...options, catalog, events, settings, keys: siteKeys, hostRulings, handover, outbox })
  const goals = await createGoals({ catalog, clock, outbox })
  const funnels = await createFunnels({ catalog, clock, outbox })
  const segments = await createSegments({ catalog, clock })
  const visitorSets = createVisitorSets(segments.saved)
  const instanceShields = await createInstanceShields({ catalog, clock })
  const factsOf = (site: Site) => siteFacts(site, goals.rules(site.id))
  events.exempt(createExemptValues({ directory: sites.directory, goals, funnels, instanceShields }))
  const outbound = createOutbound({
    settings: options.outbound,
    clock,
    version: options.version,
    ...(options.nameServers && { resolve: resolveAt(options.nameServers) }),
  })
  const sessions = createSessions({ catalog, clock, random, life: () => sessionLife(settings) })
  const jobs = createJobQueue({ catalog, clock, log, random, nodes })
  const permissions: Permissions = Object.assign({}, CORE_PERMISSIONS, ...options.plugins.map((plugin) => plugin.permissions))
  const ofCore = storedSecrets({ catalog, clock, secrets }, "core")
  const schedule = await createBackupSchedule({ catalog, clock, audit, secrets: ofCore, outbound, keep: options.keep, ...options.backups })
  const remoteBackups = createRemoteBackups({ dataDir: options.dataDir, clock, log, schedule, outbound })
  const accounts = createAccounts({
    ...options,
    siteDefaults: options.defaults,
    catalog,
    secrets,
    settings,
    permissions,
    sessions,
    audit,
    sites,
    outbound,
    outbox,
    handover,
    nodes,
  })
  const connections = createConnections({ ...options, catalog, outbound, outbox, mail: accounts.mail, secrets: ofCore })
  const maintenance = await createMaintenance({ catalog, clock, audit })
  const plugins = await createPlugins({ catalog, clock, plugins: options.plugins })
  const schedules = createSchedules({ catalog, clock, jobs, timezone: options.defaults.timezone })
  changes?.reloadBy({
    sites: sites.reload,
    site_keys: siteKeys.reload,
    goals: goals.reload,
    funnels: funnels.reload,
    segments: segments.reload,
    visible_imports: imports.reload,
    instance_shields: instanceShields.reload,
    async settings(statements, keys) {
      for (const { reload } of [settings, maintenance, schedule]) await reload(statements, keys)
    },
    plugins: plugins.reload,
    schedules: schedules.reload,
    hosts: hostRulings.reload,
    mails: async () => accounts.mail.wake(),
  })
  const shareOptions = { ...options, catalog, secrets, settings, passwords: accounts.passwords.lowPriority, visitorSets }
  return {
    lock,
    catalog,
    events,
    rowServer,
    storedSales,
    tallies,
    imports,
    hostRulings,
    sites,
    goals,
    funnels,
    people: createPeople({ clock, siteKeys, imports, events, factsOf }),
    settings,
    maintenance,
    schedule,
    remoteBackups,
    sessions,
    accounts,
    shares: createShares({ ...shareOptions, sites }),
    shareList: (kind) => createShareList(kind, shareOptions),
    access: createAccess({ catalog, sites, permissions, sso: accounts.sso }),
    permissions,
    outbound,
    connections,
    plugins,
    audit,
    cookieSecrets,
    keyRotation,
    segments,
    saved: segments.saved,
    visitorSets,
    handover,
    annotations: createAnnotations({ catalog, clock }),
    instanceShields,
    idempotency: createIdempotency({ catalog, clock, secrets }),
    keys: createKeys({ catalog, clock, random, sites, permissions, settings, outbox }),
    organizations: createOrganizations({
      catalog,
      clock,
      settings,
      sites,
      outbox,
      handover,
      connections,
      hasInstanceProvider: accounts.hasInstanceProvider,
    }),
    salts: createSalts({ catalog, secrets, clock, random }),
    identityKeys: siteKeys,
    siteKeys,
    backups: withCopies(shipped ? withoutNewBackups(stores.backups) : stores.backups, remoteBackups),
    clickhouseBackups:
      shipped && createClickhouseBackups({ ...options, catalog, clickhouse: shipped.clickhouse, place: options.clickhouse?.backupPlace }),
    health,
    states,
    exclusive,
    slots: createJobSlots({ catalog, clock, random, nodes }),
    jobs,
    schedules,
    outbox,
    alarms: createAlarms({ catalog, clock, outbox, audit, mail: accounts.mail, publicUrl: options.publicUrl }),
    secretsOf: (owner) => storedSecrets({ catalog, clock, secrets }, owner),
    lease,
    shipped,
    hasLateEvents: () => shipped !== undefined && (shipped.shipping.isLate || nodes!.hasLateOthers()),
    nodes,
    changes,
    allSites: () => allSites(catalog),
    migrated: { migrations: stores.migrations, backup: stores.safety },
    async close() {
      accounts.passwords.close()
      await shipped?.shipping.end()
      return closeInstance({ catalog, events, rowServer, lock, lease }, log)
    },
  }
}

const sessionLife = (settings: InstanceSettings) => ({
  idle: settings.get("session_idle_days"),
  absolute: settings.get("session_absolute_days"),
})

const allSites = (catalog: Catalog): Promise<Site[]> => inSlices((slice) => listSites(catalog, slice))

interface OpenInstance extends Pick<Stores, "catalog" | "events" | "rowServer" | "lease"> {
  lock: Lock
}

const RELEASE_TIMEOUT_MS = 2_000

/** Moves the logs of both stores into their files, closes the stores and releases the folder. */
async function closeInstance({ catalog, events, rowServer, lock, lease }: OpenInstance, log: Log): Promise<void> {
  // Data that a full or failing disk does not accept stays safe in the stores' logs, and that failure has its own exit code.
  const warn = (error: unknown) => log.warn("the log of a store could not be moved into its file", { error })
  if (!catalog.remote) await catalog.checkpoint().catch(warn)
  try {
    events.checkpoint("truncate")
  } catch (error) {
    warn(error)
  }
  // An unreachable server must not delay the end. Its lease expires on its own.
  if (rowServer) await Promise.race([rowServer.close(), Bun.sleep(RELEASE_TIMEOUT_MS)])
  if (lease) await Promise.race([lease.release().then(catalog.close), Bun.sleep(RELEASE_TIMEOUT_MS)]).catch(() => {})
  else await catalog.close()
  events.close()
  lock.release()
}
