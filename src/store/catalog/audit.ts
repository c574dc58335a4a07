import type { Actor, Deed } from "../../domain/audit.ts"
import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** A row of the audit log. */
export interface AuditRow {
  id: number
  at: number
  actor_kind: Actor["kind"]
  actor_id: number | null
  actor_email: string
  impersonator_id: number | null
  impersonator_email: string | null
  action: string
  target_type: string
  target_id: string
  target_label: string
  organization_id: number | null
  site_id: number | null
  outcome: "ok" | "failed"
  ip_prefix: string
  user_agent: string
  request_id: string
  changes: Deed["changes"]
}

const COLUMNS = sql`
  id, at, actor_kind, actor_id, actor_email, impersonator_id, impersonator_email, action, target_type, target_id, target_label,
  organization_id, site_id, outcome, ip_prefix, user_agent, request_id, changes_json`
type StoredRow = Omit<AuditRow, "changes"> & { changes_json: string }
/** A row with what holds it to the row before. */
export interface ChainedRow extends AuditRow {
  prev_hash: Uint8Array
  hash: Uint8Array
}

export const lastAuditRow = (catalog: Statements): Promise<{ id: number; hash: Uint8Array } | undefined> =>
  catalog.get(sql`select id, hash from audit_log order by id desc limit 1`)

/** The id is given: it is part of what is hashed. */
export const insertAuditRow = (catalog: Statements, row: ChainedRow): Promise<void> =>
  catalog.run(sql`
    insert into audit_log (
      id, at, actor_kind, actor_id, actor_email, impersonator_id, impersonator_email, action, target_type, target_id, target_label,
      organization_id, site_id, outcome, ip_prefix, user_agent, request_id, changes_json, prev_hash, hash
    ) values (
      ${row.id}, ${row.at}, ${row.actor_kind}, ${row.actor_id}, ${row.actor_email}, ${row.impersonator_id}, ${row.impersonator_email},
      ${row.action}, ${row.target_type}, ${row.target_id}, ${row.target_label}, ${row.organization_id}, ${row.site_id},
      ${row.outcome}, ${row.ip_prefix}, ${row.user_agent}, ${row.request_id}, ${JSON.stringify(row.changes ?? {})},
      ${row.prev_hash}, ${row.hash}
    )`)

/** By id ascending, those after an id. */
export async function listChainedRows(catalog: Statements, { after, limit }: { after: number; limit: number }): Promise<ChainedRow[]> {
  const rows = await catalog.all<StoredRow & { prev_hash: Uint8Array; hash: Uint8Array }>(sql`
    select ${COLUMNS}, prev_hash, hash from audit_log where id > ${after} order by id limit ${limit}`)
  return rows.map(({ changes_json, ...row }) => ({ ...row, changes: JSON.parse(changes_json) })) // written here
}
