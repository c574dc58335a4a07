import type { OwnTables } from "#plugin"
import { addOrphans } from "./rows.ts"

/** Requests for pixels that are not there, counted in memory by the day (UTC: they belong to no site) and written now and then. */
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
        // For the next time.
        for (const [day, count] of written) add(day, count)
        throw error
      }
    },
  }
}

/** Of UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
