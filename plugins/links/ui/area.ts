import type { PluginPages } from "#plugin/ui"

/** Two links of a chain, as an SVG path. */
const ICON = "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.5 1.5A3 3 0 0 1 3 8.5L4.5 7"

/** Short links in the dashboard: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "links",
  areas: [
    {
      path: "/links",
      permission: "links:read",
      group: "tools",
      label: "Links",
      icon: { path: ICON },
      load: () => import("./pages.ts"),
    },
  ],
} satisfies PluginPages
