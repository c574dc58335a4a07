import type { Session } from "../../domain/account.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

const COLUMNS = sql`
  id, user_id, method, mfa, created_at, last_seen_at, idle_expires_at, expires_at, reauth_at, device, user_agent, ip_prefix, place,
  impersonator_id, (select email from users where users.id = impersonator_id) as impersonator_email, impersonation_mode,
  impersonation_reason, organization_id, provider, renewal_wanted, revoked_at`
type SessionRow = Omit<Session, "mfa" | "renewal_wanted"> & { mfa: 0 | 1; renewal_wanted: 0 | 1 }

export type NewSession = Omit<Session, "id" | "revoked_at" | "last_seen_at" | "impersonator_email" | "renewal_wanted">

export async function insertSession(catalog: Statements, tokenHash: Uint8Array, session: NewSession): Promise<Session> {
  const row = await catalog.get<SessionRow>(sql`
    insert into sessions (
      token_hash, user_id, method, mfa, created_at, last_seen_at, idle_expires_at, expires_at, reauth_at, device, user_agent,
      ip_prefix, place, impersonator_id, impersonation_mode, impersonation_reason, organization_id, provider
    ) values (
      ${tokenHash}, ${session.user_id}, ${session.method}, ${session.mfa}, ${session.created_at}, ${session.created_at},
      ${session.idle_expires_at}, ${session.expires_at}, ${session.reauth_at}, ${session.device}, ${session.user_agent},
      ${session.ip_prefix}, ${session.place}, ${session.impersonator_id}, ${session.impersonation_mode},
      ${session.impersonation_reason}, ${session.organization_id}, ${session.provider}
    ) returning ${COLUMNS}`)
  return toSession(row!) // an insert that returns has a row
}

/**
 * Returns a session by the hash of its token, or of the token before a renewal while that one is still accepted. The session can have
 * ended: the caller checks its times.
 */
export async function sessionByTokenHash(catalog: Statements, tokenHash: Uint8Array, now: number): Promise<Session | undefined> {
  const row = await catalog.get<SessionRow>(sql`
    select ${COLUMNS} from sessions
    where token_hash = ${tokenHash} or (previous_hash = ${tokenHash} and previous_until > ${now})`)
  return row && toSession(row)
}

/** Returns a session by id, even when it has ended. */
export async function sessionById(catalog: Statements, id: number): Promise<Session | undefined> {
  const row = await catalog.get<SessionRow>(sql`select ${COLUMNS} from sessions where id = ${id}`)
  return row && toSession(row)
}

/** Lists the active sessions of a user, most recently seen first. */
export async function listLiveSessions(catalog: Statements, userId: number, now: number): Promise<Session[]> {
  const rows = await catalog.all<SessionRow>(sql`
    select ${COLUMNS} from sessions
    where user_id = ${userId} and revoked_at is null and expires_at > ${now} and idle_expires_at > ${now}
    order by last_seen_at desc, id desc limit 1000`)
  return rows.map(toSession)
}

export const updateSessionSeen = (catalog: Statements, id: number, seen: { at: number; idleExpiresAt: number }): Promise<void> =>
  catalog.run(sql`update sessions set last_seen_at = ${seen.at}, idle_expires_at = ${seen.idleExpiresAt} where id = ${id}`)

/** Gives a session a new token. The old one stops working immediately. */
export const updateSessionToken = (catalog: Statements, id: number, tokenHash: Uint8Array): Promise<void> =>
  catalog.run(sql`
    update sessions set token_hash = ${tokenHash}, previous_hash = null, previous_until = null, renewal_wanted = 0 where id = ${id}`)

/** Gives a session a new token; the old one works until `previousUntil`. Of parallel calls, only one gets true. */
export async function renewSessionToken(
  catalog: Statements,
  id: number,
  { tokenHash, previousUntil }: { tokenHash: Uint8Array; previousUntil: number },
): Promise<boolean> {
  const row = await catalog.get(sql`
    update sessions
    set previous_hash = token_hash, previous_until = ${previousUntil}, token_hash = ${tokenHash}, renewal_wanted = 0
    where id = ${id} and renewal_wanted = 1 returning id`)
  return row !== undefined
}

/** Requests that all sessions of a user receive a new token with the next response. */
export const requestSessionRenewal = (catalog: Statements, userId: number): Promise<void> =>
  catalog.run(sql`update sessions set renewal_wanted = 1 where user_id = ${userId} and revoked_at is null`)

export const updateSessionProof = (catalog: Statements, id: number, reauthAt: number): Promise<void> =>
  catalog.run(sql`update sessions set reauth_at = ${reauthAt} where id = ${id}`)

/** Revokes a session. Returns false when it does not exist or is revoked already. */
export async function revokeSession(catalog: Statements, id: number, now: number): Promise<boolean> {
  const row = await catalog.get(sql`update sessions set revoked_at = ${now} where id = ${id} and revoked_at is null returning id`)
  return row !== undefined
}

/** Revokes all sessions of a user except `except`, including impersonations of the user. */
export const revokeSessionsOf = (catalog: Statements, userId: number, now: number, except = 0): Promise<void> =>
  catalog.run(sql`
    update sessions set revoked_at = ${now}
    where user_id = ${userId} and id <> ${except} and revoked_at is null`)

/** Revokes the sessions started by an identity provider, except one. */
export const revokeSessionsBy = (catalog: Statements, provider: string, now: number, except: number): Promise<void> =>
  catalog.run(sql`
    update sessions set revoked_at = ${now} where provider = ${provider} and id <> ${except} and revoked_at is null`)

/** Revokes the impersonation sessions of an instance admin. */
export const revokeImpersonationsBy = (catalog: Statements, adminId: number, now: number): Promise<void> =>
  catalog.run(sql`update sessions set revoked_at = ${now} where impersonator_id = ${adminId} and revoked_at is null`)

/** Deletes at most `limit` sessions that ended before a moment. */
export const deleteEndedSessions = (catalog: Statements, before: number, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from sessions where id in (select id from sessions where expires_at < ${before} order by expires_at limit ${limit})`)

const toSession = (row: SessionRow): Session => ({ ...row, mfa: row.mfa === 1, renewal_wanted: row.renewal_wanted === 1 })

/**
 * Ends all sessions, pending sign-ins and emailed links after a restore, so that nothing that ended after the backup becomes valid
 * again. Deletes the queued emails too, which have been sent since or are out of date.
 */
export async function endAllSignIns(catalog: Statements, now: number): Promise<void> {
  await catalog.run(sql`update sessions set revoked_at = ${now} where revoked_at is null`)
  await catalog.run(sql`update login_tickets set used_at = ${now} where used_at is null`)
  await catalog.run(sql`update one_time_tokens set used_at = ${now} where used_at is null`)
  await catalog.run(sql`delete from mails`)
}
