import type { ApiKey, Creator } from "../../domain/key.ts"
import type { KeyFields } from "../../domain/key-input.ts"
import { KEY_PREFIX } from "../../domain/key-token.ts"
import type { Role } from "../../domain/organization.ts"
import type { SiteRole } from "../../domain/permission.ts"
import { raw, sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const NAMES = [
  ...["id", "organization_id", "name", "key_id", "last4", "scopes_json", "site_access", "site_ids_json", "ip_allow_json", "rate_limit"],
  ...["owner_user_id", "created_by", "created_at", "expires_at", "expired_at", "last_used_at", "last_used_ip_prefix", "last_used_agent"],
  ...["revoked_at", "version"],
]
const COLUMNS = raw(NAMES.join(", "))
type KeyRow = Omit<ApiKey, "prefix" | "scopes" | "site_ids" | "ip_allow"> & {
  key_id: string
  scopes_json: string
  site_access: "all" | "list"
  site_ids_json: string
  ip_allow_json: string
}

export interface NewKey extends KeyFields {
  organization_id: number
  owner_user_id: number | null
  created_by: number | null
  key_id: string
  secret_hash: Uint8Array
  last4: string
  created_at: number
}

export async function insertKey(catalog: Statements, key: NewKey): Promise<ApiKey> {
  const row = await catalog.get<KeyRow>(sql`
    insert into api_keys (
      organization_id, name, key_id, secret_hash, last4, scopes_json, site_access, site_ids_json, ip_allow_json,
      rate_limit, owner_user_id, created_by, created_at, expires_at
    ) values (
      ${key.organization_id}, ${key.name}, ${key.key_id}, ${key.secret_hash}, ${key.last4}, ${JSON.stringify(key.scopes)},
      ${accessOf(key)}, ${JSON.stringify(key.site_ids ?? [])}, ${JSON.stringify(key.ip_allow)}, ${key.rate_limit},
      ${key.owner_user_id}, ${key.created_by}, ${key.created_at}, ${key.expires_at}
    ) returning ${COLUMNS}`)
  return toKey(row!) // an insert that returns has a row
}

/** Updates a key. A new expiry date resets the notice that was sent about the previous one. */
export async function updateKey(catalog: Statements, id: number, key: KeyFields): Promise<ApiKey> {
  const row = await catalog.get<KeyRow>(sql`
    update api_keys set
      name = ${key.name}, scopes_json = ${JSON.stringify(key.scopes)}, site_access = ${accessOf(key)},
      site_ids_json = ${JSON.stringify(key.site_ids ?? [])}, ip_allow_json = ${JSON.stringify(key.ip_allow)},
      rate_limit = ${key.rate_limit}, expiry_notice = case when expires_at is ${key.expires_at} then expiry_notice end,
      expires_at = ${key.expires_at}, version = version + 1
    where id = ${id} returning ${COLUMNS}`)
  return toKey(row!) // the caller has seen it in this transaction
}

/** The columns that limit a key: the rights of its creator, and for a personal key the status of its owner. */
interface BoundsRow {
  creator_role: Role | null
  creator_grants: string | null
  creator_denies: string | null
  creator_sites: [number, SiteRole][]
  owner_status: string | null
}

interface ProofRow {
  bounded_key: string
  secret_hash: Uint8Array
  prev_hash: Uint8Array | null
  prev_valid_until: number | null
}

/** A key with the hashes that authenticate it (of its secret, and of the previous one after a rotation) and the rights that limit it. */
export interface StoredKey {
  key: ApiKey
  secretHash: Uint8Array
  previous: { hash: Uint8Array; validUntil: number } | null
  /** The creator as a member of the organization. Null when the creator has left it, and for keys created on the command line. */
  creator: Creator | null
  /** Whether the owner of a personal key can sign in. True for other keys. */
  ownerIsActive: boolean
}

/** A key with its limits as one JSON value: converting two dozen columns takes the client longer than finding the row takes SQLite. */
const BOUNDED_KEY = sql`json_object(
  ${raw(NAMES.map((name) => `'${name}', api_keys.${name}`).join(", "))},
  'creator_role', creators.role, 'creator_grants', creators.grants_json, 'creator_denies', creators.denies_json,
  'creator_sites', (
    select json_group_array(json_array(site_id, site_members.role)) from site_members
    where site_members.user_id = api_keys.created_by
      and site_id in (select sites.id from sites where sites.organization_id = api_keys.organization_id)
  ),
  'owner_status', (select status from users where users.id = api_keys.owner_user_id)
)`

/** Returns a key by its public id. One statement, because every request with an API key runs it. */
export async function keyByKeyId(catalog: Statements, keyId: string): Promise<StoredKey | undefined> {
  const row = await catalog.get<ProofRow>(sql`
    select ${BOUNDED_KEY} as bounded_key, secret_hash, prev_hash, prev_valid_until
    from api_keys
    left join memberships creators on creators.organization_id = api_keys.organization_id and creators.user_id = api_keys.created_by
    where key_id = ${keyId}`)
  if (!row) return undefined
  const { secret_hash, prev_hash, prev_valid_until } = row
  const bounded: KeyRow & BoundsRow = JSON.parse(row.bounded_key) // built by BOUNDED_KEY
  const { creator_role, creator_grants, creator_denies, creator_sites, owner_status, ...key } = bounded
  return {
    key: toKey(key),
    secretHash: secret_hash,
    previous: prev_hash && { hash: prev_hash, validUntil: prev_valid_until ?? 0 },
    creator: creator_role && creatorOf(creator_role, creator_grants!, creator_denies!, creator_sites), // one joined row: all null or none
    ownerIsActive: key.owner_user_id === null || owner_status === "active",
  }
}

/** Returns a member with the rights that limit the keys the member creates or changes. */
export async function creatorById(catalog: Statements, organizationId: number, userId: number): Promise<Creator | undefined> {
  const row = await catalog.get<{ role: Role; grants_json: string; denies_json: string; sites: string }>(sql`
    select role, grants_json, denies_json, (
      select json_group_array(json_array(site_id, site_members.role)) from site_members
      join sites on sites.id = site_id and sites.organization_id = ${organizationId}
      where site_members.user_id = ${userId}
    ) as sites
    from memberships where organization_id = ${organizationId} and user_id = ${userId}`)
  return row && creatorOf(row.role, row.grants_json, row.denies_json, JSON.parse(row.sites))
}

/** The user who created a key, for display. Keys created on the command line have none. */
export interface KeyCreator {
  key_id: number
  user_id: number
  name: string
  email: string
  is_member: 0 | 1
}

/** Lists the creators of the keys on one page of a list, given by its first and last id. */
export const listKeyCreators = (
  catalog: Statements,
  organizationId: number,
  { first, last }: { first: number; last: number },
): Promise<KeyCreator[]> =>
  catalog.all(sql`
    select api_keys.id as key_id, users.id as user_id, users.name, users.email, memberships.id is not null as is_member
    from api_keys join users on users.id = created_by
    left join memberships on memberships.organization_id = api_keys.organization_id and memberships.user_id = users.id
    where api_keys.organization_id = ${organizationId} and api_keys.id between ${first} and ${last} limit 1000`)

/** Lists the keys of an organization after an id, by id ascending, including expired and revoked ones. */
export async function listKeys(catalog: Statements, organizationId: number, { after, limit }: Slice): Promise<ApiKey[]> {
  const rows = await catalog.all<KeyRow>(sql`
    select ${COLUMNS} from api_keys where organization_id = ${organizationId} and id > ${after} order by id limit ${limit}`)
  return rows.map(toKey)
}

export async function countLiveKeys(catalog: Statements, organizationId: number, now: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`
    select count(*) as n from api_keys
    where organization_id = ${organizationId} and revoked_at is null and expired_at is null and (expires_at is null or expires_at > ${now})`)
  return row!.n // a count has a row
}

