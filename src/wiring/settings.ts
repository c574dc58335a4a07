/** Converts the configuration to the options of services and layers. */

import { availableParallelism, totalmem } from "node:os"
import type { Described } from "../../config/load.ts"
import type { Config } from "../../config/schema.ts"
import { describeSetting } from "../../config/table.ts"
import type { Clock } from "../domain/clock.ts"
import type { Log } from "../domain/log.ts"
import type { AnyPlugin } from "../plugin/contract.ts"
import { pluginFacts } from "../plugin/load.ts"
import { GOOGLE_URLS, type GoogleSettings, googleProvider } from "../services/connections/providers.ts"
import type { DoctorOptions } from "../services/instance/doctor.ts"
import type { Instance, InstanceOptions } from "../services/instance/instance.ts"
import type { UpkeepOptions } from "../services/instance/upkeep.ts"
import { placesIn } from "../services/runtime/data-folder.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import { configuredSettings, sourceOf } from "../services/settings/settings.ts"
import type { HashSettings } from "../services/sign-in/passwords.ts"
import { type FollowOthers, followOthers } from "../services/stats/live-of-others.ts"
import type { ClickhouseServer } from "../store/clickhouse/client.ts"
import type { EventLocation } from "../store/event-location.ts"
import type { RowServer } from "../store/rows/reader.ts"
import { accountSettings, smtpSettings } from "./account-settings.ts"
import { eventLimits } from "./limits.ts"

export interface AppOptions {
  config: Config
  /** The settings with their sources. */
  described: readonly Described[]
  /** Commit of the source. Absent when the build does not know it. */
  commit?: string
  plugins: readonly AnyPlugin[]
  version: string
  clock: Clock
  log: Log
  random(bytes: number): Uint8Array
  /** URLs of the worker files, resolved in `program.ts`: in the binary `import.meta.url` is that of the main file everywhere. */
  workers: { query: string; backup: string; hash: string; plugin: string; shipping: string; network: string; rows: string }
  backUpBeforeMigrating?: boolean
  /** For tests only: priority and cost of slow hashes. Tests run on busy machines, and compute thousands of them. */
  hashing?: Partial<Pick<HashSettings, "niceness" | "cost">>
  /** For tests only: whether a query worker starts with the program. Most tests ask for no report. Default: true. */
  hasWarmWorker?: boolean
  /** For tests only: name servers for TXT records and outgoing requests. Default: those of the system. */
  nameServers?: readonly string[]
  /** For tests only: server with the row tables of plugins. Default: they are in the event store. */
  rowServer?: RowServer
}

/** Niceness of the hash threads: high enough that events have priority, low enough that sign-ins succeed on a busy machine. */
const HASH_NICENESS = 10

export const instanceOptions = ({
  config,
  plugins,
  version,
  clock,
  log,
  random,
  workers,
  described,
  backUpBeforeMigrating = true,
  hashing,
  nameServers,
  rowServer,
}: AppOptions): InstanceOptions => ({
  dataDir: config.data_dir,
  version,
  clock,
  log,
  random,
  secretKey: config.secret_key,
  previousSecretKey: config.secret_key_previous,
  remoteCatalog: config.catalog_url === undefined ? undefined : { url: config.catalog_url, authToken: config.catalog_auth_token },
  ...shippedTo(config, workers.shipping),
  defaults: siteDefaults(config),
  accounts: accountSettings(config, baseUrlOf(config, undefined), { workerUrl: workers.hash, niceness: HASH_NICENESS, ...hashing }),
  providers: [googleProvider(googleSettings(config))],
  publicUrl: () => baseUrlOf(config, undefined),
  maxSites: config.max_sites,
  plugins: pluginFacts(plugins),
  configured: configuredSettings(config, (key) => whereIs(described, key)),
  outbound: {
    enabled: config.outbound === "on",
    allowHttp: config.allow_http_webhooks,
    ports: config.outbound_ports,
    privateRanges: config.allow_private_webhooks,
  },
  nameServers,
  rowServer: rowServerOf(config) ?? rowServer,
  keep: { daily: config.backup_keep_daily, weekly: config.backup_keep_weekly },
  backups: {
    time: config.backup_time,
    setBy: isDefault(described, "backup_time") ? undefined : whereIs(described, "backup_time"),
    bucket: bucketOf(config),
  },
  backupWorkerUrl: workers.backup,
  backUpBeforeMigrating,
  tailBytes: tailBytes(config),
})

