/** Pages of reports, which every member of a site can open. Their paths are also listed in `pages` of `../../integrations.ts`. */
import type { SitePage } from "#plugin/ui"

export default [{ path: "", load: () => import("./reports.tsx") }] satisfies SitePage[]
