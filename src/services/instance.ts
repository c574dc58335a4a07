import type { Clock } from "../domain/clock.ts"
import type { Log } from "../domain/log.ts"
import { CORE_PERMISSIONS, type Permissions } from "../domain/permission.ts"
import type { Site } from "../domain/site.ts"
import type { SiteDefaults } from "../domain/site-input.ts"
import type { IdentityKeys } from "../ingest/salts.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { listSites } from "../store/catalog/sites.ts"
import type { EventStore } from "../store/events/events.ts"
import type { KeptValues } from "../store/events/writer.ts"
import { type Access, createAccess } from "./access.ts"
import { type AccountSettings, type Accounts, createAccounts } from "./accounts.ts"
import { type Alarms, createAlarms } from "./alarms.ts"
import { type Annotations, createAnnotations } from "./annotations.ts"
import { type Audit, createAudit } from "./audit.ts"
import type { Backups } from "./backup.ts"
import { removeUnfinished } from "./backup-folder.ts"
import type { KeepRules } from "./backup-rotation.ts"
import { type BackupSchedule, createBackupSchedule } from "./backup-schedule.ts"
import type { BucketPlace } from "./bucket.ts"
import type { CatalogLease } from "./catalog-lease.ts"
import { prepareDataFolder } from "./data-folder.ts"
import { createExclusive, type Exclusive } from "./exclusive.ts"
import { createFunnels, type Funnels } from "./funnels.ts"
import { createGoals, type Goals } from "./goals.ts"
import { createHealth, type Health } from "./health.ts"
import { createIdempotency, type Idempotency } from "./idempotency.ts"
import { closeInstance } from "./instance-close.ts"
import { type ConfiguredSettings, createInstanceSettings, type InstanceSettings } from "./instance-settings.ts"
import { createInstanceShields, type InstanceShields } from "./instance-shields.ts"
import { createJobQueue } from "./job-queue.ts"
import { createJobSlots, type JobSlots } from "./job-slots.ts"
import type { Jobs } from "./jobs.ts"
import { createKeptValues } from "./kept-values.ts"
import { type KeyRotation, openKeys } from "./key-rotation.ts"
import { createKeys, type Keys } from "./keys.ts"
import { type Lock, takeLock } from "./lock.ts"
import { createMaintenance, type MaintenanceMode } from "./maintenance.ts"
import type { SavedOf } from "./open-report.ts"
import { createOrganizations, type Organizations } from "./organizations.ts"
import { createOutbound, type Outbound, type OutboundSettings } from "./outbound.ts"
import { createOutbox, type Outbox } from "./outbox.ts"
import { createPlugins, type PluginFacts, type Plugins } from "./plugins.ts"
import { createRemoteBackups, type RemoteBackups, withCopies } from "./remote-backups.ts"
import type { RemoteCatalog } from "./remote-catalog.ts"
import { openSafely } from "./safe-stores.ts"
import { createSalts, type KeptSalts } from "./salts.ts"
import { createSchedules, type Schedules } from "./schedules.ts"
import { type SecretKeys, secretKeys } from "./secret-key.ts"
import type { Random } from "./secrets.ts"
import { createSegments, type Segments } from "./segments.ts"
import { createSessions, type Sessions } from "./sessions.ts"
import { createShares, type Shares } from "./shares.ts"
import { createSiteKeys, type SiteKeys } from "./site-keys.ts"
import { createSites, type Sites } from "./sites.ts"
import { inSlices } from "./slices.ts"
import { createStoreStates, type StoreStates } from "./store-states.ts"
import { type StoredSecrets, storedSecrets } from "./stored-secrets.ts"
import { finishSwap } from "./swap.ts"

export interface InstanceOptions {
  dataDir: string
  version: string
  clock: Clock
  log: Log
  random: Random
  /** The configured key; without it the one in the data folder is used. */
  secretKey: string | undefined
  /** The one before it, whose sealed values and cookies are still good. */
  previousSecretKey?: string | undefined
  /** Of a catalog on a server. */
  remoteCatalog: RemoteCatalog | undefined
  defaults: SiteDefaults
  accounts: AccountSettings
  /** Settings of the instance that environment or file hold. */
  configured?: ConfiguredSettings
  /** Under which people reach the instance. */
  publicUrl(): string
  maxSites: number
  plugins: readonly PluginFacts[]
  outbound: OutboundSettings
  keep: KeepRules
  /** When backups are made: `03:00` in UTC, or `off`; and where that is set, if anywhere. The bucket that the operator has set. */
  backups: { time: string; setBy: "env" | "file" | undefined; bucket?: Omit<BucketPlace, "byOperator"> | undefined }
  backupWorkerUrl: string
  /** False: migrate without a backup before. */
  backUpBeforeMigrating: boolean
  /** Called when readers may open the event store; the rest of the opening goes on meanwhile. */
  onEventsReadable?: () => void
}

