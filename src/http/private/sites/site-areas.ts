import type { AnyElysia } from "elysia"
import type { PrivateRouter } from "../../../web/router.ts"
import { type ShareRoutesOptions, shareRoutes } from "../../share.ts"
import { createSessionWatch, type SessionWatchOptions } from "../session-watch.ts"
import { type LiveRoutesOptions, liveRoutes } from "../stats/live.ts"
import { overviewRoutes, type PrivateStatsOptions, privateStatsRoutes } from "../stats/stats.ts"
import { type VisitRoutesOptions, visitRoutes } from "../stats/visits.ts"
import {
  type AnnotationRoutesOptions,
  type FunnelRoutesOptions,
  type GoalRoutesOptions,
  privateAnnotationRoutes,
  privateFunnelRoutes,
  privateGoalRoutes,
  privateSegmentRoutes,
  type SegmentRoutesOptions,
} from "./definitions.ts"
import { type EraseRoutesOptions, eraseRoutes } from "./erase.ts"
import { type ExportRoutesOptions, privateExportRoutes } from "./exports.ts"
import { type HostProofRoutesOptions, hostProofRoutes } from "./host-proofs.ts"
import { type SharesRoutesOptions, sharesRoutes } from "./shares.ts"
import { type DropRoutesOptions, dropRoutes, type ShieldRoutesOptions, shieldRoutes } from "./shields.ts"
import { type SiteSettingsRoutesOptions, siteSettingsRoutes } from "./site-settings.ts"
import { type SitePinRoutesOptions, type SiteRoutesOptions, sitePinRoutes, siteRoutes } from "./sites.ts"
import { type TakeoutRoutesOptions, takeoutRoutes } from "./takeout.ts"

type Options = SiteRoutesOptions &
  SitePinRoutesOptions &
  SiteSettingsRoutesOptions &
  HostProofRoutesOptions &
  PrivateStatsOptions &
  VisitRoutesOptions &
  GoalRoutesOptions &
  FunnelRoutesOptions &
  SegmentRoutesOptions &
  AnnotationRoutesOptions &
  ShieldRoutesOptions &
  DropRoutesOptions &
  ExportRoutesOptions &
  EraseRoutesOptions &
  TakeoutRoutesOptions &
  LiveRoutesOptions &
  SharesRoutesOptions &
  ShareRoutesOptions

/** Options of the site routes: shared ones, and the services of the sites under one name. */
type Shared = Pick<Options, "create" | "audit" | "baseUrl" | "log" | "scriptUrl" | "firstAt" | "publicUrl">
export interface SiteAreasGroup extends Shared {
  now(): number
  authorize: ShareRoutesOptions["authorize"]
  networkOf: ShareRoutesOptions["networkOf"]
  addressOf: LiveRoutesOptions["addressOf"]
  siteAreas: Omit<Options, keyof Shared | "sessionWatch" | "authorize" | "networkOf" | "addressOf" | "now"> & SessionWatchOptions
}

/** Creates all routes below a site (areas/10). */
export const siteAreaRoutes = (router: PrivateRouter, { siteAreas, ...shared }: SiteAreasGroup): AnyElysia[] => {
  const sessionWatch = createSessionWatch(siteAreas)
  const options = { ...shared, ...siteAreas, sessionWatch }
  return [
    siteRoutes(router, options),
    sitePinRoutes(router, options),
    siteSettingsRoutes(router, options),
    hostProofRoutes(router, options),
    privateStatsRoutes(router, options),
    visitRoutes(router, options),
    overviewRoutes(router, options),
    ...privateGoalRoutes(router, options),
    privateFunnelRoutes(router, options),
    privateSegmentRoutes(router, options),
    privateAnnotationRoutes(router, options),
    shieldRoutes(router, options),
    dropRoutes(router, options),
    privateExportRoutes(router, options),
    eraseRoutes(router, options),
    takeoutRoutes(router, options),
    liveRoutes(router, options),
    sharesRoutes(router, options),
    shareRoutes(options),
  ]
}
