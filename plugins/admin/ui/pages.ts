/** The console's pages below `/admin`. The server knows their addresses by `pages` of `../admin.ts`. */
import type { SectionPage } from "#plugin/ui"

type Entry = NonNullable<SectionPage["rail"]>

const page = (path: string, load: SectionPage["load"], rail?: Entry): SectionPage => ({ path, load, ...(rail && { rail }) })
const [RUNNING, PEOPLE, DATA, INSTANCE] = ["Running", "People", "Data", "Instance"] as const

export default [
  page("", () => import("./overview.tsx"), { heading: RUNNING, label: "Overview", icon: "overview" }),
  page("/ingestion", () => import("./ingestion.tsx"), { heading: RUNNING, label: "Ingestion", icon: "realtime" }),
  page("/jobs", () => import("./jobs.tsx"), { heading: RUNNING, label: "Jobs", icon: "events" }),
  page("/jobs/:job", () => import("./job.tsx")),
  page("/schedules", () => import("./schedules.tsx"), { heading: RUNNING, label: "Schedules", icon: "calendar" }),
  page("/questions", () => import("./questions.tsx"), { heading: RUNNING, label: "Slow questions", icon: "pause" }),
  page("/logs", () => import("./logs.tsx"), { heading: RUNNING, label: "Logs", icon: "search" }),
  page("/users", () => import("./users.tsx"), { heading: PEOPLE, label: "Users", icon: "user" }),
  page("/users/:user", () => import("./user.tsx")),
  page("/organizations", () => import("./organizations.tsx"), { heading: PEOPLE, label: "Organizations", icon: "people" }),
  page("/organizations/:organization", () => import("./organization.tsx")),
  page("/invitations", () => import("./invitations.tsx"), { heading: PEOPLE, label: "Invitations", icon: "plus" }),
  page("/keys", () => import("./keys.tsx"), { heading: PEOPLE, label: "API keys", icon: "key" }),
  page("/sessions", () => import("./sessions.tsx"), { heading: PEOPLE, label: "Sessions", icon: "lock" }),
  page("/sites", () => import("./sites.tsx"), { heading: DATA, label: "Sites", icon: "dashboards" }),
  page("/storage", () => import("./storage.tsx"), { heading: DATA, label: "Storage", icon: "pixels" }),
  page("/retention", () => import("./retention.tsx"), { heading: DATA, label: "Retention", icon: "retention" }),
  page("/backups", () => import("./backups.tsx"), { heading: DATA, label: "Backups", icon: "download" }),
  page("/audit", () => import("./audit.tsx"), { heading: INSTANCE, label: "Audit", icon: "pencil" }),
  page("/settings", () => import("./settings.tsx"), { heading: INSTANCE, label: "Settings", icon: "settings" }),
  page("/settings/:group", () => import("./settings.tsx")),
  page("/plugins", () => import("./plugins.tsx"), { heading: INSTANCE, label: "Plugins", icon: "integrations" }),
  page("/maintenance", () => import("./maintenance.tsx"), { heading: INSTANCE, label: "Maintenance", icon: "warning" }),
] satisfies SectionPage[]
