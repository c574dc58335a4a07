import { AppError, type Connection, isObject, type OwnStatements, parseId, refuseOtherVersion, refuseStaleBody, type Site } from "#plugin"
import { type Author, type IntegrationsHost, managesOrganization, refuseOffline, refuseScope, type Scope, scopeOf } from "./area.ts"
import { integrationError } from "./errors.ts"
import type { Integration } from "./integration.ts"
import type { Alongside, Kind, RemoveOptions, Target, TestReport } from "./kind.ts"
import { type IntegrationResponse, integrationResponse } from "./responses.ts"
import {
  deleteIntegration,
  insertIntegration,
  integrationById,
  listOfSite,
  type NewIntegration,
  noteSuccess,
  setSecret,
  updateIntegration,
} from "./rows.ts"

export const PERMISSION = "integrations:write"
const MAX_PER_SCOPE = 20

/** Member who looks at integrations. */
export interface Viewer {
  site: Site
  user: { id: number }
  permissions: ReadonlySet<string>
}

/**
 * Integrations of all kinds. Those of the organization are listed on each of its sites, and changed only by users who manage the
 * organization as a whole. Each change writes one audit entry.
 */
export interface Integrations {
  kinds: readonly Kind[]
  /** Returns the integrations of a site and of its organization, as they are shown. */
  list(viewer: Viewer): Promise<IntegrationResponse[]>
  show(integration: Integration, viewer: Viewer): Promise<IntegrationResponse>
  /** Returns a new integration as its creator sees it. Its secret can't be read within the transaction that stores it. */
  showNew(integration: Integration): IntegrationResponse
  /** Throws `integration_not_found`. */
  get(site: Site, id: string | undefined): Promise<Integration>
  /** Applies a merge patch. A new secret is tested first. */
  update(author: Author, id: string | undefined, body: unknown, show: (integration: Integration) => Promise<object>): Promise<Integration>
  remove(author: Author, id: string | undefined, options: RemoveOptions): Promise<void>
  test(author: Author, id: string | undefined): Promise<TestReport>
}

export function createIntegrations(host: IntegrationsHost, kinds: readonly Kind[]): Integrations {
  const { db, now, secrets } = host
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]))

  const notFound = (): AppError => integrationError("integration_not_found", "This integration doesn't exist.")
  function kindOf({ kind }: Pick<Integration, "kind">): Kind {
    const found = byName.get(kind)
    if (!found) throw notFound()
    return found
  }
  async function find(statements: OwnStatements, site: Site, named: string | undefined): Promise<Integration> {
    const integration = await integrationById(statements, parseId(named) ?? 0)
    const isVisible = integration?.organization_id === site.organization_id && (integration.site_id ?? site.id) === site.id
    if (integration && isVisible) return integration
    throw notFound()
  }
  /** Finds an integration that the author may change. */
  async function findOwn(author: Author, id: string | undefined): Promise<Integration> {
    const integration = await find(db, author.site, id)
    await refuseScope(host, author, scopeOf(integration), PERMISSION)
    return integration
  }

  async function showWith(integration: Integration, { site, user, permissions }: Viewer, connections: readonly Connection[]) {
    const isOwn = integration.site_id !== null || (await managesOrganization(host, site, user.id, PERMISSION))
    return integrationResponse(integration, {
      category: byName.get(integration.kind)?.category ?? "chat",
      secret: await secrets.shown(integration.secret_id),
      canManage: permissions.has(PERMISSION) && isOwn,
      config: byName.get(integration.kind)?.shownConfig(integration.config) ?? integration.config,
      connection: connections.find(({ id }) => id === integration.connection_id),
    })
  }

  return {
    kinds,
    async list(viewer) {
      const all = await listOfSite(viewer.site, db)
      const connections = await host.connections.list(viewer.site.organization_id)
      return Promise.all(all.map((integration) => showWith(integration, viewer, connections)))
    },
    async show(integration, viewer) {
      return showWith(integration, viewer, await host.connections.list(viewer.site.organization_id))
    },
    showNew: (integration) => {
      const kind = kindOf(integration)
      return integrationResponse(integration, {
        category: kind.category,
        secret: { set: integration.secret_id !== null },
        canManage: true,
        config: kind.shownConfig(integration.config),
      })
    },
    get: (site, id) => find(db, site, id),

    async update(author, id, body, show) {
      const present = await findOwn(author, id)
      const kind = kindOf(present)
      const { secret, version, ...fields } = kind.readPatch(writable(body), present)
      if (secret !== undefined) {
        refuseOffline(host)
        await kind.refuseUntested?.({ secret, config: fields.config ?? present.config })
      }
      const shown = version === undefined ? {} : await show(present)
      return db.transaction(async (statements) => {
        const integration = await find(statements, author.site, id)
        refuseStaleBody(integration, version, () => shown)
        refuseOtherVersion(integration, author.expected)
        const account_label = (secret !== undefined && kind.labelOf?.(secret)) || integration.account_label
        const wanted = { ...integration, ...fields, account_label }
        const changes = changedFields(integration, wanted, secret !== undefined)
        if (Object.keys(changes).length === 0) return integration
        if (secret !== undefined && integration.secret_id !== null) {
          await secrets.replace(statements, integration.secret_id, secret)
          await noteSuccess(statements, integration.id, now(), kind.category === "search" ? now() : null)
        }
        const after = await updateIntegration(statements, integration.id, wanted, now())
        await auditChange(host, statements, author, "update", after, changes)
        return after
      })
    },

    async remove(author, id, options) {
      const integration = await findOwn(author, id)
      const kind = byName.get(integration.kind)
      refuseOtherVersion(integration, author.expected)
      const audit = (statements: OwnStatements) => auditChange(host, statements, author, "delete", integration)
      if (kind?.remove) return kind.remove(integration, options, audit)
      await db.transaction(async (statements) => {
        const present = await find(statements, author.site, id)
        refuseOtherVersion(present, author.expected)
        await kind?.onRemove?.(statements, present, options)
        await dropIntegration(host, statements, present)
        await audit(statements)
      })
    },

    async test(author, id) {
      const integration = await findOwn(author, id)
      const secret = integration.secret_id === null ? undefined : await secrets.open(integration.secret_id)
      await db.transaction((statements) => auditChange(host, statements, author, "test", integration))
      if (secret === undefined && integration.secret_id !== null)
        return { ok: false, ms: 0, steps: [{ name: "secret", ok: false, detail: "The stored secret can't be decrypted. Enter it again." }] }
      return kindOf(integration).test(integration, secret, author.site)
    },
  }
}

