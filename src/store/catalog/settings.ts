/** The settings of the instance, the switches of its plugins, and the shields that apply to all sites. */
import type { InstanceShield, RuleCondition, Shield } from "../../domain/shield.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

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
const SWITCH = sql`id, enabled, updated_by, updated_at, version`

export async function listPluginSwitches(catalog: Statements): Promise<PluginSwitch[]> {
  const rows = await catalog.all<SwitchRow>(sql`select ${SWITCH} from plugins order by id limit 1000`)
  return rows.map(toSwitch)
}

export async function putPluginSwitch(catalog: Statements, given: Omit<PluginSwitch, "version">): Promise<PluginSwitch> {
  const row = await catalog.get<SwitchRow>(sql`
    insert into plugins (id, enabled, updated_by, updated_at, version)
    values (${given.id}, ${given.enabled}, ${given.updated_by}, ${given.updated_at}, 2)
    on conflict do update set
      enabled = excluded.enabled, updated_by = excluded.updated_by, updated_at = excluded.updated_at, version = version + 1
    returning ${SWITCH}`)
  return toSwitch(row!) // an upsert that returns has a row
}

const toSwitch = ({ enabled, ...row }: SwitchRow): PluginSwitch => ({ ...row, enabled: enabled === 1 })

const SHIELD = sql`id, kind, value, conditions_json, note, enabled, created_at, updated_at, version`
type ShieldRow = Omit<InstanceShield, "conditions" | "enabled"> & { conditions_json: string | null; enabled: number }
type ShieldFields = Omit<Shield, "id">

export async function insertInstanceShield(
  catalog: Statements,
  { kind, value, conditions, note, enabled }: ShieldFields,
  now: number,
): Promise<InstanceShield> {
  const row = await catalog.get<ShieldRow>(sql`
    insert into instance_shields (kind, value, conditions_json, note, enabled, created_at, updated_at)
    values (${kind}, ${value}, ${toJson(conditions)}, ${note}, ${Number(enabled)}, ${now}, ${now})
    returning ${SHIELD}`)
  return toShield(row!) // an insert that returns has a row
}

/** Lists the instance's shields after an id, by id ascending. */
export async function listInstanceShields(catalog: Statements, { after, limit }: Slice): Promise<InstanceShield[]> {
  const rows = await catalog.all<ShieldRow>(sql`
    select ${SHIELD} from instance_shields where id > ${after} order by id limit ${limit}`)
  return rows.map(toShield)
}

export async function updateInstanceShield(
  catalog: Statements,
  id: number,
  { kind, value, conditions, note, enabled }: ShieldFields,
  now: number,
): Promise<InstanceShield> {
  const row = await catalog.get<ShieldRow>(sql`
    update instance_shields set
      kind = ${kind}, value = ${value}, conditions_json = ${toJson(conditions)}, note = ${note}, enabled = ${Number(enabled)},
      updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${SHIELD}`)
  return toShield(row!) // the caller has seen the shield in this transaction
}

export const deleteInstanceShield = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from instance_shields where id = ${id}`)

const toJson = (conditions: Shield["conditions"]): string | null => (conditions ? JSON.stringify(conditions) : null)

function toShield({ conditions_json, enabled, ...row }: ShieldRow): InstanceShield {
  // Written by this file, from a value of this type.
  const conditions = conditions_json === null ? undefined : (JSON.parse(conditions_json) as RuleCondition[])
  return { ...row, ...(conditions && { conditions }), enabled: enabled === 1 }
}
