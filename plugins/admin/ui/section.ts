import type { PluginPages } from "#plugin/ui"

/** The console in the dashboard: one section, loaded when it is opened. */
export default {
  id: "admin",
  section: { path: "/admin", title: "Admin console", permission: "instance_admin", load: () => import("./pages.ts") },
} satisfies PluginPages
