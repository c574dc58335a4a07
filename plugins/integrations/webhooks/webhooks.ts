import { AppError, type OwnStatements, parseId, refuseOtherVersion, refuseStaleBody, type Site } from "#plugin"
import { type Author, type IntegrationsHost, managesOrganization, refuseScope, refuseUrl, urlLabel } from "../area.ts"
import { integrationError } from "../errors.ts"
import { PING } from "../events.ts"
import type { Deliveries } from "./deliveries.ts"
import { readNewWebhook, readWebhookPatch } from "./input.ts"
import { newMessageId, newSecret } from "./message.ts"
import { type WebhookResponse, type WebhookWithSecret, webhookResponse } from "./responses.ts"
import {
  deleteDeliveries,
  deleteWebhook,
  deliveryById,
  insertDeliveries,
  insertWebhook,
  listWebhooks,
  setSecrets,
  updateDeliveries,
  updateWebhook,
  webhookById,
} from "./rows.ts"
import { type Delivery, LIMITS, type Webhook, type WebhookSecret } from "./webhook.ts"

const PERMISSION = "webhooks:write"
/** Deliveries that one transaction deletes together with their webhook. The nightly job deletes the rest. */
const MAX_SLICES = 4

/** Stores the answer of a creation in its transaction. */
type Alongside = (statements: OwnStatements, created: WebhookWithSecret) => Promise<void>

/** A webhook and its signing secret, which is shown once. */
export interface WithSecret {
  webhook: Webhook
  secret: string
}

/**
 * The webhooks of a site and of its organization. Those of the organization exist only for users who manage it as a whole: for others they
 * are not found. Each change writes one audit entry in its own transaction.
 */
export interface Webhooks {
  list(site: Site, userId: number): Promise<Webhook[]>
  /** Throws `webhook_not_found`. */
  get(site: Site, userId: number, id: string | undefined): Promise<Webhook>
  show(webhook: Webhook): Promise<WebhookResponse>
  create(author: Author, body: unknown, alongside: Alongside): Promise<WebhookWithSecret>
  update(author: Author, id: string | undefined, body: unknown): Promise<Webhook>
  remove(author: Author, id: string | undefined): Promise<void>
  /** Replaces the signing secret. The old one also signs for 24 hours. */
  rotate(author: Author, id: string | undefined): Promise<WithSecret>
  /** Sends the test event `ping`. Throws `invalid_state` if the webhook is turned off. */
  ping(author: Author, id: string | undefined): Promise<Delivery>
  delivery(webhook: Webhook, id: string | undefined): Promise<Delivery>
  /** Attempts a delivery again, with the same message id. Throws `invalid_state` if the webhook is turned off. */
  redeliver(author: Author, id: string | undefined, deliveryId: string | undefined): Promise<Delivery>
}

