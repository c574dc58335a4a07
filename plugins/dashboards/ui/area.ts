import type { PluginPages } from "#plugin/ui"

/** Tiles of different sizes, as an SVG path. */
const ICON = "M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z"

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
