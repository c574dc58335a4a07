import type { DataHooks, Removed } from "../services/erasure/data-hooks.ts"
import type { AreaFile } from "../services/export/takeout.ts"
import type { Contribution } from "./contract.ts"

/**
 * Combines the data hooks of all plugins, including disabled ones. Every hook runs even if another one fails. Throws all failures
 * at the end, so that the work is repeated.
 */
export function allHooks(contributions: readonly { id: string; contribution: Contribution }[]): DataHooks {
  async function each(name: string, call: (contribution: Contribution) => Promise<Removed> | undefined): Promise<Removed> {
    const removed: Record<string, number> = {}
    const errors: unknown[] = []
    for (const { id, contribution } of contributions) {
      try {
        for (const [what, count] of Object.entries((await call(contribution)) ?? {})) removed[`${id}_${what}`] = count
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `${name} failed for ${errors.length} plugin(s)`)
    return removed
  }
  return {
    onSiteDelete: (siteId) => each("onSiteDelete", ({ onSiteDelete }) => onSiteDelete?.(siteId)),
    onRetention: (siteId, cutoffDay) => each("onRetention", ({ onRetention }) => onRetention?.(siteId, cutoffDay)),
    async overdue(siteId, cutoffDay) {
      const counting = contributions.filter(({ contribution }) => contribution.countOverdue)
      return Promise.all(
        counting.map(async ({ id, contribution }) => {
          const counts = Object.values((await contribution.countOverdue?.(siteId, cutoffDay)) ?? {})
          return { id, rows: counts.reduce((sum, count) => sum + count, 0) }
        }),
      )
    },
    onPersonErase: (siteId, visitor) => each("onPersonErase", ({ onPersonErase }) => onPersonErase?.(siteId, visitor)),
  }
}

/** Returns the files that plugins add to the archive of a site. */
export const areaFilesOf = ({ id, contribution: { exporters = {} } }: { id: string; contribution: Contribution }): AreaFile[] =>
  Object.entries(exporters).map(([name, rows]) => ({ name: `${id}_${name}`, rows }))
