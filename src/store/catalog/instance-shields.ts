import type { InstanceShield, RuleCondition, Shield } from "../../domain/shield.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`id, kind, value, conditions_json, note, enabled, created_at, updated_at, version`
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
    returning ${COLUMNS}`)
  return toShield(row!) // an insert that returns has a row
}

/** Lists the instance's shields after an id, by id ascending. */
export async function listInstanceShields(catalog: Statements, { after, limit }: Slice): Promise<InstanceShield[]> {
  const rows = await catalog.all<ShieldRow>(sql`
    select ${COLUMNS} from instance_shields where id > ${after} order by id limit ${limit}`)
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
    returning ${COLUMNS}`)
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
