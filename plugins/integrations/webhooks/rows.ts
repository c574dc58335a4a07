import { type OwnStatements, type Site, type Sql, sql } from "#plugin"
import { type Delivery, type DeliveryState, LIMITS, type Webhook, type WebhookSecret } from "./webhook.ts"

const WEBHOOK = sql`
  id, organization_id, site_id, url_secret_id, url_label, description, events_json, secrets_json, enabled, disabled_reason, failing_since,
  paused_until, sequence, created_by, created_at, updated_at, version`

type WebhookRow = Omit<Webhook, "events" | "secrets" | "enabled"> & { events_json: string; secrets_json: string; enabled: 0 | 1 }

// The columns contain what this file has written.
const toWebhook = ({ events_json, secrets_json, enabled, ...row }: WebhookRow): Webhook => ({
  ...row,
  events: JSON.parse(events_json),
  secrets: JSON.parse(secrets_json),
  enabled: enabled === 1,
})

export async function webhookById(statements: OwnStatements, id: number): Promise<Webhook | undefined> {
  const row = await statements.get<WebhookRow>(sql`select ${WEBHOOK} from integrations_webhooks where id = ${id}`)
  return row && toWebhook(row)
}

/** Lists the webhooks of a site and those of its organization as a whole, by id. */
export async function listWebhooks(statements: OwnStatements, { id, organization_id }: Site): Promise<Webhook[]> {
  const rows = await statements.all<WebhookRow>(sql`
    select ${WEBHOOK} from integrations_webhooks
    where organization_id = ${organization_id} and (site_id = ${id} or site_id is null) order by id`)
  return rows.map(toWebhook)
}

/** Lists the enabled webhooks that an event can concern: those of its site and of its organization. */
export async function listReceivers(
  statements: OwnStatements,
  { organization_id, site_id }: { organization_id: number; site_id: number | null },
): Promise<Webhook[]> {
  const rows = await statements.all<WebhookRow>(sql`
    select ${WEBHOOK} from integrations_webhooks
    where organization_id = ${organization_id} and (site_id is null or site_id = ${site_id ?? 0}) and enabled = 1 order by id`)
  return rows.map(toWebhook)
}

/** Returns the sites with an enabled webhook that names an event, and the organizations with such a webhook of their own. */
export const listNaming = (statements: OwnStatements, event: string): Promise<{ organization_id: number; site_id: number | null }[]> =>
  statements.all(sql`
    select distinct organization_id, site_id from integrations_webhooks
    where enabled = 1 and exists (select 1 from json_each(events_json) where value = ${event}) limit 1000`)

export type NewWebhook = Pick<Webhook, "organization_id" | "site_id" | "url_label" | "description" | "events" | "created_by">

/** Inserts a webhook whose secrets are stored next. */
export async function insertWebhook(statements: OwnStatements, webhook: NewWebhook, now: number): Promise<Webhook> {
  const row = await statements.get<WebhookRow>(sql`
    insert into integrations_webhooks (
      organization_id, site_id, url_secret_id, url_label, description, events_json, secrets_json, created_by, created_at, updated_at
    ) values (
      ${webhook.organization_id}, ${webhook.site_id}, 0, ${webhook.url_label}, ${webhook.description},
      ${JSON.stringify(webhook.events)}, '[]', ${webhook.created_by}, ${now}, ${now}
    ) returning ${WEBHOOK}`)
  return toWebhook(row!) // an insert that returns has a row
}

export const setSecrets = async (
  statements: OwnStatements,
  id: number,
  { urlSecretId, secrets }: { urlSecretId: number; secrets: readonly WebhookSecret[] },
): Promise<void> =>
  statements.run(sql`
    update integrations_webhooks set url_secret_id = ${urlSecretId}, secrets_json = ${JSON.stringify(secrets)} where id = ${id}`)

export type WebhookFields = Pick<
  Webhook,
  "url_label" | "description" | "events" | "secrets" | "enabled" | "disabled_reason" | "failing_since" | "paused_until"
>

