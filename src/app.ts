/** Connects all parts of the program. It contains no rules. */

import type { Invitation } from "./cli/command.ts"
import { jumpText } from "./domain/moment.ts"
import { createClients } from "./http/caller.ts"
import { createAuthorize } from "./http/private/authorize.ts"
import { privateOrigins } from "./http/private/origins.ts"
import { statusOf } from "./http/public/requests.ts"
import { createServer, type HttpServer } from "./http/server.ts"
import { type Collector, createCollector } from "./ingest/collect/collect.ts"
import { createIngestCounts } from "./ingest/commit/outcomes.ts"
import { type LoadedPlugins, loadPlugins, pluginFacts } from "./plugin/load.ts"
import { createPluginRegistry } from "./plugin/registry.ts"
import type { Engine } from "./query/engine/engine.ts"
import { accountTasks } from "./services/accounts/accounts.ts"
import { createOnlineRestore } from "./services/backup/restore.ts"
import type { DataHooks } from "./services/erasure/data-hooks.ts"
import { createErasure, type Erasure } from "./services/erasure/erasure.ts"
import { createExports } from "./services/export/export.ts"
import { type Console, createConsole } from "./services/instance/console.ts"
import { examine } from "./services/instance/doctor.ts"
import type { Instance } from "./services/instance/instance.ts"
import type { Operations } from "./services/instance/operations.ts"
import { createSiteAreas } from "./services/instance/site-areas.ts"
import { defineCoreJobs, jobTasks, upkeepTasks } from "./services/instance/upkeep.ts"
import { txtResolver } from "./services/oidc/mail-domains.ts"
import { createMemberships, type Memberships } from "./services/organizations/memberships.ts"
import { createLogLines } from "./services/runtime/log.ts"
import { createTimers } from "./services/runtime/tasks.ts"
import { createHostClaims } from "./services/sites/host-claims.ts"
import { createLive } from "./services/stats/live.ts"
import { openReports } from "./services/stats/open-report.ts"
import { createQueryForm } from "./services/stats/query-form.ts"
import { createRecordReports } from "./services/stats/record-reports.ts"
import { createStats } from "./services/stats/stats.ts"
import { operatorActor } from "./wiring/account-settings.ts"
import { begin, end } from "./wiring/life.ts"
import { closeFoundation, openFoundation } from "./wiring/opening.ts"
import { operationsOf } from "./wiring/operations.ts"
import { authorizeOptions, cookieOf, isSecure, serverOptions } from "./wiring/server.ts"
import {
  type AppOptions,
  collectorOptions,
  consoleSettings,
  createBaseUrl,
  doctorOptions,
  followOthersOf,
  upkeepOptions,
} from "./wiring/settings.ts"

export interface App extends HttpServer {
  instance: Instance
  collector: Collector
  engine: Engine
  operations: Operations
  plugins: LoadedPlugins
  erasure: Erasure
  /** The data hooks of all plugins. */
  hooks: DataHooks
  memberships: Memberships
  console: Console
  /** Resolves when the instance must be restarted, because a backup is to replace its stores. */
  restarting: Promise<void>
  /** Returns the invitation to set up the instance, or undefined when it is set up. `onRenewal` receives each renewed invitation. */
  inviteToSetUp(onRenewal: (invitation: Invitation) => void): Promise<Invitation | undefined>
  /** Starts jobs, timers and commands. Call it once the web server listens, with its address. */
  start(address: string): Promise<void>
  /** Ends the instance after the web server has stopped: commits waiting events, ends the jobs, closes the stores. */
  stop(): Promise<void>
}

