import { existsSync } from "node:fs"
import { join } from "node:path"
import { AppError, type JobWork, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { auditEntry } from "../audit-entries.ts"
import type { DayRules } from "../days.ts"
import { importError } from "../errors.ts"
import type { Holders } from "../holders.ts"
import { linksUsers, type Previews } from "../preview.ts"
import { eventOf } from "../product-events.ts"
import { daysOf, deleteDays, forgetFolder, type ImportChange, type ImportRow, importById, putDays, updateImport } from "../rows.ts"
import type { Staging } from "../staging.ts"
import { type PendingRun, pendingOf, streamOfImport, updateStream } from "../streams/rows.ts"
import type { Streams } from "../streams/streams.ts"
import { createDefinitions, removeDefinitions } from "./definitions.ts"
import { createEndings } from "./endings.ts"
import type { Fetching } from "./fetching/fetching.ts"
import { addedDays, dayRows, extendedFigures } from "./figures.ts"
import type { RunPayload } from "./jobs.ts"
import { publishRefunds, REFUNDS_FILE, type Refunds } from "./refunds.ts"
import { rowsIn } from "./sorted.ts"
import { createSorting, isFetched, type Running, type Started } from "./sorting.ts"
import type { Staged } from "./task.ts"
import { type WriteOptions, writeStaged } from "./write.ts"

/** The work of imports: runs and undoing, as jobs that continue after a restart. */
export interface Runs {
  run(work: JobWork<RunPayload>): Promise<void>
  undo(work: JobWork<RunPayload>): Promise<void>
  /** Ends a run within seconds. Its import is already cancelled. */
  stop(importId: number): void
  /** Ends an import whose job has ended without it: because the process was killed too often, or someone has cancelled the job. */
  settle(row: ImportRow): Promise<void>
}

interface Options {
  fetching: Fetching
  holders: Holders
  previews: Pick<Previews, "stage" | "rules">
  staging: Staging
  streams: Streams
  /** Smaller batches for tests. */
  batch?: WriteOptions["batch"]
}

export function createRuns(host: ImportsHost, { fetching, holders, previews, staging, streams, batch }: Options): Runs {
  const { db, imports } = host
  const running = new Map<number, AbortController>()
  const sort = createSorting(host, { fetching, previews, streams })
  const { postpone, purge, fail } = createEndings(host, { staging, streams })

  async function run({ payload, signal, progress }: JobWork<RunPayload>): Promise<void> {
    const { importId, actor, folder } = payload
    const found = await importById(db, importId)
    const site = found && host.services.sites.directory.byId(found.site_id)
    if (!found || !site) return
    const isOnlyRun = folder === undefined
    if (found.state === "completed" && isOnlyRun) return finish(found.id, site, signal)
    const own = new AbortController()
    running.set(importId, own)
    try {
      const started = isOnlyRun ? await begun(found, site, signal) : await extending(found, site, folder, signal)
      if (!started) return await purge(found, site, payload)
      await complete({ ...started, site, actor, progress, signal: AbortSignal.any([signal, own.signal]) })
    } catch (error) {
      if (own.signal.aborted) return await purge(found, site, payload)
      // The end of the process only interrupts the run.
      if (signal.aborted) throw error
      if (error instanceof AppError && error.code === "analytics_quota") return await postpone(found, site, payload, error)
      return await fail(found, site, payload, error)
    } finally {
      running.delete(importId)
    }
    if (isOnlyRun) await finish(importId, site, signal)
  }

  /** Returns the import as running, with rules that stay the same after an interruption. Undefined if it was cancelled meanwhile. */
  async function begun(found: ImportRow, site: Site, signal: AbortSignal): Promise<Started | undefined> {
    let row: ImportRow | undefined = found
    if (row.state !== "running") {
      // Days that are fetched are those of the service.
      const timezone = isFetched(row) ? row.timezone : site.timezone
      const rules = await previews.rules({ ...site, timezone }, row.overlap, signal)
      const change = { state: "running", started_at: host.now(), rules_json: JSON.stringify(rules), timezone } as const
      row = await updateImport(db, row.id, change, ["pending"])
    }
    if (!row) return undefined
    const [files, options] = [JSON.parse(row.files_json), JSON.parse(row.options_json)] // written with the import
    const rules = JSON.parse(row.rules_json!) as DayRules // written when it started
    return { row, source: { files, options, folder: row.folder }, rules, stream: await streamOfImport(db, row.id), number: 1 }
  }

  /** Returns one more run of a stream, or undefined if it was cancelled meanwhile. */
  async function extending(row: ImportRow, site: Site, folder: string, signal: AbortSignal): Promise<Started | undefined> {
    const stream = await streamOfImport(db, row.id)
    const pending = pendingOf(stream)
    if (!stream || row.state !== "completed" || pending?.folder !== folder) return undefined
    const number = stream.run + 1
    let { rules } = pending
    if (!rules) {
      // A cancelled run that was interrupted may have left rows.
      await imports.drop(row.site_id, row.id, number)
      rules = await previews.rules({ ...site, timezone: row.timezone }, row.overlap, signal)
      await updateStream(db, row.id, { pending_json: JSON.stringify({ ...pending, rules } satisfies PendingRun) })
    }
    return { row, source: pending, rules, stream, number }
  }

  async function complete(at: Running): Promise<void> {
    const { row, site, source, stream, number, signal, progress } = at
    const folder = source.folder === null ? undefined : staging.path(source.folder)
    if (!folder || !existsSync(join(folder, "source"))) throw sourceMissing()
    const staged = await sort(at, folder)
    const { visits, rows, newVisitors } = await writeStaged({
      imports,
      openThread: host.openThread,
      siteId: site.id,
      importId: row.id,
      run: number,
      folder: rowsIn(folder),
      staged,
      linksUsers: linksUsers(site, source.options),
      batch,
      signal,
      report: (done, total) => progress({ phase: "write", done, total }),
    })
    progress({ phase: "complete", done: visits + rows, total: visits + rows })
    if (number === 1) await createDefinitions(host, { row, site, actor: at.actor, staged })
    const settled = stream && (await streams.settle(stream, staged.stream!, rowsIn(folder), row.timezone)) // staged as a stream
    await imports.shipped(signal)
    signal.throwIfAborted()
    await db.transaction(
      async (statements) => {
        const completed = await updateImport(statements, row.id, changeOf(at, staged, newVisitors), [
          number === 1 ? "running" : "completed",
        ])
        if (!completed) throw signal.reason ?? new Error("The import is no longer running.")
        await settled?.(statements)
        if (number === 1) await deleteDays(statements, row.id)
        await putDays(statements, row.id, number === 1 ? dayRows(staged) : addedDays(await daysOf(statements, row.id), staged))
        const show = await holders.recompute(statements, site.id)
        // The start of a run that extends a stream has an entry, and a stream can have one each minute.
        if (number === 1)
          await host.audit.write(statements, at.actor, auditEntry("complete", site, completed, { state: ["running", "completed"] }))
        await host.outbox.write(statements, eventOf("import.completed", site, completed))
        return show
      },
      (show) => show(),
    )
    if (number > 1 && source.folder !== null) await staging.remove(source.folder)
    if (!stream) return
    streams.tidy(row.id, number)
    await imports.joinRuns(row.id, number)
  }

  /** Does what follows the completion of an import: publishes its refunds, and deletes its staged files. Idempotent. */
  async function finish(importId: number, site: Site, signal?: AbortSignal): Promise<void> {
    const row = await importById(db, importId)
    if (!row || row.folder === null) return
    const path = join(rowsIn(staging.path(row.folder)), REFUNDS_FILE)
    await publishRefunds(host, row, { site, path, ...(signal && { signal }) })
    await staging.remove(row.folder)
    await forgetFolder(db, row.id)
  }

  /** Returns the change with which a run becomes part of its import. */
  const changeOf = ({ row, number, source }: Started, staged: Staged, newVisitors: number): ImportChange =>
    number > 1
      ? extendedFigures(row, staged, newVisitors, source.files)
      : {
          ...({ state: "completed", finished_at: host.now(), folder_expires_at: null } as const),
          rows_imported: staged.rows.accepted,
          refunds_json: staged.refunds ? JSON.stringify({ ...staged.refunds, published: 0 } satisfies Refunds) : null,
        }

  type UndoWork = Pick<JobWork<RunPayload>, "payload" | "progress"> & { signal?: AbortSignal }
  async function undo({ payload: { importId, actor }, progress, signal }: UndoWork): Promise<void> {
    const row = await importById(db, importId)
    const site = row && host.services.sites.directory.byId(row.site_id)
    if (!row || !site || row.state !== "undoing") return
    progress({ phase: "undo", done: 0 })
    await host.exclusively(() => imports.drop(row.site_id, row.id))
    await imports.removedElsewhere(signal)
    streams.removeFiles(row.id)
    await removeDefinitions(host, row.id, site, actor)
    await db.transaction(async (statements) => {
      const change = { state: "undone", undone_at: host.now() } as const
      const undone = await updateImport(statements, row.id, change, ["undoing"])
      if (!undone) return
      await host.audit.write(statements, actor, auditEntry("undone", site, undone, { state: ["undoing", "undone"] }))
      await host.outbox.write(statements, eventOf("import.undone", site, undone))
    })
  }

  async function settle(row: ImportRow): Promise<void> {
    const job = row.job_id === null ? undefined : await host.jobs.get(row.job_id)
    const site = host.services.sites.directory.byId(row.site_id)
    if (!job || !host.jobs.isFinished(job) || !site) return
    const payload = job.payload as RunPayload // the jobs of imports
    if (row.state === "undoing") return undo({ payload, progress: () => {} })
    if (row.state === "completed" && row.folder !== null) return finish(row.id, site)
    if (row.state === "cancelled") return purge(row, site, payload)
    await fail(row, site, payload, new Error(`The job of the import has ended: ${job.error_message ?? job.state}`))
  }
  return { run, undo, stop: (importId) => running.get(importId)?.abort(), settle }
}

const sourceMissing = () => importError("source_missing", "The staged files of the import are gone. Start a new import.")
