/** When sales are folded, followed and announced: soon after they arrive, and every few minutes for visits that were still open. */
import { createExclusive, type OwnStatements, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import type { Attribution } from "./attribution.ts"
import type { Folding } from "./folding.ts"
import { EVENT_NAMES, eventOf, type Unannounced } from "./product-events.ts"
import type { Writing } from "./writing.ts"

export const FOLD_JOB = "fold-sales"
/** Time from a sale to the run that folds it, in ms. */
const DELAY = { min: 1_000, max: 10_000 }
/**
 * Pause after a run, in durations of the run. A run takes everything that waits, so with many sales, or with many visits to look through,
 * fewer and larger runs leave more of the processor to events.
 */
const PAUSE = 20
/** Events that one transaction of the catalog publishes, and those of a step of it, for which incoming events wait. */
const ANNOUNCED = { atOnce: 5_000, step: 250 }

interface FollowingParts {
  writing: Pick<Writing, "packLeft">
  folding: Folding
  attribution: Attribution
}

export function createFollowing(host: RevenueHost, { writing, folding, attribution }: FollowingParts) {
  const { jobs, log, now, outbox, rows, services, sales } = host
  /** So that two jobs do not announce the same transactions. */
  const announcing = createExclusive()
  const waiting = new Set<number>()
  let plannedFor = 0
  let isRunning = false
  /** End of the pause after the last run. */
  let restsUntil = 0
  /** Whether the sites were added to `waiting` that a process before this one has left unfinished. */
  let hasResumed = false

  /** Lets a job fold the sales of a site soon. */
  function soon(siteId: number): void {
    waiting.add(siteId)
    if (!isRunning && now() >= plannedFor) plan()
  }
  sales.onNew(soon)

  function plan(): void {
    plannedFor = Math.max(now() + DELAY.min, restsUntil)
    jobs.enqueue(FOLD_JOB, { runAt: plannedFor, join: true }).catch((error) => log.warn("sales will be folded later", { error }))
  }

  async function foldWaiting(signal: AbortSignal): Promise<void> {
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
  }

  async function foldSite(site: Site, signal: AbortSignal): Promise<void> {
    await writing.packLeft(site)
    await folding.fold(site, signal)
    await attribution.attributeNew(site, signal)
    await announcing.run(() => announce(signal))
  }

  /**
   * Publishes an event for each new transaction of all sites, unless no consumer wants it: the catalog keeps events for weeks. Nodes that do
   * so at the same time publish each once; the only process of a catalog may publish some again after an interruption.
   */
  async function announce(signal: AbortSignal): Promise<void> {
    const wanted = new Map<number, Wanted>()
    while (!signal.aborted) {
      const { range, siteIds } = await nextRange()
      if (range.from === range.to) return
      for (const id of siteIds) if (!wanted.has(id)) wanted.set(id, await wantedOf(id))
      const listened = siteIds.filter((id) => wanted.get(id)!.events.size > 0) // set above
      if (listened.length > 0) await publish(range, wanted, listened)
      await markAnnounced(range.to)
    }
  }

  /** Returns what consumers want of a site: nothing if it was deleted since. */
  async function wantedOf(siteId: number): Promise<Wanted> {
    const site = services.sites.directory.byId(siteId)
    const events = new Set<string>()
    if (!site) return { site, events }
    for (const event of EVENT_NAMES) if (await outbox.isWanted({ event, organizationId: site.organization_id, siteId })) events.add(event)
    return { site, events }
  }

  /** Returns the ids of the next transactions to announce, after `from`, and their sites. */
  const nextRange = (): Promise<{ range: IdRange; siteIds: number[] }> =>
    rows.append(({ all, get }) => {
      const ends = sql`select coalesce((select transaction_id from revenue_announced), 0) as announced,
        coalesce((select max(id) from revenue_transactions), 0) as last`
      const { announced: from, last } = get<{ announced: number; last: number }>(ends)! // it returns a row
      const to = Math.max(from, Math.min(last, from + ANNOUNCED.atOnce))
      const sites = sql`select distinct site_id from revenue_transactions not indexed where id > ${from} and id <= ${to} and is_announced = 0`
      return { range: { from, to }, siteIds: all<{ site_id: number }>(sites).map(({ site_id }) => site_id) }
    })

  async function publish({ from, to }: IdRange, wanted: ReadonlyMap<number, Wanted>, siteIds: readonly number[]): Promise<void> {
    const found: Unannounced[] = []
    for (let after = from, more = true; more; await rows.pause()) {
      const step = await unannounced({ from: after, to }, siteIds)
      found.push(...step)
      more = step.length === ANNOUNCED.step
      after = step.at(-1)?.id ?? to
    }
    const events = found.flatMap((each) => {
      const { site, events } = wanted.get(each.site_id)! // only sites are read of which it is known
      const event = site && eventOf(site, each)
      return event && events.has(event.event) ? [event] : []
    })
    await rows.sync() // so that no event names a transaction that a power cut takes back
    await host.db.transaction(async (statements) => {
      const last = rows.isShared ? await publishedTo(statements) : 0
      const left = events.filter(({ payload }) => payload.transaction_id > last)
      for (let at = 0; at < left.length; at += ANNOUNCED.step, await rows.pause())
        await outbox.write(statements, ...left.slice(at, at + ANNOUNCED.step))
      if (rows.isShared)
        await statements.run(sql`insert into revenue_published (id, transaction_id) values (1, ${to})
          on conflict (id) do update set transaction_id = max(transaction_id, excluded.transaction_id)`)
    })
  }

  /** Returns the last transaction that a node has published. */
  const publishedTo = async ({ get }: Pick<OwnStatements, "get">): Promise<number> =>
    (await get<{ transaction_id: number }>(sql`select transaction_id from revenue_published`))?.transaction_id ?? 0

  const unannounced = ({ from, to }: IdRange, siteIds: readonly number[]): Promise<Unannounced[]> =>
    rows.append(({ all }) =>
      all(sql`select id, site_id, type, order_id, amount_minor, currency, parent_id from revenue_transactions not indexed
        where id > ${from} and id <= ${to} and is_announced = 0 and site_id in (select value from json_each(${JSON.stringify(siteIds)}))
        order by id limit ${ANNOUNCED.step}`),
    )

  const markAnnounced = (id: number): Promise<void> =>
    rows.append(({ run }) =>
      run(sql`insert into revenue_announced (id, transaction_id) values (1, ${id})
        on conflict (id) do update set transaction_id = max(transaction_id, excluded.transaction_id)`),
    )

  return {
    soon,

    /** Folds the sales of the sites that have new ones. */
    async run(signal: AbortSignal): Promise<void> {
      plannedFor = 0
      isRunning = true
      const begun = now()
      try {
        await foldWaiting(signal)
      } finally {
        isRunning = false
        restsUntil = now() + Math.min(DELAY.max, PAUSE * (now() - begun))
      }
      if (waiting.size > 0) plan()
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

/** The product events of a site that consumers want. */
interface Wanted {
  site: Site | undefined
  events: ReadonlySet<string>
}

/** Ids of transactions after `from`, up to `to`. */
interface IdRange {
  from: number
  to: number
}
