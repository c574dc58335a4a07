import type { Organization, Role } from "../../domain/organization.ts"
import type { Slice, Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

const COLUMNS = sql`id, name, created_at, updated_at`

export async function insertOrganization(catalog: Statements, { name, now }: { name: string; now: number }): Promise<Organization> {
  const row = await catalog.get<Organization>(sql`
    insert into organizations (name, created_at, updated_at)
    values (${name}, ${now}, ${now})
    returning ${COLUMNS}`)
  return row! // an insert that returns has a row
}

/** By id ascending, those after an id. */
export const listOrganizations = (catalog: Statements, { after, limit }: Slice): Promise<Organization[]> =>
  catalog.all(sql`select ${COLUMNS} from organizations where id > ${after} order by id limit ${limit}`)

export const organizationById = (catalog: Statements, id: number): Promise<Organization | undefined> =>
  catalog.get(sql`select ${COLUMNS} from organizations where id = ${id}`)

export const insertMembership = (
  catalog: Statements,
  { organizationId, userId, role, now }: { organizationId: number; userId: number; role: Role; now: number },
): Promise<void> =>
  catalog.run(sql`
    insert into memberships (organization_id, user_id, role, created_at)
    values (${organizationId}, ${userId}, ${role}, ${now})`)
