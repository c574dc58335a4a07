import type { AnyElysia } from "elysia"
import type { Permissions } from "../domain/permission.ts"
import type { PluginFacts } from "../services/runtime/plugins.ts"
import type { Task } from "../services/runtime/tasks.ts"
import type { SharePages } from "../services/sharing/opening.ts"
import type { KeyGate } from "../web/public-router.ts"
import { addressLists } from "./address-lists.ts"
import { checkPlugins, pluginFault } from "./check.ts"
import { checkPublicRoutes, checkRoutes, openPaths } from "./check-routes.ts"
import type { AnyPlugin, Contribution, DemoRequest, DemoSite, DemoTraffic } from "./contract.ts"
import { type AnswerAtEndpoint, combineEndpoints } from "./endpoints.ts"
import { declareErrors } from "./errors.ts"
import type { Host } from "./host/host.ts"
import { type HostOptions, hostsOf } from "./host/hosts.ts"
import { defineJobs } from "./host/jobs.ts"
import { ownStatements } from "./host/own-tables.ts"
import type { PluginRegistry } from "./registry.ts"
import { publicSiteRouter } from "./routers.ts"

export interface LoadOptions extends Omit<HostOptions, "lists"> {
  registry: PluginRegistry
}

/** Routes of plugins, as passed to the server. */
export interface PluginRoutes {
  readonly pluginRoutes: readonly AnyElysia[]
  /** Returns the routes of the public API of all plugins, behind the gate. */
  publicPluginRoutes(gate: KeyGate): AnyElysia[]
  /** Answers requests at endpoints of plugins, before the routers. */
  answerAtEndpoint: AnswerAtEndpoint
}

export interface LoadedPlugins extends PluginRoutes {
  /** Returns the paths of dashboard pages of enabled plugins. */
  pages(): readonly string[]
  /** Pages of shares. Those of a disabled plugin answer like pages of unknown shares. */
  sharePages: readonly SharePages[]
  /** Periodic tasks for plugins. */
  tasks: readonly Task[]
  /** Lets the enabled plugins create examples before the traffic of a demo. Returns the requests of each. */
  beginDemo(demo: DemoTraffic): Promise<Iterable<DemoRequest>[]>
  /** Lets the enabled plugins add examples to a demo after its traffic. */
  fillDemo(demo: DemoSite): Promise<void>
  stop(): Promise<void>
}

const STOP_MS = 1_000
/** Interval in seconds. */
const MINUTE = 60

/** Checks the list of plugins and returns the facts that services need. Runs before the stores are opened. */
export function pluginFacts(plugins: readonly AnyPlugin[]): PluginFacts[] {
  checkPlugins(plugins)
  return plugins.map(({ id, title, permissions = {}, migrations = [], rowMigrations = [], moveRows, sealedSlugs = [] }) => ({
    id,
    title,
    permissions: Object.fromEntries(Object.entries(permissions).map(([name, least]) => [name, { least, on: "site" }])) as Permissions,
    migrations,
    rowMigrations,
    ...(moveRows && { moveRows: (catalog, move) => moveRows(ownStatements(catalog, id), move) }),
    sealedSlugs,
  }))
}

/** Sets up all plugins in the order of the list. Throws the fault of the first faulty plugin. */
export async function loadPlugins(options: LoadOptions): Promise<LoadedPlugins> {
  const { instance, plugins, registry } = options
  const open = openPaths(plugins, options.settings)
  const lists = addressLists(options)
  const hostOf = hostsOf({ ...options, lists })

  for (const plugin of plugins) {
    declareErrors(plugin.errors ?? {})
    const contribution = await setUp(plugin, hostOf(plugin))
    checkContributedCommands(plugin, contribution)
    checkRoutes(plugin, contribution, { open: open.get(plugin.id) ?? [], permissions: instance.permissions })
    const { id } = plugin
    const isOn = () => instance.plugins.isOn(id)
    defineJobs(instance, id, contribution.jobs ?? {}, isOn)
    for (const [name, consumer] of Object.entries(contribution.consumers ?? {}))
      instance.outbox.register({ ...consumer, name: `${id}.${name}`, isOn })
    const { visitorSets } = contribution
    if (visitorSets) instance.visitorSets.register({ find: visitorSets.find, isOn })
    instance.handover.register({
      onMemberLeave: async (statements, leave) => contribution.onMemberLeave?.(ownStatements(statements, id), leave),
      onOrganizationDelete: async (statements, organizationId) =>
        contribution.onOrganizationDelete?.(ownStatements(statements, id), organizationId),
      onSiteTransfer: async (statements, transfer) => contribution.onSiteTransfer?.(ownStatements(statements, id), transfer),
    })
    const { onEmailOutcome } = contribution
    if (onEmailOutcome) instance.accounts.mail.onOutcome(id, (statements, report) => onEmailOutcome(ownStatements(statements, id), report))
    registry.add({ id, isOn, contribution })
  }

  registry.collectWidgets(instance)
  const answerAtEndpoint = combineEndpoints(
    registry.plugins.map(({ id, isOn, contribution: { endpoints = [] } }) => ({ id, endpoints, open: open.get(id) ?? [], isOn })),
  )

  return {
    answerAtEndpoint,
    pluginRoutes: registry.plugins.flatMap(({ contribution: { routes = [], openRoutes = [] } }) => [...routes, ...openRoutes]),
    publicPluginRoutes: (gate) =>
      registry.plugins.flatMap(({ id, isOn, contribution: { publicRoutes } }) => {
        if (!publicRoutes) return []
        const added = publicRoutes(publicSiteRouter(gate, id, isOn))
        checkPublicRoutes(plugins.find((plugin) => plugin.id === id)!, added) // the registry has the plugins of the list
        return [added]
      }),
    tasks: [{ name: "refresh-address-lists", every: MINUTE, run: lists.refresh }],
    pages: () => plugins.filter(({ id }) => instance.plugins.isOn(id)).flatMap(({ pages = [] }) => pages),
    sharePages: registry.plugins.flatMap(({ contribution: { sharePages = [] } }) => sharePages),
    async beginDemo(demo) {
      const requests: Iterable<DemoRequest>[] = []
      for (const { isOn, contribution } of registry.plugins) if (isOn()) requests.push((await contribution.beginDemo?.(demo)) ?? [])
      return requests
    },
    async fillDemo(demo) {
      for (const { isOn, contribution } of registry.plugins) if (isOn()) await contribution.fillDemo?.(demo)
    },
    async stop() {
      for (const { id, contribution } of registry.plugins) {
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
    throw pluginFault(plugin.id, `setup failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Throws unless each command has its help and its function. */
function checkContributedCommands({ id, commands = [] }: AnyPlugin, contribution: Contribution): void {
  const described = commands.map(({ name }) => name)
  const contributed = Object.keys(contribution.commands ?? {})
  const odd = [...described, ...contributed].find((name) => !described.includes(name) || !contributed.includes(name))
  if (odd !== undefined) throw pluginFault(id, `the command ${odd} is either only described or only contributed`)
}
