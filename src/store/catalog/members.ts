import type { Role } from "../../domain/organization.ts"
import type { SiteRole } from "../../domain/permission.ts"
import type { User } from "../../domain/user.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"
import type { Membership } from "./memberships.ts"

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
