/**
 * Events that their sender has sent to two nodes, because the first one did not answer. The second one looks for those that state an age, and
 * the first one, after a crash, for what it had not shipped.
 */
import type { Clock } from "../../domain/clock.ts"
import type { Shipping as BufferShipping } from "../../ingest/commit/buffer.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
import { type Clickhouse, ClickhouseFault } from "../../store/clickhouse/client.ts"
import { hideVisits } from "../../store/clickhouse/erase.ts"
import { idsOfOthers, numberOf } from "../../store/clickhouse/event-ids.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { FormerVisit } from "../../store/events/upkeep/withdrawing.ts"
import type { LiveNodes } from "../runtime/nodes.ts"

interface RepeatsOptions {
  store: Pick<EventStore, "unknownEventId" | "unconfirmedIds" | "withdraw">
  clickhouse: Clickhouse
  nodes: Pick<LiveNodes, "own" | "hasOthers">
  clock: Pick<Clock, "now">
  /** Called when ClickHouse cannot be asked. */
  onFault(cause: unknown): void
}

/** Setting with the key of the hashes. */
const SETTING = "event_id_key"
/** Pause after ClickHouse did not answer. */
const PAUSE_MS = 500

/** Gives all nodes the key of the first one for the hashes of event ids. */
export const shareEventIds = ({ store, catalog, now }: { store: EventStore; catalog: Catalog; now: number }): Promise<void> =>
  store.shareEventIds((own) =>
    catalog.transaction(async (statements) => {
      const known = await settingByKey(statements, SETTING)
      if (typeof known === "number") return known
      await putSetting(statements, { key: SETTING, value: own, updated_by: null, updated_at: now })
      return own
    }),
  )

export function createRepeats({ store, clickhouse, nodes, clock, onFault }: RepeatsOptions) {
  const elsewhere: BufferShipping["elsewhere"] = (candidates) => {
    if (!nodes.hasOthers()) return undefined
    const now = clock.now()
    const asked = candidates.flatMap(({ siteId, id, event }, place) => {
      const hash = id !== "" && event.at < now ? store.unknownEventId(siteId, id, now) : undefined
      return hash ? [{ place, hash }] : []
    })
    if (asked.length === 0) return undefined
    const hashes = asked.map(({ hash }) => hash)
    return idsOfOthers(clickhouse, nodes.own, hashes).then(
      (known) => new Set(asked.filter(({ hash }) => known.has(numberOf(hash))).map(({ place }) => place)),
      (cause) => {
        // An event that may be counted twice is better than one that is lost.
        onFault(cause)
        return new Set()
      },
    )
  }

  /** Takes back what this node has not shipped and another one has. Resolves when that is certain, before anything is shipped. */
  async function withdraw(): Promise<void> {
    const former: FormerVisit[] = []
    for (; nodes.hasOthers(); await Bun.sleep(PAUSE_MS)) {
      try {
        const known = await idsOfOthers(clickhouse, nodes.own, store.unconfirmedIds())
        if (known.size > 0) former.push(...(await store.withdraw((id) => known.has(numberOf(id)))))
        // An insert of which this node knows no confirmation may have stored them.
        for (const [siteId, ofSite] of Map.groupBy(former, (visit) => visit.siteId))
          await hideVisits(clickhouse, siteId, { keys: ofSite.map(({ sequence }) => sequence) })
        return
      } catch (error) {
        onFault(error)
        // Shipping something twice is better than shipping nothing.
        if (!(error instanceof ClickhouseFault)) return
      }
    }
  }
  return { elsewhere, withdraw }
}
