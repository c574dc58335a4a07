import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** Whether the first user was ever made; true for ever after, also when that user is gone. */
export const isSetUp = async (catalog: Statements): Promise<boolean> => (await catalog.get(sql`select 1 from setup`)) !== undefined

export const insertSetup = (catalog: Statements, { userId, now }: { userId: number; now: number }): Promise<void> =>
  catalog.run(sql`insert into setup (id, completed_at, completed_by) values (1, ${now}, ${userId})`)
