import type { Clock } from "../../domain/clock.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { createSiteShields } from "../definitions/shields.ts"
import type { DataHooks } from "../erasure/data-hooks.ts"
import { createRetentionPreviews, type RetentionPreviews } from "../erasure/retention-preview.ts"
import { createSiteErasures, type SiteErasures } from "../erasure/site-erasures.ts"
import type { Exports } from "../export/export.ts"
import type { AreaFile } from "../export/takeout.ts"
import { createTakeouts, type Takeouts } from "../export/takeouts.ts"
import type { SavedSets } from "../people/visitor-sets.ts"
import type { Random } from "../secrets/secrets.ts"
import { createShareVisits, type ShareVisits } from "../sharing/share-visits.ts"
import type { Shares } from "../sharing/shares.ts"
import { type Configurations, createConfigurations } from "../sites/configuration.ts"
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
import { createVisits, type Visits } from "../stats/visits.ts"
import type { Instance } from "./instance.ts"

/** The services of the instance that are passed on unchanged. */
type InstanceServices = Pick<Instance, "sites" | "goals" | "funnels" | "segments" | "annotations" | "access" | "sessions" | "organizations">

/** The services of the site pages of the dashboard (areas/10). */
export interface SiteAreas extends InstanceServices {
  stats: Stats
  insights: Insights
  visits: Visits
  siteOverview: SiteOverview
  sitePins: SitePins
  siteMoves: SiteMoves
  settingsOfSites: SettingsOfSites
  retentionPreviews: RetentionPreviews
  goalTrials: GoalTrials
  siteShields: ReturnType<typeof createSiteShields>
  configurations: Configurations
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
  extends InstanceServices,
    NamesOptions,
    Pick<
      Instance,
      | "catalog"
      | "saved"
      | "shares"
      | "events"
      | "tallies"
      | "shipped"
      | "hasLateEvents"
      | "imports"
      | "siteKeys"
      | "cookieSecrets"
      | "accounts"
      | "jobs"
      | "exclusive"
      | "audit"
      | "schedules"
    > {
  engine: Engine
  hostClaims: HostClaims
  stats: Stats
  exports: Exports
  savedSets: SavedSets
  clock: Clock
  /** Whether the instance is served over HTTPS. */
  isSecure: boolean
  random: Random
  dataDir: string
  /** Created before ingestion, which reports events to it. */
  live: Live
  /** Files that areas add to the archive of a site. */
  areaFiles(): readonly AreaFile[]
  /** Data hooks of areas. */
  hooks: DataHooks
}

export function createSiteAreas(options: SiteAreasOptions): SiteAreas {
  const passwords = options.accounts.passwords.lowPriority
  const insights = createInsights(options)
  const takeouts = createTakeouts(options)
  options.segments.registerUses(options.shares.usesOfSegment)
  return {
    ...options,
    insights,
    visits: createVisits(options),
    siteOverview: createSiteOverview(options),
    sitePins: createSitePins(options),
    siteMoves: createSiteMoves(options),
    settingsOfSites: createSettingsOfSites(options),
    retentionPreviews: createRetentionPreviews(options),
    goalTrials: createGoalTrials(options),
    siteShields: createSiteShields(options.sites),
    configurations: createConfigurations(options),
    drops: createDrops(options),
    siteErasures: createSiteErasures({ ...options, takeouts }),
    takeouts,
    shareVisits: createShareVisits({ ...options, passwords, insights }),
  }
}