/** Revokes a key. The caller has checked that it is not revoked yet. */
export async function revokeKey(catalog: Statements, id: number, { now, by }: { now: number; by: number | null }): Promise<ApiKey> {
  const row = await catalog.get<KeyRow>(sql`
    update api_keys set revoked_at = ${now}, revoked_by = ${by}, version = version + 1 where id = ${id} returning ${COLUMNS}`)
  return toKey(row!) // the caller has seen it in this transaction
}

/** Revokes the personal keys of a user in all organizations. */
export const revokePersonalKeys = (catalog: Statements, userId: number, { now, by }: { now: number; by: number | null }): Promise<void> =>
  catalog.run(sql`
    update api_keys set revoked_at = ${now}, revoked_by = ${by}, version = version + 1
    where owner_user_id = ${userId} and revoked_at is null`)

/** Gives a key a new secret. The previous one works until `graceEnds`. */
export async function replaceSecret(
  catalog: Statements,
  id: number,
  { hash, last4, graceEnds }: { hash: Uint8Array; last4: string; graceEnds: number },
): Promise<ApiKey> {
  const row = await catalog.get<KeyRow>(sql`
    update api_keys
    set prev_hash = secret_hash, prev_valid_until = ${graceEnds}, secret_hash = ${hash}, last4 = ${last4}, version = version + 1
    where id = ${id}
    returning ${COLUMNS}`)
  return toKey(row!) // the caller has seen it in this transaction
}

