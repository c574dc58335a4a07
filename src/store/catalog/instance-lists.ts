import type { Organization, Role } from "../../domain/organization.ts"
import type { User } from "../../domain/user.ts"
import { raw, sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

/** A user in the list of the admin console, with counts of related records. Times are epoch milliseconds. */
export interface UserFacts
  extends Pick<User, "id" | "email" | "name" | "is_instance_admin" | "status" | "created_at" | "last_login_at" | "version"> {
  organizations: { id: number; name: string; role: Role }[]
  totp: boolean
  passkeys: number
  password: boolean
  /** Names of the identity providers that the user can sign in with. */
  oidc: string[]
  /** Latest activity of the user's own sessions; impersonations do not count. */
  last_seen_at: number | null
  sessions: number
  api_keys: number
}

type UserFactsRow = Omit<UserFacts, "organizations" | "oidc" | "is_instance_admin" | "totp" | "password"> & {
  organizations_json: string
  oidc_json: string
  is_instance_admin: 0 | 1
  totp: 0 | 1
  password: 0 | 1
}

/** Lists all users after an id, by id ascending, without deleted ones. */
export async function listUserFacts(catalog: Statements, now: number, { after, limit }: Slice): Promise<UserFacts[]> {
  const rows = await catalog.all<UserFactsRow>(sql`
    select id, email, name, is_instance_admin, status, created_at, last_login_at, version,
      totp_sealed is not null as totp, password_hash is not null as password,
      (select count(*) from passkeys where user_id = users.id) as passkeys,
      (select count(*) from sessions
        where user_id = users.id and revoked_at is null and expires_at > ${now} and idle_expires_at > ${now}) as sessions,
      (select count(*) from api_keys
        where owner_user_id = users.id and revoked_at is null and (expires_at is null or expires_at > ${now})) as api_keys,
      nullif(max(coalesce(last_seen_at, 0), coalesce(
        (select max(last_seen_at) from sessions where user_id = users.id and impersonator_id is null), 0)), 0) as last_seen_at,
      (select json_group_array(distinct provider) from oidc_identities where user_id = users.id) as oidc_json,
      (select json_group_array(json_object('id', organizations.id, 'name', organizations.name, 'role', role))
        from memberships join organizations on organizations.id = organization_id
        where user_id = users.id and deleted_at is null) as organizations_json
    from users where id > ${after} and status <> 'deleted' order by id limit ${limit}`)
  // The statement builds both lists.
  return rows.map(({ organizations_json, oidc_json, ...row }) => ({
    ...row,
    is_instance_admin: row.is_instance_admin === 1,
    totp: row.totp === 1,
    password: row.password === 1,
    oidc: JSON.parse(oidc_json) as string[],
    organizations: JSON.parse(organizations_json) as UserFacts["organizations"],
  }))
}

/** An open invitation of any organization. */
export interface OpenInvitation {
  id: number
  organization_id: number
  organization: string
  email: string
  email_key: string
  role: Role
  has_account: boolean
  invited_by: number | null
  created_at: number
  expires_at: number
  sent_at: number | null
}

/** Lists the invitations after an id that can still be accepted, by id ascending. */
export async function listOpenInvitations(catalog: Statements, now: number, { after, limit }: Slice): Promise<OpenInvitation[]> {
  const rows = await catalog.all<Omit<OpenInvitation, "has_account"> & { has_account: 0 | 1 }>(sql`
    select invitations.id, organization_id, organizations.name as organization, email, email_key, role, invited_by,
      exists (select 1 from users where users.email_key = invitations.email_key) as has_account,
      invitations.created_at, expires_at, sent_at
    from invitations join organizations on organizations.id = organization_id
    where invitations.id > ${after} and accepted_at is null and revoked_at is null and expired_at is null and expires_at > ${now}
      and deleted_at is null
    order by invitations.id limit ${limit}`)
  return rows.map((row) => ({ ...row, has_account: row.has_account === 1 }))
}

/** An organization with counts of its members, sites and active keys. */
export interface OrganizationFacts extends Pick<Organization, "id" | "name" | "created_at" | "version"> {
  members: number
  owners: number
  sites: number
  keys: number
}

/** Lists all organizations after an id, by id ascending, without deleted ones. */
export const listOrganizationFacts = (catalog: Statements, now: number, { after, limit }: Slice): Promise<OrganizationFacts[]> =>
  catalog.all(sql`
    select id, name, created_at, version,
      (select count(*) from memberships where organization_id = organizations.id) as members,
      (select count(*) from memberships where organization_id = organizations.id and role = 'owner') as owners,
      (select count(*) from sites where organization_id = organizations.id and deleted_at is null) as sites,
      (select count(*) from api_keys
        where organization_id = organizations.id and revoked_at is null and (expires_at is null or expires_at > ${now})) as keys
    from organizations where id > ${after} and deleted_at is null order by id limit ${limit}`)

/** A site of any organization. Includes deleted sites until they are purged. */
export interface SiteFacts {
  id: number
  name: string
  hosts: string[]
  organization: { id: number; name: string }
  timezone: string
  retention_days: number | null
  created_at: number
  deleted_at: number | null
  version: number
}

type SiteFactsRow = Omit<SiteFacts, "hosts" | "organization"> & { hosts_json: string; organization_id: number; organization_name: string }

/** Lists all sites after an id, by id ascending. */
export async function listSiteFacts(catalog: Statements, { after, limit }: Slice): Promise<SiteFacts[]> {
  const rows = await catalog.all<SiteFactsRow>(sql`
    select sites.id, sites.name, hosts_json, organization_id, organizations.name as organization_name, timezone, retention_days,
      sites.created_at, sites.deleted_at, sites.version
    from sites join organizations on organizations.id = organization_id
    where sites.id > ${after} order by sites.id limit ${limit}`)
  // Inserting a site writes its hosts as a list of strings.
  return rows.map(({ hosts_json, organization_id, organization_name, ...row }) => ({
    ...row,
    hosts: JSON.parse(hosts_json) as string[],
    organization: { id: organization_id, name: organization_name },
  }))
}

/** An API key of any organization, without its secret. */
export interface KeyFacts {
  id: number
  organization_id: number
  organization: string
  name: string
  key_id: string
  last4: string
  scopes: string[]
  /** Null means all sites of the organization. */
  site_ids: number[] | null
  owner_email: string | null
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  expired_at: number | null
  revoked_at: number | null
}

type KeyFactsRow = Omit<KeyFacts, "scopes" | "site_ids"> & { scopes_json: string; site_access: "all" | "list"; site_ids_json: string }

/** Lists all API keys after an id, by id ascending, including expired and revoked ones. */
export async function listKeyFacts(catalog: Statements, { after, limit }: Slice): Promise<KeyFacts[]> {
  const rows = await catalog.all<KeyFactsRow>(sql`
    select api_keys.id, organization_id, organizations.name as organization, api_keys.name, key_id, last4, scopes_json, site_access,
      site_ids_json, (select email from users where users.id = owner_user_id) as owner_email, api_keys.created_at, expires_at,
      last_used_at, expired_at, revoked_at
    from api_keys join organizations on organizations.id = organization_id
    where api_keys.id > ${after} order by api_keys.id limit ${limit}`)
  // Inserting a key writes both lists.
  return rows.map(({ scopes_json, site_access, site_ids_json, ...row }) => ({
    ...row,
    scopes: JSON.parse(scopes_json) as string[],
    site_ids: site_access === "all" ? null : (JSON.parse(site_ids_json) as number[]),
  }))
}

/** An active session of any user. */
export interface SessionFacts {
  id: number
  user_id: number
  email: string
  method: string
  mfa: boolean
  device: string
  ip_prefix: string
  place: string
  created_at: number
  last_seen_at: number
  expires_at: number
  impersonator_id: number | null
  impersonator_email: string | null
  impersonation_mode: string | null
}

/** Lists the active sessions of all users after an id, by id ascending. */
export async function listSessionFacts(catalog: Statements, now: number, { after, limit }: Slice): Promise<SessionFacts[]> {
  const rows = await catalog.all<Omit<SessionFacts, "mfa"> & { mfa: 0 | 1 }>(sql`
    select sessions.id, user_id, users.email, method, mfa, device, ip_prefix, place, sessions.created_at, sessions.last_seen_at,
      min(expires_at, idle_expires_at) as expires_at, impersonator_id,
      (select email from users as other where other.id = impersonator_id) as impersonator_email, impersonation_mode
    from sessions join users on users.id = user_id
    where sessions.id > ${after} and revoked_at is null and expires_at > ${now} and idle_expires_at > ${now}
    order by sessions.id limit ${limit}`)
  return rows.map((row) => ({ ...row, mfa: row.mfa === 1 }))
}

/** The size of a table. `bytes` includes its indexes and is null when it was not measured. */
export interface CatalogTableUsage {
  table: string
  rows: number
  bytes: number | null
}

/** Lists the sizes of all tables. `withBytes` reads every page on the event loop, so use it for a small catalog only. */
export async function listCatalogUsage(catalog: Statements, { withBytes }: { withBytes: boolean }): Promise<CatalogTableUsage[]> {
  const tables = await catalog.all<{ name: string }>(sql`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`)
  const bytes = withBytes ? await bytesByTable(catalog) : undefined
  const usage: CatalogTableUsage[] = []
  for (const { name } of tables) {
    const row = await catalog.get<{ n: number }>(raw(`select count(*) as n from "${name}"`)) // a name of the schema
    usage.push({ table: name, rows: row!.n, bytes: bytes?.get(name) ?? null }) // a count has a row
  }
  return usage
}

async function bytesByTable(catalog: Statements): Promise<Map<string, number>> {
  const rows = await catalog.all<{ name: string; bytes: number }>(
    raw(`
    select coalesce(s.tbl_name, d.name) as name, sum(d.pgsize) as bytes
    from dbstat d left join sqlite_schema s on s.name = d.name group by 1`),
  )
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** The storage that a site, or a whole file, used on a day. */
export interface StorageDay {
  day: string
  site_id: number
  /** The row of a whole file has site 0 and the kind `file`. The others are those of columnar segments, by site and kind. */
  store: "catalog" | "events"
  kind: string
  rows: number
  bytes: number
}

export const putStorageDay = (catalog: Statements, { day, site_id, store, kind, rows, bytes }: StorageDay): Promise<void> =>
  catalog.run(sql`
    insert into storage_days (day, site_id, store, kind, rows, bytes) values (${day}, ${site_id}, ${store}, ${kind}, ${rows}, ${bytes})
    on conflict do update set rows = excluded.rows, bytes = excluded.bytes`)

/** Lists the oldest row of each site and kind since a day. Growth is measured from these. */
export const listFirstStorageDays = (catalog: Statements, from: string): Promise<StorageDay[]> =>
  catalog.all(sql`
    select min(day) as day, site_id, store, kind, rows, bytes from storage_days
    where day >= ${from} group by site_id, store, kind limit 1000`)

export const deleteStorageDays = (catalog: Statements, before: string): Promise<void> =>
  catalog.run(sql`delete from storage_days where day < ${before}`)
