/** Everything is wired here; no rule stands here. */
import { totalmem } from "node:os"
import type { Described } from "../config/load.ts"
import type { Config } from "../config/schema.ts"
import { toldOf } from "../config/told.ts"
import { accountSettings, operatorActor, smtpSettings } from "./account-settings.ts"
import type { DemoShape, Invitation } from "./cli/command.ts"
import type { Clock } from "./domain/clock.ts"
import { COLLECT } from "./domain/limits.ts"
import type { Log } from "./domain/log.ts"
import type { Site } from "./domain/site.ts"
import { sessionCookie } from "./http/private/session-cookie.ts"
import { statusOf } from "./http/public/creation.ts"
import { createServer, type HttpServer } from "./http/server.ts"
import { type Collector, createCollector } from "./ingest/collect.ts"
import { createIngestCounts } from "./ingest/ingest-counts.ts"
import { openPlaceFile, type PlaceFile } from "./ingest/places.ts"
import type { AnyPlugin } from "./plugin/contract.ts"
import { type LoadedPlugins, loadPlugins, pluginFacts } from "./plugin/load.ts"
import { type Engine, openEngine } from "./query/engine.ts"
import { accountTasks } from "./services/accounts.ts"
import { type Console, createConsole } from "./services/console/console.ts"
import { createRetention } from "./services/console/retention.ts"
import { createStorage } from "./services/console/storage.ts"
import { sourceOf } from "./services/console/system.ts"
import { listenForCommands, type Report } from "./services/control.ts"
import { defineCoreJobs, jobTasks } from "./services/core-jobs.ts"
import { placesIn } from "./services/data-folder.ts"
import { type DataHooks, NO_HOOKS } from "./services/data-hooks.ts"
import { type ReplayClock, replayTraffic, type SiteTraffic } from "./services/demo.ts"
import { type DoctorOptions, examine } from "./services/doctor.ts"
import { ExitFault } from "./services/exit.ts"
import { createExports } from "./services/exports.ts"
import { type Instance, type InstanceOptions, openInstance } from "./services/instance.ts"
import { configuredSettings } from "./services/instance-settings.ts"
import { createLive } from "./services/live.ts"
import { createLogLines } from "./services/log-lines.ts"
import { createMemberships, type Memberships } from "./services/memberships.ts"
import { createOnlineRestore } from "./services/online-restore.ts"
import { createOperations, type Operations, runOperation } from "./services/operations.ts"
import { createQueryForm } from "./services/query-form.ts"
import { createSiteAreas } from "./services/site-areas.ts"
import { createStats } from "./services/stats.ts"
import { type Takeout, writeTakeout } from "./services/takeout.ts"
import { createTimers, type Timers } from "./services/timers.ts"
import { txtResolver } from "./services/txt-records.ts"
import { checkStores, type UpkeepOptions, upkeepTasks } from "./services/upkeep.ts"

export interface AppOptions {
  config: Config
  /** Where each setting comes from. */
  described: readonly Described[]
  /** Of the source, where the build knows it. */
  commit?: string
  plugins: readonly AnyPlugin[]
  version: string
  clock: Clock
  log: Log
  random(bytes: number): Uint8Array
  /** Made in `main.ts`: in the binary `import.meta.url` is that of the main file everywhere. */
  workers: { query: string; backup: string }
  backUpBeforeMigrating?: boolean
}

export interface App extends HttpServer {
  instance: Instance
  collector: Collector
  engine: Engine
  operations: Operations
  plugins: LoadedPlugins
  /** Who belongs to which organization. */
  memberships: Memberships
  console: Console
  /** Resolves when it has to stop and begin anew: a backup is to take the place of the stores. */
  restarting: Promise<void>
  /** Where people set the instance up, while nobody has; `tellLater` gets each token that takes the place of an expired one. */
  inviteToSetUp(tellLater: (invitation: Invitation) => void): Promise<Invitation | undefined>
  /** Begins what an instance does by itself, and answers commands of the command line. After it listens, at this address. */
  start(address: string): Promise<void>
  /** Everything after the web server has stopped: commits what waits, ends the jobs, closes the stores. */
  stop(): Promise<void>
}

