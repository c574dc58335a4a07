import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The kind of a ticket: the two-step operation, a sign-in or the registration of a factor, whose second step it allows. */
export type TicketKind = "mfa" | "passkey" | "passkey_new" | "totp_new" | "oidc" | "oidc_link"

export interface TicketRow {
  user_id: number | null
  payload: unknown
  attempts: number
  expires_at: number
}
type StoredRow = Omit<TicketRow, "payload"> & { payload_json: string }

const COLUMNS = sql`user_id, payload_json, attempts, expires_at`

export const insertTicket = (
  catalog: Statements,
  hash: Uint8Array,
  { kind, userId, payload, expiresAt }: { kind: TicketKind; userId: number | null; payload: unknown; expiresAt: number },
): Promise<void> =>
  catalog.run(sql`
    insert into login_tickets (hash, user_id, kind, payload_json, expires_at)
    values (${hash}, ${userId}, ${kind}, ${JSON.stringify(payload)}, ${expiresAt})`)

/** Returns a ticket, or undefined when it is unknown, of another kind, or used. */
export async function findTicket(catalog: Statements, hash: Uint8Array, kind: TicketKind): Promise<TicketRow | undefined> {
  const row = await catalog.get<StoredRow>(sql`
    select ${COLUMNS} from login_tickets where hash = ${hash} and kind = ${kind} and used_at is null`)
  return row && toTicket(row)
}

/** Counts an attempt. Returns undefined when the ticket is unknown, of another kind, or used. */
export async function tryTicket(catalog: Statements, hash: Uint8Array, kind: TicketKind): Promise<TicketRow | undefined> {
  const row = await catalog.get<StoredRow>(sql`
    update login_tickets set attempts = attempts + 1 where hash = ${hash} and kind = ${kind} and used_at is null returning ${COLUMNS}`)
  return row && toTicket(row)
}

/** Uses a ticket. Returns undefined when it is unknown, of another kind, or used. Of parallel calls, only one gets the ticket. */
export async function useTicket(catalog: Statements, hash: Uint8Array, kind: TicketKind, now: number): Promise<TicketRow | undefined> {
  const row = await catalog.get<StoredRow>(sql`
    update login_tickets set used_at = ${now} where hash = ${hash} and kind = ${kind} and used_at is null returning ${COLUMNS}`)
  return row && toTicket(row)
}

/** Invalidates the unused tickets of a user. */
export const voidTickets = (catalog: Statements, userId: number, now: number): Promise<void> =>
  catalog.run(sql`update login_tickets set used_at = ${now} where user_id = ${userId} and used_at is null`)

/** Deletes at most `limit` tickets that expired before a moment. */
export const deleteTickets = (catalog: Statements, before: number, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from login_tickets where hash in
      (select hash from login_tickets where expires_at < ${before} order by expires_at limit ${limit})`)

// Written by this file.
const toTicket = ({ payload_json, ...row }: StoredRow): TicketRow => ({ ...row, payload: JSON.parse(payload_json) })
