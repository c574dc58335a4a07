import type { ApiKey, KeyFields } from "../../domain/key.ts"
import { KEY_PREFIX } from "../../domain/key-token.ts"
import type { Slice, Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

const COLUMNS = sql`
  id, organization_id, name, key_id, last4, scopes_json, site_access, site_ids_json, ip_allow_json, rate_limit, created_at,
  expires_at, last_used_at, revoked_at`
type KeyRow = Omit<ApiKey, "prefix" | "scopes" | "site_ids" | "ip_allow"> & {
  key_id: string
  scopes_json: string
  site_access: "all" | "list"
  site_ids_json: string
  ip_allow_json: string
}

export interface NewKey extends KeyFields {
  organization_id: number
  key_id: string
  secret_hash: Uint8Array
  last4: string
  created_at: number
}

export async function insertKey(catalog: Statements, key: NewKey): Promise<ApiKey> {
  const row = await catalog.get<KeyRow>(sql`
    insert into api_keys (
      organization_id, name, key_id, secret_hash, last4, scopes_json, site_access, site_ids_json, ip_allow_json,
      rate_limit, created_at, expires_at
    ) values (
      ${key.organization_id}, ${key.name}, ${key.key_id}, ${key.secret_hash}, ${key.last4}, ${JSON.stringify(key.scopes)},
      ${key.site_ids === null ? "all" : "list"}, ${JSON.stringify(key.site_ids ?? [])},
      ${JSON.stringify(key.ip_allow)}, ${key.rate_limit}, ${key.created_at}, ${key.expires_at}
    ) returning ${COLUMNS}`)
  return toKey(row!) // an insert that returns has a row
}

interface SecretRow {
  secret_hash: Uint8Array
  prev_hash: Uint8Array | null
  prev_valid_until: number | null
}

/** A key with what proves it: its secret's hash, and that of the secret before. */
export interface StoredKey {
  key: ApiKey
  secretHash: Uint8Array
  previous: { hash: Uint8Array; validUntil: number } | null
}

export async function keyByKeyId(catalog: Statements, keyId: string): Promise<StoredKey | undefined> {
  const row = await catalog.get<KeyRow & SecretRow>(sql`
    select ${COLUMNS}, secret_hash, prev_hash, prev_valid_until from api_keys where key_id = ${keyId}`)
  if (!row) return undefined
  const { secret_hash, prev_hash, prev_valid_until, ...rest } = row
  return { key: toKey(rest), secretHash: secret_hash, previous: prev_hash && { hash: prev_hash, validUntil: prev_valid_until ?? 0 } }
}

/** By id ascending, expired and revoked ones too, those after an id. */
export async function listKeys(catalog: Statements, organizationId: number, { after, limit }: Slice): Promise<ApiKey[]> {
  const rows = await catalog.all<KeyRow>(sql`
    select ${COLUMNS} from api_keys where organization_id = ${organizationId} and id > ${after} order by id limit ${limit}`)
  return rows.map(toKey)
}

export async function countLiveKeys(catalog: Statements, organizationId: number, now: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`
    select count(*) as n from api_keys
    where organization_id = ${organizationId} and revoked_at is null and (expires_at is null or expires_at > ${now})`)
  return row!.n // a count has a row
}

/** Undefined when the organization has no such key. A key that is revoked already stays as it is. */
export async function revokeKey(catalog: Statements, organizationId: number, id: number, now: number): Promise<ApiKey | undefined> {
  const row = await catalog.get<KeyRow>(sql`
    update api_keys set revoked_at = coalesce(revoked_at, ${now})
    where organization_id = ${organizationId} and id = ${id}
    returning ${COLUMNS}`)
  return row && toKey(row)
}

/** Gives a key another secret; the present one works until `graceEnds`. Undefined when the organization has no such live key. */
export async function replaceSecret(
  catalog: Statements,
  id: number,
  { hash, last4, graceEnds }: { hash: Uint8Array; last4: string; graceEnds: number },
): Promise<ApiKey | undefined> {
  const row = await catalog.get<KeyRow>(sql`
    update api_keys
    set prev_hash = secret_hash, prev_valid_until = ${graceEnds}, secret_hash = ${hash}, last4 = ${last4}, version = version + 1
    where id = ${id} and revoked_at is null
    returning ${COLUMNS}`)
  return row && toKey(row)
}

export const keyById = async (catalog: Statements, organizationId: number, id: number): Promise<ApiKey | undefined> => {
  const row = await catalog.get<KeyRow>(sql`select ${COLUMNS} from api_keys where organization_id = ${organizationId} and id = ${id}`)
  return row && toKey(row)
}

export const markKeyUsed = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update api_keys set last_used_at = ${now} where id = ${id}`)

/** A deleted site leaves the lists of keys; a list that gets empty reaches nothing. */
export const removeSiteFromKeys = (catalog: Statements, organizationId: number, siteId: number): Promise<void> =>
  catalog.run(sql`
    update api_keys
    set site_ids_json = (select json_group_array(value) from json_each(site_ids_json) where value <> ${siteId})
    where organization_id = ${organizationId} and site_access = 'list'`)

function toKey({ key_id, scopes_json, site_access, site_ids_json, ip_allow_json, ...row }: KeyRow): ApiKey {
  return {
    ...row,
    prefix: KEY_PREFIX + key_id,
    scopes: JSON.parse(scopes_json) as ApiKey["scopes"], // written here
    site_ids: site_access === "all" ? null : (JSON.parse(site_ids_json) as number[]), // written here
    ip_allow: JSON.parse(ip_allow_json) as string[], // written here
  }
}
