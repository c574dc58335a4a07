import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Permissions } from "../../domain/permission.ts"
import { refuseOtherVersion } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { listPluginSwitches, type PluginSwitch, putPluginSwitch } from "../../store/catalog/settings.ts"
import type { EngineMove, RenameRows } from "../../store/events/moving/moving.ts"
import type { Migration } from "../../store/migrations.ts"
import type { Reload } from "../changes/changes.ts"
import type { Terms } from "../definitions/site-things.ts"

/** The facts about a plugin that the services need. */
export interface PluginFacts {
  id: string
  title: string
  permissions: Permissions
  migrations: readonly Migration[]
  rowMigrations: readonly Migration[]
  /** Prepares the tables for a move of the events, and the renaming of visitors and events in the row tables. */
  moveRows?(catalog: Statements, move: EngineMove): Promise<RenameRows | undefined>
  /** Tables with sealed slugs of shares. */
  sealedSlugs: readonly string[]
}

/** A plugin of this instance as shown to instance admins. */
export interface PluginState {
  id: string
  title: string
  enabled: boolean
  version: number
}

/**
 * The plugins of the program and their switches. A switch is stored and can be changed while the instance runs; the change applies from
 * the next request on. A disabled plugin keeps its data, which remains subject to deletion and retention.
 */
export interface Plugins {
  list(): PluginState[]
  /** Returns whether a plugin is enabled. False for an unknown plugin. */
  isOn(id: string): boolean
  /** Returns the ids of the enabled plugins in the order of the list. */
  features(): string[]
  /** Reads the switches again, after another node changed one. */
  reload: Reload
  /** Enables or disables a plugin. Throws `not_found` for an unknown plugin. `by` is the id of a user, or null for the system. */
  turn(id: string, enabled: boolean, by: number | null, terms?: Terms<PluginState>): Promise<PluginState>
}

interface PluginsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  plugins: readonly Pick<PluginFacts, "id" | "title">[]
}

export async function createPlugins({ catalog, clock, plugins }: PluginsOptions): Promise<Plugins> {
  const read = async (statements: Statements) => new Map((await listPluginSwitches(statements)).map((row) => [row.id, row]))
  let switches = await read(catalog)

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
    async reload(statements) {
      switches = await read(statements)
    },
    isOn: (id) => known.has(id) && (switches.get(id)?.enabled ?? true),
    features: () =>
      list()
        .filter(({ enabled }) => enabled)
        .map(({ id }) => id),
    async turn(id, enabled, by, { expected, alongside } = {}) {
      const plugin = plugins.find((each) => each.id === id)
      if (!plugin) throw new AppError("not_found", `There is no plugin named ${id.slice(0, 40)}.`)
      refuseOtherVersion(stateOf(plugin), expected)
      if (stateOf(plugin).enabled === enabled) return stateOf(plugin)
      const row = await catalog.transaction(
        async (statements) => {
          const before = stateOf(plugin)
          // Another admin may have changed it in the meantime.
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
