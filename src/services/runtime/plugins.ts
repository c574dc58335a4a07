import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Permissions } from "../../domain/permission.ts"
import { refuseOtherVersion } from "../../domain/version.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listPluginSwitches, type PluginSwitch, putPluginSwitch } from "../../store/catalog/settings.ts"
import type { Migration } from "../../store/migrations.ts"
import type { Terms } from "../definitions/site-things.ts"

/** What the services have to know of a plugin, whatever it does. */
export interface PluginFacts {
  id: string
  title: string
  permissions: Permissions
  migrations: readonly Migration[]
  rowMigrations: readonly Migration[]
}

/** A plugin of this instance, as an instance admin sees it. */
export interface PluginState {
  id: string
  title: string
  enabled: boolean
  version: number
}

/**
 * Which plugins are on. The list is that of the program; the switches are stored, and changed while the instance runs: a
 * change holds for the next request. What is off keeps its data, and its data goes on being deleted and retained.
 */
export interface Plugins {
  list(): PluginState[]
  /** False for a plugin that is off, and for one that the program does not have. */
  isOn(id: string): boolean
  /** Ids of those that are on, in the order of the list. */
  features(): string[]
  /** Throws `not_found` for an id that the program does not have. `by` is a user; null for the system. */
  turn(id: string, enabled: boolean, by: number | null, terms?: Terms<PluginState>): Promise<PluginState>
}

interface PluginsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  plugins: readonly Pick<PluginFacts, "id" | "title">[]
}

export async function createPlugins({ catalog, clock, plugins }: PluginsOptions): Promise<Plugins> {
  const switches = new Map((await listPluginSwitches(catalog)).map((row) => [row.id, row]))

  const stateOf = ({ id, title }: { id: string; title: string }, row: PluginSwitch | undefined = switches.get(id)): PluginState => ({
    id,
    title,
    enabled: row?.enabled ?? true,
    version: row?.version ?? 1,
  })
  const list = () => plugins.map((plugin) => stateOf(plugin))
  const known = new Set(plugins.map(({ id }) => id))

  return {
    list,
    isOn: (id) => known.has(id) && (switches.get(id)?.enabled ?? true),
    features: () =>
      list()
        .filter(({ enabled }) => enabled)
        .map(({ id }) => id),
    async turn(id, enabled, by, { expected, alongside } = {}) {
      const plugin = plugins.find((each) => each.id === id)
      if (!plugin) throw new AppError("not_found", `There is no plugin ${id.slice(0, 40)}.`)
      refuseOtherVersion(stateOf(plugin), expected)
      if (stateOf(plugin).enabled === enabled) return stateOf(plugin)
      const row = await catalog.transaction(
        async (statements) => {
          const before = stateOf(plugin)
          // Two admins at once: the second one has seen what is no longer so.
          refuseOtherVersion(before, expected)
          const changed = await putPluginSwitch(statements, { id, enabled, updated_by: by, updated_at: clock.now() })
          await alongside?.(statements, { before, after: stateOf(plugin, changed) })
          return changed
        },
        (changed) => switches.set(id, changed),
      )
      return stateOf(plugin, row)
    },
  }
}