/** Returns the options of an instance whose events are on ClickHouse. Throws `ExitFault` without a catalog server. */
function shippedTo(config: Config, workerUrl: string): Pick<InstanceOptions, "clickhouse" | "severalNodes"> {
  const { clickhouse_url: url, spool: spools, spool_bytes: spoolBytes, spool_keep: keepHours, ack_wait: waitMs } = config
  if (url === undefined) return {}
  if (config.catalog_url === undefined) throw new ExitFault("configuration", "clickhouse_url also requires catalog_url")
  return {
    severalNodes: true,
    clickhouse: {
      ...{ server: serverOf(config, url), spools, spoolBytes, keepMs: keepHours * 3_600_000, waitMs, workerUrl },
      backupPlace: backupPlaceOf(config),
    },
  }
}

/** Returns where ClickHouse writes backups. Throws `ExitFault` if two of them would have the same place. */
function backupPlaceOf({ clickhouse_backup: place }: Config): string | undefined {
  if (place?.includes("{name}") === false)
    throw new ExitFault("configuration", "clickhouse_backup must contain {name}, which is replaced by the name of a backup")
  return place
}

/** Returns the server with the rows of plugins. Throws `ExitFault` without ClickHouse, because their events would be on one node. */
function rowServerOf({ rows_url: url, rows_auth_token: authToken, clickhouse_url }: Config): RowServer | undefined {
  if (url === undefined) return undefined
  if (clickhouse_url === undefined) throw new ExitFault("configuration", "rows_url also requires clickhouse_url")
  return { url, authToken }
}

const serverOf = (config: Config, url: string): ClickhouseServer => ({
  url,
  user: config.clickhouse_user,
  password: config.clickhouse_password ?? "",
  database: config.clickhouse_database,
})

/** Returns where query workers find the events. */
export function eventLocation({ config, workers, rowServer: given }: AppOptions): EventLocation {
  const rowServer = rowServerOf(config) ?? given
  return {
    path: placesIn(config.data_dir).events,
    ...(config.clickhouse_url !== undefined && {
      remote: { server: serverOf(config, config.clickhouse_url), networkUrl: workers.network },
    }),
    ...(rowServer && { rows: { ...rowServer, threadUrl: workers.rows } }),
  }
}

/** Returns Google's URLs and this instance's client. Throws `ExitFault` for a secret without a client. */
function googleSettings(config: Config): GoogleSettings {
  const { google_client_id: id, google_client_secret: secret } = config
  if (id === undefined && secret !== undefined) throw new ExitFault("configuration", "google_client_secret also requires google_client_id")
  return {
    authorizationUrl: config.gsc_auth_url ?? GOOGLE_URLS.authorizationUrl,
    tokenUrl: config.gsc_token_url ?? GOOGLE_URLS.tokenUrl,
    revocationUrl: config.gsc_revoke_url ?? GOOGLE_URLS.revocationUrl,
    client: id === undefined ? undefined : { id, secret },
  }
}

