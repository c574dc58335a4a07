/** What waits to be delivered: product events for their consumers, emails, and notices to the instance's admins. */

import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A product event that waits for its consumers. */
export interface OutboxRow {
  id: number
  event: string
  organization_id: number
  site_id: number | null
  payload: unknown
  at: number
}

/** Inserts events in one statement, in order. */
export function insertOutboxRows(catalog: Statements, rows: readonly Omit<OutboxRow, "id">[]): Promise<void> {
  const stored = rows.map(({ payload, ...row }) => ({ ...row, payload_json: JSON.stringify(payload) }))
  return catalog.run(sql`
    insert into outbox (event, organization_id, site_id, payload_json, at)
    select value ->> 'event', value ->> 'organization_id', value ->> 'site_id', value ->> 'payload_json', value ->> 'at'
    from json_each(${JSON.stringify(stored)}) order by key`)
}

/** Lists the events after an id, by id ascending. They are read as one JSON text, because the client takes long for each row. */
export async function listOutbox(catalog: Statements, { after, limit }: { after: number; limit: number }): Promise<OutboxRow[]> {
  const row = await catalog.get<{ events_json: string }>(sql`
    select json_group_array(json_object('id', id, 'event', event, 'organization_id', organization_id, 'site_id', site_id,
      'payload', json(payload_json), 'at', at)) as events_json
    from (select * from outbox where id > ${after} order by id limit ${limit})`)
  return JSON.parse(row!.events_json) as OutboxRow[] // an aggregate returns a row
}

export async function outboxRowById(catalog: Statements, id: number): Promise<OutboxRow | undefined> {
  const [row] = await listOutbox(catalog, { after: id - 1, limit: 1 })
  return row?.id === id ? row : undefined
}

/** Returns the id of the last event that a consumer has processed. A new consumer starts after the newest event. */
export async function openCursor(catalog: Statements, consumer: string): Promise<number> {
  const find = () => catalog.get<{ last_id: number }>(sql`select last_id from outbox_cursors where consumer = ${consumer}`)
  const found = await find()
  if (found) return found.last_id
  await catalog.run(sql`
    insert into outbox_cursors (consumer, last_id)
    values (${consumer}, coalesce((select seq from sqlite_sequence where name = 'outbox'), 0))
    on conflict do nothing`)
  return (await find())!.last_id // inserted above
}

/** Moves the cursor of a consumer forward, never back. */
export const moveCursor = (catalog: Statements, consumer: string, lastId: number): Promise<void> =>
  catalog.run(sql`update outbox_cursors set last_id = max(last_id, ${lastId}) where consumer = ${consumer}`)

/** Deletes at most 1,000 events before a moment, up to an id. Returns their number. */
export async function deleteOutbox(catalog: Statements, { before, upTo }: { before: number; upTo: number }): Promise<number> {
  const rows = await catalog.all(sql`
    delete from outbox where id in (select id from outbox where at < ${before} and id <= ${upTo} order by at limit 1000) returning id`)
  return rows.length
}

export async function lastOutboxId(catalog: Statements): Promise<number> {
  const row = await catalog.get<{ last: number | null }>(sql`select max(id) as last from outbox`)
  return row?.last ?? 0
}

/** An email in the queue. Times are epoch milliseconds. */
export interface WaitingMail {
  id: number
  /** The name for which the content is sealed. */
  name: string
  sealed: Uint8Array
  /** Key under which the outcome is reported: `<owner>:<key>`. */
  outcome_key: string | null
  attempts: number
  created_at: number
}

/** Queues an email. Those without a key are due before all others, because emails with keys are sent by the thousand. */
export const insertMail = (
  catalog: Statements,
  { name, sealed, outcome_key, now }: Pick<WaitingMail, "name" | "sealed" | "outcome_key"> & { now: number },
): Promise<void> =>
  catalog.run(sql`
    insert into mails (name, sealed, outcome_key, due_at, created_at)
    values (${name}, ${sealed}, ${outcome_key}, ${outcome_key === null ? 0 : now}, ${now})`)

/** Lists the due emails, longest waiting first, without those that are known. */
export const listDueMails = (
  catalog: Statements,
  { now, except, limit }: { now: number; except: readonly number[]; limit: number },
): Promise<WaitingMail[]> =>
  catalog.all(sql`
    select id, name, sealed, outcome_key, attempts, created_at from mails
    where due_at <= ${now} and id not in (select value from json_each(${JSON.stringify(except)})) order by due_at, id limit ${limit}`)

export const postponeMail = (catalog: Statements, id: number, dueAt: number): Promise<void> =>
  catalog.run(sql`update mails set attempts = attempts + 1, due_at = ${dueAt} where id = ${id}`)

export const deleteMail = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from mails where id = ${id}`)

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

const NOTICE = sql`id, kind, detail_json, first_at, last_at, told_at`

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
    returning ${NOTICE}`)
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
    update notices set ended_at = ${at}, dismissed_by = ${by} where id = ${id} and ended_at is null returning ${NOTICE}`)
  return row && toNotice(row)
}

/** Lists the open notices, newest first. */
export async function listNotices(catalog: Statements): Promise<Notice[]> {
  const rows = await catalog.all<NoticeRow>(sql`
    select ${NOTICE} from notices where ended_at is null order by last_at desc, id desc limit 100`)
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
