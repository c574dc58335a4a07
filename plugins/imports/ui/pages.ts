/** Pages below `/imports` of a site. Their paths are also listed in `pages` of `../imports.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./imports.tsx") },
  { path: "/new", load: () => import("./new-import.tsx") },
  { path: "/:import", load: () => import("./import.tsx") },
] satisfies SitePage[]
