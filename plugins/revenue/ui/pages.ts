/** Pages of the area. Their paths are also listed in `pages` of `../revenue.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export const pages = [
  { path: "", load: () => import("./report.tsx"), ranged: true },
  { path: "/transactions", load: () => import("./transactions.tsx") },
  { path: "/transactions/:transaction", load: () => import("./transaction.tsx") },
  { path: "/rates", load: () => import("./rates.tsx") },
  { path: "/settings", load: () => import("./settings.tsx") },
] satisfies SitePage[]