/** An instance with its stores open and its services, not serving yet. */
export interface Instance {
  lock: Lock
  catalog: Catalog
  events: EventStore
  sites: Sites
  goals: Goals
  funnels: Funnels
  annotations: Annotations
  segments: Segments
  /** What segments are made of, for the parsers of questions. */
  saved: SavedOf
  shares: Shares
  instanceShields: InstanceShields
  settings: InstanceSettings
  maintenance: MaintenanceMode
  /** Of backups. */
  schedule: BackupSchedule
  remoteBackups: RemoteBackups
  sessions: Sessions
  access: Access
  /** Of the core and of all plugins. */
  permissions: Permissions
  plugins: Plugins
  outbound: Outbound
  accounts: Accounts
  audit: Audit
  /** Keys that sign cookies; the first one is used, the others still verify. */
  cookieSecrets: readonly [string, ...string[]]
  /** Another key in place of the current one. */
  keyRotation: Pick<KeyRotation, "rotate" | "export" | "look">
  /** Answers to requests that may come again. */
  idempotency: Idempotency
  keys: Keys
  organizations: Organizations
  salts: KeptSalts
  identityKeys: IdentityKeys
  siteKeys: Pick<SiteKeys, "siteKey">
  backups: Backups
  health: Health
  states: StoreStates
  exclusive: Exclusive
  slots: JobSlots
  jobs: Jobs
  schedules: Schedules
  outbox: Outbox
  alarms: Alarms
  /** Sealed values of the core, or of a plugin. */
  secretsOf(owner: string): StoredSecrets
  /** Of a catalog on a server. */
  lease: CatalogLease | undefined
  /** Every site that is not deleted, of all owners. */
  allSites(): Promise<Site[]>
  /** What was migrated at this opening, and the backup made before. */
  migrated: { migrations: string[]; backup: string | null }
  /** Brings both stores to one file each and gives the folder free. */
  close(): Promise<void>
}

/** Takes a data folder, in the order of reliability.md 3.1. A fault is an `ExitFault`; then nothing is held or open. */
export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const { dataDir, log } = options
  for (const warning of prepareDataFolder(dataDir)) log.warn(warning)
  const lock = lockFolder(options)
  try {
    const keys = secretKeys(dataDir, { key: options.secretKey, previous: options.previousSecretKey }, options.random)
    if (finishSwap(dataDir)) log.warn("a restore that was cut off has been finished")
    removeUnfinished(dataDir)
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
  // The store asks for kept values from its first write on; what knows them needs the catalog, which is opened with it.
  let kept: KeptValues = () => false
  const keptValues: KeptValues = (...value) => kept(...value)
  const stores = await openSafely({ ...options, exclusive, onFault: states.note, keptValues })
  const { catalog, events, lease } = stores
  const settings = await createInstanceSettings({ catalog, clock, ...(options.configured && { configured: options.configured }) })
  const audit = createAudit({ catalog, clock })
  const keyRotation = await openKeys({ dataDir: options.dataDir, keys, catalog, clock, random, log, audit, settings })
  const { secrets, cookieSecrets } = keyRotation
  const siteKeys = createSiteKeys({ catalog, secrets, random })
  const sites = await createSites({ ...options, catalog, settings, keys: siteKeys })
  const goals = await createGoals({ catalog, clock })
  const funnels = await createFunnels({ catalog, clock })
  const segments = await createSegments({ catalog, clock })
  const instanceShields = await createInstanceShields({ catalog, clock })
  kept = createKeptValues({ directory: sites.directory, goals, funnels, instanceShields })
  const outbound = createOutbound({ settings: options.outbound, clock })
  const sessions = createSessions({ catalog, clock, random, life: () => sessionLife(settings) })
  const jobs = createJobQueue({ catalog, clock, log, random })
  const permissions: Permissions = Object.assign({}, CORE_PERMISSIONS, ...options.plugins.map((plugin) => plugin.permissions))
  const ofCore = storedSecrets({ catalog, clock, secrets }, "core")
  const schedule = await createBackupSchedule({ catalog, clock, audit, secrets: ofCore, outbound, keep: options.keep, ...options.backups })
  const remoteBackups = createRemoteBackups({ dataDir: options.dataDir, clock, log, schedule, outbound })
  const outbox = createOutbox({ catalog, clock, log })
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
  })
  return {
    lock,
    catalog,
    events,
    sites,
    goals,
    funnels,
    settings,
    maintenance: await createMaintenance({ catalog, clock, audit }),
    schedule,
    remoteBackups,
    sessions,
    accounts,
    shares: createShares({ ...options, catalog, secrets, settings, sites, passwords: accounts.passwords, saved: segments.saved }),
    access: createAccess({ catalog, sites, permissions, sso: accounts.sso }),
    permissions,
    outbound,
    plugins: await createPlugins({ catalog, clock, plugins: options.plugins }),
    audit,
    cookieSecrets,
    keyRotation,
    segments,
    saved: segments.saved,
    annotations: createAnnotations({ catalog, clock }),
    instanceShields,
    idempotency: createIdempotency({ catalog, clock, secrets }),
    keys: createKeys({ catalog, clock, random, sites, permissions, settings, outbox }),
    organizations: createOrganizations({ catalog, clock, settings, sites, hasInstanceProvider: accounts.hasInstanceProvider }),
    salts: createSalts({ catalog, secrets, clock, random }),
    identityKeys: siteKeys,
    siteKeys,
    backups: withCopies(stores.backups, remoteBackups),
    health,
    states,
    exclusive,
    slots: createJobSlots(catalog, clock),
    jobs,
    schedules: createSchedules({ catalog, clock, jobs, timezone: options.defaults.timezone }),
    outbox,
    alarms: createAlarms({ catalog, clock, outbox, audit, mail: accounts.mail, publicUrl: options.publicUrl }),
    secretsOf: (owner) => storedSecrets({ catalog, clock, secrets }, owner),
    lease,
    allSites: () => allSites(catalog),
    migrated: { migrations: stores.migrations, backup: stores.safety },
    close() {
      accounts.passwords.close()
      return closeInstance({ catalog, events, lock, lease }, log)
    },
  }
}

const sessionLife = (settings: InstanceSettings) => ({
  idle: settings.get("session_idle_days"),
  absolute: settings.get("session_absolute_days"),
})

const allSites = (catalog: Catalog): Promise<Site[]> => inSlices((slice) => listSites(catalog, slice))
