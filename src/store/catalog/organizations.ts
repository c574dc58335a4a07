import { DEFAULT_POLICY, type Organization, type OrganizationPolicy } from "../../domain/organization.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`id, name, policy_json, created_at, updated_at, version`
type OrganizationRow = Omit<Organization, "policy"> & { policy_json: string }

/** Inserts an organization. Absent fields of its policy have their defaults. */
export async function insertOrganization(
  catalog: Statements,
  { name, policy = {}, now }: { name: string; policy?: Partial<OrganizationPolicy>; now: number },
): Promise<Organization> {
  const row = await catalog.get<OrganizationRow>(sql`
    insert into organizations (name, policy_json, created_at, updated_at)
    values (${name}, ${JSON.stringify(policy)}, ${now}, ${now})
    returning ${COLUMNS}`)
  return toOrganization(row!) // an insert that returns has a row
}

/** Lists the organizations after an id, by id ascending, without deleted ones. */
export async function listOrganizations(catalog: Statements, { after, limit }: Slice): Promise<Organization[]> {
  const rows = await catalog.all<OrganizationRow>(sql`
    select ${COLUMNS} from organizations where id > ${after} and deleted_at is null order by id limit ${limit}`)
  return rows.map(toOrganization)
}

/** Returns the instance's only organization if it has no members. */
export async function soleEmptyOrganization(catalog: Statements): Promise<Organization | undefined> {
  const row = await catalog.get<OrganizationRow>(sql`
    select ${COLUMNS} from organizations o
    where deleted_at is null
      and not exists (select 1 from memberships where organization_id = o.id)
      and not exists (select 1 from organizations other where other.id <> o.id and other.deleted_at is null)`)
  return row && toOrganization(row)
}

export async function organizationById(catalog: Statements, id: number): Promise<Organization | undefined> {
  const row = await catalog.get<OrganizationRow>(sql`select ${COLUMNS} from organizations where id = ${id} and deleted_at is null`)
  return row && toOrganization(row)
}

export async function updateOrganization(
  catalog: Statements,
  id: number,
  { name, policy }: Pick<Organization, "name" | "policy">,
  now: number,
): Promise<Organization> {
  const row = await catalog.get<OrganizationRow>(sql`
    update organizations set name = ${name}, policy_json = ${JSON.stringify(policy)}, updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${COLUMNS}`)
  return toOrganization(row!) // the caller has seen it in this transaction
}

/** Numbers of an organization's members, sites and active keys. */
export interface OrganizationCounts {
  members: number
  sites: number
  keys: number
}

export async function organizationCounts(catalog: Statements, id: number, now: number): Promise<OrganizationCounts> {
  const row = await catalog.get<OrganizationCounts>(sql`
    select
      (select count(*) from memberships where organization_id = ${id}) as members,
      (select count(*) from sites where organization_id = ${id} and deleted_at is null) as sites,
      (select count(*) from api_keys
        where organization_id = ${id} and revoked_at is null and expired_at is null and (expires_at is null or expires_at > ${now})
      ) as keys`)
  return row! // a select of counts has a row
}

/**
 * Marks an organization as deleted and ends all access to it: memberships, site-specific roles, invitations, keys, domains, identity
 * providers with their secrets and identities, and the sessions they started. Marks its sites as deleted and returns their ids.
 */
export async function deleteOrganization(
  catalog: Statements,
  id: number,
  { now, by }: { now: number; by: number | null },
): Promise<number[]> {
  await catalog.run(sql`update organizations set deleted_at = ${now}, version = version + 1 where id = ${id}`)
  await catalog.run(sql`delete from site_members where site_id in (select id from sites where organization_id = ${id})`)
  await catalog.run(sql`delete from memberships where organization_id = ${id}`)
  await catalog.run(sql`
    update invitations set revoked_at = ${now} where organization_id = ${id} and accepted_at is null and revoked_at is null`)
  await catalog.run(sql`update api_keys set revoked_at = ${now}, revoked_by = ${by} where organization_id = ${id} and revoked_at is null`)
  await catalog.run(sql`delete from organization_domains where organization_id = ${id}`)
  const own = sql`select id from oidc_providers where organization_id = ${id}`
  await catalog.run(sql`delete from oidc_identities where provider in (${own})`)
  await catalog.run(sql`update oidc_providers set enabled = 0, secret_id = null where organization_id = ${id}`)
  await catalog.run(sql`delete from secrets where place_table = 'oidc_providers' and place_row in (${own})`)
  await catalog.run(sql`update sessions set revoked_at = ${now} where organization_id = ${id} and revoked_at is null`)
  const sites = await catalog.all<{ id: number }>(sql`
    update sites set deleted_at = ${now} where organization_id = ${id} and deleted_at is null returning id`)
  return sites.map((site) => site.id)
}

/** Converts a row to an organization. Missing fields of the policy have their defaults. */
function toOrganization({ policy_json, ...row }: OrganizationRow): Organization {
  const policy = JSON.parse(policy_json) as Partial<OrganizationPolicy> // written by this file
  return { ...row, policy: { ...DEFAULT_POLICY, ...policy } }
}
