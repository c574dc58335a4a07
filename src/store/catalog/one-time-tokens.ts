import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The purpose of a link in an email. */
export type TokenPurpose = "reset" | "verify_email" | "change_email" | "undo_email"

export interface OneTimeToken {
  user_id: number
  payload: unknown
  expires_at: number
}
type StoredRow = Omit<OneTimeToken, "payload"> & { payload_json: string }

const COLUMNS = sql`user_id, payload_json, expires_at`

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
  const row = await catalog.get<StoredRow>(sql`
    select ${COLUMNS} from one_time_tokens where hash = ${hash} and purpose = ${purpose} and used_at is null`)
  return row && toToken(row)
}

/** Uses a token. Of parallel calls, only one receives it; the others receive undefined. */
export async function useToken(
  catalog: Statements,
  hash: Uint8Array,
  purpose: TokenPurpose,
  now: number,
): Promise<OneTimeToken | undefined> {
  const row = await catalog.get<StoredRow>(sql`
    update one_time_tokens set used_at = ${now} where hash = ${hash} and purpose = ${purpose} and used_at is null returning ${COLUMNS}`)
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
const toToken = ({ payload_json, ...row }: StoredRow): OneTimeToken => ({ ...row, payload: JSON.parse(payload_json) })
