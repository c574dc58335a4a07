import type { OwnTables } from "#plugin"
import { addOrphans } from "./rows.ts"

/** Requests for unknown pixels, counted in memory per UTC day because they belong to no site, and written by a job. */
export interface Orphans {
  note(): void
  flush(): Promise<void>
}

export function createOrphans(db: OwnTables, now: () => number): Orphans {
  let counts = new Map<string, number>()
  const add = (day: string, count: number): void => void counts.set(day, (counts.get(day) ?? 0) + count)
  return {
    note: () => add(dayOf(now()), 1),
    async flush() {
      const written = counts
      counts = new Map()
      if (written.size === 0) return
      try {
        await db.transaction(async (statements) => {
          for (const [day, count] of written) await addOrphans(statements, day, count)
        })
      } catch (error) {
        // Keep the counts for the next flush.
        for (const [day, count] of written) add(day, count)
        throw error
      }
    },
  }
}

/** Returns the UTC day of an instant, as YYYY-MM-DD. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
