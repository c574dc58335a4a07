/** The removals of events by all nodes, in the catalog. Every other node repeats them, one that was stopped meanwhile when it starts. */
import type { Clock } from "../../domain/clock.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import {
  areRemovalsDone,
  finishRemoval,
  haveLiveNodesRemoved,
  insertRemoval,
  lastRemoval,
  listPendingRemovals,
} from "../../store/catalog/removals.ts"

/** What is removed of a site. Sequences and visitors are those outside of a store. */
export type SharedRemoval =
  | "all"
  | "totals"
  | { visitors: readonly number[] }
  | { sequences: readonly number[] }
  /** The sale events of visits, which can outlive the copy of the visits. */
  | { sales: readonly number[] }
  | { importId: number; run?: number }
  /** Visits before a time in epoch milliseconds, and totals of days before a day. */
  | { startedBefore: number; firstDay: string }

/** A removal that another node has begun. */
export interface ForeignRemoval {
  id: number
  siteId: number
  removal: SharedRemoval
}

export interface RemovalJournal {
  /** Adds a removal before it begins. */
  add(siteId: number, removal: SharedRemoval): Promise<void>
  /** Lists the removals of other nodes that this one has not repeated yet, in order. */
  pending(): Promise<ForeignRemoval[]>
  /** Repeats them. A removal whose work rejects is repeated by the next call. */
  repeat(work: (removal: ForeignRemoval) => Promise<void>): Promise<void>
  /** Returns whether every node, also one that has stopped, has repeated all removals. */
  isDone(): Promise<boolean>
  /** Resolves when all other nodes that are live have repeated what was added before the call. */
  repeatedByLive(signal?: AbortSignal): Promise<void>
}

interface JournalOptions {
  catalog: Catalog
  /** Number of this node. */
  node: number
  clock: Pick<Clock, "now">
}

const SLICE = 100
/** Interval at which the catalog is asked whether other nodes have followed. */
const POLL_MS = 500

export function createRemovalJournal({ catalog, node, clock }: JournalOptions): RemovalJournal {
  /** Yields the removals that are not finished, those of this node too. */
  async function* unfinished(): AsyncGenerator<ForeignRemoval & { isOwn: boolean }> {
    for (let after = 0, isAll = false; !isAll; ) {
      const rows = await listPendingRemovals(catalog, { node, after, limit: SLICE })
      for (const { id, site_id: siteId, node: begunBy, removal_json } of rows) {
        after = id
        yield { id, siteId, removal: JSON.parse(removal_json) as SharedRemoval, isOwn: begunBy === node } // written by `add`
      }
      isAll = rows.length < SLICE
    }
  }

  return {
    async add(site_id, removal) {
      await insertRemoval(catalog, { site_id, node, removal_json: JSON.stringify(removal), created_at: clock.now() })
    },
    async pending() {
      const all: ForeignRemoval[] = []
      for await (const { isOwn, ...removal } of unfinished()) if (!isOwn) all.push(removal)
      return all
    },
    async repeat(work) {
      for await (const { isOwn, ...removal } of unfinished()) {
        if (!isOwn) await work(removal)
        await catalog.transaction((statements) => finishRemoval(statements, node, removal.id))
      }
    },
    isDone: () => areRemovalsDone(catalog),
    async repeatedByLive(signal) {
      const last = await lastRemoval(catalog)
      for (; !(await haveLiveNodesRemoved(catalog, last, node)); await Bun.sleep(POLL_MS)) signal?.throwIfAborted()
    },
  }
}
