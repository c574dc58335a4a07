import type { Clock } from "../../domain/clock.ts"
import { AppError, type ErrorCode } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import { CORE_EVENTS, type ProductEventForm } from "../../domain/product-event.ts"
import type { Collector } from "../../ingest/collect/collect.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { Erasure } from "../../services/erasure/erasure.ts"
import type { Exports } from "../../services/export/export.ts"
import type { Console } from "../../services/instance/console.ts"
import type { Instance } from "../../services/instance/instance.ts"
import type { ResolveTxt } from "../../services/oidc/mail-domains.ts"
import type { Random } from "../../services/secrets/secrets.ts"
import { createUnlockCookies } from "../../services/sharing/unlock-cookies.ts"
import type { Insights } from "../../services/stats/insights.ts"
import type { OpenReports } from "../../services/stats/open-report.ts"
import type { RecordReports } from "../../services/stats/record-reports.ts"
import type { Stats } from "../../services/stats/stats.ts"
import type { Authorize } from "../../web/router.ts"
import type { AddressLists } from "../address-lists.ts"
import type { AnyPlugin } from "../contract.ts"
import { authorizePlugin } from "../gate.ts"
import type { PluginRegistry } from "../registry.ts"
import { instanceRouter, openRouter, siteRouter } from "../routers.ts"
import { ownCounters } from "./counters.ts"
import { pluginBatch, pluginCreation } from "./creation.ts"
import {
  type Asked,
  type Host,
  type HostServices,
  pluginAudit,
  pluginConnections,
  pluginMail,
  pluginOutbox,
  pluginSecrets,
} from "./host.ts"
import { importWriters } from "./imports.ts"
import { pluginJobs } from "./jobs.ts"
import { ownRows, type RowReader, rowWriter } from "./own-rows.ts"
import { ownTables } from "./own-tables.ts"
import { recording } from "./recording.ts"
import { createSaleReader } from "./sales.ts"
import { pluginShares } from "./shares.ts"
import { siteHashes } from "./site-hash.ts"
import { ownSlugs } from "./slugs.ts"
import { stagingFolders } from "./staging.ts"
import { pluginThreads } from "./threads.ts"
import { type AddressOf, throttles } from "./throttle.ts"
import { ownTrash } from "./trash.ts"

/** Dependencies of the hosts. */
export interface HostOptions {
  plugins: readonly AnyPlugin[]
  /** Returns the HTTP status of an error code. */
  statusOf(code: ErrorCode): number
  collector: Pick<Collector, "record" | "recordLater" | "senderOf" | "comesFrom" | "commit">
  lists: Pick<AddressLists, "forPlugin">
  engine: Engine & RowReader
  dataDir: string
  /** Path of the operator's IP geolocation file. */
  geoDb: string | undefined
  /** URL of `plugin-worker.ts`. */
  workerUrl: string
  /** Sections of the configuration, by plugin. */
  settings: Readonly<Record<string, Record<string, unknown>>>
  instance: Instance
  console: Console
  stats: Stats
  insights: Insights
  recordReports: RecordReports
  openReport: OpenReports
  exports: Exports
  erasure: Erasure
  /** Filled while the plugins are set up. */
  registry: Pick<PluginRegistry, "widgets" | "named">
  authorize: Authorize
  addressOf: AddressOf
  /** Returns the key of a client's network for limits. */
  networkOf(asked: Asked): string
  clock: Pick<Clock, "now">
  log: Log
  random: Random
  /** Returns the base URL of the instance. */
  publicUrl(): string
  /** Additional hosts of the dashboard. */
  allowedHosts: readonly string[]
  resolveTxt: ResolveTxt
}

