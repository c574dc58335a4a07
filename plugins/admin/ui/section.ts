import type { PluginPages } from "#plugin/ui"

/** The admin console as a section of the dashboard, loaded when it is opened. */
export default {
  id: "admin",
  section: { path: "/admin", title: "Admin console", permission: "instance_admin", load: () => import("./pages.ts") },
} satisfies PluginPages
