import type { Clock } from "../../domain/clock.ts"
import { pseudonyms } from "../../query/show/pseudonyms.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Part } from "../../store/events/part.ts"
import type { Takeouts } from "../export/takeouts.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { Exclusive } from "../runtime/tasks.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import type { DataHooks, Removed } from "./data-hooks.ts"

/**
 * Erases the data of a site or of one visitor from both stores and from all areas. Imported totals name no visitor. An interrupted
 * erasure can be repeated.
 */
export interface Erasure {
  /** Erases all data of a site. */
  site(siteId: number): Promise<Removed>
  /** Erases a visitor, given by pseudonym. `visits` is the number of erased visits. */
  person(siteId: number, visitor: string): Promise<Removed>
}

interface ErasureOptions {
  events: Pick<EventStore, "erase" | "dropTotals" | "checkpoint">
  imports: Pick<VisibleImports, "clear">
  siteKeys: Pick<SiteKeys, "siteKey">
  clock: Pick<Clock, "now">
  exclusive: Exclusive
  hooks: DataHooks
  takeouts: Pick<Takeouts, "drop">
}

export function createErasure({ events, imports, siteKeys, clock, exclusive, hooks, takeouts }: ErasureOptions): Erasure {
  const everything = (part: Part) => new Uint8Array(part.visits).fill(1)
  return {
    site: (siteId) =>
      exclusive.run(async () => {
        await imports.clear(siteId)
        const visits = await events.erase(siteId, everything, clock.now())
        const imported_totals = await events.dropTotals(siteId, clock.now())
        if (visits + imported_totals > 0) events.checkpoint("truncate")
        await takeouts.drop(siteId)
        return { visits, imported_totals, ...(await hooks.onSiteDelete(siteId)) }
      }),
    person: (siteId, visitor) =>
      exclusive.run(async () => {
        const nameOf = pseudonyms(await siteKeys.siteKey(siteId), "visitor")
        const visits = await events.erase(siteId, (part) => visitsOf(part, visitor, nameOf), clock.now())
        if (visits > 0) events.checkpoint("truncate")
        await takeouts.drop(siteId)
        return { visits, ...(await hooks.onPersonErase(siteId, visitor)) }
      }),
  }
}

/** Marks the visits of a visitor, by computing the pseudonym of each distinct visitor of the part. */
function visitsOf(part: Part, wanted: string, nameOf: (numbers: readonly number[]) => string[]): Uint8Array {
  const visitors = part.visit("visitor").subarray(0, part.visits)
  const distinct = [...new Set(visitors)]
  const names = nameOf(distinct)
  const matching = new Set(distinct.filter((_, i) => names[i] === wanted))
  return Uint8Array.from(visitors, (visitor) => (matching.has(visitor) ? 1 : 0))
}