export async function createApp(given: AppOptions): Promise<App> {
  const logLines = createLogLines(given.log, { now: given.clock.now, level: given.config.log_level })
  const options = { ...given, log: logLines.log }
  const { config, clock, log } = options
  const placeFile = await placesOf(config)
  const engine = openEngine({
    workerUrl: options.workers.query,
    path: placesIn(config.data_dir).events,
    cacheBytes: cacheBytes(config.cache_mb),
    ...(config.query_workers !== undefined && { workers: config.query_workers }),
  })
  let address: string | undefined
  const publicUrl = () => baseUrlOf(config, address)
  const instance = await openInstance({ ...instanceOptions(options), publicUrl, onEventsReadable: engine.begin }).catch(async (error) => {
    await engine.close()
    throw error
  })
  await makeFirstUser(options, instance)
  const counts = createIngestCounts({ now: clock.now })
  const live = createLive({ directory: instance.sites.directory, engine, clock })
  const collector = createCollector({
    ...collectorOptions(options, instance),
    counts,
    watch: live.ingest,
    placeFile,
    store: instance.events,
  })
  const operations = operationsOf(
    options,
    instance,
    () => address,
    () => plugins.hooks,
  )
  const stats = createStats({ ...instance, engine, clock })
  const exports = createExports({ ...instance, engine, clock })
  const siteAreas = createSiteAreas({
    ...instance,
    engine,
    stats,
    exports,
    clock,
    live,
    random: options.random,
    dataDir: config.data_dir,
    isSecure: config.base_url?.startsWith("https:") ?? false,
  })
  const memberships = createMemberships({ ...options, ...instance, ...instance.accounts, resolveTxt: txtResolver(), publicUrl })
  const cookie = sessionCookie({
    secrets: instance.cookieSecrets,
    secure: config.base_url?.startsWith("https:") ?? false,
    allowInsecure: config.allow_insecure_http,
  })
  const onlineRestore = createOnlineRestore({ dataDir: config.data_dir, now: clock.now })
  const admin = createConsole({
    ...options,
    ...consoleSettings(options),
    instance,
    memberships,
    stats,
    counts,
    logLines,
    publicUrl,
    queueDepth: () => collector.depth,
    cookies: cookie.impersonation,
    hooks: () => plugins.hooks,
    pluginFacts: pluginFacts(options.plugins),
    onlineRestore,
    examine: (report, host) => examine({ ...doctorOptions(options, instance), requestHost: host }, report),
  })
  const plugins = await loadPlugins({
    ...options,
    engine,
    collector,
    statusOf,
    settings: config.plugins,
    instance,
    stats,
    exports,
    console: admin,
  }).catch(async (error) => {
    await closeUnserved(engine, instance)
    throw error
  })
  defineCoreJobs({ ...instance, erasure: plugins.erasure, clock, log })
  const server = createServer({
    siteAreas,
    baseUrl: config.base_url ?? "",
    hsts: config.hsts,
    log,
    health: instance.health,
    stats,
    exports,
    queryForm: createQueryForm({ ...instance, engine, clock }),
    collector,
    collectPath: config.collect_path,
    scriptPath: config.script_path,
    onScript: live.scriptSeen,
    serverName: config.server_name,
    now: clock.now,
    keys: instance.keys,
    sites: instance.sites,
    goals: instance.goals,
    funnels: instance.funnels,
    annotations: instance.annotations,
    organizations: instance.organizations,
    idempotency: instance.idempotency,
    audit: instance.audit,
    ...memberships,
    scriptUrl: () => scriptUrlOf(config, address),
    firstAt: (siteId) => instance.events.firstAt(siteId),
    ...instance.accounts,
    isSetUp: instance.accounts.users.isSetUp,
    siteDefaults: siteDefaults(config),
    publicUrl,
    sessions: instance.sessions,
    cookie,
    access: instance.access,
    maintenance: instance.maintenance.current,
    isOn: instance.plugins.isOn,
    features: instance.plugins.features,
    mountPlugins: plugins.mountPlugins,
    privateRate: config.private_rate,
    allowedHosts: config.allowed_hosts,
    apiRateLimit: config.api_rate_limit,
    corsOrigins: config.api_cors_origins,
    mcpAllowedOrigins: config.mcp_allowed_origins,
    version: options.version,
  })
  const refreshPlaces = () => placeFile?.refresh() ?? Promise.resolve(undefined)
  const upkeep = { ...upkeepOptions(options, instance), hooks: plugins.hooks, refreshPlaces }
  const onJump = (milliseconds: number) => {
    instance.health.enter("clock_jump", `by ${Math.round(milliseconds / 1_000)} s`)
    instance.schedules.replan().catch((error) => log.error("jobs could not be planned anew", { error }))
  }
  const tasks = [
    ...upkeepTasks(upkeep),
    ...accountTasks(instance.accounts, instance.sessions),
    ...memberships.tasks,
    ...admin.tasks,
    ...jobTasks(instance),
  ]
  const timers = createTimers(tasks, { clock, log, onJump })
  let control: { stop(): void } | undefined
  return {
    ...server,
    instance,
    engine,
    collector,
    operations,
    plugins,
    memberships,
    console: admin,
    restarting: onlineRestore.asked,
    async inviteToSetUp(tellLater) {
      if (await instance.accounts.users.isSetUp()) return undefined
      const url = `${baseUrlOf(config, address)}/setup`
      return { url, ...instance.accounts.setup.token.begin((invitation) => tellLater({ url, ...invitation })) }
    },
    async start(at) {
      address = at
      control = await begin(options, instance, operations, timers, upkeep)
    },
    async stop() {
      collector.stop()
      control?.stop()
      await Promise.all([timers.stop(), instance.jobs.stop(), instance.outbox.stop()])
      await instance.accounts.background.settled()
      // What is not sent now waits in the catalog.
      await Promise.race([instance.accounts.mail.settled(), Bun.sleep(FAREWELL_MS)])
      // Counts are a help to people: a full disk must not hold up the end.
      await memberships.keyUsage.flush().catch((error) => log.warn("counts of keys' requests were lost", { error }))
      await admin.ingestion.task.run(AbortSignal.abort()).catch((error) => log.warn("counts of events were lost", { error }))
      await plugins.stop()
      // Before the stores close, and with nothing that writes them any more.
      await onlineRestore.keepPresent(instance.backups).catch((error) => log.error("the backup could not be restored", { error }))
      await engine.close()
      await instance.close()
      if (onlineRestore.exchange()) log.info("a backup was put in the place of the stores")
    },
  }
}

