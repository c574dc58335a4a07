import { type OwnStatements, sql } from "#plugin"

/** Host that an organization uses for its short links. */
export interface Domain {
  id: number
  organization_id: number
  host: string
  token: string
  verified_at: number | null
  /** Destination of the root path. */
  root_destination: string | null
  /** Destination of unknown slugs. */
  not_found_destination: string | null
  version: number
  created_at: number
  updated_at: number
}

const COLUMNS = sql`id, organization_id, host, token, verified_at, root_destination, not_found_destination, version, created_at, updated_at`

export const listAllDomains = (statements: OwnStatements, after: number, limit: number): Promise<Domain[]> =>
  statements.all(sql`select ${COLUMNS} from links_domains where id > ${after} order by id limit ${limit}`)

export const listDomains = (statements: OwnStatements, organizationId: number): Promise<Domain[]> =>
  statements.all(sql`select ${COLUMNS} from links_domains where organization_id = ${organizationId} order by id`)

export const domainById = (statements: OwnStatements, organizationId: number, id: number): Promise<Domain | undefined> =>
  statements.get(sql`select ${COLUMNS} from links_domains where organization_id = ${organizationId} and id = ${id}`)

export const domainByHost = (statements: OwnStatements, host: string): Promise<Domain | undefined> =>
  statements.get(sql`select ${COLUMNS} from links_domains where host = ${host}`)

export async function insertDomain(
  statements: OwnStatements,
  {
    organization_id,
    host,
    token,
    root_destination,
    not_found_destination,
    created_at,
  }: Omit<Domain, "id" | "verified_at" | "version" | "updated_at">,
): Promise<Domain> {
  const inserted = await statements.get<Domain>(sql`
    insert into links_domains (organization_id, host, token, root_destination, not_found_destination, created_at, updated_at)
    values (${organization_id}, ${host}, ${token}, ${root_destination}, ${not_found_destination}, ${created_at}, ${created_at})
    returning ${COLUMNS}`)
  return inserted! // an insert that does not fail returns its row
}

export async function updateDomain(
  statements: OwnStatements,
  { id, verified_at, root_destination, not_found_destination }: Domain,
  now: number,
): Promise<Domain> {
  const changed = await statements.get<Domain>(sql`
    update links_domains set verified_at = ${verified_at}, root_destination = ${root_destination},
      not_found_destination = ${not_found_destination}, version = version + 1, updated_at = ${now}
    where id = ${id} returning ${COLUMNS}`)
  return changed! // found in the same transaction
}

export const deleteDomain = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from links_domains where id = ${id}`)

/** Returns how many links use a domain, without deleted ones. */
export const countLinksOnDomain = async (statements: OwnStatements, id: number): Promise<number> =>
  (await statements.get<{ n: number }>(sql`select count(*) as n from links_links where domain_id = ${id} and deleted_at is null limit 1`))!
    .n
