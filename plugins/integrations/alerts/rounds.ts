import { caseKey, instantText, mapConcurrent, type OwnStatements, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { plain } from "../text.ts"
import { type Alert, firesOf, LIMITS, minutesText } from "./alert.ts"
import type { Evaluation, Finding } from "./evaluation.ts"
import { ALERT_EVENTS, EVENT_OF, RESOLVED } from "./events.ts"
import { alertById, listEnabled, noteFired, noteResolved, pausedSites } from "./rows.ts"

/** Rounds over all alerts. */
export interface Rounds {
  /** Evaluates the alerts that it is time for: spikes each time, all others every five minutes. For the job of each minute. */
  run(signal: AbortSignal): Promise<void>
}

/** Sites that are evaluated at the same time: while one is queried, the other is prepared. */
const AT_ONCE = 2
/** The job of a minute can begin some seconds earlier than the one before. */
const SLACK_MS = 30_000

export function createRounds(host: IntegrationsHost, evaluation: Evaluation): Rounds {
  const { db, now } = host
  /** Time of the last round over all alerts. */
  let lastWhole: number | undefined

  async function evaluate(siteId: number, alerts: readonly Alert[], signal: AbortSignal): Promise<void> {
    const site = host.services.sites.directory.byId(siteId)
    if (!site || now() - site.created_at < LIMITS.youngMs) return
    for (const [alert, finding] of await evaluation.of(site, alerts, signal)) {
      const isFiring = alert.firing_since !== null
      if (finding.holds && !isFiring && firesOf(alert, now()) < LIMITS.firesPerDay) await fire(site, alert, finding)
      if (!finding.holds && isFiring) await resolve(site, alert, finding)
    }
  }

  async function fire(site: Site, alert: Alert, finding: Finding): Promise<void> {
    const addresses = alert.channels.flatMap((channel) => (channel.type === "email" ? [channel.address] : []))
    const members = addresses.length > 0 ? await host.services.access.holders(site.organization_id, "site:read", site.id) : []
    const recipients = addresses.filter((address) => members.some((member) => caseKey(member) === caseKey(address)))
    const at = now()
    await db.transaction(async (statements) => {
      if (!(await isUnchanged(statements, alert))) return
      await noteFired(statements, alert.id, at)
      const summary = summaryOf(host, alert, finding)
      await publish(statements, site, { ...alert, firing_since: at }, finding, { event: EVENT_OF[alert.type], summary })
      for (const to of recipients) await host.mail.post(statements, { to, ...alertEmail(host, site, alert, summary) })
    })
  }

  async function resolve(site: Site, alert: Alert, finding: Finding): Promise<void> {
    await db.transaction(async (statements) => {
      if (!(await isUnchanged(statements, alert))) return
      await noteResolved(statements, alert.id)
      const summary = `The alert has ended. ${summaryOf(host, alert, finding)}`
      await publish(statements, site, alert, finding, { event: RESOLVED, summary })
    })
  }

  /** Whether no one has changed an alert since it was read. Otherwise the next round evaluates it as it is then. */
  async function isUnchanged(statements: OwnStatements, alert: Alert): Promise<boolean> {
    const present = await alertById(statements, alert.id)
    return present?.version === alert.version && present.firing_since === alert.firing_since
  }

  const publish = (
    statements: OwnStatements,
    site: Site,
    { id, type, threshold, window_minutes, goal_id, firing_since }: Alert,
    { value, usual }: Finding,
    { event, summary }: { event: string; summary: string },
  ): Promise<void> =>
    host.outbox.write(statements, {
      event,
      organizationId: site.organization_id,
      siteId: site.id,
      payload: {
        ...{ alert_id: id, type, summary, value, threshold, usual: usual ?? null, window_minutes, goal_id },
        since: instantText(firing_since ?? now()),
      },
    })

  return {
    async run(signal) {
      if (host.services.maintenance.current().enabled) return
      const at = now()
      // A clock that was set back must not delay the next round.
      const isWhole = lastWhole === undefined || Math.abs(at - lastWhole) >= LIMITS.slowMs - SLACK_MS
      if (isWhole) lastWhole = at
      const paused = await pausedSites(db, at)
      for (let after = 0; !signal.aborted; ) {
        const alerts = await listEnabled(db, after, !isWhole)
        if (alerts.length === 0) return
        const bySite = [...Map.groupBy(alerts, ({ site_id }) => site_id)].filter(([siteId]) => !paused.has(siteId))
        await mapConcurrent(bySite, AT_ONCE, async ([siteId, own]) => {
          if (signal.aborted) return
          await evaluate(siteId, own, signal).catch((error) =>
            host.log.warn("the alerts of a site could not be evaluated; the next round does it", { site: siteId, error }),
          )
        })
        after = alerts.at(-1)!.site_id // it is not empty
      }
    },
  }
}

/** Says in one sentence what an alert found. */
export function summaryOf(host: IntegrationsHost, alert: Alert, { value, usual }: Finding): string {
  const { type, threshold, factor, goal_id, site_id } = alert
  const inWindow = `in the last ${minutesText(alert.window_minutes ?? 0)}`
  const count = (one: string, several = `${one}s`) => `${value} ${value === 1 ? one : several}`
  switch (type) {
    case "spike": {
      const compared = usual === undefined ? "" : `, and ${factor} times the usual ${Math.round(usual * 10) / 10}`
      return `${count("current visitor")}. The threshold is ${threshold}${compared}.`
    }
    case "drop":
      return `${count("visitor")} ${inWindow}. The threshold is ${threshold}.`
    case "no_data":
      return value === 0 ? "Events are arriving again." : `The last event arrived ${count("minute")} ago.`
    case "goal": {
      const name = host.services.goals.rules(site_id).find(({ id }) => id === goal_id)?.name ?? ""
      return `${count("conversion")} of ${plain(name)} ${inWindow}. The threshold is ${threshold}.`
    }
    case "not_found":
      return `${count("visit to a missing page", "visits to missing pages")} ${inWindow}. The threshold is ${threshold}.`
  }
}

/** Writes the email of an alert. */
export function alertEmail(host: IntegrationsHost, site: Site, { type }: Pick<Alert, "type">, summary: string) {
  const { title } = ALERT_EVENTS[EVENT_OF[type]]
  return {
    subject: `${title}: ${plain(site.name)}`,
    text: [
      summary,
      `Open the dashboard:\n${host.baseUrl()}/sites/${site.id}`,
      "You receive this email because you are a recipient of this alert. An alert fires at most twice in 24 hours.",
    ].join("\n\n"),
  }
}
