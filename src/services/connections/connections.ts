import type { Clock } from "../../domain/clock.ts"
import type { Connection, ConnectionStatus } from "../../domain/connection.ts"
import type { Log } from "../../domain/log.ts"
import { connectionFailed } from "../../domain/product-event.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  type ConnectionAccount,
  connectionById,
  connectionOf,
  deleteConnection,
  failConnection,
  insertConnection,
  isConnected,
  listConnections,
  markRefreshed,
  renewConnection,
  type StoredConnection,
} from "../../store/catalog/connections.ts"
import { listMembers } from "../../store/catalog/members.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { StoredSecrets } from "../key-rotation/stored-secrets.ts"
import type { MailQueue } from "../mail/mail.ts"
import { connectionEmail } from "../mail/texts.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Random } from "../secrets/secrets.ts"
import { ConnectionFailure } from "./failure.ts"
import { createOAuthClient, type IssuedTokens, type OAuthChecks, type OAuthClient } from "./oauth.ts"
import type { ConnectionProvider } from "./providers.ts"
import { assertionOf, readServiceAccount, type ServiceAccountKey } from "./service-account.ts"

/** Who connects an account, and what belongs to the change. */
export interface ConnectTerms {
  organizationId: number
  userId: number | null
  /** Scopes that the area needs. */
  scopes: readonly string[]
  /** Runs in the transaction that stores the connection. `before` is present if the account was connected already. */
  alongside?: Alongside<Connection>
}

/**
 * Connections of organizations to accounts at outside services (areas/00 section 15). An organization has one per account, which all
 * areas share: a provider keeps only a few grants of an account alive. Their tokens never leave this service but as access tokens.
 * All methods throw a `ConnectionFailure`.
 */
export interface Connections {
  /** Returns how accounts of a provider can be connected on this instance. */
  methods(provider: string): { oauth: boolean; serviceAccount: boolean }
  list(organizationId: number): Promise<Connection[]>
  /** Returns a connection. Returns undefined for one of another organization. */
  get(organizationId: number, id: number): Promise<Connection | undefined>
  /** Returns the page on which a person grants access, and the values that `finish` needs. */
  begin(provider: string, scopes: readonly string[], redirectUri: string): Promise<{ url: string; checks: OAuthChecks }>
  /** Stores the connection that a person has granted. `answer` is the URL to which the provider sent the browser. */
  finish(provider: string, answer: URL, checks: OAuthChecks, terms: ConnectTerms): Promise<Connection>
  /** Stores the connection of a service account, once the provider has accepted its key. */
  connectServiceAccount(provider: string, key: unknown, terms: ConnectTerms): Promise<Connection>
  /**
   * Returns a valid access token with a scope. Parallel calls share one refresh. `rejected` is a token that the service has just refused:
   * another one is fetched, unless that has happened already.
   */
  accessToken(id: number, scope: string, options?: { rejected?: string }): Promise<string>
  /** Deletes a connection and ends its grant at the provider, as far as it can be reached. */
  remove(organizationId: number, id: number, alongside?: Alongside<Connection>): Promise<void>
  /** Returns the function that ends all grants of an organization at their providers. Called before the organization is deleted. */
  revocationOf(organizationId: number): Promise<() => Promise<void>>
}

interface ConnectionsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  log: Log
  outbound: Pick<Outbound, "fetch">
  outbox: Pick<Outbox, "write">
  mail: Pick<MailQueue, "isOn" | "post" | "wake">
  /** Encrypted values of the core. */
  secrets: StoredSecrets
  providers: readonly ConnectionProvider[]
  publicUrl(): string
}

/** What is sealed: the refresh token of a grant, or the key of a service account. */
type Grant = { refresh_token: string } | { service_account: ServiceAccountKey }

/** An access token is replaced so long before its end. */
const EARLY_MS = 60_000
const place = (id: number) => ({ table: "connections", row: id, purpose: "grant" })

