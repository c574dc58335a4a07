import type { AnyElysia } from "elysia"
import type { Permissions } from "../domain/permission.ts"
import type { SwitchedStep } from "../ingest/pipeline/areas.ts"
import type { DataHooks } from "../services/erasure/data-hooks.ts"
import { createErasure, type Erasure } from "../services/erasure/erasure.ts"
import type { AreaFile } from "../services/export/takeout.ts"
import type { Takeouts } from "../services/export/takeouts.ts"
import type { PluginFacts } from "../services/runtime/plugins.ts"
import type { Task } from "../services/runtime/tasks.ts"
import type { Call } from "../web/guard.ts"
import type { Authorize } from "../web/router.ts"
import { addressLists } from "./address-lists.ts"
import { checkPlugins, pluginFault } from "./check.ts"
import { checkRoutes, openPaths } from "./check-routes.ts"
import type { AnyPlugin, Contribution } from "./contract.ts"
import { type AnswerAtEndpoint, combineEndpoints } from "./endpoints.ts"
import { declareErrors } from "./errors.ts"
import { allHooks, areaFilesOf } from "./hooks.ts"
import type { Host } from "./host.ts"
import { defineJobs } from "./host-jobs.ts"
import { type HostOptions, hostsOf } from "./hosts.ts"
import { lateAuthorize } from "./late-authorize.ts"
import { lateThrottle } from "./throttle.ts"
import { allWidgets, type KnownWidget } from "./widgets.ts"

export interface LoadOptions extends Omit<HostOptions, "lists"> {
  plugins: readonly AnyPlugin[]
  takeouts: Pick<Takeouts, "drop">
}

/** Functions of the server that the routes of plugins need. */
export interface Mount {
  authorize: Authorize
  addressOf(call: Pick<Call, "request" | "server">): string | undefined
}

/** Routes of plugins, as passed to the server. */
export interface PluginRoutes {
  mountPlugins(mount: Mount): AnyElysia[]
  /** Answers requests at endpoints of plugins, before the routers. */
  answerAtEndpoint: AnswerAtEndpoint
}

export interface LoadedPlugins extends PluginRoutes {
  /** Returns the paths of dashboard pages of enabled plugins. */
  pages(): readonly string[]
  /** Data hooks of all plugins, including disabled ones. */
  hooks: DataHooks
  erasure: Erasure
  /** Archive files of all plugins, including disabled ones, which keep their data. */
  areaFiles: readonly AreaFile[]
  /** Ingestion steps of all plugins. Each checks whether its plugin is enabled. */
  areaSteps(): readonly SwitchedStep[]
  /** Periodic tasks for plugins. */
  tasks: readonly Task[]
  stop(): Promise<void>
}

const STOP_MS = 1_000
/** Interval in seconds. */
const MINUTE = 60

/** Checks the list of plugins and returns the facts that services need. Runs before the stores are opened. */
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

/** Sets up all plugins in the order of the list. Throws the fault of the first faulty plugin. */
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
    declareErrors(plugin.errors ?? {})
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

  const answerAtEndpoint = combineEndpoints(
    contributions.map(({ id, isOn, contribution: { endpoints = [] } }) => ({ id, endpoints, open: open.get(id) ?? [], isOn })),
  )

  return {
    hooks,
    erasure,
    answerAtEndpoint,
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

/** Runs the setup of a plugin. Converts any failure to a plugin fault, which stops the start. */
async function setUp(plugin: AnyPlugin, host: Host<Record<string, unknown>>): Promise<Contribution> {
  try {
    return await plugin.setup(host)
  } catch (error) {
    throw pluginFault(plugin.id, `it cannot be set up: ${error instanceof Error ? error.message : String(error)}`)
  }
}
