import { DEFAULT_POLICY, type Organization, type OrganizationPolicy } from "../../domain/organization.ts"
import type { Slice, Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

const COLUMNS = sql`id, name, policy_json, created_at, updated_at, version`
type OrganizationRow = Omit<Organization, "policy"> & { policy_json: string }

export async function insertOrganization(catalog: Statements, { name, now }: { name: string; now: number }): Promise<Organization> {
  const row = await catalog.get<OrganizationRow>(sql`
    insert into organizations (name, created_at, updated_at)
    values (${name}, ${now}, ${now})
    returning ${COLUMNS}`)
  return toOrganization(row!) // an insert that returns has a row
}

/** By id ascending, those after an id; deleted ones left out. */
export async function listOrganizations(catalog: Statements, { after, limit }: Slice): Promise<Organization[]> {
  const rows = await catalog.all<OrganizationRow>(sql`
    select ${COLUMNS} from organizations where id > ${after} and deleted_at is null order by id limit ${limit}`)
  return rows.map(toOrganization)
}

export async function organizationById(catalog: Statements, id: number): Promise<Organization | undefined> {
  const row = await catalog.get<OrganizationRow>(sql`select ${COLUMNS} from organizations where id = ${id} and deleted_at is null`)
  return row && toOrganization(row)
}

/** A demand that a row lacks has its default. */
function toOrganization({ policy_json, ...row }: OrganizationRow): Organization {
  const policy = JSON.parse(policy_json) as Partial<OrganizationPolicy> // written by this file
  return { ...row, policy: { ...DEFAULT_POLICY, ...policy } }
}