/** Creates the host of a plugin, limited to the names and data of that plugin. */
export function hostsOf(options: HostOptions): (plugin: AnyPlugin) => Host<Record<string, unknown>> {
  const { instance } = options
  const siteHash = siteHashes(instance.siteKeys)
  const services = hostServices(options)
  const writer = rowWriter({ ...instance, collector: options.collector })
  const throttle = throttles(options.clock.now, options.addressOf)
  const sales = createSaleReader({ ...instance, engine: options.engine, now: options.clock.now })
  const imports = importWriters({ ...instance, visible: instance.imports, sales, now: options.clock.now })
  const events: Record<string, ProductEventForm> = Object.assign({}, CORE_EVENTS, ...options.plugins.map((plugin) => plugin.events ?? {}))
  const isSecure = () => options.publicUrl().startsWith("https:")
  return (plugin) => {
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    const gate = authorizePlugin(options.authorize, id, isOn)
    const db = ownTables(instance, id)
    const audit = pluginAudit(instance.audit, id)
    const jobs = pluginJobs(instance.jobs, id, options.clock.now)
    const log = logOf(options.log, id)
    const own = { id, db, audit, jobs, log, engine: options.engine, now: options.clock.now, random: options.random }
    const { directory } = instance.sites
    const cookiesOf: Host["unlockCookies"] = (infix) =>
      createUnlockCookies({ ...options, kind: id, infix, cookieSecrets: instance.cookieSecrets, isSecure })
    return {
      id,
      settings: options.settings[id] ?? {},
      services,
      db,
      rows: ownRows({ writer, reader: options.engine }, id),
      engine: options.engine,
      slugs: ownSlugs(own),
      trash: ownTrash({ ...own, directory }),
      counters: ownCounters({ ...own, directory, events: instance.events, node: instance.nodes?.own ?? 0 }),
      audit,
      jobs,
      exclusively: instance.exclusive.run,
      imports,
      sales: sales.reader,
      stagingFolder: stagingFolders(options.dataDir, id),
      ...pluginThreads(options.workerUrl, id),
      geoDb: options.geoDb,
      create: pluginCreation(instance.idempotency, options.statusOf),
      batch: pluginBatch(instance.idempotency, options.statusOf),
      outbox: pluginOutbox(instance.outbox, events),
      secrets: pluginSecrets(instance.secretsOf(id), id),
      connections: pluginConnections(instance.connections, id),
      mail: pluginMail(instance.accounts.mail, id),
      log,
      outbound: instance.outbound,
      fetch: instance.outbound.fetch,
      now: options.clock.now,
      random: options.random,
      throttle,
      siteHash,
      ...recording(options.collector, plugin),
      ...options.lists.forPlugin(plugin, options.settings[id] ?? {}),
      unlockCookies: cookiesOf,
      shares: pluginShares({ ...options, id, cookiesOf, isOn }),
      passwords: instance.accounts.passwords.lowPriority,
      baseUrl: () => options.publicUrl().replace(/\/+$/, ""),
      isOwnHost: (host) => host === hostOfUrl(options.publicUrl()) || options.allowedHosts.includes(host),
      txtRecords: async (name) => {
        if (!instance.outbound.enabled) throw new AppError("outbound_disabled", "Outgoing requests are turned off on this instance.")
        return options.resolveTxt(name)
      },
      productEvents: () => events,
      widgets: options.registry.widgets,
      named: options.registry.named,
      siteRouter: () => siteRouter(gate, id),
      instanceRouter: () => instanceRouter(gate, id),
      openRouter: () => openRouter(isOn),
    }
  }
}

/** Returns the services of the contract and nothing else: a plugin cannot reach the stores, the lock or the secrets, not even by a cast. */
const hostServices = ({ instance, console, stats, insights, recordReports, openReport, exports, erasure }: HostOptions): HostServices => ({
  sites: instance.sites,
  allSites: instance.allSites,
  goals: instance.goals,
  funnels: instance.funnels,
  segments: instance.segments,
  people: instance.people,
  annotations: instance.annotations,
  organizations: instance.organizations,
  settings: instance.settings,
  keys: instance.keys,
  access: instance.access,
  accounts: instance.accounts,
  plugins: instance.plugins,
  maintenance: { current: instance.maintenance.current },
  backups: instance.backups,
  health: instance.health,
  console,
  stats,
  insights,
  recordReports,
  openReport,
  exports,
  erasure,
})

/** Returns a log that adds the id of the plugin. */
function logOf(log: Log, plugin: string): Log {
  const at =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) =>
      log[level](message, { plugin, ...fields })
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }
}

let latest: { url: string; host: string | undefined } | undefined

/** Memoizes the host of the base URL, which is needed for every redirect and changes only with the configuration. */
function hostOfUrl(url: string): string | undefined {
  if (latest?.url !== url) latest = { url, host: URL.parse(url)?.hostname }
  return latest.host
}