const FAREWELL_MS = 2_000

async function closeUnserved(engine: Engine, instance: Instance): Promise<void> {
  await engine.close()
  await instance.close()
}

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
}: AppOptions): InstanceOptions => ({
  dataDir: config.data_dir,
  version,
  clock,
  log,
  random,
  secretKey: config.secret_key,
  remoteCatalog: config.catalog_url === undefined ? undefined : { url: config.catalog_url, authToken: config.catalog_auth_token },
  defaults: siteDefaults(config),
  accounts: accountSettings(config, baseUrlOf(config, undefined)),
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
  keep: { daily: config.backup_keep_daily, weekly: config.backup_keep_weekly },
  backups: { time: config.backup_time, setBy: isDefault(described, "backup_time") ? undefined : whereIs(described, "backup_time") },
  backupWorkerUrl: workers.backup,
  backUpBeforeMigrating,
})

/** A flag counts as environment: both are said where the process is started. */
const whereIs = (described: readonly Described[], key: string): "env" | "file" =>
  sourceOf(described.find((row) => row.key === key)?.source ?? "") === "file" ? "file" : "env"

const isDefault = (described: readonly Described[], key: string): boolean =>
  described.every((row) => row.key !== key || row.source === "default")

const siteDefaults = (config: Config): InstanceOptions["defaults"] => ({
  timezone: config.default_timezone,
  retention_days: config.default_retention_days ?? null,
  revenue_currency: config.default_currency,
})

