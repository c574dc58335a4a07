import type { Clock } from "../../domain/clock.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Takeouts } from "../export/takeouts.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { People } from "../people/people.ts"
import type { Exclusive } from "../runtime/tasks.ts"
import type { StoredTallies } from "../tallies/tallies.ts"
import type { DataHooks, Removed } from "./data-hooks.ts"

/**
 * Erases the data of a site or of one visitor from both stores and from all areas. Imported totals name no visitor. An interrupted
 * erasure can be repeated.
 */
export interface Erasure {
  /** Erases all data of a site. */
  site(siteId: number): Promise<Removed>
  /**
   * Erases a person, given by all of their pseudonyms. No answer contains the person afterwards. Repeat it with the same pseudonyms after
   * an interruption: a user id no longer leads to the person.
   */
  person(siteId: number, visitors: readonly string[]): Promise<Removed>
  /** Resolves when the data that earlier erasures replaced is overwritten in the file, after about 20 seconds. */
  overwrite(signal?: AbortSignal): Promise<void>
}

interface ErasureOptions {
  events: Pick<EventStore, "eraseSite" | "erasePerson" | "dropTotals" | "dropRetired" | "emptyLog">
  shipped: { hidden: HiddenVisits } | undefined
  tallies: Pick<StoredTallies, "forget">
  imports: Pick<VisibleImports, "clear">
  people: Pick<People, "numberOf">
  clock: Clock
  exclusive: Exclusive
  hooks: DataHooks
  takeouts: Pick<Takeouts, "drop">
}

export function createErasure({ events, shipped, tallies, imports, people, clock, exclusive, hooks, takeouts }: ErasureOptions): Erasure {
  return {
    site: (siteId) =>
      exclusive.run(async () => {
        await imports.clear(siteId)
        const visits = await events.eraseSite(siteId, clock.now())
        const imported_totals = await events.dropTotals(siteId, clock.now())
        await tallies.forget(siteId)
        await events.emptyLog()
        await takeouts.drop(siteId)
        return { visits, imported_totals, ...(await hooks.onSiteDelete(siteId)) }
      }),
    person: (siteId, visitors) =>
      exclusive.run(async () => {
        const found = await Promise.all(visitors.map((visitor) => people.numberOf(siteId, visitor)))
        const numbers = found.filter((number) => number !== undefined)
        const fromAreas = async () => {
          const counts: Removed[] = []
          for (const visitor of visitors) counts.push(await hooks.onPersonErase(siteId, visitor))
          return counts
        }
        const before = await fromAreas()
        const removed = await events.erasePerson(siteId, numbers, clock.now())
        await events.emptyLog()
        await takeouts.drop(siteId)
        return sumOf([removed, ...before, ...(await fromAreas())])
      }),
    overwrite: (signal) => overwriteReplaced({ events, shipped, clock }, clock.now(), signal),
  }
}

/** Adds up the numbers of removed rows by kind. */
function sumOf(counts: readonly Removed[]): Removed {
  const sum: Record<string, number> = {}
  for (const removed of counts) for (const [kind, count] of Object.entries(removed)) sum[kind] = (sum[kind] ?? 0) + count
  return sum
}

/** Time after which no report reads a replaced segment any more (reliability.md 2.3). */
const RETIRED_MS = 20_000
const POLL_MS = 200

/** What a second engine hides from answers after a removal, and has on its disks until it is deleted. */
export interface HiddenVisits {
  /** Resolves when all visits that were hidden before the call are on no disk any more. */
  delete(signal?: AbortSignal): Promise<void>
}

/** The retention of the nodes that share the events, each of which has its own copy. */
export interface RetentionOfNodes {
  /** Lets the other nodes remove visits and totals now, before their own retention does. Resolves when all that are live have. */
  retainOnOthers(siteId: number, cutoff: { startedBefore: number; firstDay: string }): Promise<void>
}

interface OverwriteOptions {
  events: Pick<EventStore, "dropRetired" | "emptyLog">
  shipped: { hidden: HiddenVisits } | undefined
  clock: Clock
}

/** Waits until no report reads the segments that an erasure replaced, and overwrites them in the file. */
export async function overwriteReplaced(
  { events, shipped, clock }: OverwriteOptions,
  erasedAt: number,
  signal?: AbortSignal,
): Promise<void> {
  const end = clock.monotonic() + RETIRED_MS
  while (clock.monotonic() <= end) {
    signal?.throwIfAborted()
    await Bun.sleep(POLL_MS)
  }
  // Uses the time of the erasure, because the wall clock may have changed during the wait.
  await events.dropRetired(erasedAt + RETIRED_MS + 1)
  await events.emptyLog()
  await shipped?.hidden.delete(signal)
}
