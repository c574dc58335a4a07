import { laneOf, type SegmentKind } from "./bytes/lanes.ts"
import { appliedMigrations } from "./database.ts"
import { hasTextEnding, numberOf } from "./dictionary/texts.ts"
import { translateErrors } from "./fault.ts"
import type { Journal } from "./journal.ts"
import { droppedSpan } from "./spool/dropped.ts"
import { openSegments } from "./upkeep/segments.ts"

/** Amount and time span of the stored data. Times are epoch milliseconds, and undefined when there is no data. */
export interface Extent {
  /** Returns the start of the site's first visit, or of the first record of an area. Hidden imports do not count. */
  firstAt(siteId: number, kind?: SegmentKind): number | undefined
  /** Yields the starts of the site's visits, or of those of one import, segment by segment. A second engine yields them rounded down to 15 minutes. */
  visitStarts(siteId: number, importId?: number): Iterable<Float64Array> | AsyncIterable<Float64Array>
  /** Returns the time of the site's latest event. Imports do not count. */
  lastAt(siteId: number): number | undefined
  /** Returns whether the site has events from a host (without `www.`), or from any subdomain if it is written as `*.shop.example`. */
  hasEventsFrom(siteId: number, host: string): boolean
  /** Returns the last arrival of the visit that has been waiting longest to be sealed, or undefined when everything is sealed. */
  oldestUnsealedAt(): number | undefined
  /** Returns the names of the applied migrations, the number of columnar segments in use, and the number of events in the tail. */
  facts(): { schema: string[]; segments: number; hotRows: number }
}

export function extentOf(journal: Journal): Extent {
  const { db } = journal
  const siteTail = (siteId: number, kind: SegmentKind = "visits") => journal.memory.tails.find(laneOf(siteId, kind))
  return {
    firstAt(siteId, kind = "visits") {
      const sql = `select min(min_start) as start from segments
        where site_id = ? and kind = ? and import_id = 0 and retired_at is null`
      const sealed = translateErrors(() => db.query<{ start: number | null }, [number, string]>(sql).get(siteId, kind)?.start)
      const dropped = translateErrors(() => droppedSpan(db, siteId, kind)?.firstAt)
      // That of an empty tail is infinite.
      const first = Math.min(...[sealed, dropped, siteTail(siteId, kind)?.minStart].map((start) => start ?? Number.POSITIVE_INFINITY))
      return first === Number.POSITIVE_INFINITY ? undefined : first
    },
    *visitStarts(siteId, importId = 0) {
      for (const { part, kind } of translateErrors(() => [...openSegments(db, siteId)]))
        if (kind === "visits" && part.importId === importId) yield translateErrors(() => part.starts())
      const tail = importId === 0 ? siteTail(siteId) : undefined
      if (tail) yield tail.starts()
    },
    lastAt(siteId) {
      const sql = `select max(max_at) as at from segments where site_id = ? and kind = 'visits' and import_id = 0 and retired_at is null`
      const sealed = translateErrors(() => db.query<{ at: number | null }, [number]>(sql).get(siteId)?.at)
      const dropped = translateErrors(() => droppedSpan(db, siteId, "visits")?.lastAt)
      const last = Math.max(sealed ?? 0, dropped ?? 0, siteTail(siteId)?.maxAt ?? 0)
      return last === 0 ? undefined : last
    },
    hasEventsFrom(siteId, host) {
      if (host.startsWith("*.")) return translateErrors(() => hasTextEnding(db, siteId, "hostname", host.slice(1)))
      return translateErrors(() => numberOf(db, siteId, "hostname", host) !== undefined)
    },
    oldestUnsealedAt: () => journal.memory.tails.oldestArrival(),
    facts: () =>
      translateErrors(() => ({
        schema: appliedMigrations(db).map(({ name }) => name),
        segments: db.query<{ n: number }, []>("select count(*) as n from segments where retired_at is null").get()!.n,
        hotRows: [...journal.memory.tails.all()].reduce((sum, tail) => sum + tail.events, 0),
      })),
  }
}
