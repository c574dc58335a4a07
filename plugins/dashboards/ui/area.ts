import type { PluginPages } from "#plugin/ui"

/** Tiles of different sizes, as an SVG path. */
const ICON = "M2.5 2.5h6v4h-6zM11 2.5h2.5v4H11zM2.5 9H5v4.5H2.5zM7.5 9h6v4.5h-6z"

/** Saved dashboards: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "dashboards",
  areas: [
    {
      path: "/dashboards",
      permission: "dashboards:read",
      group: "tools",
      label: "Dashboards",
      icon: { path: ICON },
      load: () => import("./pages.ts"),
    },
  ],
} satisfies PluginPages
