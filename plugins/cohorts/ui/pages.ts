/** Pages of the area. Their paths are also listed in `pages` of `../cohorts.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export const retentionPages = [{ path: "", load: () => import("./retention.tsx") }] satisfies SitePage[]
export const cohortPages = [
  { path: "", load: () => import("./cohorts.tsx") },
  { path: "/:cohort", load: () => import("./cohort.tsx") },
] satisfies SitePage[]
export const powerUserPages = [
  { path: "", load: () => import("./power-users.tsx") },
  { path: "/:person", load: () => import("./person.tsx") },
] satisfies SitePage[]
