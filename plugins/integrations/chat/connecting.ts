import { AppError, type OwnStatements, parseId, refuseOtherVersion, refuseStaleBody, type Site } from "#plugin"
import { type Author, type IntegrationsHost, managesOrganization, refuseOffline, refuseScope, refuseUrl, urlLabel } from "../area.ts"
import { integrationError } from "../errors.ts"
import type { Integration } from "../integration.ts"
import { deleteIntegration, insertIntegration, integrationById, listOfSite, noteSuccess, setSecret, updateIntegration } from "../rows.ts"
import { CHAT_EVENTS, CHAT_KINDS, type Chat, type Sending } from "./chat.ts"
import { type ChatKind, type ChatTarget, isChatKind } from "./forms.ts"
import { readConnect, readPatch } from "./input.ts"

const PERMISSION = "integrations:write"
const MAX_PER_SCOPE = 20

/** Result of a test, as people see it. */
export interface TestReport {
  ok: boolean
  ms: number
  steps: { name: string; ok: boolean; detail: string }[]
}

/**
 * Connects sites and organizations to chat services. What is stored has been tested with a message. Those of the organization are listed
 * on each of its sites, and changed only by users who manage the organization as a whole. Each change writes one audit entry.
 */
export interface ChatConnections {
  /** Throws `integration_not_found`. */
  get(site: Site, id: string | undefined): Promise<Integration>
  /** Whether a user may change an integration, given what they may do on the site. */
  canManage(site: Site, userId: number, integration: Pick<Integration, "site_id">): Promise<boolean>
  /** Throws `connection_failed` with the steps of the test. */
  connect(
    author: Author,
    kind: ChatKind,
    body: unknown,
    alongside: (statements: OwnStatements, integration: Integration) => Promise<void>,
  ): Promise<Integration>
  /** Applies a merge patch. A new secret is tested first. */
  update(author: Author, id: string | undefined, body: unknown, show: (integration: Integration) => Promise<object>): Promise<Integration>
  remove(author: Author, id: string | undefined): Promise<void>
  /** Sends the test message. */
  test(author: Author, id: string | undefined): Promise<TestReport>
}

