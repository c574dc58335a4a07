import type { Role } from "../../domain/organization.ts"
import type { SiteRole } from "../../domain/permission.ts"
import type { User } from "../../domain/user.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A user in an organization. Times are epoch milliseconds. */
export interface Membership {
  id: number
  organization_id: number
  user_id: number
  role: Role
  grants: readonly string[]
  denies: readonly string[]
  invited_by: number | null
  created_at: number
  version: number
}

const MEMBERSHIP = sql`id, organization_id, user_id, role, grants_json, denies_json, invited_by, created_at, version`
type MembershipRow = Omit<Membership, "grants" | "denies"> & { grants_json: string; denies_json: string }

export const insertMembership = (
  catalog: Statements,
  {
    organizationId,
    userId,
    role,
    invitedBy = null,
    now,
  }: { organizationId: number; userId: number; role: Role; invitedBy?: number | null; now: number },
): Promise<void> =>
  catalog.run(sql`
    insert into memberships (organization_id, user_id, role, invited_by, created_at)
    values (${organizationId}, ${userId}, ${role}, ${invitedBy}, ${now})`)

export async function membershipOf(catalog: Statements, organizationId: number, userId: number): Promise<Membership | undefined> {
  const row = await catalog.get<MembershipRow>(sql`
    select ${MEMBERSHIP} from memberships where organization_id = ${organizationId} and user_id = ${userId}`)
  return row && toMembership(row)
}

/** Lists the memberships of a user, by organization, without deleted organizations. */
export async function membershipsOf(catalog: Statements, userId: number): Promise<Membership[]> {
  const rows = await catalog.all<MembershipRow>(sql`
    select ${MEMBERSHIP} from memberships
    where user_id = ${userId} and organization_id in (select id from organizations where deleted_at is null)
    order by organization_id`)
  return rows.map(toMembership)
}

export async function countOwners(catalog: Statements, organizationId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`
    select count(*) as n from memberships join users on users.id = memberships.user_id
    where organization_id = ${organizationId} and role = 'owner' and users.status = 'active'`)
  return row!.n // a count has a row
}

export const siteRoleOf = async (catalog: Statements, siteId: number, userId: number): Promise<SiteRole | undefined> =>
  (await catalog.get<{ role: SiteRole }>(sql`select role from site_members where site_id = ${siteId} and user_id = ${userId}`))?.role

/** Lists the site-specific roles of a user. */
export const siteRolesOf = (catalog: Statements, userId: number): Promise<{ site_id: number; role: SiteRole }[]> =>
  catalog.all(sql`select site_id, role from site_members where user_id = ${userId} order by site_id`)

export const putSiteMember = (
  catalog: Statements,
  { siteId, userId, role, by, now }: { siteId: number; userId: number; role: SiteRole; by: number | null; now: number },
): Promise<void> =>
  catalog.run(sql`
    insert into site_members (site_id, user_id, role, created_by, created_at) values (${siteId}, ${userId}, ${role}, ${by}, ${now})
    on conflict do update set role = excluded.role`)

export const deleteSiteMember = (catalog: Statements, siteId: number, userId: number): Promise<void> =>
  catalog.run(sql`delete from site_members where site_id = ${siteId} and user_id = ${userId}`)

function toMembership({ grants_json, denies_json, ...row }: MembershipRow): Membership {
  // Both were written by this file.
  return { ...row, grants: JSON.parse(grants_json) as string[], denies: JSON.parse(denies_json) as string[] }
}

/**
 * Returns whether an organization of the user requires single sign-on, by its policy or by a setting of its provider. Owners whom
 * the policy names as break-glass users are exempt. `byOwnProvider` considers only organizations that have a provider of their own;
 * `organizationId` considers only that organization.
 */
