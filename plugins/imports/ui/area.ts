import type { PluginPages } from "#plugin/ui"

/** Imports in the dashboard: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "imports",
  areas: [
    {
      path: "/imports",
      permission: "imports:read",
      group: "tools",
      label: "Imports",
      icon: "imports",
      load: () => import("./pages.ts"),
    },
  ],
} satisfies PluginPages
