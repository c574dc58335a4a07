import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The second factors of a user. */
export interface Factors {
  totp: boolean
  passkeys: number
  recovery_codes_left: number
}

export async function factorsOf(catalog: Statements, userId: number): Promise<Factors> {
  const row = await catalog.get<{ totp: 0 | 1; passkeys: number; codes: number }>(sql`
    select
      (select totp_sealed is not null from users where id = ${userId}) as totp,
      (select count(*) from passkeys where user_id = ${userId}) as passkeys,
      (select count(*) from recovery_codes where user_id = ${userId} and used_at is null) as codes`)
  return { totp: row?.totp === 1, passkeys: row?.passkeys ?? 0, recovery_codes_left: row?.codes ?? 0 }
}

/** Returns whether an organization of the user requires a second factor. */
export const isFactorRequired = async (catalog: Statements, userId: number): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 from memberships join organizations on organizations.id = memberships.organization_id
    where user_id = ${userId} and deleted_at is null and json_extract(policy_json, '$.require_mfa') = 1 limit 1`)) !== undefined

/** The sealed TOTP secret of a user, and the last code that was used. */
export interface StoredTotp {
  sealed: Uint8Array
  /** The latest time step whose code was used. */
  last_step: number | null
}

export async function totpOf(catalog: Statements, userId: number): Promise<StoredTotp | undefined> {
  const row = await catalog.get<{ sealed: Uint8Array | null; last_step: number | null }>(sql`
    select totp_sealed as sealed, totp_last_step as last_step from users where id = ${userId}`)
  return row?.sealed ? { sealed: row.sealed, last_step: row.last_step } : undefined
}

/** Sets the TOTP secret of a user; null removes it. */
export const updateTotp = (catalog: Statements, userId: number, totp: StoredTotp | null): Promise<void> =>
  catalog.run(sql`
    update users set totp_sealed = ${totp?.sealed ?? null}, totp_last_step = ${totp?.last_step ?? null} where id = ${userId}`)

/** Uses the code of a time step. Returns false when this step or a later one was used before. Of parallel calls, only one gets true. */
export async function useTotpStep(catalog: Statements, userId: number, step: number): Promise<boolean> {
  const row = await catalog.get(sql`
    update users set totp_last_step = ${step}
    where id = ${userId} and totp_sealed is not null and (totp_last_step is null or totp_last_step < ${step}) returning id`)
  return row !== undefined
}

/** Replaces all recovery codes of a user. */
export async function replaceRecoveryCodes(catalog: Statements, userId: number, hashes: readonly Uint8Array[]): Promise<void> {
  await catalog.run(sql`delete from recovery_codes where user_id = ${userId}`)
  for (const hash of hashes) await catalog.run(sql`insert into recovery_codes (user_id, code_hash) values (${userId}, ${hash})`)
}

/** Lists the unused recovery codes of a user. */
export const listRecoveryCodes = (catalog: Statements, userId: number): Promise<{ id: number; code_hash: Uint8Array }[]> =>
  catalog.all(sql`select id, code_hash from recovery_codes where user_id = ${userId} and used_at is null order by id`)

/** Uses a recovery code. Returns false when it was used before. Of parallel calls, only one gets true. */
export const useRecoveryCode = async (catalog: Statements, id: number, now: number): Promise<boolean> =>
  (await catalog.get(sql`update recovery_codes set used_at = ${now} where id = ${id} and used_at is null returning id`)) !== undefined

/** The public key of a passkey. Times are epoch milliseconds. */
export interface Passkey {
  id: number
  user_id: number
  /** The authenticator's id of the credential, in base64url. */
  credential_id: string
  /** COSE key. */
  public_key: Uint8Array
  /** COSE algorithm: -7 ES256, -8 EdDSA, -257 RS256. */
  algorithm: number
  sign_count: number
  transports: readonly string[]
  backed_up: boolean
  name: string
  created_at: number
  last_used_at: number | null
  version: number
}

const COLUMNS = sql`
  id, user_id, credential_id, public_key, algorithm, sign_count, transports_json, backed_up, name, created_at, last_used_at, version`
type PasskeyRow = Omit<Passkey, "transports" | "backed_up"> & { transports_json: string; backed_up: 0 | 1 }

export type NewPasskey = Omit<Passkey, "id" | "last_used_at" | "version">

/** Inserts a passkey. Returns undefined when the credential is already registered. */
export async function insertPasskey(catalog: Statements, passkey: NewPasskey): Promise<Passkey | undefined> {
  const row = await catalog.get<PasskeyRow>(sql`
    insert into passkeys (
      user_id, credential_id, public_key, algorithm, sign_count, transports_json, backed_up, name, created_at
    ) values (
      ${passkey.user_id}, ${passkey.credential_id}, ${passkey.public_key}, ${passkey.algorithm}, ${passkey.sign_count},
      ${JSON.stringify(passkey.transports)}, ${passkey.backed_up}, ${passkey.name}, ${passkey.created_at}
    ) on conflict do nothing returning ${COLUMNS}`)
  return row && toPasskey(row)
}

/** Lists the passkeys of a user, by id ascending. */
export async function listPasskeys(catalog: Statements, userId: number): Promise<Passkey[]> {
  const rows = await catalog.all<PasskeyRow>(sql`select ${COLUMNS} from passkeys where user_id = ${userId} order by id limit 1000`)
  return rows.map(toPasskey)
}

export async function passkeyByCredential(catalog: Statements, credentialId: string): Promise<Passkey | undefined> {
  const row = await catalog.get<PasskeyRow>(sql`select ${COLUMNS} from passkeys where credential_id = ${credentialId}`)
  return row && toPasskey(row)
}

export async function passkeyOf(catalog: Statements, userId: number, id: number): Promise<Passkey | undefined> {
  const row = await catalog.get<PasskeyRow>(sql`select ${COLUMNS} from passkeys where id = ${id} and user_id = ${userId}`)
  return row && toPasskey(row)
}

export async function updatePasskeyName(catalog: Statements, id: number, name: string): Promise<Passkey> {
  const row = await catalog.get<PasskeyRow>(sql`
    update passkeys set name = ${name}, version = version + 1 where id = ${id} returning ${COLUMNS}`)
  return toPasskey(row!) // the caller has seen it in this transaction
}

/** Records a use of a passkey. */
export const updatePasskeyUse = (
  catalog: Statements,
  id: number,
  { signCount, backedUp, at }: { signCount: number; backedUp: boolean; at: number },
): Promise<void> =>
  catalog.run(sql`update passkeys set sign_count = ${signCount}, backed_up = ${backedUp}, last_used_at = ${at} where id = ${id}`)

export const deletePasskey = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from passkeys where id = ${id}`)

function toPasskey({ transports_json, ...row }: PasskeyRow): Passkey {
  // Written by this file.
  return { ...row, transports: JSON.parse(transports_json) as string[], backed_up: row.backed_up === 1 }
}
