/** Alerting: what happens to the traffic of a site, as product events, emails and chat messages. */
import { type Contribution, isObject, type PublishedEvent, type Site, sql } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import type { Chat } from "../chat/chat.ts"
import { createAlerts } from "./alerts.ts"
import { createCompletions } from "./completions.ts"
import { createEvaluation } from "./evaluation.ts"
import { createRounds } from "./rounds.ts"
import { alertRoutes } from "./routes.ts"
import { alertById, deleteAlertsOf, deletePause, hasEnabled, listAlerts, putPause } from "./rows.ts"

type Parts = Required<
  Pick<Contribution, "routes" | "jobs" | "consumers" | "exporters" | "onSiteDelete" | "onSiteTransfer" | "onMemberLeave">
>

export function alertingOf(host: IntegrationsHost, chat: Chat): Parts {
  const rounds = createRounds(host, createEvaluation(host))
  const completions = createCompletions(host)
  const cron = "* * * * *"
  return {
    routes: [alertRoutes(host, createAlerts(host, chat))],
    jobs: {
      "check-alerts": {
        interrupted: "fail",
        schedule: { cron, hasWork: () => hasEnabled(host.db) },
        run: ({ signal }) => rounds.run(signal),
      },
      "count-goals": {
        interrupted: "fail",
        schedule: { cron, hasWork: completions.areWanted },
        run: ({ signal }) => completions.publish(signal),
      },
    },
    consumers: {
      "alert-chats": { events: ["traffic.*"], consume: (event) => sendToChats(host, chat, event) },
      "alert-imports": { events: ["import.*"], consume: (event) => pauseFor(host, event) },
    },
    exporters: { alerts: (site) => exportedAlerts(host, site) },
    onSiteDelete: (siteId) => host.db.transaction(async (statements) => ({ alerts: await deleteAlertsOf(statements, siteId) })),
    // The channels belong to the organization that the site leaves.
    onSiteTransfer: async (statements, { siteId }) => void (await deleteAlertsOf(statements, siteId)),
    onMemberLeave: (statements, { siteIds, userId, successor }) =>
      statements.run(sql`update integrations_alerts set created_by = ${successor}
        where created_by = ${userId} and site_id in (select value from json_each(${JSON.stringify(siteIds)}))`),
  }
}

/** Queues the messages to the chats that an alert names. Chats that receive the event anyway get one message. */
async function sendToChats(host: IntegrationsHost, chat: Chat, { id, payload }: PublishedEvent): Promise<void> {
  const alert = isObject(payload) ? await alertById(host.db, Number(payload.alert_id)) : undefined
  const chats = (alert?.channels ?? []).flatMap((channel) => (channel.type === "connection" ? [channel.integration_id] : []))
  if (chats.length === 0) return
  await host.db.transaction(async (statements) => {
    for (const integrationId of chats) await chat.enqueue(statements, integrationId, id)
  })
}

/** Lets the alerts of a site wait until the end of the present day if an import covers it. */
async function pauseFor(host: IntegrationsHost, { event, site_id, payload }: PublishedEvent): Promise<void> {
  const site = site_id === null ? undefined : host.services.sites.directory.byId(site_id)
  if (!site || !isObject(payload)) return
  const importId = Number(payload.import_id)
  if (event !== "import.completed" || typeof payload.date_end !== "string") return deletePause(host.db, site.id, importId)
  const today = Temporal.Instant.fromEpochMilliseconds(host.now()).toZonedDateTimeISO(site.timezone).toPlainDate()
  if (payload.date_end < today.toString()) return
  const until = today.add({ days: 1 }).toZonedDateTime(site.timezone).epochMilliseconds
  await putPause(host.db, { site_id: site.id, import_id: importId, until })
}

/** Returns the alerts of a site for its archive, without channels. Goals are named, because ids differ between instances. */
async function* exportedAlerts({ db, services }: IntegrationsHost, { id }: Site) {
  const goals = new Map(services.goals.rules(id).map((goal) => [goal.id, goal.name]))
  for (const { type, threshold, factor, window_minutes, goal_id, enabled } of await listAlerts(db, id))
    yield { type, threshold, factor, window_minutes, goal: goals.get(goal_id ?? 0) ?? null, enabled }
}