/** Returns the bucket for backups, or undefined when none is configured. Throws `ExitFault` for an incomplete one. */
function bucketOf(config: Config): InstanceOptions["backups"]["bucket"] {
  const { backup_s3_endpoint: endpoint, backup_s3_bucket: bucket, backup_s3_key_id: key_id, backup_s3_secret: secret } = config
  if (endpoint === undefined && bucket === undefined) return undefined
  if (endpoint === undefined || bucket === undefined || key_id === undefined || secret === undefined)
    throw new ExitFault("configuration", "backup_s3_endpoint, backup_s3_bucket, backup_s3_key_id and backup_s3_secret must be set together")
  const { backup_s3_prefix: prefix, backup_s3_region: region } = config
  return { endpoint, bucket, key_id, secret, region, prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/` }
}

/** Returns whether a setting comes from the environment or a file. Flags count as environment: both are given when starting the process. */
const whereIs = (described: readonly Described[], key: string): "env" | "file" =>
  sourceOf(described.find((row) => row.key === key)?.source ?? "") === "file" ? "file" : "env"

const isDefault = (described: readonly Described[], key: string): boolean =>
  described.every((row) => row.key !== key || row.source === "default")

export const siteDefaults = (config: Config): InstanceOptions["defaults"] => ({
  timezone: config.default_timezone,
  retention_days: config.default_retention_days ?? null,
  revenue_currency: config.default_currency,
})

/** Returns the URL from which pages load the tracker. */
export const scriptUrlOf = (config: Config, baseUrl: string): string => baseUrl + (config.script_path ?? "/js/script.js")

/** The base URL of the instance. If none is configured, it is the address on which the instance listens, once it is known. */
export interface BaseUrl {
  current(): string
  listensAt(address: string): void
}

export function createBaseUrl(config: Config): BaseUrl {
  let address: string | undefined
  return {
    current: () => baseUrlOf(config, address),
    listensAt(given) {
      address = given
    },
  }
}

export const baseUrlOf = (config: Config, address: string | undefined): string =>
  config.base_url ?? address ?? `http://localhost:${config.port}`

export const doctorOptions = ({ config, clock, version, workers, plugins }: AppOptions, instance: Instance): DoctorOptions => ({
  ...instance,
  now: clock.now,
  version,
  plugins: pluginFacts(plugins),
  dataDir: config.data_dir,
  backupWorkerUrl: workers.backup,
  baseUrl: config.base_url,
  geoDb: config.geo_db,
  keyIsConfigured: config.secret_key !== undefined,
  smtp: smtpSettings(config, baseUrlOf(config, undefined)),
})

/** Returns the settings that the admin console shows. */
export const consoleSettings = ({ config, workers, commit, described, plugins }: AppOptions) => ({
  dataDir: config.data_dir,
  commit,
  baseUrl: config.base_url,
  updatesUrl: config.updates_url,
  smtp: smtpSettings(config, baseUrlOf(config, undefined)),
  backupWorkerUrl: workers.backup,
  described: described.map((row) => ({ ...row, ...describeSetting(row.key, plugins) })),
})

export function collectorOptions({ config, clock, log, random }: AppOptions, instance: Instance) {
  return {
    directory: instance.sites.directory,
    salts: instance.salts,
    identityKeys: instance.identityKeys,
    clock,
    random,
    trustedProxies: config.trusted_proxies,
    geoHeader: config.geo_header,
    instanceShields: instance.instanceShields.current,
    ...(instance.shipped && { shipping: instance.shipped.shipping }),
    limits: eventLimits(config),
    nodes: () => instance.nodes?.live().length ?? 1,
    onStorageProblem: instance.states.hinder,
    onPlaceFault: (cause: string) => log.warn("the file of places cannot be read; the old one stays in use", { cause }),
    onError: (error: unknown) => log.error("an event could not be stored", { error }),
    onForwardedIgnored: () => instance.health.enter("forwarded_headers_ignored", "a peer that is no trusted proxy sends them"),
  }
}

/** Returns what follows the events of other nodes for live views. Undefined for an instance of one process. */
export const followOthersOf = ({ clock }: AppOptions, { shipped, nodes }: Instance): FollowOthers | undefined =>
  shipped && nodes && followOthers({ clickhouse: shipped.clickhouse, nodes, clock })

export const upkeepOptions = ({ config, clock, log, workers }: AppOptions, instance: Instance): Omit<UpkeepOptions, "hooks"> => ({
  ...instance,
  dataDir: config.data_dir,
  clock,
  log,
  backupWorkerUrl: workers.backup,
})

/** Returns the memory for unsealed events in each thread that has a copy of them: the one that answers, and the query workers. */
function tailBytes({ tail_mb, query_workers = Math.max(1, availableParallelism() - 1) }: Config): number {
  return Math.max(MIN_TAIL_BYTES, (tail_mb * 2 ** 20) / (1 + query_workers))
}

/** Enough for segments of ordinary size. */
const MIN_TAIL_BYTES = 8 << 20

/** Returns the size of the column cache: by default an eighth of the memory, at least 32 and at most 192 MiB. */
export function cacheBytes(configured: number | undefined): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return configured === undefined ? Math.min(192 << 20, Math.max(32 << 20, memory / 8)) : configured << 20
}
