/** Everything is wired here; no rule stands here. */
import type { Config } from "../config/schema.ts"
import type { Invitation } from "./cli/command.ts"
import { sessionCookie } from "./http/private/session-cookie.ts"
import { statusOf } from "./http/public/creation.ts"
import { createServer, type HttpServer } from "./http/server.ts"
import { type Collector, createCollector } from "./ingest/collect.ts"
import { createIngestCounts } from "./ingest/ingest-counts.ts"
import { openPlaceFile, type PlaceFile } from "./ingest/places.ts"
import { type LoadedPlugins, loadPlugins, pluginFacts } from "./plugin/load.ts"
import { type Engine, openEngine } from "./query/engine.ts"
import { accountTasks } from "./services/accounts.ts"
import { type Console, createConsole } from "./services/console/console.ts"
import { listenForCommands } from "./services/control.ts"
import { defineCoreJobs, jobTasks } from "./services/core-jobs.ts"
import { placesIn } from "./services/data-folder.ts"
import { examine } from "./services/doctor.ts"
import { ExitFault } from "./services/exit.ts"
import { createExports } from "./services/exports.ts"
import { type Instance, openInstance } from "./services/instance.ts"
import { createLive } from "./services/live.ts"
import { createLogLines } from "./services/log-lines.ts"
import { createMemberships, type Memberships } from "./services/memberships.ts"
import { createOnlineRestore } from "./services/online-restore.ts"
import { type Operations, runOperation } from "./services/operations.ts"
import { createQueryForm } from "./services/query-form.ts"
import { createSiteAreas } from "./services/site-areas.ts"
import { createStats } from "./services/stats.ts"
import { createTimers, type Timers } from "./services/timers.ts"
import { txtResolver } from "./services/txt-records.ts"
import { checkStores, type UpkeepOptions, upkeepTasks } from "./services/upkeep.ts"
import { operatorActor } from "./wiring/account-settings.ts"
import { operationsOf } from "./wiring/operations.ts"
import {
  type AppOptions,
  baseUrlOf,
  cacheBytes,
  collectorOptions,
  consoleSettings,
  doctorOptions,
  instanceOptions,
  scriptUrlOf,
  siteDefaults,
  upkeepOptions,
} from "./wiring/settings.ts"

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

/** A file that cannot be read at the start is a wrong setting; later the one that was read stays in use. */
async function placesOf({ geo_db }: Config): Promise<PlaceFile | undefined> {
  if (geo_db === undefined) return undefined
  const file = openPlaceFile(geo_db)
  const fault = await file.refresh()
  if (fault !== undefined) throw new ExitFault("configuration", `geo_db: ${geo_db} cannot be read as an mmdb file (${fault})`)
  return file
}

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
