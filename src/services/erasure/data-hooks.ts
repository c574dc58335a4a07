/** Rows that went, by what they were. */
export type Removed = Readonly<Record<string, number>>

/** What retention would take of an area. */
export interface OverdueRows {
  /** Of the plugin. */
  id: string
  rows: number
}

/**
 * What areas do about data that goes. All of it also runs for an area that is switched off, so that deletion and retention stay
 * complete; each may run twice for the same.
 */
export interface DataHooks {
  /** The site is purged: no row of it in any own table, no file, no secret is left. */
  onSiteDelete(siteId: number): Promise<Removed>
  /** Visits that started before the local midnight of this day are gone: whatever was derived from them goes, or is made anew. */
  onRetention(siteId: number, cutoffDay: string): Promise<Removed>
  /** What that would remove now, by area; those that keep nothing of the kind are left out. */
  overdue(siteId: number, cutoffDay: string): Promise<OverdueRows[]>
  /** The visitor of this name (a pseudonym of 16 digits) is gone: from lists, caches, snapshots and exports in progress. */
  onPersonErase(siteId: number, visitor: string): Promise<Removed>
}

export const NO_HOOKS: DataHooks = {
  onSiteDelete: async () => ({}),
  onRetention: async () => ({}),
  overdue: async () => [],
  onPersonErase: async () => ({}),
}