/** Where pages load the tracker from; without a base URL at the address where the instance listens. */
const scriptUrlOf = (config: Config, address: string | undefined): string =>
  baseUrlOf(config, address) + (config.script_path ?? "/js/script.js")

const baseUrlOf = (config: Config, address: string | undefined): string => config.base_url ?? address ?? `http://localhost:${config.port}`

/** With an engine of its own: a command may run where nothing is served. */
async function takeOut({ config, clock, random, workers }: AppOptions, instance: Instance, site: Site, path: string): Promise<Takeout> {
  const engine = openEngine({
    workerUrl: workers.query,
    path: placesIn(config.data_dir).events,
    cacheBytes: cacheBytes(config.cache_mb),
    workers: 1,
  })
  try {
    return await writeTakeout({ ...instance, engine, clock, random }, site, path)
  } finally {
    await engine.close()
  }
}

/** What the command line may ask of this instance, whether it serves or not. */
export function operationsOf(
  options: AppOptions,
  instance: Instance,
  address: () => string | undefined,
  // Of areas that are not set up: what they have derived from visits goes with their next nightly run.
  hooks: () => DataHooks = () => NO_HOOKS,
): Operations {
  const { config, clock, version } = options
  const places = { dataDir: config.data_dir, backupWorkerUrl: options.workers.backup }
  const { segments } = createStorage({ ...instance, ...places, clock })
  return createOperations({
    ...instance,
    ...instance.accounts,
    actor: operatorActor(version),
    clock,
    publicUrl: () => baseUrlOf(config, address()),
    now: clock.now,
    takeOut: (site, path) => takeOut(options, instance, site, path),
    scriptUrl: () => scriptUrlOf(config, address()),
    retention: createRetention({ ...instance, ...places, clock, hooks, segments }),
    examine: (report) => examine(doctorOptions(options, instance), report),
  })
}

