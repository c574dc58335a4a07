/** The identity providers, the email domains of organizations, the identities of users, and the roles that providers give. */
import type { MailDomain } from "../../domain/identity-provider.ts"
import type { Role } from "../../domain/organization.ts"
import type { SiteRole } from "../../domain/permission.ts"
import type { ProviderFields } from "../../domain/provider-input.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A configured identity provider. Times are epoch milliseconds. */
export interface StoredProvider extends Omit<ProviderFields, "role_map"> {
  id: string
  organization_id: number | null
  /** The role map as entered. It is validated when it is read. */
  role_map: unknown
  /** Id of the sealed client secret in `secrets`. */
  secret_id: number | null
  created_at: number
  updated_at: number
  version: number
}
type Flag = 0 | 1
type ProviderRow = Omit<StoredProvider, "allowed_domains" | "jit" | "sso_only" | "enabled" | "role_map"> & {
  allowed_domains_json: string
  role_map_json: string
  jit: Flag
  sso_only: Flag
  enabled: Flag
}

const PROVIDER = sql`
  id, organization_id, name, issuer, client_id, secret_id, scopes, allowed_domains_json, jit, role_map_json, sso_only, enabled,
  created_at, updated_at, version`

/** Lists the enabled providers of the instance and of organizations that are not deleted, by id. */
export async function listProviders(catalog: Statements): Promise<StoredProvider[]> {
  const rows = await catalog.all<ProviderRow>(sql`
    select ${PROVIDER} from oidc_providers
    where enabled = 1 and (organization_id is null or organization_id in (select id from organizations where deleted_at is null))
    order by id limit 1000`)
  return rows.map(toProvider)
}

/** Returns an enabled provider. Returns undefined for a disabled one and for one of a deleted organization. */
export async function providerById(catalog: Statements, id: string): Promise<StoredProvider | undefined> {
  const row = await catalog.get<ProviderRow>(sql`
    select ${PROVIDER} from oidc_providers
    where id = ${id} and enabled = 1
      and (organization_id is null or organization_id in (select id from organizations where deleted_at is null))`)
  return row && toProvider(row)
}

/** Lists the providers of an organization in the order in which they were created, including disabled ones. */
export async function listProvidersOf(catalog: Statements, organizationId: number): Promise<StoredProvider[]> {
  const rows = await catalog.all<ProviderRow>(sql`
    select ${PROVIDER} from oidc_providers where organization_id = ${organizationId} order by created_at, id limit 1000`)
  return rows.map(toProvider)
}

/** Returns a provider of an organization, enabled or not. */
export async function providerOf(catalog: Statements, organizationId: number, id: string): Promise<StoredProvider | undefined> {
  const row = await catalog.get<ProviderRow>(sql`
    select ${PROVIDER} from oidc_providers where organization_id = ${organizationId} and id = ${id}`)
  return row && toProvider(row)
}

type Written = ProviderFields & { secret_id: number | null; now: number }

export const insertProvider = (
  catalog: Statements,
  { id, organizationId, ...fields }: Written & { id: string; organizationId: number },
): Promise<void> =>
  catalog.run(sql`
    insert into oidc_providers (
      id, organization_id, name, issuer, client_id, secret_id, scopes, allowed_domains_json, jit, role_map_json, sso_only, enabled,
      created_at, updated_at
    ) values (
      ${id}, ${organizationId}, ${fields.name}, ${fields.issuer}, ${fields.client_id}, ${fields.secret_id}, ${fields.scopes},
      ${JSON.stringify(fields.allowed_domains)}, ${fields.jit}, ${JSON.stringify(fields.role_map)}, ${fields.sso_only},
      ${fields.enabled}, ${fields.now}, ${fields.now}
    )`)

export const updateProvider = (catalog: Statements, id: string, fields: Written): Promise<void> =>
  catalog.run(sql`
    update oidc_providers set
      name = ${fields.name}, issuer = ${fields.issuer}, client_id = ${fields.client_id}, secret_id = ${fields.secret_id},
      scopes = ${fields.scopes}, allowed_domains_json = ${JSON.stringify(fields.allowed_domains)}, jit = ${fields.jit},
      role_map_json = ${JSON.stringify(fields.role_map)}, sso_only = ${fields.sso_only}, enabled = ${fields.enabled},
      updated_at = ${fields.now}, version = version + 1
    where id = ${id}`)

