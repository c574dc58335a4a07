import { FOLD_START, type FoldPosition, foldRecords, type OwnStatements, type TallyGroup } from "#plugin"
import type { Cache } from "./cache.ts"
import type { Link, LinksHost, Site } from "./link.ts"
import { clickPosition, type Folded, foldClicks, linksAhead, putClickPosition } from "./rows.ts"

/**
 * Adds clicks to the lifetime counters of their links, each once: a link remembers up to which record its counters go, in the
 * transaction that counts them, and the site up to which all of its links do. A crash between them neither loses nor doubles one.
 */
export interface Fold {
  /** The site has clicks that are not folded yet. */
  touch(siteId: number): void
  site(siteId: number): Promise<void>
  /** Of sites that were touched, and, once in the life of a process, of all. */
  all(signal?: AbortSignal): Promise<void>
  /** Clicks may be left that were on their way to the disk when it was looked. */
  isBehind(): boolean
}

/** After so long a click is on the disk, or lost. */
const ON_ITS_WAY_MS = 10_000

const LINKS_AT_ONCE = 200

export function createFold({ db, engine, services, now, log }: LinksHost, cache: Cache): Fold {
  /** When a site had its last click. */
  const touched = new Map<number, number>()
  let isFirst = true
  let turn: Promise<unknown> = Promise.resolve()

  const clicks = async (site: Site, since: FoldPosition, upTo?: number) => {
    const bounds = upTo === undefined ? { since } : { since, upTo }
    const { groups, position } = await foldRecords(engine, { site, kind: "clicks", ...bounds, now: now(), by: ["link_id", "human", "qr"] })
    return { sums: sumsOf(groups), position }
  }

  async function site(siteId: number): Promise<void> {
    const found = services.sites.directory.byId(siteId)
    if (!found) return
    const since = (await clickPosition(db, siteId)) ?? FOLD_START
    const ahead = await linksAhead(db, siteId, since.sequence)
    const { sums, position } = await clicks(found, since)
    if (position.sequence === since.sequence) return
    for (const [counted, links] of Map.groupBy(ahead, ({ counted_to }) => counted_to)) {
      const rest = await clicks(found, { ...since, sequence: counted }, position.sequence)
      for (const { id } of links) {
        const sum = rest.sums.get(id)
        if (sum) sums.set(id, sum)
        else sums.delete(id)
      }
    }
    const links = [...sums.values()]
    for (let from = 0; from < links.length; from += LINKS_AT_ONCE) await write(links.slice(from, from + LINKS_AT_ONCE), position.sequence)
    await putClickPosition(db, siteId, position)
  }

  const write = (links: readonly Folded[], to: number): Promise<unknown> =>
    db.transaction(
      async (statements: OwnStatements) => {
        const changed: { link: Link; human: number }[] = []
        for (const each of links) {
          const link = await foldClicks(statements, each, to)
          if (link) changed.push({ link, human: each.human })
        }
        return changed
      },
      (changed) => {
        for (const { link, human } of changed) {
          if (link.deleted_at === null) cache.put(link)
          const kept = cache.byId(link.id)
          if (kept) kept.since.human = Math.max(0, kept.since.human - human)
        }
      },
    )

  /** One after the other: two would look at the same clicks. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  return {
    touch: (siteId) => void touched.set(siteId, now()),
    site: (siteId) => inTurn(() => site(siteId)),
    all: (signal) =>
      inTurn(async () => {
        const begun = now()
        if (isFirst) for (const { link } of cache.all()) if (!touched.has(link.site_id)) touched.set(link.site_id, 0)
        isFirst = false
        for (const siteId of [...touched.keys()]) {
          if (signal?.aborted) return
          try {
            await site(siteId)
            if (Math.abs(begun - touched.get(siteId)!) >= ON_ITS_WAY_MS) touched.delete(siteId) // only this turn takes it away
          } catch (error) {
            log.warn("clicks were not added up; the next run does it", { site: siteId, error })
          }
        }
      }),
    isBehind: () => touched.size > 0,
  }
}

/** By link. */
function sumsOf(groups: readonly TallyGroup[]): Map<number, Folded> {
  const sums = new Map<number, Folded>()
  for (const { values, count, lastAt } of groups) {
    const [link, human, qr] = values
    const id = Number(link)
    const sum = sums.get(id) ?? { id, human: 0, bot: 0, qr: 0, lastAt: 0 }
    if (human === "1") sum.human += count
    else sum.bot += count
    if (qr === "1") sum.qr += count
    sum.lastAt = Math.max(sum.lastAt, lastAt)
    sums.set(id, sum)
  }
  return sums
}
