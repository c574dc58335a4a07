import { type OwnStatements, type Site, sql } from "#plugin"
import type { Integration, Status } from "./integration.ts"

const COLUMNS = sql`
  id, organization_id, site_id, kind, name, connection_id, status, config_json, secret_id, account_label, last_ok_at, last_error_code,
  last_error_at, next_run_at, notified_at, created_by, created_at, updated_at, version`

type IntegrationRow = Omit<Integration, "config"> & { config_json: string }
const toIntegration = ({ config_json, ...row }: IntegrationRow): Integration => ({ ...row, config: JSON.parse(config_json) }) // written below

export async function integrationById(statements: OwnStatements, id: number): Promise<Integration | undefined> {
  const row = await statements.get<IntegrationRow>(sql`select ${COLUMNS} from integrations_integrations where id = ${id}`)
  return row && toIntegration(row)
}

/** Lists the integrations of a site and those of its organization as a whole, by id. */
export async function listIntegrations(
  statements: OwnStatements,
  { organization_id, site_id }: { organization_id: number; site_id: number | null },
): Promise<Integration[]> {
  const rows = await statements.all<IntegrationRow>(sql`
    select ${COLUMNS} from integrations_integrations
    where organization_id = ${organization_id} and (site_id is null or site_id = ${site_id ?? 0}) order by id limit 1000`)
  return rows.map(toIntegration)
}

export const listOfSite = ({ id, organization_id }: Site, statements: OwnStatements): Promise<Integration[]> =>
  listIntegrations(statements, { organization_id, site_id: id })

export type NewIntegration = Pick<
  Integration,
  "organization_id" | "site_id" | "kind" | "name" | "connection_id" | "config" | "account_label" | "created_by"
>

/** Inserts an integration that has just worked, without a secret. */
export async function insertIntegration(statements: OwnStatements, integration: NewIntegration, now: number): Promise<Integration> {
  const { organization_id, site_id, kind, name, connection_id, config, account_label, created_by } = integration
  const row = await statements.get<IntegrationRow>(sql`
    insert into integrations_integrations (
      organization_id, site_id, kind, name, connection_id, config_json, account_label, last_ok_at, created_by, created_at, updated_at
    ) values (
      ${organization_id}, ${site_id}, ${kind}, ${name}, ${connection_id}, ${JSON.stringify(config)}, ${account_label}, ${now},
      ${created_by}, ${now}, ${now}
    ) returning ${COLUMNS}`)
  return toIntegration(row!) // an insert that returns has a row
}

export const setSecret = (statements: OwnStatements, id: number, secretId: number): Promise<void> =>
  statements.run(sql`update integrations_integrations set secret_id = ${secretId} where id = ${id}`)

/** Stores a change that people make, with a new version. */
export async function updateIntegration(
  statements: OwnStatements,
  id: number,
  { name, config, account_label }: Pick<Integration, "name" | "config" | "account_label">,
  now: number,
): Promise<Integration> {
  const row = await statements.get<IntegrationRow>(sql`
    update integrations_integrations set name = ${name}, config_json = ${JSON.stringify(config)}, account_label = ${account_label},
      updated_at = ${now}, version = version + 1
    where id = ${id} returning ${COLUMNS}`)
  return toIntegration(row!) // the caller has read it in this transaction
}

/** Notes a success. */
export const noteSuccess = (statements: OwnStatements, id: number, now: number): Promise<void> =>
  statements.run(sql`
    update integrations_integrations set status = 'ok', last_ok_at = ${now}, last_error_code = null, last_error_at = null, notified_at = null
    where id = ${id}`)

/** Notes a failure. Returns the integration if its status has changed, undefined otherwise or if it was removed. */
export async function noteFailure(
  statements: OwnStatements,
  id: number,
  { status, code, now }: { status: Status; code: string; now: number },
): Promise<Integration | undefined> {
  const before = await integrationById(statements, id)
  if (!before) return undefined
  await statements.run(sql`
    update integrations_integrations set status = ${status}, last_error_code = ${code}, last_error_at = ${now} where id = ${id}`)
  return before.status === status ? undefined : { ...before, status, last_error_code: code, last_error_at: now }
}

export const deleteIntegration = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_integrations where id = ${id}`)
