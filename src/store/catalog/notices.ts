import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A notice to the instance's admins. Times are epoch milliseconds. */
export interface Notice {
  id: number
  kind: string
  detail: Readonly<Record<string, unknown>>
  first_at: number
  last_at: number
  /** When the admins were notified by email. */
  told_at: number | null
}

const COLUMNS = sql`id, kind, detail_json, first_at, last_at, told_at`

type NoticeRow = Omit<Notice, "detail"> & { detail_json: string }
const toNotice = ({ detail_json, ...row }: NoticeRow): Notice => ({ ...row, detail: JSON.parse(detail_json) }) // written by raiseNotice

/** Opens a notice, or updates the open one of the same kind. */
export async function raiseNotice(
  catalog: Statements,
  { kind, detail, now }: { kind: string; detail: object; now: number },
): Promise<Notice> {
  const row = await catalog.get<NoticeRow>(sql`
    insert into notices (kind, detail_json, first_at, last_at) values (${kind}, ${JSON.stringify(detail)}, ${now}, ${now})
    on conflict (kind) where ended_at is null do update set detail_json = excluded.detail_json, last_at = excluded.last_at
    returning ${COLUMNS}`)
  return toNotice(row!) // an upsert that returns has a row
}

/** Returns when the admins were last notified about this kind. */
export async function lastNotifiedAt(catalog: Statements, kind: string): Promise<number | undefined> {
  const row = await catalog.get<{ at: number | null }>(sql`
    select max(told_at) as at from (select told_at from notices where kind = ${kind} order by id desc limit 20)`)
  return row?.at ?? undefined
}

export const markNotified = (catalog: Statements, id: number, at: number): Promise<void> =>
  catalog.run(sql`update notices set told_at = ${at} where id = ${id}`)

/** Ends the open notice of a kind because its cause is gone. */
export const endNotice = (catalog: Statements, kind: string, at: number): Promise<void> =>
  catalog.run(sql`update notices set ended_at = ${at} where kind = ${kind} and ended_at is null`)

/** Dismisses a notice. Returns undefined when it is not open. */
export async function dismissNotice(
  catalog: Statements,
  id: number,
  { by, at }: { by: number | null; at: number },
): Promise<Notice | undefined> {
  const row = await catalog.get<NoticeRow>(sql`
    update notices set ended_at = ${at}, dismissed_by = ${by} where id = ${id} and ended_at is null returning ${COLUMNS}`)
  return row && toNotice(row)
}

/** Lists the open notices, newest first. */
export async function listNotices(catalog: Statements): Promise<Notice[]> {
  const rows = await catalog.all<NoticeRow>(sql`
    select ${COLUMNS} from notices where ended_at is null order by last_at desc, id desc limit 100`)
  return rows.map(toNotice)
}

/** Lists the addresses of the active instance admins. */
export const listAdminAddresses = (catalog: Statements): Promise<{ email: string }[]> =>
  catalog.all<{ email: string }>(sql`
    select email from users where is_instance_admin = 1 and status = 'active' order by id limit 1000`)

/** Lists the organizations that active instance admins belong to. */
export const listAdminOrganizations = (catalog: Statements): Promise<{ id: number }[]> =>
  catalog.all<{ id: number }>(sql`
    select distinct m.organization_id as id from memberships m
    join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
    where u.is_instance_admin = 1 and u.status = 'active' and o.deleted_at is null order by id limit 1000`)
