import type { AnyElysia } from "elysia"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type AnnotationRoutesOptions, privateAnnotationRoutes } from "./annotations.ts"
import { type FunnelRoutesOptions, privateFunnelRoutes } from "./funnels.ts"
import { type GoalRoutesOptions, privateGoalRoutes } from "./goals.ts"
import { privateSegmentRoutes, type SegmentRoutesOptions } from "./segments.ts"
import { type SiteSettingsRoutesOptions, siteSettingsRoutes } from "./site-settings.ts"
import { type SiteRoutesOptions, siteRoutes } from "./sites.ts"
import { overviewRoutes, type PrivateStatsOptions, privateStatsRoutes } from "./stats.ts"

type Options = SiteRoutesOptions &
  SiteSettingsRoutesOptions &
  PrivateStatsOptions &
  GoalRoutesOptions &
  FunnelRoutesOptions &
  SegmentRoutesOptions &
  AnnotationRoutesOptions

/** What is everybody's, and the services of this area under one name. */
type Shared = Pick<Options, "create" | "audit" | "baseUrl" | "log" | "scriptUrl" | "firstAt">
export interface SiteAreasGroup extends Shared {
  siteAreas: Omit<Options, keyof Shared>
}

/** Sites with their statistics and what people define on them (areas/10). */
export const siteAreaRoutes = (router: PrivateRouter, { siteAreas, ...shared }: SiteAreasGroup): AnyElysia[] => {
  const options = { ...shared, ...siteAreas }
  return [
    siteRoutes(router, options),
    siteSettingsRoutes(router, options),
    privateStatsRoutes(router, options),
    overviewRoutes(router, options),
    ...privateGoalRoutes(router, options),
    privateFunnelRoutes(router, options),
    privateSegmentRoutes(router, options),
    privateAnnotationRoutes(router, options),
  ]
}
