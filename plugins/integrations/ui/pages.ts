/** Pages of the area. Their paths are also listed in `pages` of `../integrations.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./overview/overview.tsx") },
  { path: "/connections/:integration", load: () => import("./overview/connection.tsx") },
  { path: "/webhooks", load: () => import("./webhooks/webhooks.tsx") },
  { path: "/webhooks/:webhook", load: () => import("./webhooks/webhook.tsx") },
  { path: "/alerts", load: () => import("./alerts/alerts.tsx") },
  { path: "/payments", load: () => import("./payments/payments.tsx") },
] satisfies SitePage[]
