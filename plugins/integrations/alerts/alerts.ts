import { AppError, caseKey, type OwnStatements, parseId, refuseOtherVersion, refuseStaleBody, type Site } from "#plugin"
import type { Author, IntegrationsHost } from "../area.ts"
import type { Chat } from "../chat/chat.ts"
import { isChatKind } from "../chat/forms.ts"
import { integrationError } from "../errors.ts"
import { integrationById, listOfSite } from "../rows.ts"
import { type Alert, LIMITS } from "./alert.ts"
import { ALERT_EVENTS, EVENT_OF } from "./events.ts"
import { type Nameable, readAlertPatch, readNewAlert } from "./input.ts"
import { type AlertResponse, alertResponse } from "./responses.ts"
import { alertEmail } from "./rounds.ts"
import { type AlertFields, alertById, deleteAlert, insertAlert, listAlerts, updateAlert } from "./rows.ts"

/** Result of a test, with a step for each channel. */
export interface AlertTest {
  ok: boolean
  ms: number
  steps: { name: string; ok: boolean; detail: string }[]
}

/** The alerts of a site. Each change writes one audit entry in its transaction. */
export interface Alerts {
  list(site: Site): Promise<Alert[]>
  /** Throws `alert_not_found`. */
  get(site: Site, id: string | undefined): Promise<Alert>
  create(author: Author, body: unknown, alongside: Alongside): Promise<AlertResponse>
  update(author: Author, id: string | undefined, body: unknown): Promise<Alert>
  remove(author: Author, id: string | undefined): Promise<void>
  /** Sends a test message through the channels of an alert. */
  test(author: Author, id: string | undefined): Promise<AlertTest>
}

type Alongside = (statements: OwnStatements, created: AlertResponse) => Promise<void>

export function createAlerts(host: IntegrationsHost, chat: Pick<Chat, "test">): Alerts {
  const { db, now } = host

  async function find(statements: OwnStatements, site: Site, named: string | undefined): Promise<Alert> {
    const alert = await alertById(statements, parseId(named) ?? 0)
    if (alert?.site_id === site.id) return alert
    throw integrationError("alert_not_found", "This alert doesn't exist.")
  }

  const audit = (
    statements: OwnStatements,
    { actor, site }: Author,
    verb: string,
    alert: Alert,
    changes?: Record<string, readonly [unknown, unknown]>,
  ): Promise<void> =>
    host.audit.write(statements, actor, {
      action: `integrations.alert.${verb}`,
      target: { type: "alert", id: alert.id, label: ALERT_EVENTS[EVENT_OF[alert.type]].title },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(changes && { changes }),
    })

  async function nameableOn(site: Site): Promise<Nameable> {
    const members = await host.services.access.holders(site.organization_id, "site:read", site.id)
    const chats = (await listOfSite(site, db)).filter(({ kind }) => isChatKind(kind))
    return {
      goalIds: new Set(host.services.goals.rules(site.id).map(({ id }) => id)),
      memberKeys: new Set(members.map(caseKey)),
      chatIds: new Set(chats.map(({ id }) => id)),
    }
  }

  async function refuseFull(statements: OwnStatements, site: Site): Promise<void> {
    if ((await listAlerts(statements, site.id)).length < LIMITS.perSite) return
    const detail = `A site can have at most ${LIMITS.perSite} alerts.`
    throw new AppError("limit_reached", detail, { limit: LIMITS.perSite, resource: "alerts" })
  }

  return {
    list: ({ id }) => listAlerts(db, id),
    get: (site, id) => find(db, site, id),

    async create(author, body, alongside) {
      const { site, userId } = author
      const fields = readNewAlert(body, await nameableOn(site))
      return db.transaction(async (statements) => {
        await refuseFull(statements, site)
        const alert = await insertAlert(statements, { ...fields, site_id: site.id, created_by: userId }, now())
        await audit(statements, author, "create", alert, { type: [null, alert.type], threshold: [null, alert.threshold] })
        const created = alertResponse(alert, now())
        await alongside(statements, created)
        return created
      })
    },

    async update(author, id, body) {
      const { site } = author
      const { fields, version } = readAlertPatch(body, await find(db, site, id), await nameableOn(site))
      return db.transaction(async (statements) => {
        const alert = await find(statements, site, id)
        refuseStaleBody(alert, version, () => alertResponse(alert, now()))
        refuseOtherVersion(alert, author.expected)
        const changes = changedFields(alert, fields)
        const names = Object.keys(changes)
        if (names.length === 0) return alert
        // Another condition is not the one that it fired for.
        const firing_since = names.every((name) => name === "channels") ? alert.firing_since : null
        const after = await updateAlert(statements, alert.id, { ...fields, firing_since }, now())
        await audit(statements, author, "update", after, changes)
        return after
      })
    },

    async remove(author, id) {
      await db.transaction(async (statements) => {
        const alert = await find(statements, author.site, id)
        refuseOtherVersion(alert, author.expected)
        await deleteAlert(statements, alert.id)
        await audit(statements, author, "delete", alert)
      })
    },

    async test(author, id) {
      const { site } = author
      const alert = await find(db, site, id)
      const email = alertEmail(host, site, alert, "This is a test. The alert has not fired.")
      const addresses = alert.channels.flatMap((channel) => (channel.type === "email" ? [channel.address] : []))
      await db.transaction(async (statements) => {
        await audit(statements, author, "test", alert)
        for (const to of addresses) await host.mail.post(statements, { to, ...email, subject: `Test: ${email.subject}` })
      })
      const isOn = host.mail.isOn()
      const detail = isOn ? "The email was queued." : "This instance can't send email, because no mail server is configured."
      const steps = addresses.map((address) => ({ name: `email to ${address}`, ok: isOn, detail }))
      let ms = 0
      for (const channel of alert.channels) {
        if (channel.type === "email") continue
        const sent = await testChat(channel.integration_id)
        steps.push(sent.step)
        ms += sent.ms
      }
      return { ok: steps.every(({ ok }) => ok), ms, steps }
    },
  }

  async function testChat(integrationId: number): Promise<{ ms: number; step: AlertTest["steps"][number] }> {
    const integration = await integrationById(db, integrationId)
    const name = `message to ${integration?.name ?? "a removed connection"}`
    if (!integration || !isChatKind(integration.kind)) return { ms: 0, step: { name, ok: false, detail: "The connection was removed." } }
    const secret = integration.secret_id === null ? undefined : await host.secrets.open(integration.secret_id)
    if (secret === undefined) return { ms: 0, step: { name, ok: false, detail: "The stored secret can't be decrypted. Enter it again." } }
    const { ok, ms, detail } = await chat.test({ kind: integration.kind, secret, config: integration.config })
    return { ms, step: { name, ok, detail } }
  }
}

const CHANGED = ["threshold", "factor", "window_minutes", "goal_id", "enabled"] as const

/** Returns the changes for the audit log, with the number of channels instead of their addresses. */
function changedFields(before: Alert, after: AlertFields): Record<string, readonly [unknown, unknown]> {
  const names = CHANGED.filter((name) => before[name] !== after[name])
  return {
    ...Object.fromEntries(names.map((name) => [name, [before[name], after[name]]] as const)),
    ...(!Bun.deepEquals(before.channels, after.channels) && { channels: [before.channels.length, after.channels.length] as const }),
  }
}
