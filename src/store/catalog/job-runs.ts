import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

interface JobRun {
  name: string
  slot: string
  at: number
}

/** False when the slot has been claimed before. */
export async function claimJobRun(catalog: Statements, { name, slot, at }: JobRun): Promise<boolean> {
  const row = await catalog.get(sql`
    insert into job_runs (name, slot, started_at) values (${name}, ${slot}, ${at})
    on conflict do nothing
    returning slot`)
  return row !== undefined
}

export const finishJobRun = (catalog: Statements, { name, slot, at }: JobRun): Promise<void> =>
  catalog.run(sql`update job_runs set finished_at = ${at} where name = ${name} and slot = ${slot}`)

/** What failed may be tried again. */
export const releaseJobRun = (catalog: Statements, { name, slot }: Omit<JobRun, "at">): Promise<void> =>
  catalog.run(sql`delete from job_runs where name = ${name} and slot = ${slot}`)

/** What a crash cut off is due again; called before the first job starts. */
export const releaseUnfinishedJobRuns = (catalog: Statements): Promise<void> =>
  catalog.run(sql`delete from job_runs where finished_at is null`)

/** At most 1,000 at a time: a statement of the catalog is short. */
export const deleteJobRunsBefore = (catalog: Statements, at: number): Promise<void> =>
  catalog.run(sql`
    delete from job_runs where (name, slot) in (select name, slot from job_runs where started_at < ${at} limit 1000)`)
