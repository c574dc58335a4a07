import type { MailDomain } from "../../domain/mail-domain.ts"
import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

const COLUMNS = sql`id, organization_id, domain, token, verified_at, created_at`

/** Undefined when the organization has named the domain before. */
export const insertDomain = (catalog: Statements, domain: Omit<MailDomain, "id" | "verified_at">): Promise<MailDomain | undefined> =>
  catalog.get<MailDomain>(sql`
    insert into organization_domains (organization_id, domain, token, created_at)
    values (${domain.organization_id}, ${domain.domain}, ${domain.token}, ${domain.created_at})
    on conflict do nothing
    returning ${COLUMNS}`)

/** By id ascending. */
export const listDomains = (catalog: Statements, organizationId: number): Promise<MailDomain[]> =>
  catalog.all(sql`select ${COLUMNS} from organization_domains where organization_id = ${organizationId} order by id limit 1000`)

export const domainById = (catalog: Statements, organizationId: number, id: number): Promise<MailDomain | undefined> =>
  catalog.get(sql`select ${COLUMNS} from organization_domains where organization_id = ${organizationId} and id = ${id}`)

export const provedDomain = (catalog: Statements, domain: string): Promise<MailDomain | undefined> =>
  catalog.get(sql`select ${COLUMNS} from organization_domains where domain = ${domain} and verified_at is not null`)

export const verifyDomain = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update organization_domains set verified_at = ${now} where id = ${id}`)

export const deleteDomain = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from organization_domains where id = ${id}`)