export const isSsoRequired = async (
  catalog: Statements,
  userId: number,
  { byOwnProvider, organizationId = null }: { byOwnProvider: boolean; organizationId?: number | null },
): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and o.deleted_at is null and (${organizationId} is null or o.id = ${organizationId})
      and (
        json_extract(o.policy_json, '$.sso_only') = 1
        or exists (select 1 from oidc_providers p where p.organization_id = o.id and p.enabled = 1 and p.sso_only = 1)
      )
      and (
        not ${byOwnProvider}
        or exists (select 1 from oidc_providers p where p.organization_id = o.id and p.enabled = 1)
      )
      and not (
        m.role = 'owner'
        and exists (select 1 from json_each(o.policy_json, '$.break_glass_user_ids') where json_each.value = m.user_id)
      )
    limit 1`)) !== undefined

/** Returns the shortest session lifetimes, in days, that any organization of a user requires. Null means no requirement. */
export async function sessionDaysOf(catalog: Statements, userId: number): Promise<{ idle: number | null; absolute: number | null }> {
  const row = await catalog.get<{ idle: number | null; absolute: number | null }>(sql`
    select
      min(json_extract(policy_json, '$.session_idle_days')) as idle,
      min(json_extract(policy_json, '$.session_absolute_days')) as absolute
    from memberships join organizations on organizations.id = memberships.organization_id
    where user_id = ${userId} and deleted_at is null`)
  return row! // a minimum has a row
}

/** A member as shown in lists. An organization has at most 500, guests included. Times are epoch milliseconds. */
export interface Member extends Pick<Membership, "id" | "user_id" | "role" | "grants" | "denies" | "created_at" | "version"> {
  name: string
  email: string
  /** Whether the user has a second factor. */
  mfa: boolean
  last_seen_at: number | null
  status: User["status"]
}

type MemberRow = Omit<Member, "grants" | "denies" | "mfa"> & { grants_json: string; denies_json: string; mfa: 0 | 1 }

const MEMBER = sql`
  memberships.id, user_id, role, grants_json, denies_json, memberships.created_at, memberships.version, users.name, users.email,
  users.status,
  totp_sealed is not null or exists (select 1 from passkeys where passkeys.user_id = users.id) as mfa,
  nullif(max(
    coalesce(users.last_seen_at, 0),
    coalesce((select max(last_seen_at) from sessions where sessions.user_id = users.id and impersonator_id is null), 0)
  ), 0) as last_seen_at`

/** Lists the members of an organization in the order in which they joined. */
export async function listMembers(catalog: Statements, organizationId: number): Promise<Member[]> {
  const rows = await catalog.all<MemberRow>(sql`
    select ${MEMBER} from memberships join users on users.id = memberships.user_id
    where organization_id = ${organizationId} order by memberships.id limit 1000`)
  return rows.map(toMember)
}

export async function memberOf(catalog: Statements, organizationId: number, userId: number): Promise<Member | undefined> {
  const row = await catalog.get<MemberRow>(sql`
    select ${MEMBER} from memberships join users on users.id = memberships.user_id
    where organization_id = ${organizationId} and user_id = ${userId}`)
  return row && toMember(row)
}

export const memberByEmailKey = (catalog: Statements, organizationId: number, emailKey: string): Promise<{ user_id: number } | undefined> =>
  catalog.get(sql`
    select user_id from memberships join users on users.id = memberships.user_id
    where organization_id = ${organizationId} and email_key = ${emailKey}`)

export async function countMembers(catalog: Statements, organizationId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from memberships where organization_id = ${organizationId}`)
  return row!.n // a count has a row
}

/** Lists the user ids of an organization's owners, whatever their status. */
export const listOwnerIds = async (catalog: Statements, organizationId: number): Promise<number[]> =>
  (
    await catalog.all<{ user_id: number }>(sql`
      select user_id from memberships where organization_id = ${organizationId} and role = 'owner' order by user_id limit 1000`)
  ).map(({ user_id }) => user_id)

export const updateMembership = (
  catalog: Statements,
  id: number,
  { role, grants, denies }: { role: Role; grants: readonly string[]; denies: readonly string[] },
): Promise<void> =>
  catalog.run(sql`
    update memberships
    set role = ${role}, grants_json = ${JSON.stringify(grants)}, denies_json = ${JSON.stringify(denies)}, version = version + 1
    where id = ${id}`)

/**
 * Deletes a membership and everything that depends on it: the member's site-specific roles, personal keys, pending invitations, and
 * the sessions that are limited to the organization.
 */
export async function deleteMembership(
  catalog: Statements,
  { organizationId, userId, now, by }: { organizationId: number; userId: number; now: number; by: number | null },
): Promise<void> {
  await catalog.run(sql`
    delete from site_members
    where user_id = ${userId} and site_id in (select id from sites where organization_id = ${organizationId})`)
  await catalog.run(sql`
    update api_keys set revoked_at = ${now}, revoked_by = ${by}
    where organization_id = ${organizationId} and owner_user_id = ${userId} and revoked_at is null`)
  await catalog.run(sql`
    update invitations set revoked_at = ${now}
    where organization_id = ${organizationId} and invited_by = ${userId} and accepted_at is null and revoked_at is null`)
  await catalog.run(sql`
    update sessions set revoked_at = ${now} where organization_id = ${organizationId} and user_id = ${userId} and revoked_at is null`)
  await catalog.run(sql`delete from memberships where organization_id = ${organizationId} and user_id = ${userId}`)
}

/** A user with a site-specific role. */
export interface SiteMember {
  user_id: number
  name: string
  email: string
  role: SiteRole
  created_at: number
}

/** Lists the site-specific roles of a site, by user id. */
export const listSiteMembers = (catalog: Statements, siteId: number): Promise<SiteMember[]> =>
  catalog.all(sql`
    select user_id, users.name, users.email, role, site_members.created_at
    from site_members join users on users.id = site_members.user_id
    where site_id = ${siteId} order by user_id limit 1000`)

/** Lists the site-specific roles of all sites of an organization, by user and site. */
export const listSiteRoles = (
  catalog: Statements,
  organizationId: number,
): Promise<{ user_id: number; site_id: number; role: SiteRole }[]> =>
  catalog.all(sql`
    select user_id, site_id, role from site_members
    where site_id in (select id from sites where organization_id = ${organizationId} and deleted_at is null)
    order by user_id, site_id`)

/** Counts the guests of an organization that have a role on a site. */
export async function countGuests(catalog: Statements, organizationId: number, siteId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`
    select count(*) as n from site_members
    join memberships on memberships.user_id = site_members.user_id and organization_id = ${organizationId}
    where site_id = ${siteId} and memberships.role = 'guest'`)
  return row!.n // a count has a row
}

function toMember({ grants_json, denies_json, mfa, ...row }: MemberRow): Member {
  // Both were written by the repositories of this folder.
  return { ...row, grants: JSON.parse(grants_json) as string[], denies: JSON.parse(denies_json) as string[], mfa: mfa === 1 }
}
