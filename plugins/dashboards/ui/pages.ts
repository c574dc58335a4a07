/** Pages below `/dashboards` of a site. Their paths are also listed in `pages` of `../dashboards.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./list/boards.tsx") },
  { path: "/all", load: () => import("./list/boards.tsx") },
  { path: "/:dashboard", load: () => import("./board/board.tsx"), ranged: true },
  { path: "/:dashboard/edit", load: () => import("./edit/edit.tsx") },
] satisfies SitePage[]
