/** Pages of the report on searches. Their paths are also listed in `pages` of `../../integrations.ts` for the server. */
import type { SitePage } from "#plugin/ui"

export default [{ path: "", load: () => import("./search-queries.tsx"), ranged: "period" }] satisfies SitePage[]
