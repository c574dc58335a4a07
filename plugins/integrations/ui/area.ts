import type { PluginPages } from "#plugin/ui"

/** An envelope, as an SVG path. */
const EMAIL = "M2 3.5h12v9H2zM2.5 4.5 8 8.5l5.5-4"

/**
 * Search queries, email reports and integrations: entries in the rail of a site, their pages loaded when one is opened. Every member can
 * read the queries, and subscribe to reports.
 */
export default {
  id: "integrations",
  areas: [
    {
      path: "/search-queries",
      permission: "site:read",
      group: "traffic",
      label: "Search queries",
      icon: "search",
      load: () => import("./search/pages.ts"),
    },
    {
      path: "/email-reports",
      permission: "site:read",
      group: "tools",
      label: "Email reports",
      icon: { path: EMAIL },
      load: () => import("./reports/pages.ts"),
    },
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