export async function createApp(given: AppOptions): Promise<App> {
  const logLines = createLogLines(given.log, { now: given.clock.now, level: given.config.log_level })
  const options = { ...given, log: logLines.log }
  const { config, clock, log } = options
  const baseUrl = createBaseUrl(config)
  const publicUrl = baseUrl.current
  const foundation = await openFoundation(options, publicUrl)
  const { instance, engine, slowQueries, placeFile } = foundation
  const registry = createPluginRegistry()
  const counts = createIngestCounts({ now: clock.now })
  const live = createLive({ directory: instance.sites.directory, engine, clock, followOthers: followOthersOf(options, instance) })
  const collector = createCollector({
    ...collectorOptions(options, instance),
    counts,
    watch: live.ingest,
    areaSteps: registry.areaSteps,
    placeFile,
    store: instance.events,
  })
  instance.states.onDamage(collector.meetDamage)
  const operations = operationsOf(options, instance, {
    baseUrl: baseUrl.current,
    hooks: registry.hooks,
    areaFiles: registry.areaFiles,
    runPluginCommand: registry.runCommand(operatorActor(options.version)),
  })
  const placeNames = placeFile?.names
  const savedSets = instance.visitorSets.readingWith(engine, instance.people)
  const stats = createStats({ ...instance, engine, clock, placeNames, savedSets })
  const recordReports = createRecordReports({ ...instance, engine, clock, placeNames })
  const openReport = openReports({ ...instance, clock, savedSets })
  const exports = createExports({ ...instance, engine, clock, placeNames, savedSets })
  const resolveTxt = txtResolver(options.nameServers)
  const hostClaims = createHostClaims({ ...instance, clock, random: options.random, resolveTxt })
  const siteAreas = createSiteAreas({
    ...instance,
    hostClaims,
    engine,
    stats,
    exports,
    clock,
    placeNames,
    savedSets,
    live,
    random: options.random,
    dataDir: config.data_dir,
    areaFiles: registry.areaFiles,
    hooks: registry.hooks,
    isSecure: isSecure(options),
  })
  instance.shipped?.onRepeated(siteAreas.takeouts.drop)
  const memberships = createMemberships({ ...options, ...instance, ...instance.accounts, resolveTxt, publicUrl })
  const cookie = cookieOf(options, instance)
  const onlineRestore = createOnlineRestore({ dataDir: config.data_dir, now: clock.now })
  const admin = createConsole({
    ...options,
    ...consoleSettings(options),
    instance,
    memberships,
    hostClaims,
    stats,
    counts,
    logLines,
    publicUrl,
    queueDepth: () => collector.depth,
    slowQueries,
    cookies: cookie.impersonation,
    hooks: registry.hooks,
    pluginFacts: pluginFacts(options.plugins),
    onlineRestore,
    examine: (report, host) => examine({ ...doctorOptions(options, instance), requestHost: host }, report),
  })
  const erasure = createErasure({ ...instance, takeouts: siteAreas.takeouts, clock, hooks: registry.hooks })
  const clients = createClients(collector)
  const origins = privateOrigins({ baseUrl: config.base_url ?? "", allowedHosts: config.allowed_hosts })
  const authorize = createAuthorize({ ...authorizeOptions(options, instance), cookie, origins, addressOf: clients.addressOf })
  const plugins = await loadPlugins({
    ...options,
    registry,
    authorize,
    ...clients,
    erasure,
    engine,
    collector,
    statusOf,
    settings: config.plugins,
    dataDir: config.data_dir,
    geoDb: config.geo_db,
    workerUrl: options.workers.plugin,
    instance,
    stats,
    insights: siteAreas.insights,
    recordReports,
    openReport,
    exports,
    console: admin,
    publicUrl,
    allowedHosts: config.allowed_hosts,
    resolveTxt,
  }).catch(async (error) => {
    await closeFoundation(foundation)
    throw error
  })
  defineCoreJobs({ ...instance, erasure, clock, log })
  const server = createServer({
    ...serverOptions(options, instance, baseUrl.current),
    ...memberships,
    ...clients,
    authorize,
    origins,
    siteAreas,
    stats,
    exports,
    queryForm: createQueryForm({ ...instance, engine, clock, savedSets }),
    collector,
    onScript: live.scriptSeen,
    publicUrl,
    cookie,
    pluginRoutes: plugins.pluginRoutes,
    answerAtEndpoint: plugins.answerAtEndpoint,
    publicPluginRoutes: plugins.publicPluginRoutes,
    pluginPages: plugins.pages,
    pluginSharePages: plugins.sharePages,
  })
  const upkeep = { ...upkeepOptions(options, instance), hooks: registry.hooks }
  const onJump = (milliseconds: number) => {
    instance.health.enter("clock_jump", jumpText(milliseconds))
    instance.schedules.replan().catch((error) => log.error("jobs could not be replanned", { error }))
  }
  const tasks = [
    ...upkeepTasks(upkeep),
    ...accountTasks(instance.accounts, instance.sessions),
    ...memberships.tasks,
    ...admin.tasks,
    ...plugins.tasks,
    ...jobTasks(instance),
  ]
  const timers = createTimers(tasks, { clock, log, nodes: instance.nodes, onJump })
  let control: { stop(): void } | undefined
  const parts = { instance, erasure, hooks: registry.hooks, engine, collector, operations, plugins, memberships, console: admin }
  return {
    ...server,
    ...parts,
    restarting: onlineRestore.requested,
    async inviteToSetUp(onRenewal) {
      if (await instance.accounts.users.isSetUp()) return undefined
      const url = `${baseUrl.current()}/setup`
      return { url, ...instance.accounts.setup.token.begin((invitation) => onRenewal({ url, ...invitation })) }
    },
    async start(at) {
      baseUrl.listensAt(at)
      control = await begin(options, { instance, operations, timers, upkeep })
      instance.events.onSealDue(() => timers.wake("seal"))
    },
    async stop() {
      await end({ ...parts, timers, onlineRestore, control, log })
    },
  }
}
