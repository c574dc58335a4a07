import type { Role } from "../../domain/organization.ts"
import type { SiteRole } from "../../domain/permission.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** Returns the user that an identity is linked to. */
export const userOfIdentity = async (catalog: Statements, provider: string, subject: string): Promise<number | undefined> =>
  (
    await catalog.get<{ user_id: number }>(sql`
      select user_id from oidc_identities where provider = ${provider} and subject = ${subject}`)
  )?.user_id

/** Links an identity to a user. Returns false when it is already linked to a user. */
export const insertIdentity = async (
  catalog: Statements,
  { userId, provider, subject, email, now }: { userId: number; provider: string; subject: string; email: string; now: number },
): Promise<boolean> =>
  (await catalog.get(sql`
    insert into oidc_identities (user_id, provider, subject, email_at_link, created_at, last_login_at)
    values (${userId}, ${provider}, ${subject}, ${email}, ${now}, ${now}) on conflict do nothing returning id`)) !== undefined

export const updateIdentityUse = (catalog: Statements, provider: string, subject: string, now: number): Promise<void> =>
  catalog.run(sql`update oidc_identities set last_login_at = ${now} where provider = ${provider} and subject = ${subject}`)

/** Deletes a user's identities of organization providers. Those of the instance's own provider stay. */
export const deleteOrganizationIdentities = (catalog: Statements, userId: number): Promise<void> =>
  catalog.run(sql`
    delete from oidc_identities
    where user_id = ${userId} and provider in (select id from oidc_providers where organization_id is not null)`)

/** The origin of a member's role: the provider whose role map gave it, and the role that was assigned by hand before. */
export interface RoleOrigin {
  role: Role
  provider: string | null
  given_role: Role | null
}

export const roleOriginOf = (catalog: Statements, organizationId: number, userId: number): Promise<RoleOrigin | undefined> =>
  catalog.get(sql`
    select role, provider, given_role from memberships where organization_id = ${organizationId} and user_id = ${userId}`)

/** Lists the organizations in which the role map of a provider gave a user a role. */
export const organizationsMappedBy = async (catalog: Statements, provider: string, userId: number): Promise<number[]> =>
  (
    await catalog.all<{ organization_id: number }>(sql`
      select organization_id from memberships where user_id = ${userId} and provider = ${provider} order by organization_id`)
  ).map(({ organization_id }) => organization_id)

/** Sets the role that a provider's role map gives. The role that was assigned by hand is kept, to be restored when the map gives none. */
export const putMappedRole = (
  catalog: Statements,
  { organizationId, userId, role, provider, now }: { organizationId: number; userId: number; role: Role; provider: string; now: number },
): Promise<void> =>
  catalog.run(sql`
    insert into memberships (organization_id, user_id, role, provider, created_at)
    values (${organizationId}, ${userId}, ${role}, ${provider}, ${now})
    on conflict (organization_id, user_id) do update set
      given_role = case when memberships.provider is null then memberships.role else memberships.given_role end,
      role = excluded.role, provider = excluded.provider, version = memberships.version + 1`)

/** Restores the role that was assigned by hand. */
export const restoreGivenRole = (catalog: Statements, organizationId: number, userId: number): Promise<void> =>
  catalog.run(sql`
    update memberships set role = given_role, provider = null, given_role = null, version = version + 1
    where organization_id = ${organizationId} and user_id = ${userId} and given_role is not null`)

/** Replaces the site-specific roles that a provider's role map gave. Roles that were assigned by hand stay. */
export async function replaceMappedSites(
  catalog: Statements,
  {
    organizationId,
    userId,
    siteIds,
    role,
    provider,
    now,
  }: { organizationId: number; userId: number; siteIds: readonly number[]; role: SiteRole; provider: string; now: number },
): Promise<void> {
  await catalog.run(sql`
    delete from site_members where user_id = ${userId} and provider = ${provider}
      and site_id in (select id from sites where organization_id = ${organizationId})`)
  for (const siteId of siteIds)
    await catalog.run(sql`
      insert into site_members (site_id, user_id, role, created_at, provider)
      select id, ${userId}, ${role}, ${now}, ${provider} from sites
      where id = ${siteId} and organization_id = ${organizationId} and deleted_at is null
      on conflict do nothing`)
}
