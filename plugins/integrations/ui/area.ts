import type { PluginPages } from "#plugin/ui"

/** Integrations: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "integrations",
  areas: [
    {
      path: "/integrations",
      permission: "integrations:read",
      group: "tools",
      label: "Integrations",
      icon: "integrations",
      load: () => import("./pages.ts"),
    },
  ],
} satisfies PluginPages
