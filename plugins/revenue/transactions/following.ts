/** When sales are folded, followed and announced: soon after they arrive, and every few minutes for visits that were still open. */
import { type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import type { Attribution } from "./attribution.ts"
import type { Folding } from "./folding.ts"
import { eventOf, type Unannounced } from "./product-events.ts"

export const FOLD_JOB = "fold-sales"
const DELAY_MS = 1_000
/** Events that one transaction of the catalog publishes. Incoming events wait for it. */
const EVENTS_PER_TRANSACTION = 250

interface FollowingParts {
  folding: Folding
  attribution: Attribution
}

export function createFollowing(host: RevenueHost, { folding, attribution }: FollowingParts) {
  const { jobs, log, now, outbox, rows, services, sales } = host
  const waiting = new Set<number>()
  let plannedFor = 0
  /** Whether the sites were added to `waiting` that a process before this one has left unfinished. */
  let hasResumed = false

  /** Lets a job fold the sales of a site soon. */
  function soon(siteId: number): void {
    waiting.add(siteId)
    if (now() < plannedFor) return
    plannedFor = now() + DELAY_MS
    jobs.enqueue(FOLD_JOB, { runAt: plannedFor, join: true }).catch((error) => log.warn("sales will be folded later", { error }))
  }
  sales.onNew(soon)

  async function foldSite(site: Site, signal: AbortSignal): Promise<void> {
    await folding.fold(site, signal)
    await attribution.attributeNew(site, signal)
    await announce(site, signal)
  }

  /** Publishes an event for each new transaction. After an interruption, some are published again. */
  async function announce(site: Site, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = await rows.write(({ all }) =>
        all<Unannounced>(sql`select id, type, order_id, amount_minor, currency, parent_id from revenue_transactions
          where site_id = ${site.id} and is_announced = 0 order by id limit ${EVENTS_PER_TRANSACTION}`),
      )
      if (found.length === 0) return
      await host.db.transaction((statements) => outbox.write(statements, ...found.map((transaction) => eventOf(site, transaction))))
      const ids = JSON.stringify(found.map(({ id }) => id))
      rows.append(({ run }) => {
        run(sql`update revenue_transactions set is_announced = 1 where id in (select value from json_each(${ids}))`)
      })
      await Bun.sleep(0)
    }
  }

  return {
    soon,

    /** Folds the sales of the sites that have new ones. */
    async run(signal: AbortSignal): Promise<void> {
      plannedFor = 0
      if (!hasResumed) for (const { id } of await services.allSites()) waiting.add(id)
      hasResumed = true
      const ids = [...waiting]
      waiting.clear()
      for (const id of ids) {
        const site = services.sites.directory.byId(id)
        if (!site || signal.aborted) continue
        await foldSite(site, signal).catch((error) => {
          waiting.add(id)
          throw error
        })
      }
    },

    /** Folds what was missed, and follows the visits that were open. */
    async catchUp(signal: AbortSignal): Promise<void> {
      for (const site of await services.allSites()) {
        if (signal.aborted) return
        if (await folding.hasNew(site.id)) soon(site.id)
        await foldSite(site, signal)
        await attribution.followOpen(site, signal)
      }
    },

    /** Folds and attributes everything of a site that waits. */
    settle: async (site: Site): Promise<void> => {
      await folding.fold(site)
      await attribution.attributeNew(site, new AbortController().signal)
    },
  }
}
export type Following = ReturnType<typeof createFollowing>
