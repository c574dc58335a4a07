import type { Clock } from "../domain/clock.ts"
import { AppError, type ErrorCode } from "../domain/error.ts"
import type { Log } from "../domain/log.ts"
import type { Collector } from "../ingest/collect.ts"
import type { Engine } from "../query/engine.ts"
import type { Console } from "../services/console/console.ts"
import type { Erasure } from "../services/erasure.ts"
import type { Exports } from "../services/exports.ts"
import type { Instance } from "../services/instance.ts"
import type { ResolveTxt } from "../services/mail-domains.ts"
import type { Random } from "../services/secrets.ts"
import type { Stats } from "../services/stats.ts"
import { createUnlockTokens } from "../services/unlock-tokens.ts"
import type { AddressLists } from "./address-lists.ts"
import type { AnyPlugin } from "./contract.ts"
import { type Host, pluginAudit, pluginOutbox, pluginSecrets } from "./host.ts"
import { pluginCreation } from "./host-creation.ts"
import { importWriters } from "./host-imports.ts"
import { pluginJobs } from "./host-jobs.ts"
import type { LateAuthorize } from "./late-authorize.ts"
import { ownRows, type RowReader } from "./own-rows.ts"
import { ownTables } from "./own-tables.ts"
import { recording } from "./recording.ts"
import { instanceRouter, openRouter, siteRouter } from "./routers.ts"
import { siteHashes } from "./site-hash.ts"
import type { LateThrottle } from "./throttle.ts"
import type { KnownWidget } from "./widgets.ts"

/** What hosts are made of. */
export interface HostOptions {
  /** Of the answer to a refusal. */
  statusOf(code: ErrorCode): number
  collector: Pick<Collector, "record" | "recordLater" | "senderOf" | "comesFrom">
  lists: Pick<AddressLists, "forPlugin">
  engine: Engine & RowReader
  /** Sections of the configuration by plugin. */
  settings: Readonly<Record<string, Record<string, unknown>>>
  instance: Instance
  console: Console
  stats: Stats
  exports: Exports
  clock: Pick<Clock, "now">
  log: Log
  random: Random
  /** Where people and pages reach the instance. */
  publicUrl(): string
  /** Hosts of the dashboard besides. */
  allowedHosts: readonly string[]
  resolveTxt: ResolveTxt
}

/** What is there only when all plugins are set up. */
interface LateParts {
  authorize: Pick<LateAuthorize, "forPlugin">
  throttle: Pick<LateThrottle, "make">
  erasure: Erasure
  widgets(): readonly KnownWidget[]
}

/** What each plugin gets of the house: everything under its own name, and nothing of the others. */
export function hostsOf(options: HostOptions, late: LateParts): (plugin: AnyPlugin) => Host<Record<string, unknown>> {
  const { instance } = options
  const siteHash = siteHashes(instance.siteKeys)
  return (plugin) => {
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    const gate = late.authorize.forPlugin(id, isOn)
    return {
      id,
      settings: options.settings[id] ?? {},
      services: { ...instance, console: options.console, stats: options.stats, exports: options.exports, erasure: late.erasure },
      db: ownTables(instance.catalog, id),
      rows: ownRows(instance.events, options.engine, id),
      engine: options.engine,
      audit: pluginAudit(instance.audit, id),
      jobs: pluginJobs(instance.jobs, id, options.clock.now),
      exclusively: instance.exclusive.run,
      imports: importWriters(instance.events, options.clock.now),
      create: pluginCreation(instance.idempotency, options.statusOf),
      outbox: pluginOutbox(instance.outbox),
      secrets: pluginSecrets(instance.secretsOf(id), id),
      mail: instance.accounts.mail,
      log: logOf(options.log, id),
      outbound: instance.outbound,
      fetch: instance.outbound.fetch,
      now: options.clock.now,
      random: options.random,
      throttle: late.throttle.make,
      siteHash,
      ...recording(options.collector, plugin),
      ...options.lists.forPlugin(plugin, options.settings[id] ?? {}),
      unlocks: createUnlockTokens({ kind: id, clock: options.clock, cookieSecrets: instance.cookieSecrets }),
      passwords: instance.accounts.passwords,
      baseUrl: () => options.publicUrl().replace(/\/+$/, ""),
      isOwnHost: (host) => host === hostOfUrl(options.publicUrl()) || options.allowedHosts.includes(host),
      txtRecords: async (name) => {
        if (!instance.outbound.enabled) throw new AppError("outbound_disabled", "Requests to the outside are switched off.")
        return options.resolveTxt(name)
      },
      widgets: late.widgets,
      siteRouter: () => siteRouter(gate, id),
      instanceRouter: () => instanceRouter(gate, id),
      openRouter: () => openRouter(isOn),
    }
  }
}

/** Says which plugin speaks. */
function logOf(log: Log, plugin: string): Log {
  const at =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) =>
      log[level](message, { plugin, ...fields })
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }
}

let latest: { url: string; host: string | undefined } | undefined

/** Asked for at every redirect, of one address that changes when an operator changes it. */
function hostOfUrl(url: string): string | undefined {
  if (latest?.url !== url) latest = { url, host: URL.parse(url)?.hostname }
  return latest.host
}
