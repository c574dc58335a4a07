import { FOLD_START, foldRecords, type Site, type TallyGroup } from "#plugin"
import type { Cache } from "./cache.ts"
import type { Orphans } from "./orphans.ts"
import { LIMITS, type Pixel, type PixelsHost } from "./pixel.ts"
import { type Added, addOpens, foldPosition, putFoldPosition } from "./rows.ts"

/** The job that brings the counters up to the opens. */
export const FOLD_JOB = "fold-opens"

/** After so long an open is on the disk, or lost. */
const ON_ITS_WAY_MS = 10_000

export interface Folds {
  /** Something of the site was recorded, or somebody unknown came: the counters follow soon. */
  soon(siteId?: number): void
  /** Of the sites where something was recorded since the last time; at the first time in this process of all that have pixels. */
  run(signal?: AbortSignal): Promise<void>
}

/**
 * Brings lifetime counters up to what is recorded. Each open is in them once: the position up to which they are counted is
 * stored with them. They only ever grow, whatever retention takes of the opens.
 */
export function createFolds(host: PixelsHost, { cache, orphans }: { cache: Cache; orphans: Orphans }): Folds {
  /** Undefined: what an earlier process has left behind is not known yet. */
  let due: Set<number> | undefined
  /** When a site had its last open. */
  const waiting = new Map<number, number>()
  let isPlanned = false

  async function plan(): Promise<void> {
    try {
      await host.jobs.enqueue(FOLD_JOB, { runAt: host.now() + LIMITS.foldMs, join: true })
    } catch (error) {
      isPlanned = false
      host.log.warn("counters of pixels follow later", { error })
    }
  }

  /** Whether anything was found. */
  async function foldSite(site: Site): Promise<boolean> {
    const since = (await foldPosition(host.db, site.id)) ?? FOLD_START
    const { groups, position } = await foldRecords(host.engine, { site, kind: "opens", since, now: host.now(), by: ["pixel_id", "via"] })
    const sums = sumsOf(groups)
    await host.db.transaction(
      async (statements) => {
        const present = (await foldPosition(statements, site.id)) ?? FOLD_START
        // Another one was quicker: what it has counted must not be counted again.
        if (present.sequence !== since.sequence) return []
        const changed: Pixel[] = []
        for (const [id, added] of sums) {
          const pixel = await addOpens(statements, id, added, position.sequence)
          if (pixel) changed.push(pixel)
        }
        await putFoldPosition(statements, site.id, position)
        return changed
      },
      (changed) => {
        for (const pixel of changed) cache.put(pixel)
      },
    )
    return sums.size > 0
  }

  function soon(siteId?: number): void {
    if (siteId !== undefined) waiting.set(siteId, host.now())
    if (isPlanned) return
    isPlanned = true
    void plan()
  }

  return {
    soon,
    async run(signal) {
      isPlanned = false
      const begun = host.now()
      await orphans.flush()
      await cache.ready()
      due ??= new Set(cache.siteIds())
      const late = new Set<number>()
      for (const [id, at] of waiting) {
        due.add(id)
        if (Math.abs(begun - at) < ON_ITS_WAY_MS) late.add(id)
      }
      waiting.clear()
      for (const id of due) {
        if (signal?.aborted) return
        const site = host.services.sites.directory.byId(id)
        const found = site !== undefined && (await foldSite(site))
        due.delete(id)
        // What was on its way to the disk just now is found the next time.
        if (found || late.has(id)) soon(id)
      }
    },
  }
}

/** By pixel. Programs are in no total. */
function sumsOf(groups: readonly TallyGroup[]): Map<number, Added> {
  const sums = new Map<number, Added>()
  for (const { values, count, lastAt } of groups) {
    const [id, via] = values
    const sum = sums.get(Number(id)) ?? { total: 0, direct: 0, lastAt: 0 }
    sums.set(Number(id), sum)
    if (via === "bot") continue
    sum.total += count
    if (via === "direct") sum.direct += count
    sum.lastAt = Math.max(sum.lastAt, lastAt)
  }
  return sums
}
