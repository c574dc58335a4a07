import type { ApiKey } from "../../domain/key.ts"
import type { Creator } from "../../domain/key-caps.ts"
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

/** What was noticed of another end is forgotten. */
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

/** Of who made a key, and of the owner of a personal one. */
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

/** A key with what proves it (its secret's hash, and that of the secret before) and what bounds it. */
export interface StoredKey {
  key: ApiKey
  secretHash: Uint8Array
  previous: { hash: Uint8Array; validUntil: number } | null
  /** Its creator as a member of the organization; null for one who has left, and for the command line. */
  creator: Creator | null
  /** Of a personal key: whether its owner can sign in. */
  ownerIsActive: boolean
}

/** As one value: the client takes longer for two dozen columns than the engine for finding them. */
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

/** In one statement: every request with a key asks it. */
export async function keyByKeyId(catalog: Statements, keyId: string): Promise<StoredKey | undefined> {
  const row = await catalog.get<ProofRow>(sql`
    select ${BOUNDED_KEY} as bounded_key, secret_hash, prev_hash, prev_valid_until
    from api_keys
    left join memberships creators on creators.organization_id = api_keys.organization_id and creators.user_id = api_keys.created_by
    where key_id = ${keyId}`)
  if (!row) return undefined
  const { secret_hash, prev_hash, prev_valid_until } = row
  const bounded: KeyRow & BoundsRow = JSON.parse(row.bounded_key) // made just above
  const { creator_role, creator_grants, creator_denies, creator_sites, owner_status, ...key } = bounded
  return {
    key: toKey(key),
    secretHash: secret_hash,
    previous: prev_hash && { hash: prev_hash, validUntil: prev_valid_until ?? 0 },
    creator: creator_role && creatorOf(creator_role, creator_grants!, creator_denies!, creator_sites), // they come together
    ownerIsActive: key.owner_user_id === null || owner_status === "active",
  }
}

/** As a creation or a change is judged. */
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

/** Who made a key, for those who look at it; null: the command line. */
export interface KeyCreator {
  key_id: number
  user_id: number
  name: string
  email: string
  is_member: 0 | 1
}

/** Of keys whose ids follow one another in a list. */
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

/** By id ascending, expired and revoked ones too, those after an id. */
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

/** The caller has seen that it is not revoked. */
export async function revokeKey(catalog: Statements, id: number, { now, by }: { now: number; by: number | null }): Promise<ApiKey> {
  const row = await catalog.get<KeyRow>(sql`
    update api_keys set revoked_at = ${now}, revoked_by = ${by}, version = version + 1 where id = ${id} returning ${COLUMNS}`)
  return toKey(row!) // the caller has seen it in this transaction
}

/** Of all organizations. */
export const revokePersonalKeys = (catalog: Statements, userId: number, { now, by }: { now: number; by: number | null }): Promise<void> =>
  catalog.run(sql`
    update api_keys set revoked_at = ${now}, revoked_by = ${by}, version = version + 1
    where owner_user_id = ${userId} and revoked_at is null`)

/** Gives a key another secret; the present one works until `graceEnds`. */
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

/** From where a key was used; nothing of a caller is null. */
export interface KeyUseRow {
  at: number
  ipPrefix: string | null
  agent: string | null
}

export const markKeyUsed = (catalog: Statements, id: number, { at, ipPrefix, agent }: KeyUseRow): Promise<void> =>
  catalog.run(sql`
    update api_keys set last_used_at = ${at}, last_used_ip_prefix = ${ipPrefix}, last_used_agent = ${agent} where id = ${id}`)

/** What is over by now stays over: keys, and secrets from before a rotation. */
export async function expireKeys(catalog: Statements, now: number): Promise<void> {
  await catalog.run(sql`
    update api_keys set expired_at = ${now} where expires_at <= ${now} and expired_at is null and revoked_at is null`)
  await catalog.run(sql`update api_keys set prev_hash = null where prev_valid_until <= ${now} and prev_hash is not null`)
}

/** Live keys that end up to a moment and of whose end nothing was said yet that is as near as `notice` days. */
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

/** A deleted site leaves the lists of keys; a list that gets empty reaches nothing. */
export const removeSiteFromKeys = (catalog: Statements, organizationId: number, siteId: number): Promise<void> =>
  catalog.run(sql`
    update api_keys
    set site_ids_json = (select json_group_array(value) from json_each(site_ids_json) where value <> ${siteId})
    where organization_id = ${organizationId} and site_access = 'list'`)

const accessOf = ({ site_ids }: Pick<ApiKey, "site_ids">): "all" | "list" => (site_ids === null ? "all" : "list")

/** All were written by this floor. */
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

/** From one day to another, both included; by day, route and status. */
export const listUsage = (catalog: Statements, keyId: number, { from, to }: { from: string; to: string }): Promise<UsageCount[]> =>
  catalog.all(sql`
    select day, route, status, requests from key_usage
    where key_id = ${keyId} and day between ${from} and ${to} order by day, route, status`)

/** Those of days before one, at most `limit`. */
export const deleteUsage = (catalog: Statements, before: string, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from key_usage where (key_id, day, route, status) in (
      select key_id, day, route, status from key_usage where day < ${before} limit ${limit}
    )`)
