import type { AnyElysia } from "elysia"
import type { Permissions } from "../domain/permission.ts"
import type { SwitchedStep } from "../ingest/steps/areas.ts"
import type { DataHooks } from "../services/data-hooks.ts"
import { createErasure, type Erasure } from "../services/erasure.ts"
import type { PluginFacts } from "../services/plugins.ts"
import type { AreaFile } from "../services/takeout.ts"
import type { Takeouts } from "../services/takeouts.ts"
import type { Task } from "../services/timers.ts"
import { addressLists } from "./address-lists.ts"
import { checkPlugins, pluginFault } from "./check.ts"
import { checkRoutes, openPaths } from "./check-routes.ts"
import type { AnyPlugin, Contribution } from "./contract.ts"
import { type AskDoors, allDoors } from "./doors.ts"
import type { Call } from "./guard.ts"
import { allHooks, areaFilesOf } from "./hooks.ts"
import type { Host } from "./host.ts"
import { defineJobs } from "./host-jobs.ts"
import { type HostOptions, hostsOf } from "./hosts.ts"
import { lateAuthorize } from "./late-authorize.ts"
import type { Authorize } from "./router.ts"
import { lateThrottle } from "./throttle.ts"
import { allWidgets, type KnownWidget } from "./widgets.ts"

export interface LoadOptions extends Omit<HostOptions, "lists"> {
  plugins: readonly AnyPlugin[]
  takeouts: Pick<Takeouts, "drop">
}

/** What the server tells the routes of plugins once it is there. */
export interface Mount {
  authorize: Authorize
  addressOf(call: Pick<Call, "request" | "server">): string | undefined
}

/** How the server gets the routes of plugins. */
export interface PluginRoutes {
  mountPlugins(mount: Mount): AnyElysia[]
  /** What answers before any router. */
  askDoors: AskDoors
}

export interface LoadedPlugins extends PluginRoutes {
  /** Addresses of the dashboard's pages, of the plugins that are switched on. */
  pages(): readonly string[]
  /** Of all plugins, those that are off included. */
  hooks: DataHooks
  erasure: Erasure
  /** Of all plugins too: what is off keeps its data. */
  areaFiles: readonly AreaFile[]
  /** Of all plugins; each knows whether its plugin is on. */
  areaSteps(): readonly SwitchedStep[]
  /** What the house does for plugins again and again. */
  tasks: readonly Task[]
  stop(): Promise<void>
}

const STOP_MS = 1_000
/** In seconds. */
const MINUTE = 60

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
  const contributions: { id: string; isOn(): boolean; contribution: Contribution }[] = []
  let widgets: readonly KnownWidget[] = []
  const hooks = allHooks(contributions)
  const erasure = createErasure({ ...instance, takeouts: options.takeouts, clock: options.clock, hooks })
  const lists = addressLists(options)
  const hostOf = hostsOf({ ...options, lists }, { authorize, throttle, erasure, widgets: () => widgets })

  for (const plugin of plugins) {
    const contribution = await setUp(plugin, hostOf(plugin))
    checkRoutes(plugin, contribution, { open: open.get(plugin.id) ?? [], permissions: instance.permissions })
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    defineJobs(instance, id, contribution.jobs ?? {}, isOn)
    for (const [name, consumer] of Object.entries(contribution.consumers ?? {}))
      instance.outbox.register({ ...consumer, name: `${id}.${name}`, isOn })
    contributions.push({ id, isOn, contribution })
  }

  widgets = allWidgets(contributions, { permissions: instance.permissions, isOn: instance.plugins.isOn })
  const steps = contributions.flatMap(({ isOn, contribution: { ingest = [] } }) => ingest.map((step) => ({ step, isOn })))

  const askDoors = allDoors(
    contributions.map(({ id, isOn, contribution: { doors = [] } }) => ({ id, doors, open: open.get(id) ?? [], isOn })),
  )

  return {
    hooks,
    erasure,
    askDoors,
    areaSteps: () => steps,
    areaFiles: contributions.flatMap(areaFilesOf),
    tasks: [{ name: "refresh-address-lists", every: MINUTE, run: lists.refresh }],
    pages: () => plugins.filter(({ id }) => instance.plugins.isOn(id)).flatMap(({ pages = [] }) => pages),
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
