import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** Epoch ms since when the oldest job waits that could run; undefined without one. */
export async function oldestDueJobAt(catalog: Statements, now: number): Promise<number | undefined> {
  const row = await catalog.get<{ at: number | null }>(sql`select min(run_at) as at from jobs where state = 'queued' and run_at <= ${now}`)
  return row?.at ?? undefined
}
