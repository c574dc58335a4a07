import type { Clock } from "../domain/clock.ts"
import type { Engine } from "../query/engine.ts"
import type { NamesOptions } from "./code-names.ts"
import { createDrops, type Drops } from "./drops.ts"
import type { Exports } from "./exports.ts"
import { createGoalTrials, type GoalTrials } from "./goal-trials.ts"
import { createInsights, type Insights } from "./insights.ts"
import type { Instance } from "./instance.ts"
import type { Live } from "./live.ts"
import { createRetentionPreviews, type RetentionPreviews } from "./retention-preview.ts"
import type { Random } from "./secrets.ts"
import { createSettingsOfSites, type SettingsOfSites } from "./settings-of-sites.ts"
import { createShareVisits, type ShareVisits } from "./share-visits.ts"
import type { Shares } from "./shares.ts"
import { createSiteErasures, type SiteErasures } from "./site-erasures.ts"
import { createSiteMoves, type SiteMoves } from "./site-moves.ts"
import { createSiteOverview, type SiteOverview } from "./site-overview.ts"
import { createSitePins, type SitePins } from "./site-pins.ts"
import { createSiteShields } from "./site-shields.ts"
import type { Stats } from "./stats.ts"
import type { AreaFile } from "./takeout.ts"
import { createTakeouts, type Takeouts } from "./takeouts.ts"

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
  const { passwords } = options.accounts
  const insights = createInsights(options)
  const takeouts = createTakeouts(options)
  options.segments.askAlso(options.shares.usesOfSegment)
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
