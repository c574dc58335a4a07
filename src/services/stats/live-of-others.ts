import type { Clock } from "../../domain/clock.ts"
import type { Clickhouse } from "../../store/clickhouse/client.ts"
import { type RecentEvent, recentOfOthers } from "../../store/clickhouse/recent.ts"
import { samplesOfOthers } from "../../store/clickhouse/tallies.ts"
import type { DropSample } from "../../store/events/writer.ts"
import type { LiveNodes } from "../runtime/nodes.ts"

/** What other nodes have recorded of a site since the last call. */
export interface OthersNews {
  events: RecentEvent[]
  dropped: DropSample[]
}

/** Creates the functions that return the news of a site, one for each time that watching it begins. */
export type FollowOthers = (siteId: number) => () => Promise<OthersNews>

interface FollowOptions {
  clickhouse: Clickhouse
  nodes: Pick<LiveNodes, "own" | "live">
  clock: Pick<Clock, "now">
}

/** Time after which an event of another node is not news any more. It is on ClickHouse within a second, unless the node spools. */
const NEWS_MS = 60_000
/** Limit of events and drops per call. Of more, the newest are returned. */
const MAX_NEWS = 200

export function followOthers({ clickhouse, nodes, clock }: FollowOptions): FollowOthers {
  return (siteId) => {
    const begun = clock.now()
    /** Times of what was returned, by what identifies it. */
    const returned = new Map<string, number>()
    const isNew = (key: string, at: number): boolean => !returned.has(key) && returned.set(key, at) !== undefined
    return async () => {
      if (nodes.live().length < 2) return { events: [], dropped: [] }
      const since = Math.max(begun, clock.now() - NEWS_MS)
      const events = await recentOfOthers(clickhouse, nodes.own, { siteId, since, limit: MAX_NEWS })
      const dropped = await samplesOfOthers(clickhouse, nodes.own, { siteId, since, limit: MAX_NEWS })
      for (const [key, at] of returned) if (at < since) returned.delete(key)
      const [eventKey, dropKey] = [numberedKeys(), numberedKeys()]
      return {
        events: events.filter((event) => isNew(eventKey(`event ${event.visit} ${event.at} ${event.name} ${event.page}`), event.at)),
        dropped: dropped
          .reverse()
          .filter((sample) => isNew(dropKey(`drop ${sample.at} ${sample.reason} ${sample.hostname} ${sample.page}`), sample.at)),
      }
    }
  }
}

/** Returns a function that numbers equal keys, because equal things can happen in the same millisecond. */
function numberedKeys(): (key: string) => string {
  const counts = new Map<string, number>()
  return (key) => {
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return `${key} ${count}`
  }
}
