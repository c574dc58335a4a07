/** Removals from an instance whose events are on ClickHouse: from the store of the node, from answers at once, and later from the disks. */
import { dayNumber } from "../../domain/imported.ts"
import { type Clickhouse, withStoreFault } from "../../store/clickhouse/client.ts"
import { quartersOf, spanOf } from "../../store/clickhouse/contents.ts"
import {
  countVisits,
  deleteHidden,
  type Erasure,
  hideTotalsOfOthers,
  hideVisits,
  type NodeMoment,
  partsGone,
  type TotalsErasure,
  visitsWithSales,
} from "../../store/clickhouse/erase.ts"
import { deleteUnusedUserIds, deleteUserIds } from "../../store/clickhouse/tallies.ts"
import { SEGMENT_KINDS } from "../../store/events/bytes/lanes.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { ErasedRows } from "../../store/events/upkeep/upkeep.ts"
import type { HiddenVisits, RetentionOfNodes } from "../erasure/erasure.ts"
import { createExclusive } from "../runtime/tasks.ts"
import type { SharedTallies } from "../tallies/tallies.ts"
import { type ExtentOfNodes, extentOfNodes } from "./extent-of-nodes.ts"
import { peopleOfNodes } from "./people-of-nodes.ts"
import type { ForeignRemoval, RemovalJournal, SharedRemoval } from "./removal-journal.ts"
import type { Shipping } from "./shipping.ts"

export interface RemovalOptions {
  clickhouse: Clickhouse
  /** Number of the node. */
  node: number
  shipping: Pick<Shipping, "settled">
  /** Deletes the sale events of visits that are on a server. Undefined when they are in the store only. */
  deleteSales: ((siteId: number, visits: readonly number[]) => Promise<void>) | undefined
  journal: RemovalJournal
  tallies: Pick<SharedTallies, "forgetAgain">
  now(): number
}

/** Interval at which the store is asked for segments that wait. */
const POLL_MS = 200

export interface Removals extends RetentionOfNodes, ExtentOfNodes {
  /** The store of the node, whose removals also hide the visits on ClickHouse. */
  store: EventStore
  /** Deletes from ClickHouse what removals have hidden there. */
  hidden: HiddenVisits
  /** Repeats in the store of this node what other nodes have removed. */
  followRemovals(): Promise<void>
  /** Sets what a repeated removal also removes from the data folder of this node. */
  onRepeated(remove: (siteId: number) => Promise<void>): void
}

/**
 * Creates the store and what deletes the visits that it has hidden. A removal first hides the visits on ClickHouse and then removes them
 * from the store, so that answers are right at once. When nothing is on its way any more, it hides those of this node again that were opened
 * before they were removed, because some may have been shipped in between. Every other node repeats the removal, and does the same with its own.
 */
