import type { Connection } from "../../domain/connection.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A connection with the id of its sealed tokens. */
export interface StoredConnection extends Connection {
  secret_id: number | null
}

const COLUMNS = sql`
  id, organization_id, provider, method, account_id, account_label, scopes_json, secret_id, status, error_code, error_at, refreshed_at,
  created_by, created_at, updated_at, version`

type ConnectionRow = Omit<StoredConnection, "scopes"> & { scopes_json: string }

const toConnection = ({ scopes_json, ...row }: ConnectionRow): StoredConnection => ({ ...row, scopes: JSON.parse(scopes_json) }) // written below

export async function connectionById(catalog: Statements, id: number): Promise<StoredConnection | undefined> {
  const row = await catalog.get<ConnectionRow>(sql`select ${COLUMNS} from connections where id = ${id}`)
  return row && toConnection(row)
}

/** Lists the connections of an organization by id. */
export async function listConnections(catalog: Statements, organizationId: number): Promise<StoredConnection[]> {
  const rows = await catalog.all<ConnectionRow>(sql`
    select ${COLUMNS} from connections where organization_id = ${organizationId} order by id limit 1000`)
  return rows.map(toConnection)
}

/** What identifies the account of a connection. */
export type ConnectionAccount = Pick<Connection, "organization_id" | "provider" | "method" | "account_id">

export async function connectionOf(
  catalog: Statements,
  { organization_id, provider, method, account_id }: ConnectionAccount,
): Promise<StoredConnection | undefined> {
  const row = await catalog.get<ConnectionRow>(sql`
    select ${COLUMNS} from connections
    where organization_id = ${organization_id} and provider = ${provider} and method = ${method} and account_id = ${account_id}`)
  return row && toConnection(row)
}

/** Whether any organization has connected an account. */
export const isConnected = async (
  catalog: Statements,
  { provider, method, account_id }: Pick<Connection, "provider" | "method" | "account_id">,
): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 as found from connections where provider = ${provider} and method = ${method} and account_id = ${account_id} limit 1`)) !==
  undefined

/** Inserts a connection without tokens. */
export async function insertConnection(
  catalog: Statements,
  connection: ConnectionAccount & Pick<Connection, "account_label" | "scopes" | "created_by">,
  now: number,
): Promise<StoredConnection> {
  const { organization_id, provider, method, account_id, account_label, scopes, created_by } = connection
  const row = await catalog.get<ConnectionRow>(sql`
    insert into connections (organization_id, provider, method, account_id, account_label, scopes_json, created_by, created_at, updated_at)
    values (${organization_id}, ${provider}, ${method}, ${account_id}, ${account_label}, ${JSON.stringify(scopes)}, ${created_by}, ${now}, ${now})
    returning ${COLUMNS}`)
  return toConnection(row!) // an insert that returns has a row
}

/** Stores the tokens and scopes of an account that was connected, for the first time or again. */
export async function renewConnection(
  catalog: Statements,
  id: number,
  { account_label, scopes, secret_id, now }: Pick<StoredConnection, "account_label" | "scopes" | "secret_id"> & { now: number },
): Promise<StoredConnection> {
  const row = await catalog.get<ConnectionRow>(sql`
    update connections set account_label = ${account_label}, scopes_json = ${JSON.stringify(scopes)}, secret_id = ${secret_id},
      status = 'ok', error_code = null, error_at = null, updated_at = ${now}, version = version + 1
    where id = ${id} returning ${COLUMNS}`)
  return toConnection(row!) // the caller has read the row in this transaction
}

/** Notes that an access token was received. Does nothing if the account was connected again meanwhile. */
export const markRefreshed = (catalog: Statements, id: number, secretId: number, now: number): Promise<void> =>
  catalog.run(sql`
    update connections set refreshed_at = ${now}, status = 'ok', error_code = null, error_at = null
    where id = ${id} and secret_id = ${secretId}`)

/**
 * Changes the status of a connection. Returns undefined if it has that status already, or the account was connected again or removed
 * meanwhile.
 */
export async function failConnection(
  catalog: Statements,
  { id, secret_id }: Pick<StoredConnection, "id" | "secret_id">,
  { status, code, now }: { status: Connection["status"]; code: string; now: number },
): Promise<StoredConnection | undefined> {
  const row = await catalog.get<ConnectionRow>(sql`
    update connections set status = ${status}, error_code = ${code}, error_at = ${now}, updated_at = ${now}, version = version + 1
    where id = ${id} and secret_id is ${secret_id} and status <> ${status} returning ${COLUMNS}`)
  return row && toConnection(row)
}

export const deleteConnection = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from connections where id = ${id}`)
