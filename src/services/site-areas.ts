import type { Clock } from "../domain/clock.ts"
import type { Engine } from "../query/engine.ts"
import { createGoalTrials, type GoalTrials } from "./goal-trials.ts"
import { createInsights, type Insights } from "./insights.ts"
import type { Instance } from "./instance.ts"
import { createRetentionPreviews, type RetentionPreviews } from "./retention-preview.ts"
import { createSettingsOfSites, type SettingsOfSites } from "./settings-of-sites.ts"
import { createSiteMoves, type SiteMoves } from "./site-moves.ts"
import { createSiteOverview, type SiteOverview } from "./site-overview.ts"
import { createSitePins, type SitePins } from "./site-pins.ts"
import type { Stats } from "./stats.ts"

/** What sites have been all along, for those who see and manage them. */
type Known = Pick<Instance, "sites" | "goals" | "funnels" | "segments" | "annotations" | "access" | "organizations">

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
}

interface SiteAreasOptions extends Known, Pick<Instance, "catalog" | "events" | "saved"> {
  engine: Engine
  stats: Stats
  clock: Clock
}

export const createSiteAreas = (options: SiteAreasOptions): SiteAreas => ({
  ...options,
  insights: createInsights(options),
  siteOverview: createSiteOverview(options),
  sitePins: createSitePins(options),
  siteMoves: createSiteMoves(options),
  settingsOfSites: createSettingsOfSites(options),
  retentionPreviews: createRetentionPreviews(options),
  goalTrials: createGoalTrials(options),
})
