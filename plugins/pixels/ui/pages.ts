/** Pages below `/pixels` of a site. Their paths are also listed in `pages` of `../pixels.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./pixels.tsx") },
  { path: "/:pixel", load: () => import("./pixel.tsx"), ranged: true },
] satisfies SitePage[]
