import { type Actor, AppError, type Connection, ConnectionFailure, type OwnStatements, type Site } from "#plugin"
import { type Author, type IntegrationsHost, managesOrganization, refuseOffline, refuseScope } from "../area.ts"
import { integrationError } from "../errors.ts"
import type { Category, Integration } from "../integration.ts"
import type { Alongside, Kind, TestReport, TestStep } from "../kind.ts"
import { auditChange, dropIntegration, PERMISSION, refuseFull } from "../lifecycle.ts"
import { accountIntegration, insertIntegration, integrationsOfConnection, listOfSite, noteSuccess, renewIntegrations } from "../rows.ts"
import { searchFailureOf, searchFaultMessage } from "./failure.ts"
import { GoogleConnectInput, readGoogleConnect, readGooglePatch } from "./input.ts"
import { analyticsProperties, type Property, searchProperties, UNVERIFIED } from "./properties.ts"
import { storeState, takeState } from "./states.ts"
import { enqueueForget, enqueueSync } from "./work.ts"

interface GoogleKind {
  kind: string
  name: string
  category: Category
  scope: string
  properties(host: IntegrationsHost, access: { connectionId: number; scope: string }, site: Site): Promise<Property[]>
}

/** The kinds whose accounts are connections to Google. An account can have both. */
export const GOOGLE_KINDS = [
  {
    kind: "search-console",
    name: "Google Search Console",
    category: "search",
    scope: "https://www.googleapis.com/auth/webmasters.readonly",
    properties: searchProperties,
  },
  {
    kind: "google-analytics",
    name: "Google Analytics",
    category: "imports",
    scope: "https://www.googleapis.com/auth/analytics.readonly",
    properties: analyticsProperties,
  },
] as const satisfies readonly GoogleKind[]
export const SEARCH_CONSOLE = GOOGLE_KINDS[0]

/** Result of a request for access, in the URL to which the browser returns. */
export type AccessResult = "connected" | "denied" | "scope_not_granted" | "failed"

const CALLBACK = "/api/private/integrations/oauth/callback"

/** Connections of organizations to Google accounts. */
export interface GoogleAccounts {
  kinds: Kind[]
  /** Completes a request for access. Returns the path to which the browser goes. Throws `invalid_oauth_state` or `forbidden`. */
  finish(query: URLSearchParams, person: { userId: number; sessionId: number; actor: Actor }): Promise<string>
  /** Lists the properties of all accounts of a kind, the best for the site first. */
  listProperties(site: Site, kind: GoogleKind): Promise<ListedProperty[]>
}

export interface ListedProperty extends Omit<Property, "rank"> {
  integration_id: number
  connection_id: number
  suggested: boolean
}

