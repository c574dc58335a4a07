import type { PluginPages } from "#plugin/ui"

/** Short links in the dashboard: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "links",
  area: { path: "/links", permission: "links:read", group: "tools", label: "Links", icon: "links", load: () => import("./pages.ts") },
} satisfies PluginPages
