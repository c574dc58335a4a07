/** Number of removed rows by kind. */
export type Removed = Readonly<Record<string, number>>

/** Number of rows of an area that retention would remove. */
export interface OverdueRows {
  /** Id of the plugin. */
  id: string
  rows: number
}

/** A visit that is being erased. */
export interface ErasedVisit {
  /** Sequence number of its first event. */
  sequence: number
  /** Pseudonym of its visitor (16 digits). */
  visitor: string
  /** Start in epoch milliseconds. */
  started_at: number
}

/** Visits that an erasure by filter removes, at most 10,000 per call, or all data of a site in a reset. */
export type ErasedVisits = { visits: readonly ErasedVisit[] } | { all: true }

/**
 * Hooks by which areas remove their data. They also run for disabled areas, so that deletion and retention are complete, and they can
 * run twice for the same data.
 */
export interface DataHooks {
  /** Removes all rows, files and secrets of a deleted site. */
  onSiteDelete(siteId: number): Promise<Removed>
  /** Removes or recomputes everything derived from visits that started before the local midnight of this day. */
  onRetention(siteId: number, cutoffDay: string): Promise<Removed>
  /** Returns the number of rows that `onRetention` would remove, by area. Areas without such rows are left out. */
  overdue(siteId: number, cutoffDay: string): Promise<OverdueRows[]>
  /**
   * Removes a visitor, given by pseudonym (16 digits), from lists, caches, snapshots and exports in progress. Called before the visits of
   * the person are removed, so that an area can still read what remains without them, and again afterwards.
   */
  onPersonErase(siteId: number, visitor: string): Promise<Removed>
  /**
   * Removes or recomputes everything derived from erased visits. Called for visits just before they are removed, so that an interrupted
   * erasure names them again, and with `all` after a reset, which also ends the imports of the site.
   */
  onVisitsErase(siteId: number, removed: ErasedVisits): Promise<Removed>
}

export const NO_HOOKS: DataHooks = {
  onSiteDelete: async () => ({}),
  onRetention: async () => ({}),
  overdue: async () => [],
  onPersonErase: async () => ({}),
  onVisitsErase: async () => ({}),
}
