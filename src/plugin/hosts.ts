import type { Clock } from "../domain/clock.ts"
import { AppError, type ErrorCode } from "../domain/error.ts"
import type { Log } from "../domain/log.ts"
import type { Collector } from "../ingest/collect/collect.ts"
import type { Engine } from "../query/engine/engine.ts"
import type { Erasure } from "../services/erasure/erasure.ts"
import type { Exports } from "../services/export/export.ts"
import type { Console } from "../services/instance/console.ts"
import type { Instance } from "../services/instance/instance.ts"
import type { ResolveTxt } from "../services/oidc/mail-domains.ts"
import type { Random } from "../services/secrets/secrets.ts"
import { createUnlockTokens } from "../services/sharing/unlock-tokens.ts"
import type { RecordReports } from "../services/stats/record-reports.ts"
import type { Stats } from "../services/stats/stats.ts"
import type { AddressLists } from "./address-lists.ts"
import type { AnyPlugin } from "./contract.ts"
import { type Host, pluginAudit, pluginOutbox, pluginSecrets } from "./host.ts"
import { ownCounters } from "./host-counters.ts"
import { pluginBatch, pluginCreation } from "./host-creation.ts"
import { importWriters } from "./host-imports.ts"
import { pluginJobs } from "./host-jobs.ts"
import { ownSlugs } from "./host-slugs.ts"
import { ownTrash } from "./host-trash.ts"
import type { LateAuthorize } from "./late-authorize.ts"
import { ownRows, type RowReader } from "./own-rows.ts"
import { ownTables } from "./own-tables.ts"
import { recording } from "./recording.ts"
import { instanceRouter, openRouter, siteRouter } from "./routers.ts"
import { siteHashes } from "./site-hash.ts"
import type { LateThrottle } from "./throttle.ts"
import type { KnownWidget } from "./widgets.ts"

/** Dependencies of the hosts. */
export interface HostOptions {
  /** Returns the HTTP status of an error code. */
  statusOf(code: ErrorCode): number
  collector: Pick<Collector, "record" | "recordLater" | "senderOf" | "comesFrom">
  lists: Pick<AddressLists, "forPlugin">
  engine: Engine & RowReader
  /** Sections of the configuration, by plugin. */
  settings: Readonly<Record<string, Record<string, unknown>>>
  instance: Instance
  console: Console
  stats: Stats
  recordReports: RecordReports
  exports: Exports
  clock: Pick<Clock, "now">
  log: Log
  random: Random
  /** Returns the base URL of the instance. */
  publicUrl(): string
  /** Additional hosts of the dashboard. */
  allowedHosts: readonly string[]
  resolveTxt: ResolveTxt
}

/** Parts that exist only after all plugins are set up. */
interface LateParts {
  authorize: Pick<LateAuthorize, "forPlugin">
  throttle: Pick<LateThrottle, "make">
  erasure: Erasure
  widgets(): readonly KnownWidget[]
}

/** Creates the host of a plugin, limited to the names and data of that plugin. */
export function hostsOf(options: HostOptions, late: LateParts): (plugin: AnyPlugin) => Host<Record<string, unknown>> {
  const { instance } = options
  const siteHash = siteHashes(instance.siteKeys)
  return (plugin) => {
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    const gate = late.authorize.forPlugin(id, isOn)
    const db = ownTables(instance.catalog, id)
    const audit = pluginAudit(instance.audit, id)
    const jobs = pluginJobs(instance.jobs, id, options.clock.now)
    const log = logOf(options.log, id)
    const own = { id, db, audit, jobs, log, engine: options.engine, now: options.clock.now, random: options.random }
    const { directory } = instance.sites
    return {
      id,
      settings: options.settings[id] ?? {},
      services: {
        ...instance,
        console: options.console,
        stats: options.stats,
        recordReports: options.recordReports,
        exports: options.exports,
        erasure: late.erasure,
      },
      db,
      rows: ownRows(instance.events, options.engine, id),
      engine: options.engine,
      slugs: ownSlugs(own),
      trash: ownTrash({ ...own, directory }),
      counters: ownCounters({ ...own, directory }),
      audit,
      jobs,
      exclusively: instance.exclusive.run,
      imports: importWriters(instance.events, options.clock.now),
      create: pluginCreation(instance.idempotency, options.statusOf),
      batch: pluginBatch(instance.idempotency, options.statusOf),
      outbox: pluginOutbox(instance.outbox),
      secrets: pluginSecrets(instance.secretsOf(id), id),
      mail: instance.accounts.mail,
      log,
      outbound: instance.outbound,
      fetch: instance.outbound.fetch,
      now: options.clock.now,
      random: options.random,
      throttle: late.throttle.make,
      siteHash,
      ...recording(options.collector, plugin),
      ...options.lists.forPlugin(plugin, options.settings[id] ?? {}),
      unlocks: createUnlockTokens({ kind: id, clock: options.clock, cookieSecrets: instance.cookieSecrets }),
      passwords: instance.accounts.passwords.lowPriority,
      baseUrl: () => options.publicUrl().replace(/\/+$/, ""),
      isOwnHost: (host) => host === hostOfUrl(options.publicUrl()) || options.allowedHosts.includes(host),
      txtRecords: async (name) => {
        if (!instance.outbound.enabled) throw new AppError("outbound_disabled", "Outgoing requests are turned off on this instance.")
        return options.resolveTxt(name)
      },
      widgets: late.widgets,
      siteRouter: () => siteRouter(gate, id),
      instanceRouter: () => instanceRouter(gate, id),
      openRouter: () => openRouter(isOn),
    }
  }
}

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
