import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** A mail that waits. Times are epoch milliseconds. */
export interface WaitingMail {
  id: string
  sealed: Uint8Array
  attempts: number
  created_at: number
}

export const insertMail = (catalog: Statements, { id, sealed, now }: { id: string; sealed: Uint8Array; now: number }): Promise<void> =>
  catalog.run(sql`insert into mails (id, sealed, due_at, created_at) values (${id}, ${sealed}, ${now}, ${now})`)

/** Those that are due, the longest waiting first. */
export const listDueMails = (catalog: Statements, now: number, limit: number): Promise<WaitingMail[]> =>
  catalog.all(sql`select id, sealed, attempts, created_at from mails where due_at <= ${now} order by due_at, id limit ${limit}`)

export const postponeMail = (catalog: Statements, id: string, dueAt: number): Promise<void> =>
  catalog.run(sql`update mails set attempts = attempts + 1, due_at = ${dueAt} where id = ${id}`)

export const deleteMail = (catalog: Statements, id: string): Promise<void> => catalog.run(sql`delete from mails where id = ${id}`)
