import type { PluginPages } from "#plugin/ui"

/** Tracking pixels in the dashboard: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "pixels",
  area: { path: "/pixels", permission: "pixels:read", group: "tools", label: "Pixels", icon: "pixels", load: () => import("./pages.ts") },
} satisfies PluginPages
