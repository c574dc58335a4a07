import type { PluginPages } from "#plugin/ui"

/** Revenue: an entry in the rail of a site, its pages loaded when one is opened. */
export default {
  id: "revenue",
  areas: [
    {
      path: "/revenue",
      permission: "revenue:read",
      group: "behaviour",
      label: "Revenue",
      icon: "revenue",
      load: async () => ({ default: (await import("./pages.ts")).pages }),
    },
  ],
} satisfies PluginPages
