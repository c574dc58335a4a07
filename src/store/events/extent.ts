import { laneOf, type SegmentKind } from "./bytes/lanes.ts"
import { appliedMigrations } from "./database.ts"
import { translated } from "./fault.ts"
import type { Journal } from "./journal.ts"

/** How much the store holds, and from when to when. */
export interface Extent {
  /** Epoch ms of the site's first native visit, or record of an area, imports left out; undefined without any. */
  firstAt(siteId: number, kind?: SegmentKind): number | undefined
  /** Epoch ms of the site's youngest event of its own, imports left out; undefined without any. */
  lastAt(siteId: number): number | undefined
  /** Whether the site has events from a host (without `www.`), or from one below it: `*.shop.example`. */
  hasEventsFrom(siteId: number, host: string): boolean
  /** Epoch ms at which the visit that waits longest for its columnar segment was last heard of; undefined when all is sealed. */
  oldestUnsealedAt(): number | undefined
  /** Names of the migrations it has, columnar segments in use, and events that are in none yet. */
  facts(): { schema: string[]; segments: number; hotRows: number }
}

export function extentOf(journal: Journal): Extent {
  const { db } = journal
  const siteTail = (siteId: number, kind: SegmentKind = "visits") => journal.memory.tails.find(laneOf(siteId, kind))
  return {
    firstAt(siteId, kind = "visits") {
      const sql = `select min(min_start) as start from segments
        where site_id = ? and kind = ? and import_id = 0 and retired_at is null`
      const sealed = translated(() => db.query<{ start: number | null }, [number, string]>(sql).get(siteId, kind)?.start)
      const first = Math.min(sealed ?? Number.POSITIVE_INFINITY, siteTail(siteId, kind)?.minStart ?? Number.POSITIVE_INFINITY)
      return first === Number.POSITIVE_INFINITY ? undefined : first
    },
    lastAt(siteId) {
      const sql = `select max(max_at) as at from segments where site_id = ? and kind = 'visits' and import_id = 0 and retired_at is null`
      const sealed = translated(() => db.query<{ at: number | null }, [number]>(sql).get(siteId)?.at)
      const last = Math.max(sealed ?? 0, siteTail(siteId)?.maxAt ?? 0)
      return last === 0 ? undefined : last
    },
    hasEventsFrom(siteId, host) {
      const hostnames = translated(() => journal.memory.interner.texts(siteId, "hostname"))
      if (!host.startsWith("*.")) return hostnames.has(host)
      const ending = host.slice(1)
      return hostnames.keys().some((hostname) => hostname.endsWith(ending))
    },
    oldestUnsealedAt: () => journal.memory.tails.oldestArrival(),
    facts: () =>
      translated(() => ({
        schema: appliedMigrations(db).map(({ name }) => name),
        segments: db.query<{ n: number }, []>("select count(*) as n from segments where retired_at is null").get()!.n,
        hotRows: [...journal.memory.tails.all()].reduce((sum, tail) => sum + tail.events, 0),
      })),
  }
}
