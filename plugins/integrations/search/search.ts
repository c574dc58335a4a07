/** Search engines: accounts and keys, the data that is fetched every day, and the report on it. */
import { type Contribution, type OwnStatements, sql } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import type { Kind } from "../kind.ts"
import type { Integrations } from "../lifecycle.ts"
import { listDue } from "../rows.ts"
import { bingKind } from "./bing.ts"
import { exportedDays } from "./exporter.ts"
import { createGoogleAccounts } from "./google.ts"
import { createMappings } from "./mapping.ts"
import { createSearchReport, type ReportCall } from "./report.ts"
import { googleRoutes, reportRoutes } from "./routes.ts"
import { dropStates } from "./states.ts"
import { deleteSlice } from "./storage.ts"
import { enqueueDue, runSync } from "./sync.ts"
import { widgetsOf } from "./widgets.ts"
import { SYNC } from "./work.ts"

export interface Search {
  kinds: readonly Kind[]
  report: ReportCall
  contribution(integrations: Integrations): Required<Pick<Contribution, "routes" | "jobs" | "widgets" | "exporters" | "onSiteDelete">>
  /** Deletes the open requests for access of a site or organization, in the caller's transaction. */
  dropStates(statements: OwnStatements, of: { siteId: number } | { organizationId: number }): Promise<void>
}

export function createSearch(host: IntegrationsHost): Search {
  const accounts = createGoogleAccounts(host)
  const mappings = createMappings(host)
  const report = createSearchReport(host)
  return {
    kinds: [...accounts.kinds, bingKind(host)],
    report,
    contribution: (integrations) => ({
      routes: [...googleRoutes(host, accounts, mappings, integrations), reportRoutes(host, report)],
      jobs: {
        [SYNC]: { interrupted: "resume", run: (work) => runSync(host, work) },
        "queue-searches": {
          interrupted: "resume",
          schedule: { cron: "*/5 * * * *", hasWork: async () => (await listDue(host.db, host.now())).length > 0 },
          run: () => enqueueDue(host),
        },
        "prune-states": {
          interrupted: "resume",
          schedule: { cron: "25 * * * *" },
          run: () => host.db.transaction((statements) => dropStates(host.secrets, statements, sql`expires_at <= ${host.now()}`)),
        },
      },
      widgets: widgetsOf(report),
      exporters: { search: (site) => exportedDays(host, site) },
      async onSiteDelete(siteId) {
        let total = 0
        for (let count = 1; count > 0; total += count, await Bun.sleep(0))
          count = await host.rows.write((rows) => deleteSlice(rows, siteId))
        return { search_data: total }
      },
    }),
    dropStates: (statements, of) =>
      dropStates(host.secrets, statements, "siteId" in of ? sql`site_id = ${of.siteId}` : sql`organization_id = ${of.organizationId}`),
  }
}
