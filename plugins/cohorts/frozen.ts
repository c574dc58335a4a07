import { AppError, type Site, sql } from "#plugin"
import { type Cohort, type CohortsHost, LIMITS } from "./cohort.ts"
import type { Evaluation } from "./evaluation.ts"
import { keepComputed } from "./rows.ts"

/** Members of frozen cohorts: pseudonyms of 8 bytes, in chunks in the event store. */
export function createFrozen(host: CohortsHost, evaluation: Evaluation) {
  const drop = (cohortId: number, from = 0): Promise<void> =>
    host.rows.write((rows) => rows.run(sql`delete from cohorts_members where cohort_id = ${cohortId} and chunk >= ${from}`))

  /**
   * Writes the people of a set as the members of a cohort and returns their number. Chunks are replaced one by one, and those that are left
   * over are removed at the end.
   */
  async function write(site: Site, source: Cohort, cohortId: number, signal?: AbortSignal): Promise<number> {
    const { windows, until, set } = await evaluation.filterSet(site, source)
    const range = { from: until - 1, to: until }
    const { scope } = await host.services.people.resolve({
      ...{ site, range, windows },
      ...(source.restrict && { restrict: source.restrict }),
    })
    const caller = { organizationId: site.organization_id, ...(signal && { signal }) }
    let size = 0
    let chunk = 0
    for (let after = -1; ; chunk++) {
      const batch = await host.engine.members({ site: scope.site, set: set(scope), after, limit: LIMITS.chunk }, caller)
      if (batch.count === 0) break
      size += batch.count
      after = batch.last
      await host.rows.write((rows) =>
        rows.run(
          sql`insert or replace into cohorts_members (cohort_id, chunk, visitors) values (${cohortId}, ${chunk}, ${batch.visitors})`,
        ),
      )
      if (size > LIMITS.frozen)
        throw new AppError("limit_reached", `A frozen cohort can have at most ${LIMITS.frozen.toLocaleString("en")} people.`, {
          limit: LIMITS.frozen,
          resource: "people",
        })
    }
    await drop(cohortId, chunk)
    return size
  }

  return {
    drop,

    /** Fills a new frozen cohort with the people of another one. Without all of its members it has no size and is no set. */
    async fill(site: Site, source: Cohort, target: Cohort, signal: AbortSignal): Promise<void> {
      const started = performance.now()
      const size = await write(site, source, target.id, signal)
      const { least_difference } = await evaluation.compute(site, source, signal)
      const computed = {
        size,
        pending: 0,
        coverage: source.coverage,
        compute_ms: Math.round(performance.now() - started),
        least_difference, // what the size of the source tells, that of the copy tells, too
      }
      await keepComputed(host.db, target, computed, host.now())
    },

    /** Removes the members of a frozen cohort who have no visit left, after an erasure or a retention run. */
    async repack(site: Site, cohort: Cohort, signal?: AbortSignal): Promise<void> {
      const size = await write(site, cohort, cohort.id, signal)
      await keepComputed(host.db, cohort, { ...cohort, size }, host.now())
    },
  }
}
export type Frozen = ReturnType<typeof createFrozen>
