import type { Actor } from "../domain/audit.ts"
import { AppError } from "../domain/error.ts"
import type { SwitchedStep } from "../ingest/pipeline/areas.ts"
import type { DataHooks, Removed } from "../services/erasure/data-hooks.ts"
import type { AreaFile } from "../services/export/takeout.ts"
import type { RunPluginCommand } from "../services/instance/plugin-commands.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { CommandCall, Contribution, NamedThings, SetUpPlugin } from "./contract.ts"
import { allWidgets, type KnownWidget, type WidgetRules } from "./widgets.ts"

/**
 * What plugins contribute to the services of the core. It is created, empty, before the services that use it, because plugins need
 * those services for their own setup. `loadPlugins` fills it before the instance starts.
 */
export interface PluginRegistry {
  /** Plugins in the order of the list. */
  readonly plugins: readonly SetUpPlugin[]
  add(plugin: SetUpPlugin): void
  /** Checks and collects the widgets once every plugin is set up. Throws the fault of the first faulty widget. */
  collectWidgets(rules: WidgetRules): void
  /** Data hooks of all plugins, including disabled ones. */
  readonly hooks: DataHooks
  /** Returns the archive files of all plugins, including disabled ones, which keep their data. */
  areaFiles(): readonly AreaFile[]
  /** Returns the ingestion steps of all plugins. Each checks whether its plugin is enabled. */
  areaSteps(): readonly SwitchedStep[]
  /** Returns the function that runs the commands of all plugins for an actor. Commands of disabled plugins are refused. */
  runCommand(actor: Actor): RunPluginCommand
  /** Returns the widgets of all plugins. */
  widgets(): readonly KnownWidget[]
  /** Returns the named objects of a kind; undefined if no enabled plugin has them. */
  named(kind: string): NamedThings | undefined
}

export function createPluginRegistry(): PluginRegistry {
  const plugins: SetUpPlugin[] = []
  const files: AreaFile[] = []
  const steps: SwitchedStep[] = []
  let widgets: readonly KnownWidget[] = []
  return {
    plugins,
    hooks: allHooks(plugins),
    areaFiles: () => files,
    areaSteps: () => steps,
    runCommand: (actor) => (name, input, report, signal) => runCommand(plugins, name, { ...input, actor, report, signal }),
    widgets: () => widgets,
    named: (kind) =>
      plugins.find(({ isOn, contribution: { named = {} } }) => Object.hasOwn(named, kind) && isOn())?.contribution.named?.[kind],
    add(plugin) {
      plugins.push(plugin)
      files.push(...areaFilesOf(plugin))
      for (const step of plugin.contribution.ingest ?? []) steps.push({ step, isOn: plugin.isOn })
    },
    collectWidgets(rules) {
      widgets = allWidgets(plugins, rules)
    },
  }
}

/**
 * Combines the data hooks of all plugins, including disabled ones. Every hook runs even if another one fails. Throws all failures
 * at the end, so that the work is repeated.
 */
function allHooks(contributions: readonly SetUpPlugin[]): DataHooks {
  async function each(name: string, call: (contribution: Contribution) => Promise<Removed> | undefined): Promise<Removed> {
    const removed: Record<string, number> = {}
    const errors: unknown[] = []
    for (const { id, contribution } of contributions) {
      try {
        for (const [what, count] of Object.entries((await call(contribution)) ?? {})) removed[`${id}_${what}`] = count
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `${name} failed for ${errors.length} plugin(s)`)
    return removed
  }
  return {
    onSiteDelete: (siteId) => each("onSiteDelete", ({ onSiteDelete }) => onSiteDelete?.(siteId)),
    onRetention: (siteId, cutoffDay) => each("onRetention", ({ onRetention }) => onRetention?.(siteId, cutoffDay)),
    async overdue(siteId, cutoffDay) {
      const counting = contributions.filter(({ contribution }) => contribution.countOverdue)
      return Promise.all(
        counting.map(async ({ id, contribution }) => {
          const counts = Object.values((await contribution.countOverdue?.(siteId, cutoffDay)) ?? {})
          return { id, rows: counts.reduce((sum, count) => sum + count, 0) }
        }),
      )
    },
    onPersonErase: (siteId, visitor) => each("onPersonErase", ({ onPersonErase }) => onPersonErase?.(siteId, visitor)),
    onVisitsErase: (siteId, removed) => each("onVisitsErase", ({ onVisitsErase }) => onVisitsErase?.(siteId, removed)),
  }
}

/** Returns the files that plugins add to the archive of a site. */
const areaFilesOf = ({ id, contribution: { exporters = {} } }: SetUpPlugin): AreaFile[] =>
  Object.entries(exporters).map(([name, rows]) => ({ name: `${id}_${name}`, rows }))

async function runCommand(plugins: readonly SetUpPlugin[], name: string, call: CommandCall): Promise<unknown> {
  const plugin = plugins.find(({ contribution: { commands = {} } }) => Object.hasOwn(commands, name))
  // The name is unknown only if the command line is another version.
  if (!plugin) throw new ExitFault("usage", `The running Footfall process has a different version and does not support ${name}`)
  if (!plugin.isOn()) throw new AppError("feature_disabled", `The plugin ${plugin.id} is disabled on this instance.`)
  return plugin.contribution.commands![name]!(call) // found above
}
