/** The removals of events by all nodes, in the catalog. A node that was stopped meanwhile repeats them when it starts. */
import type { Clock } from "../../domain/clock.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { areRemovalsDone, finishRemoval, insertRemoval, listPendingRemovals } from "../../store/catalog/removals.ts"

/** What is removed of a site. Sequences and visitors are those outside of a store. */
export type SharedRemoval =
  | "all"
  | "totals"
  | { visitors: readonly number[] }
  | { sequences: readonly number[] }
  /** The sale events of visits, which can outlive the copy of the visits. */
  | { sales: readonly number[] }
  | { importId: number; run?: number }

/** A removal that another node has begun. */
export interface ForeignRemoval {
  siteId: number
  removal: SharedRemoval
}

export interface RemovalJournal {
  /** Adds a removal before it begins. */
  add(siteId: number, removal: SharedRemoval): Promise<void>
  /** Repeats the removals of other nodes that this one has not repeated yet, in order. */
  repeat(work: (removal: ForeignRemoval) => Promise<void>): Promise<void>
  /** Returns whether every node, also one that has stopped, has repeated all removals. */
  isDone(): Promise<boolean>
}

interface JournalOptions {
  catalog: Catalog
  /** Number of this node. */
  node: number
  clock: Pick<Clock, "now">
}

const SLICE = 100

export const createRemovalJournal = ({ catalog, node, clock }: JournalOptions): RemovalJournal => ({
  add: (site_id, removal) => insertRemoval(catalog, { site_id, node, removal_json: JSON.stringify(removal), created_at: clock.now() }),
  async repeat(work) {
    for (let isAll = false; !isAll; ) {
      const pending = await listPendingRemovals(catalog, node, SLICE)
      for (const { id, site_id: siteId, node: begunBy, removal_json } of pending) {
        if (begunBy !== node) await work({ siteId, removal: JSON.parse(removal_json) as SharedRemoval }) // written by `add`
        await catalog.transaction((statements) => finishRemoval(statements, node, id))
      }
      isAll = pending.length < SLICE
    }
  },
  isDone: () => areRemovalsDone(catalog),
})
