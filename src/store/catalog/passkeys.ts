import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

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