/** Stores a change that people see, with a new version. */
export async function updateWebhook(statements: OwnStatements, id: number, fields: WebhookFields, now: number): Promise<Webhook> {
  const row = await statements.get<WebhookRow>(sql`
    update integrations_webhooks set
      url_label = ${fields.url_label}, description = ${fields.description}, events_json = ${JSON.stringify(fields.events)},
      secrets_json = ${JSON.stringify(fields.secrets)}, enabled = ${fields.enabled ? 1 : 0}, disabled_reason = ${fields.disabled_reason},
      failing_since = ${fields.failing_since}, paused_until = ${fields.paused_until}, updated_at = ${now}, version = version + 1
    where id = ${id} returning ${WEBHOOK}`)
  return toWebhook(row!) // the caller has read it in this transaction
}

/** Notes how the last attempts went. This is no change of the webhook, so its version stays. */
export const noteHealth = (
  statements: OwnStatements,
  id: number,
  { failing_since, paused_until }: Pick<Webhook, "failing_since" | "paused_until">,
): Promise<void> =>
  statements.run(sql`
    update integrations_webhooks set failing_since = ${failing_since}, paused_until = ${paused_until} where id = ${id}`)

export const deleteWebhook = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_webhooks where id = ${id}`)

/** Reads webhooks under a condition in slices by id, with the time at which each has something to deliver. */
export async function listLanes(statements: OwnStatements, after: number): Promise<(Webhook & { due_at: number | null })[]> {
  const rows = await statements.all<WebhookRow & { due_at: number | null }>(sql`
    select ${WEBHOOK}, (
      select min(next_at) from integrations_deliveries d where d.webhook_id = integrations_webhooks.id and d.next_at is not null
    ) as due_at
    from integrations_webhooks where id > ${after} order by id limit 500`)
  return rows.map((row) => ({ ...toWebhook(row), due_at: row.due_at }))
}

const DELIVERY = sql`
  id, webhook_id, outbox_id, event, message_id, sequence, attempt, state, status, code, ms, response_excerpt, next_at, created_at`

/** Adds a delivery of one event to each webhook, with its next sequence number. Leaves out webhooks that have one for this event already. */
export async function insertDeliveries(
  statements: OwnStatements,
  { outbox_id, event, now }: Pick<Delivery, "outbox_id" | "event"> & { now: number },
  messages: readonly Pick<Delivery, "webhook_id" | "message_id">[],
): Promise<Delivery[]> {
  const made = await statements.all<Delivery>(sql`
    insert into integrations_deliveries (webhook_id, outbox_id, event, message_id, sequence, next_at, created_at)
    select w.id, ${outbox_id}, ${event}, m.value ->> 'message_id', w.sequence + 1, ${now}, ${now}
    from json_each(${JSON.stringify(messages)}) m join integrations_webhooks w on w.id = m.value ->> 'webhook_id'
    where true on conflict do nothing returning ${DELIVERY}`)
  const ids = JSON.stringify(made.map(({ webhook_id }) => webhook_id))
  if (made.length > 0)
    await statements.run(sql`
      update integrations_webhooks set sequence = sequence + 1 where id in (select value from json_each(${ids}))`)
  return made
}

export const deliveryById = (statements: OwnStatements, webhookId: number, id: number): Promise<Delivery | undefined> =>
  statements.get(sql`select ${DELIVERY} from integrations_deliveries where id = ${id} and webhook_id = ${webhookId}`)

/** Lists the deliveries of a webhook, newest first. */
export const listDeliveries = (
  statements: OwnStatements,
  webhookId: number,
  { before, state, limit }: { before: number; state: DeliveryState | undefined; limit: number },
): Promise<Delivery[]> =>
  statements.all(sql`
    select ${DELIVERY} from integrations_deliveries
    where webhook_id = ${webhookId} and id < ${before} and (${state ?? null} is null or state = ${state ?? null})
    order by id desc limit ${limit}`)

export async function countDeliveries(statements: OwnStatements, webhookId: number, state: DeliveryState | undefined): Promise<number> {
  const row = await statements.get<{ n: number }>(sql`
    select count(*) as n from integrations_deliveries
    where webhook_id = ${webhookId} and (${state ?? null} is null or state = ${state ?? null})`)
  return row!.n // a count has a row
}

/** Lists the due deliveries of a webhook, longest waiting first. */
export const listDue = (statements: OwnStatements, webhookId: number, now: number, limit: number): Promise<Delivery[]> =>
  statements.all(sql`
    select ${DELIVERY} from integrations_deliveries
    where webhook_id = ${webhookId} and next_at is not null and next_at <= ${now} order by next_at, id limit ${limit}`)

/** Returns when a webhook has something to deliver next. */
export async function nextDueAt(statements: OwnStatements, webhookId: number): Promise<number | undefined> {
  const row = await statements.get<{ due_at: number | null }>(sql`
    select min(next_at) as due_at from integrations_deliveries where webhook_id = ${webhookId} and next_at is not null`)
  return row?.due_at ?? undefined
}

export type Attempted = Pick<Delivery, "id" | "attempt" | "state" | "status" | "code" | "ms" | "response_excerpt" | "next_at">

export const updateDeliveries = (statements: OwnStatements, deliveries: readonly Attempted[]): Promise<void> =>
  statements.run(sql`
    update integrations_deliveries set attempt = a.value ->> 'attempt', state = a.value ->> 'state', status = a.value ->> 'status',
      code = a.value ->> 'code', ms = a.value ->> 'ms', response_excerpt = a.value ->> 'response_excerpt', next_at = a.value ->> 'next_at'
    from json_each(${JSON.stringify(deliveries)}) a where integrations_deliveries.id = a.value ->> 'id'`)

const SLICE = 500
const countOf = async (statements: OwnStatements, statement: Sql): Promise<number> => (await statements.all(statement)).length

/** Lets the deliveries that were stopped, or wait for a time that is too far away, be attempted again. Returns how many, at most a slice. */
export const resumeStopped = (statements: OwnStatements, webhookId: number, now: number): Promise<number> =>
  countOf(
    statements,
    sql`update integrations_deliveries set next_at = ${now}, state = 'pending' where id in (
      select id from integrations_deliveries
      where webhook_id = ${webhookId} and ((state = 'failed' and next_at is null) or next_at > ${now + LIMITS.longestWaitMs}) limit ${SLICE}
    ) returning id`,
  )

/** Ends the waiting deliveries of a disabled webhook. Returns how many, at most a slice. */
export const endWaiting = (statements: OwnStatements, webhookId: number): Promise<number> =>
  countOf(
    statements,
    sql`update integrations_deliveries set next_at = null, state = 'dead', code = 'webhook_disabled' where id in (
      select id from integrations_deliveries where webhook_id = ${webhookId} and next_at is not null limit ${SLICE}
    ) returning id`,
  )

/** Deletes deliveries of a webhook. Returns how many, at most a slice. */
export const deleteDeliveries = (statements: OwnStatements, webhookId: number): Promise<number> =>
  countOf(
    statements,
    sql`delete from integrations_deliveries where id in (
      select id from integrations_deliveries where webhook_id = ${webhookId} limit ${SLICE}) returning id`,
  )

/** Deletes deliveries that are too old. Returns how many, at most a slice. */
export const deleteOld = (statements: OwnStatements, before: number): Promise<number> =>
  countOf(
    statements,
    sql`delete from integrations_deliveries where id in (
      select id from integrations_deliveries where created_at < ${before} order by created_at limit ${SLICE}) returning id`,
  )

/** Deletes the finished deliveries of a webhook up to a sequence number. Returns how many, at most a slice. */
export const deleteFinished = (statements: OwnStatements, webhookId: number, upTo: number): Promise<number> =>
  countOf(
    statements,
    sql`delete from integrations_deliveries where id in (
      select id from integrations_deliveries
      where webhook_id = ${webhookId} and sequence <= ${upTo} and next_at is null order by id limit ${SLICE}) returning id`,
  )
