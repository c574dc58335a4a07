import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

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
