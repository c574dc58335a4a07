import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A setting that was changed at run time. */
export interface StoredSetting {
  key: string
  value: unknown
  updated_by: number | null
  updated_at: number
}

export async function listSettings(catalog: Statements): Promise<StoredSetting[]> {
  const rows = await catalog.all<Omit<StoredSetting, "value"> & { value_json: string }>(sql`
    select key, value_json, updated_by, updated_at from settings order by key limit 1000`)
  return rows.map(({ value_json, ...row }) => ({ ...row, value: JSON.parse(value_json) })) // written here
}

/** Returns the value of a setting, or undefined when none is stored. */
export async function settingByKey(catalog: Statements, key: string): Promise<unknown> {
  const row = await catalog.get<{ value_json: string }>(sql`select value_json from settings where key = ${key}`)
  return row && JSON.parse(row.value_json)
}

export const putSetting = (catalog: Statements, { key, value, updated_by, updated_at }: StoredSetting): Promise<void> =>
  catalog.run(sql`
    insert into settings (key, value_json, updated_by, updated_at) values (${key}, ${JSON.stringify(value)}, ${updated_by}, ${updated_at})
    on conflict do update set value_json = excluded.value_json, updated_by = excluded.updated_by, updated_at = excluded.updated_at`)

export const deleteSetting = (catalog: Statements, key: string): Promise<void> => catalog.run(sql`delete from settings where key = ${key}`)

/** The explicit choice whether a plugin is enabled. Plugins without one have their default. */
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
