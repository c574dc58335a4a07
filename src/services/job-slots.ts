import type { Clock } from "../domain/clock.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { claimSlot, finishJob } from "../store/catalog/jobs.ts"

/**
 * Upkeep that decides itself when it is due: once in each site's night, once a day or week. Each run is a row among the jobs;
 * whatever restarts and clocks do, of a slot one is done.
 */
export interface JobSlots {
  /** True when the work was done now; false when this slot was done before, or is under way. A failure frees the slot and is thrown on. */
  once(slot: Slot, work: () => Promise<unknown>): Promise<boolean>
}

interface Slot {
  /** As the job is called behind `core.`: `back-up`. */
  name: string
  /** A day, a week: what it is due for. */
  due: string
  siteId?: number
}

export function createJobSlots(catalog: Catalog, clock: Pick<Clock, "now">): JobSlots {
  // Asked every minute for every site: what is known to be done needs no statement.
  const done = new Map<string, string>()
  return {
    async once({ name, due, siteId }, work) {
      const key = siteId === undefined ? "" : String(siteId)
      const place = `${name} ${key}`
      if (done.get(place) === due) return false
      const now = clock.now()
      const row = { kind: `core.${name}`, key, slot: siteId === undefined ? due : `${due} of ${siteId}`, site_id: siteId ?? null }
      const rest = { organization_id: null, payload: {}, run_at: now, created_by: null, created_at: now }
      const job = await claimSlot(catalog, { ...row, ...rest }, { by: "upkeep", until: now, now })
      if (job) await carryOut(catalog, job.id, work, clock)
      done.set(place, due)
      return job !== undefined
    },
  }
}

async function carryOut(catalog: Catalog, id: number, work: () => Promise<unknown>, { now }: Pick<Clock, "now">): Promise<void> {
  try {
    await work()
    await finishJob(catalog, id, { state: "done", at: now() })
  } catch (error) {
    const failed = { code: "internal_error", message: "The cause is in the server's log." }
    await finishJob(catalog, id, { state: "failed", at: now(), error: failed })
    throw error
  }
}