export const keyById = async (catalog: Statements, organizationId: number, id: number): Promise<ApiKey | undefined> => {
  const row = await catalog.get<KeyRow>(sql`select ${COLUMNS} from api_keys where organization_id = ${organizationId} and id = ${id}`)
  return row && toKey(row)
}

/** The latest use of a key. Details that are not known are null. */
export interface KeyUseRow {
  at: number
  ipPrefix: string | null
  agent: string | null
}

export const markKeyUsed = (catalog: Statements, id: number, { at, ipPrefix, agent }: KeyUseRow): Promise<void> =>
  catalog.run(sql`
    update api_keys set last_used_at = ${at}, last_used_ip_prefix = ${ipPrefix}, last_used_agent = ${agent} where id = ${id}`)

/** Marks keys as expired and removes previous secrets whose grace period is over. Neither comes back when the clock is set back. */
export async function expireKeys(catalog: Statements, now: number): Promise<void> {
  await catalog.run(sql`
    update api_keys set expired_at = ${now} where expires_at <= ${now} and expired_at is null and revoked_at is null`)
  await catalog.run(sql`update api_keys set prev_hash = null where prev_valid_until <= ${now} and prev_hash is not null`)
}

/** Lists active keys that expire up to a moment and whose owners were not yet notified `notice` days or less before expiry. */
export async function listKeysEnding(
  catalog: Statements,
  { now, until, notice }: { now: number; until: number; notice: number },
): Promise<ApiKey[]> {
  const rows = await catalog.all<KeyRow>(sql`
    select ${COLUMNS} from api_keys
    where expires_at > ${now} and expires_at <= ${until} and expired_at is null and revoked_at is null
      and coalesce(expiry_notice, 1000) > ${notice}
    order by expires_at limit 100`)
  return rows.map(toKey)
}

export const markExpiryNotified = (catalog: Statements, id: number, notice: number): Promise<void> =>
  catalog.run(sql`update api_keys set expiry_notice = ${notice} where id = ${id}`)

/** Removes a deleted site from the site lists of keys. A key with an empty list has access to no site. */
export const removeSiteFromKeys = (catalog: Statements, organizationId: number, siteId: number): Promise<void> =>
  catalog.run(sql`
    update api_keys
    set site_ids_json = (select json_group_array(value) from json_each(site_ids_json) where value <> ${siteId})
    where organization_id = ${organizationId} and site_access = 'list'`)

const accessOf = ({ site_ids }: Pick<ApiKey, "site_ids">): "all" | "list" => (site_ids === null ? "all" : "list")

// The JSON was written by the repositories of this folder.
const creatorOf = (role: Role, grants: string, denies: string, sites: [number, SiteRole][]): Creator => ({
  role,
  grants: JSON.parse(grants) as string[],
  denies: JSON.parse(denies) as string[],
  siteRoles: new Map(sites),
})

function toKey({ key_id, scopes_json, site_access, site_ids_json, ip_allow_json, ...row }: KeyRow): ApiKey {
  return {
    ...row,
    prefix: KEY_PREFIX + key_id,
    scopes: JSON.parse(scopes_json) as ApiKey["scopes"], // written here
    site_ids: site_access === "all" ? null : (JSON.parse(site_ids_json) as number[]), // written here
    ip_allow: JSON.parse(ip_allow_json) as string[], // written here
  }
}

/** Requests of a key on one day (UTC), by route and class of status, such as `2xx`. */
export interface UsageCount {
  day: string
  route: string
  status: string
  requests: number
}

export const addUsage = (catalog: Statements, keyId: number, { day, route, status, requests }: UsageCount): Promise<void> =>
  catalog.run(sql`
    insert into key_usage (key_id, day, route, status, requests) values (${keyId}, ${day}, ${route}, ${status}, ${requests})
    on conflict do update set requests = requests + excluded.requests`)

/** Lists the requests of a key between two days, both inclusive, by day, route and status. */
export const listUsage = (catalog: Statements, keyId: number, { from, to }: { from: string; to: string }): Promise<UsageCount[]> =>
  catalog.all(sql`
    select day, route, status, requests from key_usage
    where key_id = ${keyId} and day between ${from} and ${to} order by day, route, status`)

/** Deletes at most `limit` counts of days before one. */
export const deleteUsage = (catalog: Statements, before: string, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from key_usage where (key_id, day, route, status) in (
      select key_id, day, route, status from key_usage where day < ${before} limit ${limit}
    )`)
