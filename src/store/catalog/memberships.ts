import type { Role } from "../../domain/organization.ts"
import type { SiteRole } from "../../domain/permission.ts"
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

const COLUMNS = sql`id, organization_id, user_id, role, grants_json, denies_json, invited_by, created_at, version`
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
    select ${COLUMNS} from memberships where organization_id = ${organizationId} and user_id = ${userId}`)
  return row && toMembership(row)
}

/** Lists the memberships of a user, by organization, without deleted organizations. */
export async function membershipsOf(catalog: Statements, userId: number): Promise<Membership[]> {
  const rows = await catalog.all<MembershipRow>(sql`
    select ${COLUMNS} from memberships
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
