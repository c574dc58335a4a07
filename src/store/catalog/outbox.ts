import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** Something that has happened, for whoever consumes it. */
export interface OutboxRow {
  id: number
  event: string
  organization_id: number
  site_id: number | null
  payload: unknown
  at: number
}

type Row = Omit<OutboxRow, "payload"> & { payload_json: string }

export async function insertOutboxRow(catalog: Statements, row: Omit<OutboxRow, "id">): Promise<number> {
  const made = await catalog.get<{ id: number }>(sql`
    insert into outbox (event, organization_id, site_id, payload_json, at)
    values (${row.event}, ${row.organization_id}, ${row.site_id}, ${JSON.stringify(row.payload)}, ${row.at})
    returning id`)
  return made!.id // an insert that returns has a row
}

/** In id order, those behind an id. */
export async function listOutbox(catalog: Statements, { after, limit }: { after: number; limit: number }): Promise<OutboxRow[]> {
  const rows = await catalog.all<Row>(sql`
    select id, event, organization_id, site_id, payload_json, at from outbox where id > ${after} order by id limit ${limit}`)
  return rows.map(({ payload_json, ...row }) => ({ ...row, payload: JSON.parse(payload_json) })) // written above
}

/** A new consumer begins with what comes from now on. Returns up to where it is. */
export async function openCursor(catalog: Statements, consumer: string): Promise<number> {
  await catalog.run(sql`
    insert into outbox_cursors (consumer, last_id)
    values (${consumer}, coalesce((select seq from sqlite_sequence where name = 'outbox'), 0))
    on conflict do nothing`)
  const row = await catalog.get<{ last_id: number }>(sql`select last_id from outbox_cursors where consumer = ${consumer}`)
  return row!.last_id // made above
}

/** Never back. */
export const moveCursor = (catalog: Statements, consumer: string, lastId: number): Promise<void> =>
  catalog.run(sql`update outbox_cursors set last_id = max(last_id, ${lastId}) where consumer = ${consumer}`)

/** At most 1,000 at a time. Returns how many. */
export async function deleteOutbox(catalog: Statements, { before, upTo }: { before: number; upTo: number }): Promise<number> {
  const rows = await catalog.all(sql`
    delete from outbox where id in (select id from outbox where at < ${before} and id <= ${upTo} order by at limit 1000) returning id`)
  return rows.length
}

export async function lastOutboxId(catalog: Statements): Promise<number> {
  const row = await catalog.get<{ last: number | null }>(sql`select max(id) as last from outbox`)
  return row?.last ?? 0
}

/** A mail that waits. Times are epoch milliseconds. */
export interface WaitingMail {
  id: number
  /** What it is sealed for. */
  name: string
  sealed: Uint8Array
  attempts: number
  created_at: number
}

export const insertMail = (
  catalog: Statements,
  { name, sealed, now }: Pick<WaitingMail, "name" | "sealed"> & { now: number },
): Promise<void> => catalog.run(sql`insert into mails (name, sealed, due_at, created_at) values (${name}, ${sealed}, ${now}, ${now})`)

/** Those that are due, the longest waiting first. */
export const listDueMails = (catalog: Statements, now: number, limit: number): Promise<WaitingMail[]> =>
  catalog.all(sql`select id, name, sealed, attempts, created_at from mails where due_at <= ${now} order by due_at, id limit ${limit}`)

export const postponeMail = (catalog: Statements, id: number, dueAt: number): Promise<void> =>
  catalog.run(sql`update mails set attempts = attempts + 1, due_at = ${dueAt} where id = ${id}`)

export const deleteMail = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from mails where id = ${id}`)
