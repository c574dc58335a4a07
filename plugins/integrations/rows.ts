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
  "organization_id" | "site_id" | "kind" | "name" | "connection_id" | "config" | "account_label" | "created_by" | "next_run_at"
> & { status?: Status }

/** Inserts an integration without a secret. One that is `ok` has just worked. */
export async function insertIntegration(statements: OwnStatements, integration: NewIntegration, now: number): Promise<Integration> {
  const { organization_id, site_id, kind, name, connection_id, config, account_label, created_by, next_run_at, status = "ok" } = integration
  const row = await statements.get<IntegrationRow>(sql`
    insert into integrations_integrations (
      organization_id, site_id, kind, name, connection_id, status, config_json, account_label, last_ok_at, next_run_at,
      created_by, created_at, updated_at
    ) values (
      ${organization_id}, ${site_id}, ${kind}, ${name}, ${connection_id}, ${status}, ${JSON.stringify(config)}, ${account_label},
      ${status === "ok" ? now : null}, ${next_run_at}, ${created_by}, ${now}, ${now}
    ) returning ${COLUMNS}`)
  return toIntegration(row!) // an insert that returns has a row
}

/** Returns the integration through which an organization uses an account for one kind. */
export async function accountIntegration(
  statements: OwnStatements,
  { kind, connectionId }: { kind: string; connectionId: number },
): Promise<Integration | undefined> {
  return (await integrationsOfConnection(statements, connectionId)).find((one) => one.kind === kind && one.site_id === null)
}

/** Lists everything that uses an account. */
export async function integrationsOfConnection(statements: OwnStatements, connectionId: number): Promise<Integration[]> {
  const rows = await statements.all<IntegrationRow>(sql`
    select ${COLUMNS} from integrations_integrations where connection_id = ${connectionId} order by id limit 1000`)
  return rows.map(toIntegration)
}

/** Notes that an account was connected again. Returns the mappings that had waited for it and run now. */
export async function renewIntegrations(
  statements: OwnStatements,
  { id, account_label }: { id: number; account_label: string },
  now: number,
): Promise<Integration[]> {
  await statements.run(sql`update integrations_integrations set account_label = ${account_label} where connection_id = ${id}`)
  const rows = await statements.all<IntegrationRow>(sql`
    update integrations_integrations set status = 'connecting', last_error_code = null, last_error_at = null, next_run_at = ${now}
    where connection_id = ${id} and site_id is not null and status = 'needs_reauth' returning ${COLUMNS}`)
  return rows.map(toIntegration)
}

/** Lists the integrations of a kind on a site. */
export async function integrationsOfKind(statements: OwnStatements, siteId: number, kind: string): Promise<Integration[]> {
  const rows = await statements.all<IntegrationRow>(sql`
    select ${COLUMNS} from integrations_integrations where site_id = ${siteId} and kind = ${kind} order by id limit 1000`)
  return rows.map(toIntegration)
}

/** Lists the integrations whose next run is due, the longest due first. */
export async function listDue(statements: OwnStatements, now: number): Promise<Integration[]> {
  const rows = await statements.all<IntegrationRow>(sql`
    select ${COLUMNS} from integrations_integrations where next_run_at <= ${now} order by next_run_at limit 500`)
  return rows.map(toIntegration)
}

/** Sets the account and settings of a mapping, whose first run is due. */
export async function remap(
  statements: OwnStatements,
  id: number,
  { name, connection_id, account_label, config }: Pick<Integration, "name" | "connection_id" | "account_label" | "config">,
  now: number,
): Promise<Integration> {
  const row = await statements.get<IntegrationRow>(sql`
    update integrations_integrations set name = ${name}, connection_id = ${connection_id}, account_label = ${account_label},
      config_json = ${JSON.stringify(config)}, status = 'connecting', last_error_code = null, last_error_at = null, next_run_at = ${now},
      updated_at = ${now}, version = version + 1
    where id = ${id} returning ${COLUMNS}`)
  return toIntegration(row!) // the caller has read it in this transaction
}

/** Sets the time of the next run. */
export const setNextRun = (statements: OwnStatements, id: number, at: number): Promise<void> =>
  statements.run(sql`update integrations_integrations set next_run_at = ${at} where id = ${id}`)

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

/** Notes a success. `nextRunAt` is the time of the next run, null for a kind that does not run by itself. */
export const noteSuccess = (statements: OwnStatements, id: number, now: number, nextRunAt: number | null = null): Promise<void> =>
  statements.run(sql`
    update integrations_integrations set status = 'ok', last_ok_at = ${now}, last_error_code = null, last_error_at = null,
      notified_at = null, next_run_at = ${nextRunAt}
    where id = ${id}`)

/** A failure of an integration. `nextRunAt` is null if only a person can end it, or if the kind does not run by itself. */
export interface NotedFailure {
  status: Status
  code: string
  now: number
  nextRunAt: number | null
}

/** Notes a failure. Returns the integration if its status has changed, undefined otherwise or if it was removed. */
export async function noteFailure(
  statements: OwnStatements,
  id: number,
  { status, code, now, nextRunAt }: NotedFailure,
): Promise<Integration | undefined> {
  const before = await integrationById(statements, id)
  if (!before) return undefined
  const failed = { ...before, status, last_error_code: code, last_error_at: now, next_run_at: nextRunAt }
  await statements.run(sql`
    update integrations_integrations set status = ${status}, last_error_code = ${code}, last_error_at = ${now}, next_run_at = ${nextRunAt}
    where id = ${id}`)
  return before.status === status ? undefined : failed
}

export const deleteIntegration = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_integrations where id = ${id}`)
