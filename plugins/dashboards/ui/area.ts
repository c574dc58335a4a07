import type { PluginPages } from "#plugin/ui"

/** Four tiles, as an SVG path. */
const ICON = "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z"

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
