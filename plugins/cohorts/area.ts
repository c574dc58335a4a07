import type { OwnStatements, SavedFilters, Site, Trash, VisitorSets } from "#plugin"
import type { Activity } from "./activity.ts"
import { type ReportCaller, todayOf } from "./caller.ts"
import type { Cohort, CohortsHost } from "./cohort.ts"
import type { CohortWrites } from "./cohort-writes.ts"
import type { Erasures } from "./erasures.ts"
import type { Evaluation } from "./evaluation.ts"
import type { Frozen } from "./frozen.ts"
import type { People } from "./people.ts"
import { brokenReferences, type Setting } from "./resolve.ts"
import { type CohortResponse, formatCohort, type RetentionResponse } from "./responses.ts"
import { type Computed, keepComputed, listCohorts } from "./rows.ts"
import { isSmall } from "./small-groups.ts"

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
      asOf: todayOf(site, host.now()),
      firstAt: people.firstAt(site),
    }
  }

/** Returns the cohort as someone sees it: without its size if that tells a small group. */
export function showCohort(cohort: Cohort, { least }: Pick<ReportCaller, "least">, setting: Setting): CohortResponse {
  const isBroken = cohort.kind === "dynamic" && brokenReferences(cohort.definition, setting).length > 0
  return formatCohort(cohort, { isBroken, hidesSize: hidesSize(cohort, least) })
}

/** Returns whether the size of a cohort must not be known to those who see groups from `least` people on. */
export const hidesSize = ({ size, least_difference }: Pick<Cohort, "size" | "least_difference">, least: number): boolean =>
  isSmall(size ?? 0, least) || isSmall(least_difference ?? 0, least)

/** How long a computed size decides whether a cohort may be a filter for those who may not see small groups. */
const SIZE_VALID_MS = 600_000

/** Returns the cohorts as sets that filters name. */
export const visitorSets = ({ host, settingOf, evaluation }: Pick<Area, "host" | "settingOf" | "evaluation">): VisitorSets => ({
  async find(site, id, { seesPeople, caller }) {
    const setting = await settingOf(site)
    const cohort = setting.cohorts.get(id)
    if (!cohort) return undefined
    if (cohort.kind === "dynamic" && brokenReferences(cohort.definition, setting).length > 0) return "broken"
    const { windows, set } = await evaluation.filterSet(site, cohort)
    return {
      windows,
      ...(cohort.restrict && { restrict: cohort.restrict }),
      async among(scope) {
        if (seesPeople) return set(scope)
        const isFresh = cohort.computed_at !== null && host.now() - cohort.computed_at < SIZE_VALID_MS
        const known = isFresh ? cohort : await refreshed({ host, evaluation }, site, cohort, caller.signal)
        return hidesSize(known, site.settings.min_group) ? "hidden" : set(scope)
      },
    }
  },
})

/** Computes a saved cohort, keeps the result and returns it. */
export async function refreshed(
  { host, evaluation }: Pick<Area, "host" | "evaluation">,
  site: Site,
  cohort: Cohort,
  signal?: AbortSignal,
): Promise<Computed> {
  const { tookMs, leastDifference, ...numbers } = await evaluation.compute(site, cohort, signal)
  const computed = { ...numbers, compute_ms: tookMs, least_difference: leastDifference }
  await keepComputed(host.db, cohort, computed, host.now())
  return computed
}

/** Returns the lookup of filters that a caller can name in reports of the area: segments that they see, and cohorts. */
export type SavedOf = (caller: ReportCaller) => Promise<SavedFilters>
