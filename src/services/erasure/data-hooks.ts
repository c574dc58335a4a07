/** Number of removed rows by kind. */
export type Removed = Readonly<Record<string, number>>

/** Number of rows of an area that retention would remove. */
export interface OverdueRows {
  /** Id of the plugin. */
  id: string
  rows: number
}

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
  /** Removes a visitor, given by pseudonym (16 digits), from lists, caches, snapshots and exports in progress. */
  onPersonErase(siteId: number, visitor: string): Promise<Removed>
}

export const NO_HOOKS: DataHooks = {
  onSiteDelete: async () => ({}),
  onRetention: async () => ({}),
  overdue: async () => [],
  onPersonErase: async () => ({}),
}
