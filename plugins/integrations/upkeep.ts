import { type OwnStatements, type PublishedEvent, sql } from "#plugin"
import type { Area, IntegrationsHost } from "./area.ts"
import { CHAT_EVENTS, SEND, type SendPayload } from "./chat/chat.ts"
import { dropIntegration } from "./lifecycle.ts"
import { integrationById } from "./rows.ts"
import { DELIVER } from "./webhooks/deliveries.ts"
import { deleteFinished, deleteOld, listLanes, webhookById } from "./webhooks/rows.ts"
import { LIMITS } from "./webhooks/webhook.ts"
import { dropWebhook } from "./webhooks/webhooks.ts"

/** Pauses before the further attempts of a chat message. */
const CHAT_RETRIES_MS = [30_000, 120_000, 600_000, 3_600_000, 21_600_000]

export const jobsOf = ({ host, deliveries, chat }: Area) => ({
  [DELIVER]: {
    interrupted: "resume" as const,
    // Deliveries wait for this job alone, so no number of crashes and failures ends it.
    attempts: Number.POSITIVE_INFINITY,
    run: ({ signal }: { signal: AbortSignal }) => deliveries.run(signal),
  },
  [SEND]: {
    interrupted: "resume" as const,
    attempts: CHAT_RETRIES_MS.length + 1,
    retryMs: (attempts: number) => CHAT_RETRIES_MS[attempts - 1] ?? CHAT_RETRIES_MS.at(-1)!, // the list is not empty
    atOnce: 8,
    run: ({ payload, job }: { payload: SendPayload; job: { attempts: number } }) =>
      chat.send(payload, job.attempts > CHAT_RETRIES_MS.length),
  },
  "prune-deliveries": {
    interrupted: "resume" as const,
    schedule: { cron: "40 3 * * *" },
    run: ({ signal }: { signal: AbortSignal }) => prune(host, signal),
  },
})

export const consumersOf = ({ webhooks: _, deliveries, chat }: Area) => ({
  webhooks: {
    events: ["*"],
    concerned: async (events: readonly PublishedEvent[]) =>
      deliveries.concerned(events.filter(({ event }) => !event.startsWith("internal."))),
    consume: (event: PublishedEvent) => deliveries.accept(event),
  },
  chats: {
    events: CHAT_EVENTS,
    concerned: (events: readonly PublishedEvent[]) => chat.concerned(events),
    consume: (event: PublishedEvent) => chat.accept(event),
  },
})

/** Deletes deliveries after 30 days, and finished ones beyond the newest 10,000 of each webhook. */
async function prune({ db, now }: IntegrationsHost, signal: AbortSignal): Promise<void> {
  const inSlices = async (slice: () => Promise<number>): Promise<void> => {
    for (let count = 1; count > 0 && !signal.aborted; await Bun.sleep(0)) count = await slice()
  }
  await inSlices(() => deleteOld(db, now() - LIMITS.keptMs))
  for (let after = 0, count = 500; count === 500 && !signal.aborted; ) {
    const webhooks = await listLanes(db, after)
    for (const { id, sequence } of webhooks) await inSlices(() => deleteFinished(db, id, sequence - LIMITS.keptFinished))
    after = webhooks.at(-1)?.id ?? after
    count = webhooks.length
  }
}

/** Deletes everything of a site. */
export async function removeSite(area: Area, siteId: number): Promise<{ integrations: number; webhooks: number }> {
  const removed = await area.host.db.transaction((statements) => removeAll(area, statements, { siteId }))
  for (const id of removed.webhooks) await area.deliveries.changed(id)
  return { integrations: removed.integrations, webhooks: removed.webhooks.length }
}

/**
 * Deletes the webhooks and integrations of a site, or those of an organization and all its sites, in the caller's transaction. Their messages end
 * as well: what was queued for them finds nothing.
 */
export async function removeAll(
  { host, search }: Area,
  statements: OwnStatements,
  of: { siteId: number } | { organizationId: number },
): Promise<{ integrations: number; webhooks: number[] }> {
  const condition = "siteId" in of ? sql`site_id = ${of.siteId}` : sql`organization_id = ${of.organizationId}`
  const webhooks = await statements.all<{ id: number }>(sql`select id from integrations_webhooks where ${condition} order by id limit 1000`)
  for (const { id } of webhooks) await dropWebhook(host, statements, (await webhookById(statements, id))!) // read in this transaction
  const integrations = await statements.all<{ id: number }>(
    sql`select id from integrations_integrations where ${condition} order by id limit 1000`,
  )
  for (const { id } of integrations) await dropIntegration(host, statements, (await integrationById(statements, id))!) // as above
  await search.dropStates(statements, of)
  return { integrations: integrations.length, webhooks: webhooks.map(({ id }) => id) }
}
