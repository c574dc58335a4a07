/** The console of whoever runs the instance: its people, its state, its storage, and no data of visitors beyond counts and sizes. */
import { definePlugin } from "#plugin"
import { accessRoutes } from "./access.ts"
import { auditRoutes } from "./audit.ts"
import { backupRoutes } from "./backups.ts"
import { impersonationRoutes } from "./impersonation.ts"
import { jobRoutes } from "./jobs.ts"
import { organizationRoutes } from "./organizations.ts"
import { settingRoutes } from "./settings.ts"
import { siteRoutes } from "./sites.ts"
import { storageRoutes } from "./storage.ts"
import { systemRoutes } from "./system.ts"
import { userRoutes } from "./users.ts"

export default definePlugin({
  id: "admin",
  title: "Administration",
  paths: { instance: ["admin"] },
  setup: (host) => ({
    routes: [
      userRoutes(host),
      impersonationRoutes(host),
      organizationRoutes(host),
      siteRoutes(host),
      accessRoutes(host),
      auditRoutes(host),
      systemRoutes(host),
      settingRoutes(host),
      storageRoutes(host),
      jobRoutes(host),
      backupRoutes(host),
    ],
  }),
})
