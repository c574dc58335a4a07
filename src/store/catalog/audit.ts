import type { Actor, AuditEntry } from "../../domain/audit.ts"
import { raw, type Sql, sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

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
  changes: AuditEntry["changes"]
}

const COLUMNS = sql`
  id, at, actor_kind, actor_id, actor_email, impersonator_id, impersonator_email, action, target_type, target_id, target_label,
  organization_id, site_id, outcome, ip_prefix, user_agent, request_id, changes_json`
type StoredRow = Omit<AuditRow, "changes"> & { changes_json: string }
/** An audit row with the hashes that link it to the previous row. */
export interface ChainedRow extends AuditRow {
  prev_hash: Uint8Array
  hash: Uint8Array
}

/** Returns the newest row. */
export const lastAuditRow = (catalog: Statements): Promise<{ id: number; hash: Uint8Array } | undefined> =>
  catalog.get(sql`select id, hash from audit_log order by id desc limit 1`)

/** Returns the highest id that any row ever had, including deleted rows; 0 when there was none. */
export async function highestAuditId(catalog: Statements): Promise<number> {
  const row = await catalog.get<{ seq: number }>(sql`select seq from sqlite_sequence where name = 'audit_log'`)
  return row?.seq ?? 0
}

/** The expected start and length of the hash chain. */
export interface AuditAnchor {
  first_id: number
  /** The hash before the first row. */
  prev_hash: Uint8Array
  /** Number of rows that the log should have. */
  rows: number
  /** The highest id that any row ever had; 0 for none. */
  highest_id: number
}

/** Returns the anchor, or undefined when it was removed. */
export const auditAnchor = (catalog: Statements): Promise<AuditAnchor | undefined> =>
  catalog.get(sql`
    select first_id, prev_hash, rows, coalesce((select seq from sqlite_sequence where name = 'audit_log'), 0) as highest_id
    from audit_anchor`)

/** Inserts a row and counts it. The id is given, because it is part of what is hashed. */
export async function insertAuditRow(catalog: Statements, row: ChainedRow): Promise<void> {
  await catalog.run(sql`
    insert into audit_log (
      id, at, actor_kind, actor_id, actor_email, impersonator_id, impersonator_email, action, target_type, target_id, target_label,
      organization_id, site_id, outcome, ip_prefix, user_agent, request_id, changes_json, prev_hash, hash
    ) values (
      ${row.id}, ${row.at}, ${row.actor_kind}, ${row.actor_id}, ${row.actor_email}, ${row.impersonator_id}, ${row.impersonator_email},
      ${row.action}, ${row.target_type}, ${row.target_id}, ${row.target_label}, ${row.organization_id}, ${row.site_id},
      ${row.outcome}, ${row.ip_prefix}, ${row.user_agent}, ${row.request_id}, ${JSON.stringify(row.changes ?? {})},
      ${row.prev_hash}, ${row.hash}
    )`)
  await catalog.run(sql`update audit_anchor set rows = rows + 1`)
}

/** Lists rows after an id, by id ascending. */
export async function listChainedRows(catalog: Statements, { after, limit }: { after: number; limit: number }): Promise<ChainedRow[]> {
  const rows = await catalog.all<StoredRow & { prev_hash: Uint8Array; hash: Uint8Array }>(sql`
    select ${COLUMNS}, prev_hash, hash from audit_log where id > ${after} order by id limit ${limit}`)
  return rows.map(({ changes_json, ...row }) => ({ ...row, changes: JSON.parse(changes_json) })) // written here
}

/** Filters for audit rows. Absent filters match any row. */
export interface AuditFilters {
  organizationId?: number | undefined
  siteId?: number | undefined
  /** Id of a user or key, or an email address in lower case. */
  actor?: number | string | undefined
  /** Complete name or prefix of the action. */
  action?: { name: string; isPrefix: boolean } | undefined
  target?: { type: string; id: string | undefined } | undefined
  /** Epoch milliseconds, half-open. */
  from?: number | undefined
  to?: number | undefined
  /** Start of the IP prefix. */
  ip?: string | undefined
  outcome?: AuditRow["outcome"] | undefined
}

/** A range of the log that one statement reads: the rows before an id, down to `last`. */
export interface AuditPart {
  before: number
  last: number
}

/** Returns the number of rows before an id, at most 1,000, and the id of the last one, for an organization or for all. */
export async function auditPart(
  catalog: Statements,
  { organizationId }: Pick<AuditFilters, "organizationId">,
  before: number,
): Promise<{ rows: number; last: number }> {
  const of = organizationId === undefined ? raw("1") : sql`organization_id = ${organizationId}`
  const row = await catalog.get<{ rows: number; last: number | null }>(sql`
    select count(*) as rows, min(id) as last from (
      select id from audit_log where ${of} and id < ${before} order by id desc limit 1000
    )`)
  return { rows: row!.rows, last: row!.last ?? 0 } // a count has a row
}

/** Lists the matching rows of a part, by id descending. */
export async function listAuditRows(catalog: Statements, filters: AuditFilters, part: AuditPart, limit: number): Promise<AuditRow[]> {
  const rows = await catalog.all<StoredRow>(sql`
    select ${COLUMNS} from audit_log where ${matching(filters, part)} order by id desc limit ${limit}`)
  return rows.map(({ changes_json, ...row }) => ({ ...row, changes: JSON.parse(changes_json) })) // written here
}

export async function countAuditRows(catalog: Statements, filters: AuditFilters, part: AuditPart): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from audit_log where ${matching(filters, part)}`)
  return row!.n // a count has a row
}

function matching(
  { organizationId, siteId, actor, action, target, from, to, ip, outcome }: AuditFilters,
  { before, last }: AuditPart,
): Sql {
  const wanted: (Sql | undefined)[] = [
    organizationId === undefined ? undefined : sql`organization_id = ${organizationId}`,
    siteId === undefined ? undefined : sql`site_id = ${siteId}`,
    typeof actor === "number" ? sql`actor_id = ${actor}` : undefined,
    typeof actor === "string" ? sql`lower(actor_email) = ${actor}` : undefined,
    action && (action.isPrefix ? beginsWith(raw("action"), action.name) : sql`action = ${action.name}`),
    target && sql`target_type = ${target.type}`,
    target?.id === undefined ? undefined : sql`target_id = ${target.id}`,
    from === undefined ? undefined : sql`at >= ${from}`,
    to === undefined ? undefined : sql`at < ${to}`,
    ip === undefined ? undefined : beginsWith(raw("ip_prefix"), ip),
    outcome && sql`outcome = ${outcome}`,
  ]
  return wanted.reduce<Sql>((all, one) => (one ? sql`${all} and ${one}` : all), sql`id < ${before} and id >= ${last}`)
}

const beginsWith = (column: Sql, text: string): Sql => sql`substr(${column}, 1, length(${text})) = ${text}`
