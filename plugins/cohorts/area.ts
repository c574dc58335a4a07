import { type OwnStatements, revenueProperties, type Site, type Trash, type VisitorSets } from "#plugin"
import type { Activity } from "./activity.ts"
import { type ReportCaller, todayOf } from "./caller.ts"
import type { Cohort, CohortsHost } from "./cohort.ts"
import type { CohortWrites } from "./cohort-writes.ts"
import type { Erasures } from "./erasures.ts"
import { type Evaluation, looksAtRevenue } from "./evaluation.ts"
import type { Frozen } from "./frozen.ts"
import type { People } from "./people.ts"
import { brokenReferences, type Setting } from "./resolve.ts"
import { type CohortResponse, formatCohort, type RetentionResponse } from "./responses.ts"
import { listCohorts } from "./rows.ts"
import { hidesSize } from "./small-groups.ts"

/** The parts of the area, each of which has a file. */
export interface Area {
  host: CohortsHost
  trash: Trash<Cohort>
  writes: CohortWrites
  evaluation: Evaluation
  frozen: Frozen
  activity: Activity
  people: People
  erasures: Erasures
  retention(caller: ReportCaller, body: unknown): Promise<RetentionResponse>
  settingOf(site: Site, statements?: OwnStatements): Promise<Setting>
}

/** Returns what definitions of a site can refer to today. */
export const settings =
  (host: CohortsHost) =>
  async (site: Site, statements: OwnStatements = host.db): Promise<Setting> => {
    // A frozen cohort exists once all of its members are stored.
    const cohorts = (await listCohorts(statements, site.id)).filter(({ kind, computed_at }) => kind === "dynamic" || computed_at !== null)
    const { goals, funnels, segments, people } = host.services
    return {
      timezone: site.timezone,
      goals: goals.rules(site.id),
      funnels: funnels.all(site.id),
      cohorts: new Map(cohorts.map((cohort) => [cohort.id, cohort])),
      saved: segments.saved(site),
      revealing: revenueProperties(site),
      asOf: todayOf(site, host.now()),
      firstAt: people.firstAt(site),
    }
  }

/** Returns the cohort as someone sees it: without its size if that tells a small group, or revenue that they may not see. */
export function showCohort(
  cohort: Cohort,
  { least, seesRevenue }: Pick<ReportCaller, "least" | "seesRevenue">,
  setting: Setting,
): CohortResponse {
  const isBroken = cohort.kind === "dynamic" && brokenReferences(cohort.definition, setting).length > 0
  return formatCohort(cohort, {
    isBroken,
    hidesSize: hidesSize(cohort, least) || (!seesRevenue && looksAtRevenue(cohort.definition, setting)),
  })
}

/** Returns the cohorts as sets that filters name. */
export const visitorSets = ({ settingOf, evaluation }: Pick<Area, "settingOf" | "evaluation">): VisitorSets => ({
  async find(site, id, { seesPeople, seesRevenue, caller }) {
    const setting = await settingOf(site)
    const cohort = setting.cohorts.get(id)
    if (!cohort || (!seesRevenue && looksAtRevenue(cohort.definition, setting))) return undefined
    if (cohort.kind === "dynamic" && brokenReferences(cohort.definition, setting).length > 0) return "broken"
    const { windows, set } = await evaluation.filterSet(site, cohort)
    return {
      windows,
      ...(cohort.restrict && { restrict: cohort.restrict }),
      async among(scope) {
        if (seesPeople) return set(scope)
        const reader = { site, least: site.settings.min_group, ...(caller.signal && { signal: caller.signal }) }
        return (await evaluation.hidesCohort(reader, cohort)) ? "hidden" : set(scope)
      },
    }
  },
})