export function createWebhooks(host: IntegrationsHost, deliveries: Deliveries): Webhooks {
  const { db, now, random, secrets } = host
  const known = (): ReadonlySet<string> => new Set(Object.keys(host.productEvents()))
  const place = (id: number, purpose: "url" | "signing") => ({ table: "integrations_webhooks", row: id, purpose })

  const managesAll = (site: Site, userId: number): Promise<boolean> => managesOrganization(host, site, userId, PERMISSION)

  /** Finds a webhook. `isManager` is read before a transaction, in which other services can't be called. */
  async function find(statements: OwnStatements, site: Site, isManager: boolean, named: string | undefined): Promise<Webhook> {
    const webhook = await webhookById(statements, parseId(named) ?? 0)
    const isOfSite = webhook?.site_id === site.id
    const isOfOrganization = webhook?.site_id === null && webhook.organization_id === site.organization_id
    if (webhook && (isOfSite || (isOfOrganization && isManager))) return webhook
    throw integrationError("webhook_not_found", "This webhook doesn't exist.")
  }

  /** Throws `invalid_state` for a webhook that is turned off: a delivery would wait until it is turned on. */
  function refuseDisabled({ enabled }: Webhook): void {
    if (!enabled) throw new AppError("invalid_state", "This webhook is turned off. Turn it on to send events to it.", { state: "disabled" })
  }

  const hasArrived = ({ webhook_id }: Delivery): void => deliveries.arrived(webhook_id)

  const audit = (
    statements: OwnStatements,
    { actor, site }: Author,
    verb: string,
    webhook: Webhook,
    changes?: Record<string, readonly [unknown, unknown]>,
  ): Promise<void> =>
    host.audit.write(statements, actor, {
      action: `integrations.webhook.${verb}`,
      target: { type: "webhook", id: webhook.id, label: webhook.url_label },
      organizationId: site.organization_id,
      ...(webhook.site_id !== null && { siteId: webhook.site_id }),
      ...(changes && { changes }),
    })

  async function refuseFull(statements: OwnStatements, site: Site, siteId: number | null): Promise<void> {
    const count = (await listWebhooks(statements, site)).filter((webhook) => webhook.site_id === siteId).length
    if (count < LIMITS.perScope) return
    const owner = siteId === null ? "An organization" : "A site"
    const detail = `${owner} can have at most ${LIMITS.perScope} webhooks.`
    throw new AppError("limit_reached", detail, { limit: LIMITS.perScope, resource: "webhooks" })
  }

  return {
    async list(site, userId) {
      const all = await listWebhooks(db, site)
      const isManager = await managesAll(site, userId)
      return all.filter(({ site_id }) => site_id !== null || isManager)
    },
    get: async (site, userId, id) => find(db, site, await managesAll(site, userId), id),
    show: async (webhook) => webhookResponse(webhook, await secrets.shown(webhook.secrets[0]?.id ?? null)),

    async create(author, body, alongside) {
      const { site } = author
      const { url, events, description, scope } = readNewWebhook(body, known())
      await refuseScope(host, author, scope, PERMISSION)
      refuseUrl(host, url)
      const secret = newSecret(random)
      return db.transaction(async (statements) => {
        const site_id = scope === "site" ? site.id : null
        await refuseFull(statements, site, site_id)
        const fields = {
          organization_id: site.organization_id,
          site_id,
          url_label: urlLabel(url),
          description,
          events,
          created_by: author.userId,
        }
        const { id } = await insertWebhook(statements, fields, now())
        const urlSecretId = await secrets.put(statements, place(id, "url"), url)
        const signing = [{ id: await secrets.put(statements, place(id, "signing"), secret), valid_until: null }]
        await setSecrets(statements, id, { urlSecretId, secrets: signing })
        const webhook = (await webhookById(statements, id))! // inserted above
        await audit(statements, author, "create", webhook, { url: [null, fields.url_label], events: [null, events] })
        // Secrets can't be read within the transaction that stores them, but this one is known.
        const created = { ...webhookResponse(webhook, { set: true }), secret }
        await alongside(statements, created)
        return created
      })
    },

    async update(author, id, body) {
      const { site, userId } = author
      const isManager = await managesAll(site, userId)
      const present = await find(db, site, isManager, id)
      const { url, version, ...fields } = readWebhookPatch(body, known(), present.url_label)
      if (url !== undefined) refuseUrl(host, url)
      const shown = version === undefined ? {} : await this.show(present)
      const changed = await db.transaction(async (statements) => {
        const webhook = await find(statements, site, isManager, id)
        refuseStaleBody(webhook, version, () => shown)
        refuseOtherVersion(webhook, author.expected)
        const enabled = fields.enabled ?? webhook.enabled
        const isSwitched = enabled !== webhook.enabled
        const wanted = {
          ...webhook,
          ...fields,
          url_label: url === undefined ? webhook.url_label : urlLabel(url),
          ...(isSwitched && { disabled_reason: enabled ? null : ("manual" as const) }),
          ...((url !== undefined || (isSwitched && enabled)) && { failing_since: null, paused_until: null }),
        }
        const changes = changedFields(webhook, wanted, url !== undefined)
        if (Object.keys(changes).length === 0) return webhook
        if (url !== undefined) await secrets.replace(statements, webhook.url_secret_id, url)
        const after = await updateWebhook(statements, webhook.id, wanted, now())
        await audit(statements, author, "update", after, changes)
        return after
      })
      await deliveries.changed(changed.id, { hasNewUrl: url !== undefined })
      return changed
    },

    async remove(author, id) {
      const { site, userId } = author
      const isManager = await managesAll(site, userId)
      const removed = await db.transaction(async (statements) => {
        const webhook = await find(statements, site, isManager, id)
        refuseOtherVersion(webhook, author.expected)
        await dropWebhook(host, statements, webhook)
        await audit(statements, author, "delete", webhook)
        return webhook
      })
      await deliveries.changed(removed.id)
    },

    async rotate(author, id) {
      const { site, userId } = author
      const secret = newSecret(random)
      const isManager = await managesAll(site, userId)
      const webhook = await db.transaction(async (statements) => {
        const before = await find(statements, site, isManager, id)
        const [current, ...older] = before.secrets
        const fresh: WebhookSecret = { id: await secrets.put(statements, place(before.id, "signing"), secret), valid_until: null }
        for (const { id: old } of older) await secrets.remove(statements, old)
        const kept = current ? [{ ...current, valid_until: now() + LIMITS.rotationMs }] : []
        const after = await updateWebhook(statements, before.id, { ...before, secrets: [fresh, ...kept] }, now())
        await audit(statements, author, "rotate-secret", after, { secret: ["(redacted)", "(redacted)"] })
        return after
      })
      await deliveries.changed(webhook.id)
      return { webhook, secret }
    },

    async ping(author, id) {
      const isManager = await managesAll(author.site, author.userId)
      return db.transaction(async (statements) => {
        const webhook = await find(statements, author.site, isManager, id)
        refuseDisabled(webhook)
        const message = { webhook_id: webhook.id, message_id: newMessageId(random) }
        const [delivery] = await insertDeliveries(statements, { outbox_id: null, event: PING.name, now: now() }, [message])
        await deliveries.enqueue(statements)
        await audit(statements, author, "test", webhook)
        return delivery! // the test event has no id that could be taken
      }, hasArrived)
    },

    async delivery(webhook, id) {
      const delivery = await deliveryById(db, webhook.id, parseId(id) ?? 0)
      if (!delivery) throw integrationError("delivery_not_found", "This delivery doesn't exist.")
      return delivery
    },

    async redeliver(author, id, deliveryId) {
      const isManager = await managesAll(author.site, author.userId)
      return db.transaction(async (statements) => {
        const webhook = await find(statements, author.site, isManager, id)
        const delivery = await deliveryById(statements, webhook.id, parseId(deliveryId) ?? 0)
        if (!delivery) throw integrationError("delivery_not_found", "This delivery doesn't exist.")
        refuseDisabled(webhook)
        // Its attempts start again, so that a receiver that was repaired gets all of them.
        const again = { ...delivery, attempt: 0, state: "pending" as const, next_at: now() }
        await updateDeliveries(statements, [again])
        await deliveries.enqueue(statements)
        await audit(statements, author, "redeliver", webhook, { delivery: [null, delivery.message_id] })
        return again
      }, hasArrived)
    },
  }
}

/** Deletes a webhook with its secrets. Deliveries beyond a few thousand are left for the nightly job. */
export async function dropWebhook(host: IntegrationsHost, statements: OwnStatements, webhook: Webhook): Promise<void> {
  for (let slices = 0; slices < MAX_SLICES && (await deleteDeliveries(statements, webhook.id)) > 0; slices++);
  await deleteWebhook(statements, webhook.id)
  await host.secrets.remove(statements, webhook.url_secret_id)
  for (const { id } of webhook.secrets) await host.secrets.remove(statements, id)
}

/** Returns the changed fields with their values before and after. The URL appears as its label. */
function changedFields(before: Webhook, after: Webhook, hasNewUrl: boolean): Record<string, readonly [unknown, unknown]> {
  const fields = (["description", "events", "enabled"] as const).filter((name) => !Bun.deepEquals(before[name], after[name]))
  return {
    ...Object.fromEntries(fields.map((name) => [name, [before[name], after[name]]] as const)),
    ...(hasNewUrl && { url: [before.url_label, after.url_label] as const }),
  }
}