export function createConnections(options: ConnectionsOptions): Connections {
  const { catalog, clock, random, log, outbox, mail, secrets, providers, publicUrl } = options
  const clients = new Map(providers.map((provider) => [provider.id, { provider, client: createOAuthClient(provider, options) }]))
  /** Access tokens by connection and scope, with the secret they come from: those of an earlier grant are not used. */
  const tokens = new Map<string, IssuedTokens & { secretId: number | null }>()
  const refreshing = new Map<string, Promise<string>>()

  function named(provider: string): { provider: ConnectionProvider; client: OAuthClient } {
    const found = clients.get(provider)
    if (!found) throw new ConnectionFailure("not_configured")
    return found
  }
  async function grantOf({ secret_id }: StoredConnection): Promise<Grant | undefined> {
    const text = secret_id === null ? undefined : await secrets.open(secret_id)
    return text === undefined ? undefined : (JSON.parse(text) as Grant) // written by `store`
  }
  /** A grant covers all its scopes with one token, a service account gets one for each scope. */
  const keyOf = ({ id, method }: Pick<Connection, "id" | "method">, scope: string): string =>
    method === "oauth" ? `${id}` : `${id} ${scope}`

  async function store(
    account: ConnectionAccount & Pick<Connection, "account_label" | "scopes">,
    grant: Grant | undefined,
    { userId, alongside }: ConnectTerms,
  ): Promise<Connection> {
    const stored = await catalog.transaction(async (statements) => {
      const before = await connectionOf(statements, account)
      const row = before ?? (await insertConnection(statements, { ...account, created_by: userId }, clock.now()))
      if (!grant && row.secret_id === null) throw new ConnectionFailure("unavailable")
      const secret_id = grant ? await secrets.put(statements, place(row.id), JSON.stringify(grant)) : row.secret_id
      const after = await renewConnection(statements, row.id, { ...account, secret_id, now: clock.now() })
      if (grant && row.secret_id !== null) await secrets.remove(statements, row.secret_id)
      await alongside?.(statements, { ...(before && { before: shown(before) }), after: shown(after) })
      return after
    })
    return shown(stored)
  }

  /** Notes that a connection no longer works, and informs the admins of the organization when its status changes. */
  async function fail(connection: StoredConnection, status: ConnectionStatus, code: string): Promise<void> {
    await catalog.transaction(async (statements) => {
      const failed = await failConnection(statements, connection, { status, code, now: clock.now() })
      if (!failed) return
      await outbox.write(statements, connectionFailed(failed))
      await inform(statements, failed)
    })
    mail.wake()
  }
  async function inform(statements: Statements, connection: Connection): Promise<void> {
    if (!mail.isOn()) return
    for (const { email, role, status } of await listMembers(statements, connection.organization_id))
      if (status === "active" && (role === "owner" || role === "admin"))
        await mail.post(statements, connectionEmail(email, connection, publicUrl()))
  }

  async function refresh(connection: StoredConnection, scope: string): Promise<string> {
    const { client, provider } = named(connection.provider)
    const grant = await grantOf(connection)
    if (!grant) {
      // The secret key of the instance was lost.
      await fail(connection, "needs_reauth", "secret_unreadable")
      throw new ConnectionFailure("needs_reauth")
    }
    try {
      const issued =
        "refresh_token" in grant
          ? await client.refresh(grant.refresh_token, connection.scopes)
          : await client.assert(assertionOf(grant.service_account, { scope, tokenUrl: provider.tokenUrl, now: clock.now() }), [scope])
      await keep(connection, scope, issued)
      return issued.accessToken
    } catch (error) {
      if (!(error instanceof ConnectionFailure)) throw error
      if (error.code === "needs_reauth") await fail(connection, "needs_reauth", "invalid_grant")
      if (error.code === "client_rejected") await fail(connection, "error", "client_rejected")
      if (error.code === "unavailable") log.warn("an access token could not be refreshed", { connection: connection.id })
      throw error
    }
  }

  /** Stores the result of a refresh. A provider that rotates refresh tokens has ended the earlier one. */
  async function keep(connection: StoredConnection, scope: string, issued: IssuedTokens): Promise<void> {
    const { id, secret_id } = connection
    if (secret_id === null) return
    await catalog.transaction(async (statements) => {
      const present = await connectionById(statements, id)
      if (present?.secret_id !== secret_id) return
      if (issued.refreshToken !== undefined)
        await secrets.replace(statements, secret_id, JSON.stringify({ refresh_token: issued.refreshToken } satisfies Grant))
      await markRefreshed(statements, id, secret_id, clock.now())
    })
    tokens.set(keyOf(connection, scope), { ...issued, secretId: secret_id })
  }

  /**
   * Ends the grant of a deleted connection at the provider, as far as it can be reached. A provider ends all grants of an account at once,
   * so that of an account that another organization has connected stays. Keys of service accounts can't be revoked there.
   */
  async function revoke(connection: StoredConnection, grant: Grant | undefined): Promise<void> {
    if (grant && "refresh_token" in grant && !(await isConnected(catalog, connection)))
      await clients.get(connection.provider)?.client.revoke(grant.refresh_token)
  }

  async function find(organizationId: number, id: number): Promise<StoredConnection | undefined> {
    const found = await connectionById(catalog, id)
    return found?.organization_id === organizationId ? found : undefined
  }
  function forget(id: number): void {
    for (const key of tokens.keys()) if (key === `${id}` || key.startsWith(`${id} `)) tokens.delete(key)
  }

  return {
    methods(id) {
      const provider = clients.get(id)?.provider
      return { oauth: provider?.client !== undefined, serviceAccount: provider !== undefined }
    },
    list: async (organizationId) => (await listConnections(catalog, organizationId)).map(shown),
    async get(organizationId, id) {
      const found = await find(organizationId, id)
      return found && shown(found)
    },
    async begin(provider, scopes, redirectUri) {
      const token = () => random(32).toBase64({ alphabet: "base64url", omitPadding: true })
      const checks = { state: token(), nonce: token(), verifier: token() }
      return { url: (await named(provider).client.authorizationUrl(scopes, redirectUri, checks)).href, checks }
    },
    async finish(provider, answer, checks, terms) {
      const { client } = named(provider)
      const { account, refreshToken, scopes, ...issued } = await client.exchange(answer, checks, terms.scopes)
      const identity = { organization_id: terms.organizationId, provider, method: "oauth", account_id: account.id } as const
      if (!terms.scopes.every((scope) => scopes.includes(scope))) {
        // Revoking a token ends all grants of the account, so that of a connection stays.
        if (!(await isConnected(catalog, identity))) await client.revoke(refreshToken ?? issued.accessToken)
        throw new ConnectionFailure("scope_not_granted")
      }
      const grant = refreshToken === undefined ? undefined : { refresh_token: refreshToken }
      const connection = await store({ ...identity, account_label: account.label, scopes }, grant, terms)
      forget(connection.id)
      return connection
    },
    async connectServiceAccount(provider, key, terms) {
      const { client, provider: service } = named(provider)
      const account = readServiceAccount(key)
      for (const scope of terms.scopes)
        await client.assert(assertionOf(account, { scope, tokenUrl: service.tokenUrl, now: clock.now() }), [scope])
      const identity = {
        organization_id: terms.organizationId,
        provider,
        method: "service_account",
        account_id: account.client_email,
      } as const
      const earlier = (await connectionOf(catalog, identity))?.scopes ?? []
      const scopes = [...new Set([...earlier, ...terms.scopes])]
      const connection = await store({ ...identity, account_label: account.client_email, scopes }, { service_account: account }, terms)
      forget(connection.id)
      return connection
    },
    async accessToken(id, scope, { rejected } = {}) {
      const connection = await connectionById(catalog, id)
      if (!connection) throw new ConnectionFailure("not_connected")
      if (connection.status === "needs_reauth") throw new ConnectionFailure("needs_reauth")
      if (!connection.scopes.includes(scope)) throw new ConnectionFailure("scope_not_granted")
      const key = keyOf(connection, scope)
      const held = tokens.get(key)
      const isUsable = held?.secretId === connection.secret_id && held.expiresAt - EARLY_MS > clock.now() && held.accessToken !== rejected
      if (held && isUsable) return held.accessToken
      const attempt = `${key} ${connection.secret_id}`
      const running = refreshing.get(attempt) ?? refresh(connection, scope).finally(() => refreshing.delete(attempt))
      refreshing.set(attempt, running)
      return running
    },
    async remove(organizationId, id, alongside) {
      const connection = await find(organizationId, id)
      if (!connection) throw new ConnectionFailure("not_connected")
      const grant = await grantOf(connection)
      await catalog.transaction(async (statements) => {
        await alongside?.(statements, { before: shown(connection) })
        await deleteConnection(statements, id)
        if (connection.secret_id !== null) await secrets.remove(statements, connection.secret_id)
      })
      forget(id)
      await revoke(connection, grant)
    },
    async revocationOf(organizationId) {
      const connections = await listConnections(catalog, organizationId)
      const grants = await Promise.all(connections.map(async (connection) => ({ connection, grant: await grantOf(connection) })))
      return async () => {
        for (const { connection, grant } of grants) {
          forget(connection.id)
          await revoke(connection, grant)
        }
      }
    },
  }
}

/** Returns a connection without the id of its secret. */
const shown = ({ secret_id: _, ...connection }: StoredConnection): Connection => connection
