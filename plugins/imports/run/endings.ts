import { AppError, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { auditEntry } from "../audit-entries.ts"
import { eventOf } from "../product-events.ts"
import { type ImportRow, importById, updateImport } from "../rows.ts"
import type { Staging } from "../staging.ts"
import { pendingOf, streamOfImport, updateStream } from "../streams/rows.ts"
import type { Streams } from "../streams/streams.ts"
import { removeDefinitions } from "./definitions.ts"
import { enqueueJob, type RunPayload } from "./jobs.ts"
import { removeSorted } from "./sorted.ts"

/** Time for which the staged files of a failed import are kept for another attempt. */
const RETRY_MS = 24 * 3_600_000

interface EndingOptions {
  staging: Staging
  streams: Streams
}

/** Creates the ends of runs that do not complete. */
export function createEndings(host: ImportsHost, { staging, streams }: EndingOptions) {
  const { db, imports } = host

  /** Continues a run when the service takes requests again. Until then the import shows why it waits. */
  async function postpone({ id }: ImportRow, site: Site, { actor }: RunPayload, { code, message, members }: AppError): Promise<void> {
    const runAt = host.now() + (members.retry_after ?? 0) * 1_000
    await db.transaction(async (statements) => {
      const row = await updateImport(statements, id, { error_code: code, error_message: message }, ["running"])
      if (!row) return
      const job = await enqueueJob(host, statements, { name: "run-import", row, site, actor, userId: row.created_by, runAt })
      await updateImport(statements, id, { job_id: job.id })
    })
  }

  /** Removes the rows and definitions of an import that did not complete, and its staged files unless it can be tried again. */
  async function purge(found: ImportRow, site: Site, { actor, folder }: RunPayload, keepsSource = false): Promise<void> {
    const row = (await importById(db, found.id)) ?? found
    const stream = await streamOfImport(db, row.id)
    if (row.state === "completed") {
      // The rows of completed runs stay: of a stream only those of the run that was cancelled are removed.
      if (stream && folder !== undefined) await imports.drop(row.site_id, row.id, stream.run + 1)
      for (const name of [folder, row.folder]) if (name !== undefined && name !== null) await staging.remove(name)
      return
    }
    await imports.drop(row.site_id, row.id)
    streams.removeFiles(row.id)
    if (folder !== undefined) return await staging.remove(folder)
    await removeDefinitions(host, row.id, site, actor)
    if (row.folder === null) return
    if (!keepsSource) {
      await staging.remove(row.folder)
      await updateImport(db, row.id, { folder: null })
      return
    }
    removeSorted(staging.path(row.folder))
  }

  /** Ends a run with an error, of which the person who started it gets an email. */
  async function fail(row: ImportRow, site: Site, payload: RunPayload, error: unknown): Promise<void> {
    const { actor, folder } = payload
    if (!(error instanceof AppError)) host.log.error("an import failed", { import: row.id, error })
    const code = error instanceof AppError ? error.code : "internal_error"
    const message =
      error instanceof AppError ? error.message : "The import failed because of an error of the server. The cause is in its log."
    const keepsSource = row.source !== "server_log" && code !== "source_missing"
    await purge(row, site, payload, keepsSource)
    const failed = await db.transaction(async (statements) => {
      const reason = { error_code: code, error_message: message }
      const change = {
        ...({ state: "failed", ...reason, finished_at: host.now() } as const),
        ...(keepsSource ? { folder_expires_at: host.now() + RETRY_MS } : {}),
      }
      const isExtending = folder !== undefined
      if (isExtending && pendingOf(await streamOfImport(statements, row.id))?.folder !== folder) return undefined
      const changed = await updateImport(
        statements,
        row.id,
        isExtending ? reason : change,
        isExtending ? ["completed"] : ["pending", "running"],
      )
      if (!changed) return undefined
      if (isExtending) await updateStream(statements, row.id, { pending_json: null })
      else await streams.forget(statements, row.id)
      const entry = auditEntry("complete", site, changed, { error: [null, code] })
      await host.audit.write(statements, actor, { ...entry, outcome: "failed" })
      await host.outbox.write(statements, eventOf("import.failed", site, changed))
      return changed
    })
    if (failed && actor.kind === "user" && host.mail.isOn()) await host.mail.send(failureEmail(host, failed, site, actor.email))
  }
  return { postpone, purge, fail }
}

function failureEmail({ baseUrl }: ImportsHost, { label, error_message }: ImportRow, site: Site, to: string) {
  const text = [
    `The import "${label}" into ${site.name} failed: ${error_message}`,
    "",
    "No row of it is left. Its history has the rejected lines:",
    `${baseUrl()}/sites/${site.id}/imports`,
  ].join("\n")
  return { to, subject: `Import into ${site.name} failed`, text }
}