/** Deletes a provider. Members keep the roles that its role map gave, which count as assigned by hand from now on. */
export async function deleteProvider(catalog: Statements, id: string): Promise<void> {
  await catalog.run(sql`update memberships set provider = null, given_role = null where provider = ${id}`)
  await catalog.run(sql`update site_members set provider = null where provider = ${id}`)
  await catalog.run(sql`delete from oidc_providers where id = ${id}`)
}

export const countIdentities = async (catalog: Statements, provider: string): Promise<number> =>
  (await catalog.get<{ n: number }>(sql`select count(*) as n from oidc_identities where provider = ${provider}`))!.n // a count has a row

/** Deletes all identities of a provider. */
export const deleteIdentitiesOf = (catalog: Statements, provider: string): Promise<void> =>
  catalog.run(sql`delete from oidc_identities where provider = ${provider}`)

/** Returns whether an organization has an enabled provider and a verified domain. Without both, no one can sign in through a provider. */
export const hasOwnSignIn = async (catalog: Statements, organizationId: number): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 from oidc_providers
    where organization_id = ${organizationId} and enabled = 1
      and exists (
        select 1 from organization_domains
        where organization_domains.organization_id = ${organizationId} and verified_at is not null
      )
    limit 1`)) !== undefined

/** Returns whether an organization has an enabled provider, and whether one of them enforces single sign-on. */
export async function hasOwnProvider(catalog: Statements, organizationId: number): Promise<{ isOn: boolean; isEnforced: boolean }> {
  const row = await catalog.get<{ enabled: number; enforced: number | null }>(sql`
    select count(*) as enabled, max(sso_only) as enforced from oidc_providers
    where organization_id = ${organizationId} and enabled = 1`)
  return { isOn: row!.enabled > 0, isEnforced: row!.enforced === 1 } // a count has a row
}

function toProvider({ allowed_domains_json, role_map_json, jit, sso_only, enabled, ...row }: ProviderRow): StoredProvider {
  return {
    ...row,
    // Both were written as JSON. Callers validate the role map.
    allowed_domains: JSON.parse(allowed_domains_json) as string[],
    role_map: JSON.parse(role_map_json),
    jit: jit === 1,
    sso_only: sso_only === 1,
    enabled: enabled === 1,
  }
}

const DOMAIN = sql`id, organization_id, domain, token, verified_at, created_at`

/** Inserts an unverified domain. Returns undefined when the organization already has it. */
export const insertDomain = (catalog: Statements, domain: Omit<MailDomain, "id" | "verified_at">): Promise<MailDomain | undefined> =>
  catalog.get<MailDomain>(sql`
    insert into organization_domains (organization_id, domain, token, created_at)
    values (${domain.organization_id}, ${domain.domain}, ${domain.token}, ${domain.created_at})
    on conflict do nothing
    returning ${DOMAIN}`)

/** Lists the domains of an organization, by id ascending. */
export const listDomains = (catalog: Statements, organizationId: number): Promise<MailDomain[]> =>
  catalog.all(sql`select ${DOMAIN} from organization_domains where organization_id = ${organizationId} order by id limit 1000`)

export const domainById = (catalog: Statements, organizationId: number, id: number): Promise<MailDomain | undefined> =>
  catalog.get(sql`select ${DOMAIN} from organization_domains where organization_id = ${organizationId} and id = ${id}`)

/** Returns the verified entry of a domain, in any organization. */
export const verifiedDomain = (catalog: Statements, domain: string): Promise<MailDomain | undefined> =>
  catalog.get(sql`select ${DOMAIN} from organization_domains where domain = ${domain} and verified_at is not null`)

export const verifyDomain = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update organization_domains set verified_at = ${now} where id = ${id}`)

export const deleteDomain = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from organization_domains where id = ${id}`)

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