export function createRemovals(
  events: EventStore,
  { clickhouse, node, shipping, deleteSales, journal, tallies, now }: RemovalOptions,
): Removals {
  /** Removals and deletions run one after another: without its tombstone, a visit that is still in the store would come back. */
  const { run } = createExclusive()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => withStoreFault(run(work))

  const remove = <T>(siteId: number, erasure: Erasure, fromStore: () => Promise<T>): Promise<{ ofStore: T; hidden: ErasedRows }> =>
    inTurn(async () => {
      const shared = sharedRemoval(erasure)
      if (shared) await journal.add(siteId, shared)
      if (erasure !== "all" && "visitors" in erasure) await deleteUserIds(clickhouse, siteId, erasure.visitors)
      const counted = await countVisits(clickhouse, siteId, erasure)
      // Before they are hidden, so that a repetition after an interruption finds them.
      for await (const visits of visitsWithSales(clickhouse, siteId, erasure)) {
        await journal.add(siteId, { sales: visits })
        await events.forgetSales(siteId, visits)
        await deleteSales?.(siteId, visits)
      }
      await hideVisits(clickhouse, siteId, erasure)
      const before: NodeMoment = { node, next: events.nextSequence() }
      const ofStore = await fromStore()
      await shipping.settled()
      await hideVisits(clickhouse, siteId, erasure, before)
      if (counted.length > 0) await forget(siteId)
      return { ofStore, hidden: rowsOf(counted) }
    })

  /** Removes from the store what it has of visits that it has dropped, and the user ids that lost nodes have stored. */
  async function forget(siteId: number): Promise<void> {
    await deleteUnusedUserIds(clickhouse, siteId)
    for (const kind of SEGMENT_KINDS) events.setDroppedSpan(siteId, kind, await spanOf(clickhouse, siteId, kind))
    await events.sweepSite(siteId)
  }

  /** Returns the larger number: some visits are only on ClickHouse, and the last ones perhaps only in the store. */
  async function visitsRemoved(siteId: number, erasure: Erasure, fromStore: () => Promise<number>): Promise<number> {
    const { ofStore, hidden } = await remove(siteId, erasure, fromStore)
    return Math.max(ofStore, hidden.visits + hidden.clicks + hidden.opens)
  }

  const removeTotals = (siteId: number, erasure: TotalsErasure, fromStore: () => Promise<number>): Promise<number> =>
    inTurn(async () => {
      const rows = await fromStore()
      await shipping.settled()
      return rows + (await hideTotalsOfOthers(clickhouse, siteId, node, erasure))
    })

  const { known, ...extent } = extentOfNodes(events, clickhouse)
  let alsoRemove: (siteId: number) => Promise<void> = async () => {}
  const repeat = (foreign: ForeignRemoval): Promise<void> =>
    inTurn(async () => {
      const { siteId, removal } = foreign
      const before: NodeMoment = { node, next: await repeatInStore(events, foreign, now()) }
      if (removal === "all") await tallies.forgetAgain(siteId)
      await alsoRemove(siteId)
      await shipping.settled()
      if (removal === "totals" || (removal !== "all" && "sales" in removal)) return
      const erasure = removal !== "all" && "sequences" in removal ? { sequences: Float64Array.from(removal.sequences) } : removal
      await hideVisits(clickhouse, siteId, erasure, before)
      await forget(siteId)
    })

  return {
    ...extent,
    followRemovals: () => journal.repeat(repeat),
    onRepeated(remove) {
      alsoRemove = remove
    },
    async retainOnOthers(siteId, cutoff) {
      await journal.add(siteId, cutoff)
      await journal.repeatedByLive()
    },
    store: {
      ...events,
      ...peopleOfNodes(events, clickhouse),
      ...known,
      retain: (siteId, cutoff, now) => visitsRemoved(siteId, { startedBefore: cutoff }, () => events.retain(siteId, cutoff, now)),
      eraseSite: (siteId, now) => visitsRemoved(siteId, "all", () => events.eraseSite(siteId, now)),
      eraseVisits: (siteId, sequences, now) => visitsRemoved(siteId, { sequences }, () => events.eraseVisits(siteId, sequences, now)),
      async erasePerson(siteId, visitors, now) {
        if (visitors.length === 0) return events.erasePerson(siteId, visitors, now)
        const { ofStore, hidden } = await remove(siteId, { visitors }, () => events.erasePerson(siteId, visitors, now))
        const largest = (kind: keyof ErasedRows) => [kind, Math.max(ofStore[kind], hidden[kind])]
        return Object.fromEntries((["visits", "events", "clicks", "opens"] as const).map(largest)) as ErasedRows // one entry for each kind
      },
      visitStarts: (siteId, importId = 0) => quartersOf(clickhouse, siteId, importId),
      async dropTotals(siteId, now) {
        await journal.add(siteId, "totals")
        return removeTotals(siteId, "all", () => events.dropTotals(siteId, now))
      },
      retainTotals: (siteId, firstDay, now) =>
        removeTotals(siteId, { before: dayNumber(firstDay) }, () => events.retainTotals(siteId, firstDay, now)),
      async shipped(signal) {
        await shipping.settled()
        for (; events.hasUnshippedSegments(); await Bun.sleep(POLL_MS)) signal.throwIfAborted()
      },
      async dropImport(siteId, importId, now, run) {
        const erasure = { importId, ...(run !== undefined && { run }) }
        await remove(siteId, erasure, () => events.dropImport(siteId, importId, now, run))
        await inTurn(() => hideTotalsOfOthers(clickhouse, siteId, node, erasure))
      },
      removedElsewhere: journal.repeatedByLive,
    },
    hidden: {
      async delete(signal) {
        await journal.repeat(repeat)
        await journal.repeatedByLive(signal)
        const replaced = await inTurn(async () => deleteHidden(clickhouse, await journal.isDone(), signal))
        await withStoreFault(partsGone(clickhouse, replaced, signal))
      },
    },
  }
}

/**
 * Repeats a removal of another node in the store of this one, once: a second time it would remove what was recorded since. Returns the
 * sequence of the next event at that time.
 */
export async function repeatInStore(events: EventStore, removal: ForeignRemoval, now: number): Promise<number> {
  const known = events.repeatedRemoval()
  if (removal.id <= known.id) return known.next
  const next = events.nextSequence()
  await removeFromStore(events, removal, now)
  events.noteRepeatedRemoval({ id: removal.id, next })
  return next
}

async function removeFromStore(events: EventStore, { siteId, removal }: ForeignRemoval, now: number): Promise<void> {
  if (removal === "all") {
    await events.eraseSite(siteId, now)
    await events.forgetTallies(siteId)
  } else if (removal === "totals") await events.dropTotals(siteId, now)
  else if ("sales" in removal) await events.forgetSales(siteId, removal.sales)
  else if ("visitors" in removal) await events.erasePerson(siteId, removal.visitors, now)
  else if ("sequences" in removal) await events.eraseVisits(siteId, Float64Array.from(removal.sequences), now)
  else if ("importId" in removal) await events.dropImport(siteId, removal.importId, now, removal.run)
  else {
    await events.retain(siteId, removal.startedBefore, now)
    await events.retainTotals(siteId, removal.firstDay, now)
  }
  await events.emptyLog()
}

/** Returns what other nodes have to repeat. Each of them carries out the retention itself. */
function sharedRemoval(erasure: Erasure): SharedRemoval | undefined {
  if (erasure === "all") return erasure
  if ("startedBefore" in erasure) return undefined
  return "sequences" in erasure ? { sequences: [...erasure.sequences] } : erasure
}

function rowsOf(counted: Awaited<ReturnType<typeof countVisits>>): ErasedRows {
  const rows: ErasedRows = { visits: 0, events: 0, clicks: 0, opens: 0 }
  for (const { kind, visits, events } of counted) {
    rows[kind] += visits
    if (kind === "visits") rows.events += events
  }
  return rows
}
