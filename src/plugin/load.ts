import type { AnyElysia } from "elysia"
import type { Clock } from "../domain/clock.ts"
import type { ErrorCode } from "../domain/error.ts"
import type { Log } from "../domain/log.ts"
import type { Permissions } from "../domain/permission.ts"
import type { Collector } from "../ingest/collect.ts"
import type { Engine } from "../query/engine.ts"
import type { Console } from "../services/console/console.ts"
import type { DataHooks } from "../services/data-hooks.ts"
import { createErasure, type Erasure } from "../services/erasure.ts"
import type { Exports } from "../services/exports.ts"
import type { Instance } from "../services/instance.ts"
import type { PluginFacts } from "../services/plugins.ts"
import type { Random } from "../services/secrets.ts"
import type { Stats } from "../services/stats.ts"
import { checkPlugins, pluginFault } from "./check.ts"
import { checkRoutes, openPaths } from "./check-routes.ts"
import type { AnyPlugin, Contribution } from "./contract.ts"
import type { Call } from "./guard.ts"
import { allHooks } from "./hooks.ts"
import { type Host, pluginAudit, pluginOutbox, pluginSecrets } from "./host.ts"
import { pluginCreation } from "./host-creation.ts"
import { importWriters } from "./host-imports.ts"
import { defineJobs, pluginJobs } from "./host-jobs.ts"
import { lateAuthorize } from "./late-authorize.ts"
import { ownRows, type RowReader } from "./own-rows.ts"
import { ownTables } from "./own-tables.ts"
import { recording } from "./recording.ts"
import type { Authorize } from "./router.ts"
import { instanceRouter, openRouter, siteRouter } from "./routers.ts"
import { lateThrottle } from "./throttle.ts"

export interface LoadOptions {
  /** Of the answer to a refusal. */
  statusOf(code: ErrorCode): number
  collector: Pick<Collector, "record" | "senderOf">
  engine: Engine & RowReader
  plugins: readonly AnyPlugin[]
  /** Sections of the configuration by plugin. */
  settings: Readonly<Record<string, Record<string, unknown>>>
  instance: Instance
  console: Console
  stats: Stats
  exports: Exports
  clock: Pick<Clock, "now">
  log: Log
  random: Random
}

/** What the server tells the routes of plugins once it is there. */
export interface Mount {
  authorize: Authorize
  addressOf(call: Pick<Call, "request" | "server">): string | undefined
}

/** How the server gets the routes of plugins. */
export interface PluginRoutes {
  mountPlugins(mount: Mount): AnyElysia[]
}

export interface LoadedPlugins extends PluginRoutes {
  /** Of all plugins, those that are off included. */
  hooks: DataHooks
  erasure: Erasure
  stop(): Promise<void>
}

const STOP_MS = 1_000

/** Checks the list and says of each plugin what the services have to know. Before anything is opened. */
export function pluginFacts(plugins: readonly AnyPlugin[]): PluginFacts[] {
  checkPlugins(plugins)
  return plugins.map(({ id, title, permissions = {}, migrations = [], rowMigrations = [] }) => ({
    id,
    title,
    permissions: Object.fromEntries(Object.entries(permissions).map(([name, least]) => [name, { least, on: "site" }])) as Permissions,
    migrations,
    rowMigrations,
  }))
}

/** Sets every plugin of the list up, in its order. Throws what is wrong with the first one. */
export async function loadPlugins(options: LoadOptions): Promise<LoadedPlugins> {
  const { instance, plugins } = options
  const authorize = lateAuthorize()
  const throttle = lateThrottle(options.clock.now)
  const open = openPaths(plugins, options.settings)
  const contributions: { id: string; contribution: Contribution }[] = []
  const hooks = allHooks(contributions)
  const erasure = createErasure({ ...instance, clock: options.clock, hooks })

  function hostOf(plugin: AnyPlugin): Host<Record<string, unknown>> {
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    const gate = authorize.forPlugin(id, isOn)
    return {
      id,
      settings: options.settings[id] ?? {},
      services: { ...instance, console: options.console, stats: options.stats, exports: options.exports, erasure },
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
      throttle: throttle.make,
      ...recording(options.collector, plugin),
      siteRouter: () => siteRouter(gate, id),
      instanceRouter: () => instanceRouter(gate, id),
      openRouter: () => openRouter(isOn),
    }
  }

  for (const plugin of plugins) {
    const contribution = await setUp(plugin, hostOf(plugin))
    checkRoutes(plugin, contribution, { open: open.get(plugin.id) ?? [], permissions: instance.permissions })
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    defineJobs(instance, id, contribution.jobs ?? {}, isOn)
    for (const [name, consumer] of Object.entries(contribution.consumers ?? {}))
      instance.outbox.register({ ...consumer, name: `${id}.${name}`, isOn })
    contributions.push({ id, contribution })
  }

  return {
    hooks,
    erasure,
    mountPlugins(mount) {
      authorize.bind(mount.authorize)
      throttle.bind(mount.addressOf)
      return contributions.flatMap(({ contribution: { routes = [], openRoutes = [] } }) => [...routes, ...openRoutes])
    },
    async stop() {
      for (const { id, contribution } of contributions) {
        const stopped = Promise.try(() => contribution.stop?.()).catch((error) =>
          options.log.error("a plugin did not stop", { plugin: id, error }),
        )
        await Promise.race([stopped, Bun.sleep(STOP_MS)])
      }
    },
  }
}

/** Whatever goes wrong in it ends the start with the plugin's name. */
async function setUp(plugin: AnyPlugin, host: Host<Record<string, unknown>>): Promise<Contribution> {
  try {
    return await plugin.setup(host)
  } catch (error) {
    throw pluginFault(plugin.id, `it cannot be set up: ${error instanceof Error ? error.message : String(error)}`)
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
