/** Reporting: emails and chat messages about a whole period, their recipients, and the pages at which people unsubscribe. */
import { type Contribution, type MemberLeave, type OwnStatements, type Site, sql } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { plannedAgain } from "./calendar.ts"
import type { Report } from "./report.ts"
import { createReports, dropReport } from "./reports.ts"
import { reportRoutes } from "./routes.ts"
import { listReports, setNextAt } from "./rows.ts"
import { createSending } from "./sending.ts"
import { unsubscribeRoutes } from "./unsubscribing.ts"

type Parts = Required<
  Pick<
    Contribution,
    "routes" | "openRoutes" | "jobs" | "consumers" | "exporters" | "onSiteDelete" | "onSiteTransfer" | "onMemberLeave" | "onEmailOutcome"
  >
>

export function reportingOf(host: IntegrationsHost): Parts {
  const sending = createSending(host)
  return {
    routes: [reportRoutes(host, createReports(host, sending))],
    openRoutes: [unsubscribeRoutes(host)],
    jobs: {
      // All hours of all time zones begin at a quarter of an hour.
      "send-reports": {
        interrupted: "resume",
        schedule: { cron: "*/15 * * * *" },
        attempts: 4,
        run: ({ signal }) => sending.sendDue(signal),
      },
    },
    consumers: {
      "report-times": { events: ["site.updated"], consume: ({ site_id }) => planAgain(host, site_id) },
    },
    exporters: { reports: (site) => exportedReports(host, site) },
    async onSiteDelete(siteId) {
      const reports = await listReports(host.db, siteId)
      for (const report of reports) await host.db.transaction((statements) => dropReport(host, statements, report))
      return { reports: reports.length }
    },
    // The people who receive the reports belong to the organization that the site leaves.
    onSiteTransfer: async (statements, { siteId }) => {
      for (const report of await listReports(statements, siteId)) await dropReport(host, statements, report)
    },
    onMemberLeave: (statements, leave) => handOver(host, statements, leave),
    onEmailOutcome: (statements, { key, outcome }) => sending.outcome(statements, key, outcome),
  }
}

/** Plans the reports of a site again, whose time zone may have changed. What is due now stays due. */
async function planAgain(host: IntegrationsHost, siteId: number | null): Promise<void> {
  const site = siteId === null ? undefined : host.services.sites.directory.byId(siteId)
  if (!site) return
  const now = host.now()
  for (const report of await listReports(host.db, site.id))
    if (report.next_at > now) await setNextAt(host.db, report.id, plannedAgain(report, site.timezone, now))
}

/** Deletes the own subscriptions of a member who leaves, and hands over the reports that they created for others. */
async function handOver(host: IntegrationsHost, statements: OwnStatements, { siteIds, userId, successor }: MemberLeave): Promise<void> {
  const inSites = sql`site_id in (select value from json_each(${JSON.stringify(siteIds)}))`
  const own = await statements.all<Pick<Report, "id">>(
    sql`select id from integrations_reports where user_id = ${userId} and ${inSites} order by id limit 1000`,
  )
  for (const report of own) await dropReport(host, statements, report)
  await statements.run(sql`update integrations_reports set created_by = ${successor} where created_by = ${userId} and ${inSites}`)
}

/** Returns the reports of a site for its archive, without recipients. */
async function* exportedReports({ db }: IntegrationsHost, site: Site) {
  for (const { kind, channel, hour, sections, enabled } of await listReports(db, site.id)) yield { kind, channel, hour, sections, enabled }
}
