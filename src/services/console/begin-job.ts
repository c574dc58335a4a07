import type { Actor, Deed } from "../../domain/audit.ts"
import type { Job } from "../../domain/job.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { Audit } from "../audit.ts"
import type { Jobs, NewJob } from "../jobs.ts"
import type { Alongside } from "../site-things.ts"

/** Makes a job that somebody asked for, with the row of the log that says so and what else is kept, in one transaction. */
export type BeginJob = (actor: Actor, job: NewJob, deed: Deed, kept?: Alongside<Job>) => Promise<Job>

export const beginsJobs =
  ({
    catalog,
    jobs,
    audit,
  }: {
    catalog: Pick<Catalog, "transaction">
    jobs: Pick<Jobs, "enqueue">
    audit: Pick<Audit, "write">
  }): BeginJob =>
  (actor, job, deed, kept) =>
    catalog.transaction(async (statements) => {
      const createdBy = actor.kind === "user" && actor.id !== undefined ? { createdBy: actor.id } : {}
      const made = (await jobs.enqueue({ ...job, ...createdBy }, statements))! // it has no slot that could be taken
      await audit.write(statements, actor, deed)
      await kept?.(statements, { after: made })
      return made
    })