/** Writes the audit entry of a change. */
export const auditChange = (
  host: IntegrationsHost,
  statements: OwnStatements,
  { actor }: Pick<Author, "actor">,
  verb: string,
  integration: Integration,
  changes?: Record<string, readonly [unknown, unknown]>,
): Promise<void> =>
  host.audit.write(statements, actor, {
    action: `integrations.integration.${verb}`,
    target: { type: "integration", id: integration.id, label: integration.name },
    organizationId: integration.organization_id,
    ...(integration.site_id !== null && { siteId: integration.site_id }),
    ...(changes && { changes }),
  })

/** Throws `limit_reached` if a site, or an organization as a whole, has the most integrations of some kinds. */
export async function refuseFull(statements: OwnStatements, site: Site, scope: Scope, isCounted: (kind: string) => boolean): Promise<void> {
  const own = (await listOfSite(site, statements)).filter((each) => isCounted(each.kind) && scopeOf(each) === scope)
  if (own.length < MAX_PER_SCOPE) return
  const detail = `${scope === "organization" ? "An organization" : "A site"} can have at most ${MAX_PER_SCOPE} of these connections.`
  throw new AppError("limit_reached", detail, { limit: MAX_PER_SCOPE, resource: "integrations" })
}

/** Stores an integration whose secret has been tested, in one transaction. `check` runs first. */
export const storeWithSecret = (
  host: IntegrationsHost,
  author: Author,
  { kind, name, scope, account_label, secret, config }: Pick<NewIntegration, "kind" | "name" | "account_label"> & Target & { scope: Scope },
  { check, alongside, nextRunAt }: { check(statements: OwnStatements): Promise<void>; alongside: Alongside; nextRunAt?: number },
): Promise<Integration> =>
  host.db.transaction(async (statements) => {
    await check(statements)
    const { site } = author
    const owner = { organization_id: site.organization_id, site_id: scope === "site" ? site.id : null, created_by: author.userId }
    const fields = { kind, name, config, account_label, connection_id: null, next_run_at: nextRunAt ?? null }
    const made = await insertIntegration(statements, { ...owner, ...fields }, host.now())
    const place = { table: "integrations_integrations", row: made.id, purpose: "secret" }
    const secretId = await host.secrets.put(statements, place, secret)
    await setSecret(statements, made.id, secretId)
    const integration = { ...made, secret_id: secretId }
    await auditChange(host, statements, author, "create", integration, { kind: [null, kind], account: [null, account_label] })
    await alongside(statements, integration)
    return integration
  })

/** Deletes an integration with its secret. */
export async function dropIntegration(host: IntegrationsHost, statements: OwnStatements, { id, secret_id }: Integration): Promise<void> {
  await deleteIntegration(statements, id)
  if (secret_id !== null) await host.secrets.remove(statements, secret_id)
}

/** Fields that only the server sets. They are ignored, so that the body of a GET can be sent back. */
const READ_ONLY: ReadonlySet<string> = new Set([
  ...["id", "kind", "category", "status", "connected", "account_label", "connection_id", "secret", "last_ok_at", "last_error"],
  ...["next_run_at", "can_manage", "scope"],
])
const writable = (body: unknown): unknown =>
  isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !READ_ONLY.has(name))) : body

function changedFields(before: Integration, after: Integration, hasNewSecret: boolean): Record<string, readonly [unknown, unknown]> {
  const fields = (["name", "config"] as const).filter((name) => !Bun.deepEquals(before[name], after[name]))
  return {
    ...Object.fromEntries(fields.map((name) => [name, [before[name], after[name]]] as const)),
    ...(hasNewSecret && { secret: ["(redacted)", "(redacted)"] as const, account: [before.account_label, after.account_label] as const }),
  }
}
