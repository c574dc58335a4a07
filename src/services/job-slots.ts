import type { Catalog } from "../store/catalog/catalog.ts"
import { claimJobRun, deleteJobRunsBefore, finishJobRun, releaseJobRun, releaseUnfinishedJobRuns } from "../store/catalog/job-runs.ts"

/** Runs a job once for each moment it is due, whatever restarts and clocks do. */
export interface JobSlots {
  /** True when the job ran now; false when this slot was done before. A failure frees the slot and is thrown on. */
  once(name: string, slot: string, work: () => Promise<unknown>): Promise<boolean>
  /** What a crash cut off becomes due again. Before the first job. */
  recover(): Promise<void>
}

const KEPT_MS = 14 * 86_400_000

export function createJobSlots(catalog: Catalog, now: () => number): JobSlots {
  // Asked every minute for every site: what is known to be done needs no statement.
  const done = new Map<string, string>()
  return {
    async once(name, slot, work) {
      if (done.get(name) === slot) return false
      const claimed = await claimJobRun(catalog, { name, slot, at: now() })
      if (claimed) await carryOut(catalog, { name, slot }, work, now)
      done.set(name, slot)
      return claimed
    },
    async recover() {
      await releaseUnfinishedJobRuns(catalog)
      await deleteJobRunsBefore(catalog, now() - KEPT_MS)
    },
  }
}

async function carryOut(
  catalog: Catalog,
  run: { name: string; slot: string },
  work: () => Promise<unknown>,
  now: () => number,
): Promise<void> {
  try {
    await work()
    await finishJobRun(catalog, { ...run, at: now() })
  } catch (error) {
    await releaseJobRun(catalog, run)
    throw error
  }
}