export function createChatConnections(host: IntegrationsHost, chat: Chat): ChatConnections {
  const { db, now, secrets } = host
  const known = (): string[] => CHAT_EVENTS.filter((event) => Object.hasOwn(host.productEvents(), event))

  async function find(statements: OwnStatements, site: Site, named: string | undefined): Promise<Integration> {
    const integration = await integrationById(statements, parseId(named) ?? 0)
    const isVisible = integration?.organization_id === site.organization_id && (integration.site_id ?? site.id) === site.id
    if (integration && isVisible) return integration
    throw integrationError("integration_not_found", "This integration doesn't exist.")
  }
  /** Finds a chat that the author may change. */
  async function findOwn(author: Author, id: string | undefined): Promise<Integration & { kind: ChatKind }> {
    const integration = await find(db, author.site, id)
    await refuseScope(host, author, integration.site_id === null ? "organization" : "site", PERMISSION)
    if (!isChatKind(integration.kind)) throw integrationError("integration_not_found", "This integration doesn't exist.")
    return { ...integration, kind: integration.kind }
  }

  async function refuseUntested(target: ChatTarget): Promise<void> {
    refuseOffline(host)
    if (target.kind !== "telegram") refuseUrl(host, target.secret)
    const sent = await chat.test(target)
    if (sent.ok) return
    if (sent.code === "blocked_address") throw new AppError("blocked_address", sent.detail)
    throw integrationError("connection_failed", `The test message was not accepted. ${sent.detail}`, { steps: reportOf(sent).steps })
  }
  async function refuseFull(statements: OwnStatements, site: Site, siteId: number | null): Promise<void> {
    const own = (await listOfSite(site, statements)).filter(({ kind, site_id }) => isChatKind(kind) && site_id === siteId)
    if (own.length < MAX_PER_SCOPE) return
    const detail = `${siteId === null ? "An organization" : "A site"} can have at most ${MAX_PER_SCOPE} chat connections.`
    throw new AppError("limit_reached", detail, { limit: MAX_PER_SCOPE, resource: "integrations" })
  }
  const audit = (
    statements: OwnStatements,
    { actor }: Author,
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

  return {
    get: (site, id) => find(db, site, id),
    canManage: async (site, userId, { site_id }) => site_id !== null || managesOrganization(host, site, userId, PERMISSION),

    async connect(author, kind, body, alongside) {
      const { site } = author
      const { secret, name, config, scope } = readConnect(body, kind, known())
      await refuseScope(host, author, scope, PERMISSION)
      await refuseUntested({ kind, secret, config })
      return db.transaction(async (statements) => {
        const site_id = scope === "site" ? site.id : null
        await refuseFull(statements, site, site_id)
        const account_label = labelOf(kind, secret)
        const fields = { kind, config, account_label, name: name ?? CHAT_KINDS.find((each) => each.kind === kind)!.name } // all kinds are listed
        const owner = { organization_id: site.organization_id, site_id, connection_id: null, created_by: author.userId }
        const made = await insertIntegration(statements, { ...fields, ...owner }, now())
        const secretId = await secrets.put(statements, { table: "integrations_integrations", row: made.id, purpose: "secret" }, secret)
        await setSecret(statements, made.id, secretId)
        const integration = { ...made, secret_id: secretId }
        await audit(statements, author, "create", integration, { kind: [null, kind], account: [null, account_label] })
        await alongside(statements, integration)
        return integration
      })
    },

    async update(author, id, body, show) {
      const present = await findOwn(author, id)
      const { secret, version, ...fields } = readPatch(body, present.kind, known(), present.config)
      if (secret !== undefined) await refuseUntested({ kind: present.kind, secret, config: fields.config ?? present.config })
      const shown = version === undefined ? {} : await show(present)
      return db.transaction(async (statements) => {
        const integration = await find(statements, author.site, id)
        refuseStaleBody(integration, version, () => shown)
        refuseOtherVersion(integration, author.expected)
        const account_label = secret === undefined ? integration.account_label : labelOf(present.kind, secret)
        const wanted = { ...integration, ...fields, account_label }
        const changes = changedFields(integration, wanted, secret !== undefined)
        if (Object.keys(changes).length === 0) return integration
        if (secret !== undefined && integration.secret_id !== null) {
          await secrets.replace(statements, integration.secret_id, secret)
          await noteSuccess(statements, integration.id, now())
        }
        const after = await updateIntegration(statements, integration.id, wanted, now())
        await audit(statements, author, "update", after, changes)
        return after
      })
    },

    async remove(author, id) {
      await findOwn(author, id)
      await db.transaction(async (statements) => {
        const integration = await find(statements, author.site, id)
        refuseOtherVersion(integration, author.expected)
        await dropIntegration(host, statements, integration)
        await audit(statements, author, "delete", integration)
      })
    },

    async test(author, id) {
      const integration = await findOwn(author, id)
      const secret = integration.secret_id === null ? undefined : await secrets.open(integration.secret_id)
      await host.db.transaction((statements) => audit(statements, author, "test", integration))
      if (secret === undefined)
        return { ok: false, ms: 0, steps: [{ name: "secret", ok: false, detail: "The stored secret can't be decrypted. Enter it again." }] }
      const report = reportOf(await chat.test({ kind: integration.kind, secret, config: integration.config }))
      if (report.ok) await noteSuccess(db, integration.id, now())
      return report
    },
  }
}

/** Deletes an integration with its secret. */
export async function dropIntegration(host: IntegrationsHost, statements: OwnStatements, { id, secret_id }: Integration): Promise<void> {
  await deleteIntegration(statements, id)
  if (secret_id !== null) await host.secrets.remove(statements, secret_id)
}

const reportOf = ({ ok, ms, detail }: Sending): TestReport => ({ ok, ms, steps: [{ name: "message", ok, detail }] })

/** Returns what people recognize the target by: the host of a URL, or the number of the bot. */
const labelOf = (kind: ChatKind, secret: string): string => (kind === "telegram" ? `bot ${secret.split(":")[0]}` : urlLabel(secret))

function changedFields(before: Integration, after: Integration, hasNewSecret: boolean): Record<string, readonly [unknown, unknown]> {
  const fields = (["name", "config"] as const).filter((name) => !Bun.deepEquals(before[name], after[name]))
  return {
    ...Object.fromEntries(fields.map((name) => [name, [before[name], after[name]]] as const)),
    ...(hasNewSecret && { secret: ["(redacted)", "(redacted)"] as const, account: [before.account_label, after.account_label] as const }),
  }
}
