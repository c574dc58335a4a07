import type { Actor, Job, OwnStatements, Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import type { ImportRow } from "../rows.ts"

/** The jobs of imports: a run, and the removal of an import that is undone. */
export interface RunPayload {
  importId: number
  /** The person who started it, for the audit log and for emails. */
  actor: Actor
  /** Of a run that extends a stream: its folder of staged files. */
  folder?: string
}

interface NewImportJob extends Omit<RunPayload, "importId"> {
  name: "run-import" | "undo-import"
  row: Pick<ImportRow, "id">
  site: Site
  userId: number | null
  /** Earliest start in epoch milliseconds. Default: now. */
  runAt?: number
}

/** Enqueues a job in a transaction. */
export async function enqueueJob(
  { jobs }: Pick<ImportsHost, "jobs">,
  statements: OwnStatements,
  { name, row, site, userId, runAt, ...payload }: NewImportJob,
): Promise<Job> {
  const job = await jobs.enqueue(
    name,
    {
      payload: { importId: row.id, ...payload } satisfies RunPayload,
      // One import of a site runs at a time. Undoing does not wait for it.
      key: name === "run-import" ? `site ${site.id}` : `import ${row.id}`,
      siteId: site.id,
      organizationId: site.organization_id,
      ...(userId !== null && { createdBy: userId }),
      ...(runAt !== undefined && { runAt }),
    },
    statements,
  )
  return job! // it has no slot that could be taken
}