export function createGoogleAccounts(host: IntegrationsHost): GoogleAccounts {
  /** Stores an account, or renews what waits for it. */
  async function store(
    statements: OwnStatements,
    { kind, name }: GoogleKind,
    connection: Connection,
    { site, actor, userId }: { site: Site; actor: Actor; userId: number },
  ): Promise<Integration> {
    const now = host.now()
    const before = await accountIntegration(statements, { kind, connectionId: connection.id })
    if (!before) await refuseFull(statements, site, "organization", (each) => each === kind)
    const owner = { organization_id: connection.organization_id, site_id: null, connection_id: connection.id, created_by: userId }
    const account = { account_label: connection.account_label, config: {}, next_run_at: null }
    const integration = before ?? (await insertIntegration(statements, { kind, name, ...owner, ...account }, now))
    for (const mapping of await renewIntegrations(statements, connection, now)) await enqueueSync(host, mapping, statements)
    const [verb, changes] = before
      ? (["reconnect", undefined] as const)
      : (["create", { account: [null, connection.account_label] as const }] as const)
    await auditChange(host, statements, { actor }, verb, integration, changes)
    return { ...integration, account_label: connection.account_label }
  }

  async function connectServiceAccount(google: GoogleKind, key: unknown, author: Author, alongside: Alongside): Promise<Integration> {
    let stored: Integration | undefined
    const terms = {
      organizationId: author.site.organization_id,
      userId: author.userId,
      scopes: [google.scope],
      alongside: async (statements: OwnStatements, { after }: { after?: Connection }) => {
        stored = await store(statements, google, after!, author) // a connection that is stored exists afterwards
        await alongside(statements, stored)
      },
    }
    await host.connections.connectServiceAccount("google", key, terms).catch((error) => {
      if (!(error instanceof ConnectionFailure && error.code === "needs_reauth")) throw refusalOf(error)
      const detail = "Google does not accept this key. It may have been deleted. Create a new key in the Google Cloud console."
      throw integrationError("connection_failed", detail, { steps: [{ name: "access", ok: false, detail }] })
    })
    return stored!
  }

  async function begin(google: GoogleKind, returnTo: string | undefined, { site, userId, sessionId }: Author): Promise<string> {
    const { url, checks } = await host.connections.begin("google", [google.scope], host.baseUrl() + CALLBACK).catch((error) => {
      throw refusalOf(error)
    })
    const request = { session_id: sessionId!, user_id: userId, organization_id: site.organization_id, site_id: site.id } // routes have one
    await storeState(host, { ...request, kind: google.kind, return_to: returnTo ?? `/sites/${site.id}/integrations` }, checks)
    return url
  }

  const propertiesOf = (google: GoogleKind, connectionId: number, site: Site) =>
    google.properties(host, { connectionId, scope: google.scope }, site)

  /** Tests whether the account answers, and whether the mapped property is one of its own. */
  async function test(
    google: GoogleKind,
    { id, connection_id, config, site_id, next_run_at }: Integration,
    site: Site,
  ): Promise<TestReport> {
    const start = performance.now()
    const steps: TestStep[] = []
    const step = async <Result>(name: string, work: () => Promise<Result>, detail: (result: Result) => string): Promise<Result> => {
      const result = await work()
      steps.push({ name, ok: true, detail: detail(result) })
      return result
    }
    let current = "access"
    try {
      await step(
        current,
        () => host.connections.accessToken(connection_id!, google.scope),
        () => "Google accepted the access of the account.",
      ) // kinds of accounts have a connection
      current = "properties"
      const all = await step(
        current,
        () => propertiesOf(google, connection_id!, site),
        (list) => `The account has ${list.length} properties.`,
      )
      if (typeof config.property === "string") {
        const found = all.find(({ property }) => property === config.property)
        const isUsable = found !== undefined && found.permission !== UNVERIFIED
        steps.push({
          name: "property",
          ok: isUsable,
          detail: isUsable ? "The account has access to the property." : searchFaultMessage("property_lost")!,
        })
      }
    } catch (error) {
      const failure = searchFailureOf(error)
      if (!failure) throw error
      steps.push({ name: current, ok: false, detail: searchFaultMessage(failure.code) ?? "" })
    }
    const ok = steps.every((one) => one.ok)
    if (ok && site_id === null) await noteSuccess(host.db, id, host.now(), next_run_at)
    return { ok, ms: Math.round(performance.now() - start), steps }
  }

  /** Removes a mapping with the data that was fetched, if wished. */
  async function dropMapping(statements: OwnStatements, mapping: Integration, forgetData: boolean): Promise<void> {
    await dropIntegration(host, statements, mapping)
    if (forgetData) await enqueueForget(host, { siteId: mapping.site_id!, engine: "google" }, statements) // mappings have a site
  }

  /** Removes a mapping, or an account with all its mappings. Access ends at Google, unless another kind uses the account. */
  const remove =
    (google: GoogleKind): NonNullable<Kind["remove"]> =>
    async (integration, { forgetData }, audit) => {
      const { id, organization_id, connection_id, site_id } = integration
      if (site_id !== null || connection_id === null)
        return host.db.transaction(async (statements) => {
          await dropMapping(statements, integration, forgetData)
          await audit(statements)
        })
      const users = await integrationsOfConnection(host.db, connection_id)
      const drop = async (statements: OwnStatements): Promise<void> => {
        for (const one of users) if (one.kind === google.kind && one.site_id !== null) await dropMapping(statements, one, forgetData)
        await dropIntegration(host, statements, integration)
        await audit(statements)
      }
      if (users.some((one) => one.site_id === null && one.id !== id)) return host.db.transaction(drop)
      try {
        await host.connections.remove(organization_id, connection_id, drop)
      } catch (error) {
        if (!(error instanceof ConnectionFailure)) throw error
        await host.db.transaction(drop) // the connection is gone already
      }
    }

  const kindOf = (google: GoogleKind): Kind => ({
    ...{ kind: google.kind, name: google.name, category: google.category },
    connectBy: () => (host.connections.methods("google").oauth ? ["oauth", "service_account"] : ["service_account"]),
    connect: {
      summary: `Connect ${google.name}: request access to an account, or use the key of a service account`,
      input: GoogleConnectInput,
      failures: ["invalid_service_account", "scope_not_granted", "connection_failed", "outbound_disabled", "limit_reached"],
      async run(author, body, alongside) {
        const { oauth } = host.connections.methods("google")
        const { returnTo, serviceAccount } = readGoogleConnect(body, { oauth, baseUrl: host.baseUrl() })
        await refuseScope(host, author, "organization", PERMISSION)
        refuseOffline(host)
        if (serviceAccount === undefined) return { authorize_url: await begin(google, returnTo, author) }
        return { integration: await connectServiceAccount(google, serviceAccount, author, alongside) }
      },
    },
    shownConfig: (config) => config,
    readPatch: readGooglePatch,
    test: (integration, _, site) => test(google, integration, site),
    remove: remove(google),
  })

  return {
    kinds: GOOGLE_KINDS.map(kindOf),
    async finish(query, { userId, sessionId, actor }) {
      const { request, checks } = await takeState(host, query.get("state") ?? "", sessionId)
      const google = GOOGLE_KINDS.find(({ kind }) => kind === request.kind)!
      const site = host.services.sites.directory.byId(request.site_id)
      const mayConnect = site?.organization_id === request.organization_id && (await managesOrganization(host, site, userId, PERMISSION))
      if (!mayConnect)
        throw new AppError("forbidden", `This requires the permission ${PERMISSION} in the whole organization.`, {
          required_permission: PERMISSION,
        })
      const answer = new URL(`${host.baseUrl()}${CALLBACK}?${query}`)
      const terms = {
        organizationId: request.organization_id,
        userId,
        scopes: [google.scope],
        alongside: async (statements: OwnStatements, { after }: { after?: Connection }) =>
          void (await store(statements, google, after!, { site, actor, userId })), // as above
      }
      const result = await host.connections.finish("google", answer, checks, terms).then((): AccessResult => "connected", resultOf)
      return withResult(request.return_to, result, host.baseUrl())
    },
    async listProperties(site, google) {
      const accounts = (await listOfSite(site, host.db)).filter(({ kind, site_id }) => kind === google.kind && site_id === null)
      if (accounts.length === 0) throw integrationError("not_connected", `No account of ${google.name} is connected. Connect one first.`)
      const lists = await Promise.allSettled(accounts.map(({ connection_id }) => propertiesOf(google, connection_id!, site))) // as above
      const failed = lists.find((list) => list.status === "rejected")
      if (failed && lists.every(({ status }) => status === "rejected")) throw refusalOf(failed.reason)
      const all = lists.flatMap((list, i) =>
        list.status === "rejected"
          ? []
          : list.value.map((one) => ({ ...one, integration_id: accounts[i]!.id, connection_id: accounts[i]!.connection_id! })),
      )
      const worst = Number.MAX_SAFE_INTEGER
      const sorted = all.sort((a, b) => (a.rank ?? worst) - (b.rank ?? worst) || (a.label < b.label ? -1 : 1))
      return sorted.map(({ rank, ...one }, i) => ({ ...one, suggested: i === 0 && rank !== undefined }))
    },
  }
}

const resultOf = (error: unknown): AccessResult => {
  if (error instanceof ConnectionFailure && (error.code === "denied" || error.code === "scope_not_granted")) return error.code
  if (error instanceof ConnectionFailure || error instanceof AppError) return "failed"
  throw error
}

function withResult(path: string, result: AccessResult, baseUrl: string): string {
  const url = new URL(path, baseUrl)
  url.searchParams.set("result", result)
  return `${url.pathname}${url.search}${url.hash}`
}

/** Returns the error for a person who waits for the answer of Google. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof ConnectionFailure && error.code === "invalid_service_account")
    return integrationError(
      "invalid_service_account",
      "This is not the JSON key of a service account with an RSA key. Create a new key in the Google Cloud console.",
    )
  const failure = searchFailureOf(error)
  if (!failure) return error
  const detail = searchFaultMessage(failure.code)!
  if (failure.code === "outbound_disabled") return new AppError("outbound_disabled", detail)
  if (failure.code === "needs_reauth") return integrationError("needs_reauth", detail)
  if (failure.code === "scope_not_granted") return integrationError("scope_not_granted", detail)
  return integrationError("connection_failed", detail, { steps: [{ name: "request", ok: false, detail }] })
}
