/**
 * Saved dashboards: boards of widgets that people compose from the reports of all plugins. A dashboard stores what is asked and no figures;
 * its data is computed for each viewer, with what that viewer may see.
 */
import { definePlugin } from "#plugin"
import { areaOf } from "./area.ts"
import type { DashboardsHost } from "./board.ts"
import { catalogueRoutes } from "./catalogue.ts"
import { fillDemo } from "./demo.ts"
import { ERRORS } from "./errors.ts"
import { createHandover } from "./handover.ts"
import createTables from "./migrations/0001_dashboards.sql" with { type: "text" }
import { dashboardRoutes } from "./routes.ts"
import { deleteSettingsOf } from "./rows.ts"
import { openShareRoutes } from "./shares/open-routes.ts"
import { shareRoutes } from "./shares/routes.ts"
import { catalogueWidgets } from "./widgets/widgets.ts"

export default definePlugin({
  id: "dashboards",
  title: "Dashboards",
  paths: { site: ["dashboards"], instance: ["dashboard-widgets"], open: ["share/d", "api/share/d"] },
  pages: [
    "/sites/:site/dashboards",
    "/sites/:site/dashboards/all",
    "/sites/:site/dashboards/:dashboard",
    "/sites/:site/dashboards/:dashboard/edit",
  ],
  permissions: { "dashboards:read": "viewer", "dashboards:write": "editor" },
  migrations: [{ name: "0001_dashboards", sql: createTables }],
  sealedSlugs: ["dashboards_shares"],
  errors: ERRORS,
  setup(host: DashboardsHost) {
    const area = areaOf(host)
    return {
      routes: [dashboardRoutes(area), catalogueRoutes(area), shareRoutes(area)],
      openRoutes: [openShareRoutes(area)],
      sharePages: [area.shares.pages],
      widgets: catalogueWidgets(),
      jobs: {
        "write-views": {
          interrupted: "fail",
          schedule: { cron: "* * * * *", hasWork: () => area.shares.hasViews() },
          run: () => area.shares.writeViews(),
        },
        "remove-deleted": {
          interrupted: "resume",
          schedule: { cron: "35 3 * * *" },
          run: ({ signal }) => area.trash.purge(signal),
        },
      },
      async onSiteDelete(siteId) {
        const dashboards = await area.trash.removeSite(siteId, () => {})
        await host.db.transaction((statements) => deleteSettingsOf(statements, siteId))
        return { dashboards }
      },
      ...createHandover(host),
      fillDemo: (demo) => fillDemo(area, demo),
      stop: () => area.shares.writeViews(),
    }
  },
})
