import type { Clock } from "../../domain/clock.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { createSiteShields } from "../definitions/shields.ts"
import { createRetentionPreviews, type RetentionPreviews } from "../erasure/retention-preview.ts"
import { createSiteErasures, type SiteErasures } from "../erasure/site-erasures.ts"
import type { Exports } from "../export/export.ts"
import type { AreaFile } from "../export/takeout.ts"
import { createTakeouts, type Takeouts } from "../export/takeouts.ts"
import type { Random } from "../secrets/secrets.ts"
import { createShareVisits, type ShareVisits } from "../sharing/share-visits.ts"
import type { Shares } from "../sharing/shares.ts"
import type { HostClaims } from "../sites/host-claims.ts"
import { createSettingsOfSites, type SettingsOfSites } from "../sites/site-settings.ts"
import { createSiteMoves, createSitePins, type SiteMoves, type SitePins } from "../sites/sites.ts"
import { createDrops, type Drops } from "../stats/drops.ts"
import { createGoalTrials, type GoalTrials } from "../stats/goal-trials.ts"
import { createInsights, type Insights } from "../stats/insights.ts"
import type { Live } from "../stats/live.ts"
import type { NamesOptions } from "../stats/open-report.ts"
import { createSiteOverview, type SiteOverview } from "../stats/site-overview.ts"
import type { Stats } from "../stats/stats.ts"
import type { Instance } from "./instance.ts"

/** What sites have been all along, for those who see and manage them. */
type Known = Pick<Instance, "sites" | "goals" | "funnels" | "segments" | "annotations" | "access" | "sessions" | "organizations">

/** What people see and manage of sites beside what programs do (areas/10). */
export interface SiteAreas extends Known {
  stats: Stats
  insights: Insights
  siteOverview: SiteOverview
  sitePins: SitePins
  siteMoves: SiteMoves
  settingsOfSites: SettingsOfSites
  retentionPreviews: RetentionPreviews
  goalTrials: GoalTrials
  siteShields: ReturnType<typeof createSiteShields>
  drops: Drops
  exports: Exports
  shares: Shares
  shareVisits: ShareVisits
  siteErasures: SiteErasures
  hostClaims: HostClaims
  takeouts: Takeouts
  live: Live
  isSecure: boolean
}

interface SiteAreasOptions
  extends Known,
    NamesOptions,
    Pick<
      Instance,
      "catalog" | "saved" | "shares" | "events" | "siteKeys" | "cookieSecrets" | "accounts" | "jobs" | "exclusive" | "audit" | "schedules"
    > {
  engine: Engine
  hostClaims: HostClaims
  stats: Stats
  exports: Exports
  clock: Clock
  /** Whether people reach the instance by https. */
  isSecure: boolean
  random: Random
  dataDir: string
  /** Made before ingestion, which tells it. */
  live: Live
  /** What areas add to the archive of a site. */
  areaFiles(): readonly AreaFile[]
}

export function createSiteAreas(options: SiteAreasOptions): SiteAreas {
  const passwords = options.accounts.passwords.lowPriority
  const insights = createInsights(options)
  const takeouts = createTakeouts(options)
  options.segments.registerUses(options.shares.usesOfSegment)
  return {
    ...options,
    insights,
    siteOverview: createSiteOverview(options),
    sitePins: createSitePins(options),
    siteMoves: createSiteMoves(options),
    settingsOfSites: createSettingsOfSites(options),
    retentionPreviews: createRetentionPreviews(options),
    goalTrials: createGoalTrials(options),
    siteShields: createSiteShields(options.sites),
    drops: createDrops(options),
    siteErasures: createSiteErasures({ ...options, takeouts }),
    takeouts,
    shareVisits: createShareVisits({ ...options, passwords, insights }),
  }
}
