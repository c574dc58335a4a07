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

type Row = Omit<OutboxRow, "payload"> & { payload_json: string }

export async function insertOutboxRow(catalog: Statements, row: Omit<OutboxRow, "id">): Promise<number> {
  const made = await catalog.get<{ id: number }>(sql`
    insert into outbox (event, organization_id, site_id, payload_json, at)
    values (${row.event}, ${row.organization_id}, ${row.site_id}, ${JSON.stringify(row.payload)}, ${row.at})
    returning id`)
  return made!.id // an insert that returns has a row
}

/** Lists the events after an id, by id ascending. */
export async function listOutbox(catalog: Statements, { after, limit }: { after: number; limit: number }): Promise<OutboxRow[]> {
  const rows = await catalog.all<Row>(sql`
    select id, event, organization_id, site_id, payload_json, at from outbox where id > ${after} order by id limit ${limit}`)
  return rows.map(({ payload_json, ...row }) => ({ ...row, payload: JSON.parse(payload_json) })) // written above
}

/** Returns the id of the last event that a consumer has processed. A new consumer starts after the newest event. */
export async function openCursor(catalog: Statements, consumer: string): Promise<number> {
  await catalog.run(sql`
    insert into outbox_cursors (consumer, last_id)
    values (${consumer}, coalesce((select seq from sqlite_sequence where name = 'outbox'), 0))
    on conflict do nothing`)
  const row = await catalog.get<{ last_id: number }>(sql`select last_id from outbox_cursors where consumer = ${consumer}`)
  return row!.last_id // inserted above
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
  attempts: number
  created_at: number
}

export const insertMail = (
  catalog: Statements,
  { name, sealed, now }: Pick<WaitingMail, "name" | "sealed"> & { now: number },
): Promise<void> => catalog.run(sql`insert into mails (name, sealed, due_at, created_at) values (${name}, ${sealed}, ${now}, ${now})`)

/** Lists the due emails, longest waiting first. */
export const listDueMails = (catalog: Statements, now: number, limit: number): Promise<WaitingMail[]> =>
  catalog.all(sql`select id, name, sealed, attempts, created_at from mails where due_at <= ${now} order by due_at, id limit ${limit}`)

export const postponeMail = (catalog: Statements, id: number, dueAt: number): Promise<void> =>
  catalog.run(sql`update mails set attempts = attempts + 1, due_at = ${dueAt} where id = ${id}`)

export const deleteMail = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from mails where id = ${id}`)
