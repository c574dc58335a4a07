/** When sales are folded, followed and announced: soon after they arrive, and every few minutes for visits that were still open. */
import { type Site, type Sql, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { createInTurn } from "../in-turn.ts"
import type { Attribution } from "./attribution.ts"
import type { Folding } from "./folding.ts"
import { EVENT_NAMES, eventOf, type Unannounced } from "./product-events.ts"
import { letOthersPass, type Writing } from "./writing.ts"

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
  const inTurn = createInTurn()
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
    await inTurn(site.id, () => announce(site, signal))
  }

  /**
   * Publishes an event for each new transaction, unless no consumer wants it: the catalog keeps events for weeks. After an interruption, some
   * are published again.
   */
  async function announce(site: Site, signal: AbortSignal): Promise<void> {
    const wanted = new Set<string>()
    for (const event of EVENT_NAMES)
      if (await outbox.isWanted({ event, organizationId: site.organization_id, siteId: site.id })) wanted.add(event)
    if (wanted.size === 0) return markAllAnnounced(site)
    for (let more = true; more && !signal.aborted; ) {
      const found: Unannounced[] = []
      for (more = true; more && found.length < ANNOUNCED.atOnce; await letOthersPass()) {
        const step = await unannounced(site, found.at(-1)?.id)
        found.push(...step)
        more = step.length === ANNOUNCED.step
      }
      if (found.length === 0) return
      await rows.sync() // so that no event names a transaction that a power cut takes back
      await host.db.transaction(async (statements) => {
        for (let at = 0; at < found.length; at += ANNOUNCED.step, await letOthersPass())
          await outbox.write(statements, ...eventsOf(site, found.slice(at, at + ANNOUNCED.step), wanted))
      })
      await markAnnounced(site, found.at(-1)!.id)
    }
  }

  /** Reads the next transactions after one, or after the last announced one. */
  const unannounced = (site: Site, after: number | undefined): Promise<Unannounced[]> =>
    rows.append(({ all, get }) => {
      const announced = sql`select announced_id as id from revenue_cursor where site_id = ${site.id}`
      return all(sql`select id, type, order_id, amount_minor, currency, parent_id from revenue_transactions
        where site_id = ${site.id} and is_announced = 0 and id > ${after ?? get<{ id: number }>(announced)?.id ?? 0}
        order by id limit ${ANNOUNCED.step}`)
    })

  const markAnnounced = (site: Site, id: number): Promise<void> => rows.append(({ run }) => run(moveAnnounced(site, sql`${id}`)))

  const markAllAnnounced = (site: Site): Promise<void> =>
    rows.append(({ run }) => run(moveAnnounced(site, sql`(select coalesce(max(id), 0) from revenue_transactions)`)))

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

const eventsOf = (site: Site, transactions: readonly Unannounced[], wanted: ReadonlySet<string>) =>
  transactions.map((each) => eventOf(site, each)).filter(({ event }) => wanted.has(event))

/** Moves the position of a site up to which product events were published. */
const moveAnnounced = ({ id }: Site, to: Sql): Sql =>
  sql`insert into revenue_cursor (site_id, position, announced_id) values (${id}, 0, ${to})
    on conflict (site_id) do update set announced_id = max(announced_id, excluded.announced_id)`
