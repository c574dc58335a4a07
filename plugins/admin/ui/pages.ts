/** The pages of the admin console below `/admin`. Their paths are also listed in `pages` of `../admin.ts` for the server. */
import { SECTION_ICONS, type SectionPage } from "#plugin/ui"

/** Icons of the rail, as SVG paths. */
const DISPUTES = { path: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.5 1.5A3 3 0 0 1 3 8.5L4.5 7" }
const STORAGE = { path: "M2.5 2.5h11v11h-11zM6.5 6.5h3v3h-3z" }
const SITES = { path: "M2.5 2.5h5v6h-5zM9.5 2.5h4v3.5h-4zM9.5 8h4v5.5h-4zM2.5 10.5h5v3h-5z" }

type Entry = NonNullable<SectionPage["rail"]>

const page = (path: string, load: SectionPage["load"], rail?: Entry): SectionPage => ({ path, load, ...(rail && { rail }) })
const [OPERATIONS, PEOPLE, DATA, INSTANCE] = ["Operations", "People", "Data", "Instance"] as const

export default [
  page("", () => import("./system/overview.tsx"), { heading: OPERATIONS, label: "Overview", icon: "overview" }),
  page("/ingestion", () => import("./system/ingestion.tsx"), { heading: OPERATIONS, label: "Ingestion", icon: "realtime" }),
  page("/jobs", () => import("./jobs/jobs.tsx"), { heading: OPERATIONS, label: "Jobs", icon: SECTION_ICONS.stack }),
  page("/jobs/:job", () => import("./jobs/job.tsx")),
  page("/schedules", () => import("./jobs/schedules.tsx"), { heading: OPERATIONS, label: "Schedules", icon: "calendar" }),
  page("/questions", () => import("./system/slow-queries.tsx"), { heading: OPERATIONS, label: "Slow queries", icon: SECTION_ICONS.clock }),
  page("/logs", () => import("./system/logs.tsx"), { heading: OPERATIONS, label: "Logs", icon: SECTION_ICONS.lines }),
  page("/users", () => import("./users/users.tsx"), { heading: PEOPLE, label: "Users", icon: "user" }),
  page("/users/:user", () => import("./users/user.tsx")),
  page("/organizations", () => import("./organizations/organizations.tsx"), { heading: PEOPLE, label: "Organizations", icon: "people" }),
  page("/organizations/:organization", () => import("./organizations/organization.tsx")),
  page("/invitations", () => import("./organizations/invitations.tsx"), {
    heading: PEOPLE,
    label: "Invitations",
    icon: SECTION_ICONS.mail,
  }),
  page("/keys", () => import("./organizations/keys.tsx"), { heading: PEOPLE, label: "API keys", icon: "key" }),
  page("/sessions", () => import("./users/sessions.tsx"), { heading: PEOPLE, label: "Sessions", icon: "lock" }),
  page("/sites", () => import("./sites/sites.tsx"), { heading: DATA, label: "Sites", icon: SITES }),
  page("/host-disputes", () => import("./sites/host-disputes.tsx"), { heading: DATA, label: "Host disputes", icon: DISPUTES }),
  page("/storage", () => import("./system/storage.tsx"), { heading: DATA, label: "Storage", icon: STORAGE }),
  page("/retention", () => import("./settings/retention.tsx"), { heading: DATA, label: "Retention", icon: "retention" }),
  page("/backups", () => import("./backups/backups.tsx"), { heading: DATA, label: "Backups", icon: SECTION_ICONS.archive }),
  page("/audit", () => import("./system/audit.tsx"), { heading: INSTANCE, label: "Audit", icon: SECTION_ICONS.history }),
  page("/settings", () => import("./settings/settings.tsx"), { heading: INSTANCE, label: "Settings", icon: "settings" }),
  page("/settings/:group", () => import("./settings/settings.tsx")),
  page("/plugins", () => import("./system/plugins.tsx"), { heading: INSTANCE, label: "Plugins", icon: "integrations" }),
  page("/maintenance", () => import("./system/maintenance.tsx"), { heading: INSTANCE, label: "Maintenance", icon: "warning" }),
] satisfies SectionPage[]