const doctorOptions = ({ config, clock, version, workers, plugins }: AppOptions, instance: Instance): DoctorOptions => ({
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

/** What the console shows of how the instance is set. */
const consoleSettings = ({ config, workers, commit, described, plugins }: AppOptions) => ({
  dataDir: config.data_dir,
  commit,
  baseUrl: config.base_url,
  smtp: smtpSettings(config, baseUrlOf(config, undefined)),
  backupWorkerUrl: workers.backup,
  described: described.map((row) => ({ ...row, ...toldOf(row.key, plugins) })),
})

/** Named by the settings, so that no browser is needed. */
async function makeFirstUser({ config, log, version }: AppOptions, { accounts, close }: Instance): Promise<void> {
  const { admin_email: email, admin_password: password } = config
  if (email === undefined && password === undefined) return
  try {
    const isMade = await accounts.setup.bySettings({ email, password }, operatorActor(version))
    if (!isMade) log.warn("admin_email and admin_password are ignored: the instance is set up")
  } catch (error) {
    await close()
    throw error
  }
}

/** Fills a new instance with the traffic of shops, up to now. The clock stays where the traffic ends. */
export async function fillDemo(app: App, { config, clock }: AppOptions & { clock: ReplayClock }, shape: DemoShape, report: Report) {
  const { operations, instance, collector } = app
  const to = clock.now()
  const from = to - shape.days * 86_400_000
  clock.set(from)
  const count = shape.sites ?? 1
  const sites: (SiteTraffic & { siteId: number })[] = []
  for (let index = 0; index < count; index++) {
    const [name, host] = index === 0 ? ["Shop", "shop.example"] : [`Shop ${index + 1}`, `shop-${index + 1}.example`]
    const { site } = await operations["site.create"]({ site: { name, hosts: [host], revenue_currency: "EUR" } })
    for (const goal of DEMO_GOALS) await instance.goals.create(site, goal)
    const events = Math.round(shape.events / count)
    sites.push({ siteId: site.id, trackingId: site.tracking_id, seed: shape.seed + index, events, from, to, host, currency: "EUR" })
  }
  const wanted = {
    name: "Demo",
    scopes: ["stats:read", "events:write"],
    site_ids: null,
    expires_days: null,
    ip_allow: [],
    rate_limit: null,
  }
  const { key } = await operations["key.create"](wanted)
  const events = await replayTraffic({ sites, clock, collector, instance, report })
  const [first] = sites
  return { site_id: first!.siteId, tracking_id: first!.trackingId, key, events, data_dir: config.data_dir }
}

const DEMO_GOALS = [
  { kind: "event", value: "purchase" },
  { kind: "event", value: "signup" },
  { kind: "page", value: "/cart" },
]

/** A file that cannot be read at the start is a wrong setting; later the one that was read stays in use. */
async function placesOf({ geo_db }: Config): Promise<PlaceFile | undefined> {
  if (geo_db === undefined) return undefined
  const file = openPlaceFile(geo_db)
  const fault = await file.refresh()
  if (fault !== undefined) throw new ExitFault("configuration", `geo_db: ${geo_db} cannot be read as an mmdb file (${fault})`)
  return file
}

function collectorOptions({ config, clock, log, random }: AppOptions, instance: Instance) {
  return {
    directory: instance.sites.directory,
    salts: instance.salts,
    identityKeys: instance.identityKeys,
    clock,
    random,
    trustedProxies: config.trusted_proxies,
    geoHeader: config.geo_header,
    instanceShields: instance.instanceShields.current,
    limits: {
      visitorEventsPerMinute: config.limit_visitor_events,
      siteEventsPerSecond: config.limit_site_events,
      siteBurst: config.limit_site_events * (COLLECT.siteBurst / COLLECT.siteEventsPerSecond),
      instanceEventsPerSecond: config.limit_instance_events,
    },
    onHindrance: instance.states.hinder,
    onError: (error: unknown) => log.error("an event could not be stored", { error }),
    onForwardedIgnored: () => instance.health.enter("forwarded_headers_ignored", "a peer that is no trusted proxy sends them"),
  }
}

const upkeepOptions = (
  { config, clock, log, workers }: AppOptions,
  instance: Instance,
): Omit<UpkeepOptions, "refreshPlaces" | "hooks"> => ({
  ...instance,
  dataDir: config.data_dir,
  clock,
  log,
  backupWorkerUrl: workers.backup,
})

async function begin(options: AppOptions, instance: Instance, operations: Operations, timers: Timers, upkeep: UpkeepOptions) {
  const { config, clock, log, version } = options
  const control = listenForCommands(config.data_dir, (name, input, report) => runOperation(operations, name, input, report))
  instance.lock.announce({ pid: process.pid, started_at: new Date(clock.now()).toISOString(), version, control: control.path })
  await instance.jobs.recover()
  await instance.schedules.start()
  await instance.outbox.start()
  timers.start()
  if (instance.lock.afterCrash) {
    log.warn("the last run did not end in order; both stores are being checked")
    checkStores(upkeep, { full: false }).catch((error) => log.error("the check after a crash failed", { error }))
  }
  return control
}

/** An eighth of the memory, within bounds that suit small and large machines. */
function cacheBytes(configured: number | undefined): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return configured === undefined ? Math.min(192 << 20, Math.max(32 << 20, memory / 8)) : configured << 20
}
