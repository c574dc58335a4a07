/** Pages below `/links` of a site. Their paths are also listed in `pages` of `../links.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./links.tsx") },
  { path: "/:link", load: () => import("./link.tsx"), ranged: true },
] satisfies SitePage[]
