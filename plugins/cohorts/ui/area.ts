import type { PluginPages } from "#plugin/ui"

/** People of different sizes in front of a line, as an SVG path. */
const COHORTS_ICON = "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM2.5 13.5h11M4 11h8"

const shared = { permission: "cohorts:read", group: "behaviour" } as const

/** Retention, cohorts and power users: three entries in the rail of a site, their pages loaded when one is opened. */
export default {
  id: "cohorts",
  areas: [
    {
      ...shared,
      path: "/retention",
      label: "Retention",
      icon: "retention",
      load: async () => ({ default: (await import("./pages.ts")).retentionPages }),
    },
    {
      ...shared,
      path: "/cohorts",
      label: "Cohorts",
      icon: { path: COHORTS_ICON },
      load: async () => ({ default: (await import("./pages.ts")).cohortPages }),
    },
    {
      ...shared,
      path: "/power-users",
      label: "Power users",
      icon: "people",
      load: async () => ({ default: (await import("./pages.ts")).powerUserPages }),
    },
  ],
} satisfies PluginPages
