/** What all nodes have recorded, for questions that are answered without waiting: it is read from ClickHouse before they are asked. */
import { type Clickhouse, withStoreFault } from "../../store/clickhouse/client.ts"
import { hasEventsFrom, kindsOf, spanOf } from "../../store/clickhouse/contents.ts"
import type { EventStore } from "../../store/events/events.ts"

/** A host that a site claims. */
export interface ClaimedHost {
  siteId: number
  /** Without `www.`, or such as `*.shop.example`. */
  host: string
}

export interface ExtentOfNodes {
  /** Reads since when sites have data, as far as the store does not know it: that of a new folder, or of a site of another node. */
  findSpans(siteIds: readonly number[]): Promise<void>
  /** Reads which sites have events from hosts that several organizations claim, as far as the store has none. */
  findHosts(disputed: readonly ClaimedHost[]): Promise<void>
  /** Returns the time of a site's latest event on all nodes. */
  lastAt(siteId: number): Promise<number | undefined>
}

/** Creates the questions, and the part of the store that knows their answers. */
export function extentOfNodes(events: EventStore, clickhouse: Clickhouse): ExtentOfNodes & { known: Pick<EventStore, "hasEventsFrom"> } {
  let hosts: ReadonlySet<string> = new Set()
  const keyOf = (siteId: number, host: string) => `${siteId} ${host}`
  return {
    known: { hasEventsFrom: (siteId, host) => events.hasEventsFrom(siteId, host) || hosts.has(keyOf(siteId, host)) },
    async findSpans(siteIds) {
      for (const { siteId, kind } of await kindsOf(
        clickhouse,
        siteIds.filter((id) => !events.hasDroppedSpan(id, "visits")),
      )) {
        if (events.hasDroppedSpan(siteId, kind)) continue
        const span = await spanOf(clickhouse, siteId, kind)
        if (span && !events.hasDroppedSpan(siteId, kind)) events.setDroppedSpan(siteId, kind, span)
      }
    },
    async findHosts(disputed) {
      const found = new Set<string>()
      for (const { siteId, host } of disputed)
        if (!events.hasEventsFrom(siteId, host) && (await hasEventsFrom(clickhouse, siteId, host))) found.add(keyOf(siteId, host))
      hosts = found
    },
    async lastAt(siteId) {
      const span = await withStoreFault(spanOf(clickhouse, siteId, "visits"))
      const last = Math.max(span?.lastAt ?? 0, events.lastAt(siteId) ?? 0)
      return last === 0 ? undefined : last
    },
  }
}
