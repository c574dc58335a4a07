/** Pages below `/links` of a site. The server knows their addresses by `pages` of `../links.ts`. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./links.tsx") },
  { path: "/:link", load: () => import("./link.tsx"), ranged: true },
] satisfies SitePage[]
