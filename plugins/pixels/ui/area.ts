import type { PluginPages } from "#plugin/ui"

/** A square within a square, as an SVG path. */
const ICON = "M2.5 2.5h11v11h-11zM6.5 6.5h3v3h-3z"

/** Tracking pixels in the dashboard: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "pixels",
  areas: [
    {
      path: "/pixels",
      permission: "pixels:read",
      group: "tools",
      label: "Pixels",
      icon: { path: ICON },
      load: () => import("./pages.ts"),
    },
  ],
} satisfies PluginPages
