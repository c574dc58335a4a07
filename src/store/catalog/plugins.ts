import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** Whether a plugin is switched on, where somebody has said so. */
export interface PluginSwitch {
  id: string
  enabled: boolean
  updated_by: number | null
  updated_at: number
  version: number
}

type SwitchRow = Omit<PluginSwitch, "enabled"> & { enabled: number }
const COLUMNS = sql`id, enabled, updated_by, updated_at, version`

export async function listPluginSwitches(catalog: Statements): Promise<PluginSwitch[]> {
  const rows = await catalog.all<SwitchRow>(sql`select ${COLUMNS} from plugins order by id limit 1000`)
  return rows.map(toSwitch)
}

export async function putPluginSwitch(catalog: Statements, given: Omit<PluginSwitch, "version">): Promise<PluginSwitch> {
  const row = await catalog.get<SwitchRow>(sql`
    insert into plugins (id, enabled, updated_by, updated_at, version)
    values (${given.id}, ${given.enabled}, ${given.updated_by}, ${given.updated_at}, 2)
    on conflict do update set
      enabled = excluded.enabled, updated_by = excluded.updated_by, updated_at = excluded.updated_at, version = version + 1
    returning ${COLUMNS}`)
  return toSwitch(row!) // an upsert that returns has a row
}

const toSwitch = ({ enabled, ...row }: SwitchRow): PluginSwitch => ({ ...row, enabled: enabled === 1 })
