/** The admin console: users, organizations, sites, system and storage of the instance. It shows no visitor data except counts and sizes. */
import { definePlugin } from "#plugin"
import { accessRoutes } from "./access.ts"
import { auditRoutes } from "./audit.ts"
import { backupRoutes, backupScheduleRoutes } from "./backups.ts"
import { jobRoutes } from "./jobs.ts"
import { memberRoutes, organizationRoutes } from "./organizations.ts"
import { settingRoutes } from "./settings.ts"
import { hostDisputeRoutes, siteRoutes } from "./sites.ts"
import { slowQueryRoutes, storageRoutes, systemRoutes, updateRoutes } from "./system.ts"
import { impersonationRoutes, userRoutes } from "./users.ts"

/** Pages below `/admin`, as listed in `ui/pages.ts`. */
const PAGES = [
  ...["", "/ingestion", "/jobs", "/jobs/:job", "/schedules", "/questions", "/logs"],
  ...["/users", "/users/:user", "/organizations", "/organizations/:organization", "/invitations", "/keys", "/sessions"],
  ...["/sites", "/host-disputes", "/storage", "/retention", "/backups"],
  ...["/audit", "/settings", "/settings/:group", "/plugins", "/maintenance"],
]

export default definePlugin({
  id: "admin",
  title: "Administration",
  paths: { instance: ["admin"] },
  pages: PAGES.map((page) => `/admin${page}`),
  setup: (host) => ({
    routes: [
      userRoutes(host),
      impersonationRoutes(host),
      organizationRoutes(host),
      memberRoutes(host),
      siteRoutes(host),
      hostDisputeRoutes(host),
      accessRoutes(host),
      auditRoutes(host),
      systemRoutes(host),
      slowQueryRoutes(host),
      settingRoutes(host),
      storageRoutes(host),
      jobRoutes(host),
      backupRoutes(host),
      backupScheduleRoutes(host),
      updateRoutes(host),
    ],
  }),
})
