/** Secrets that work once: the tokens of links in emails, and the tickets that lead from one step of a sign-in to the next. */

import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The purpose of a link in an email. */
export type TokenPurpose = "reset" | "verify_email" | "change_email" | "undo_email"

export interface OneTimeToken {
  user_id: number
  payload: unknown
  expires_at: number
}
type TokenRow = Omit<OneTimeToken, "payload"> & { payload_json: string }

const TOKEN = sql`user_id, payload_json, expires_at`

export const insertToken = (
  catalog: Statements,
  hash: Uint8Array,
  { purpose, userId, payload, expiresAt }: { purpose: TokenPurpose; userId: number; payload: unknown; expiresAt: number },
): Promise<void> =>
  catalog.run(sql`
    insert into one_time_tokens (hash, purpose, user_id, payload_json, expires_at)
    values (${hash}, ${purpose}, ${userId}, ${JSON.stringify(payload)}, ${expiresAt})`)

/** Returns a token, or undefined when it is unknown, of another purpose, or used. */
export async function findToken(catalog: Statements, hash: Uint8Array, purpose: TokenPurpose): Promise<OneTimeToken | undefined> {
  const row = await catalog.get<TokenRow>(sql`
    select ${TOKEN} from one_time_tokens where hash = ${hash} and purpose = ${purpose} and used_at is null`)
  return row && toToken(row)
}

/** Uses a token. Of parallel calls, only one receives it; the others receive undefined. */
export async function useToken(
  catalog: Statements,
  hash: Uint8Array,
  purpose: TokenPurpose,
  now: number,
): Promise<OneTimeToken | undefined> {
  const row = await catalog.get<TokenRow>(sql`
    update one_time_tokens set used_at = ${now} where hash = ${hash} and purpose = ${purpose} and used_at is null returning ${TOKEN}`)
  return row && toToken(row)
}

/** Invalidates the unused tokens of a user and purpose. */
export const voidTokens = (catalog: Statements, userId: number, purpose: TokenPurpose, now: number): Promise<void> =>
  catalog.run(sql`
    update one_time_tokens set used_at = ${now} where user_id = ${userId} and purpose = ${purpose} and used_at is null`)

/** Invalidates the unused tokens that expire at or after a moment. With equal lifetimes these are the tokens created since then. */
export const voidTokensSince = (
  catalog: Statements,
  { userId, purpose, since }: { userId: number; purpose: TokenPurpose; since: number },
  now: number,
): Promise<void> =>
  catalog.run(sql`
    update one_time_tokens set used_at = ${now}
    where user_id = ${userId} and purpose = ${purpose} and used_at is null and expires_at >= ${since}`)

/** Deletes at most `limit` tokens that expired before a moment. */
export const deleteTokens = (catalog: Statements, before: number, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from one_time_tokens where hash in
      (select hash from one_time_tokens where expires_at < ${before} order by expires_at limit ${limit})`)

// Written by this file.
const toToken = ({ payload_json, ...row }: TokenRow): OneTimeToken => ({ ...row, payload: JSON.parse(payload_json) })

/** The kind of a ticket: the two-step operation, a sign-in or the registration of a factor, whose second step it allows. */
export type TicketKind = "mfa" | "passkey" | "passkey_new" | "totp_new" | "oidc" | "oidc_link"

export interface TicketRow {
  user_id: number | null
  payload: unknown
  attempts: number
  expires_at: number
}
type StoredTicket = Omit<TicketRow, "payload"> & { payload_json: string }

const TICKET = sql`user_id, payload_json, attempts, expires_at`

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
  const row = await catalog.get<StoredTicket>(sql`
    select ${TICKET} from login_tickets where hash = ${hash} and kind = ${kind} and used_at is null`)
  return row && toTicket(row)
}

/** Counts an attempt. Returns undefined when the ticket is unknown, of another kind, or used. */
export async function tryTicket(catalog: Statements, hash: Uint8Array, kind: TicketKind): Promise<TicketRow | undefined> {
  const row = await catalog.get<StoredTicket>(sql`
    update login_tickets set attempts = attempts + 1 where hash = ${hash} and kind = ${kind} and used_at is null returning ${TICKET}`)
  return row && toTicket(row)
}

/** Uses a ticket. Returns undefined when it is unknown, of another kind, or used. Of parallel calls, only one gets the ticket. */
export async function useTicket(catalog: Statements, hash: Uint8Array, kind: TicketKind, now: number): Promise<TicketRow | undefined> {
  const row = await catalog.get<StoredTicket>(sql`
    update login_tickets set used_at = ${now} where hash = ${hash} and kind = ${kind} and used_at is null returning ${TICKET}`)
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
const toTicket = ({ payload_json, ...row }: StoredTicket): TicketRow => ({ ...row, payload: JSON.parse(payload_json) })
