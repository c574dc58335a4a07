/** Pages below `/pixels` of a site. The server knows their addresses by `pages` of `../pixels.ts`. */
import type { SitePage } from "#plugin/ui"

export default [
  { path: "", load: () => import("./pixels.tsx") },
  { path: "/:pixel", load: () => import("./pixel.tsx"), ranged: true },
] satisfies SitePage[]
