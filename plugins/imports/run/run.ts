import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Actor, AppError, type JobWork, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { auditEntry } from "../audit-entries.ts"
import type { DayRules } from "../days.ts"
import { importError } from "../errors.ts"
import type { Holders } from "../holders.ts"
import { linksUsers, type Previews, stageInput } from "../preview.ts"
import { eventOf } from "../product-events.ts"
import {
  daysOf,
  deleteDays,
  deleteRejects,
  duplicateOf,
  forgetFolder,
  type ImportChange,
  type ImportRow,
  importById,
  insertRejects,
  putDays,
  updateImport,
} from "../rows.ts"
import { sourceById } from "../sources/sources.ts"
import type { Staging } from "../staging.ts"
import { type PendingRun, pendingOf, type StreamRow, streamOfImport, updateStream } from "../streams/rows.ts"
import type { Streams } from "../streams/streams.ts"
import { createDefinitions, removeDefinitions } from "./definitions.ts"
import type { Fetched, Fetching } from "./fetching/fetching.ts"
import { addedDays, dayRows, extendedFigures, runFigures } from "./figures.ts"
import { enqueueJob, type RunPayload } from "./jobs.ts"
import { publishRefunds, REFUNDS_FILE, type Refunds } from "./refunds.ts"
import { beginSorting, keepSorted, readSorted, removeSorted, rowsIn, saltIn } from "./sorted.ts"
import { MAX_REJECTS, type Staged, type StagedFile } from "./task.ts"
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

/** Time for which the staged files of a failed import are kept for another attempt. */
const RETRY_MS = 24 * 3_600_000
/** Share of rejected lines above which an import fails. */
const MAX_REJECT_SHARE = 0.5

interface Options {
  fetching: Fetching
  holders: Holders
  previews: Pick<Previews, "stage" | "rules">
  staging: Staging
  streams: Streams
  /** Smaller batches for tests. */
  batch?: WriteOptions["batch"]
}

/** What a run reads, and where it writes. */
interface Started {
  row: ImportRow
  source: Pick<PendingRun, "files" | "options"> & { folder: string | null }
  rules: DayRules
  /** Absent unless the import is a stream. */
  stream?: StreamRow | undefined
  /** Number of the run: 1, or more for a run that extends a stream. */
  number: number
}

/** An import at work. */
interface Running extends Started {
  site: Site
  actor: Actor
  signal: AbortSignal
  progress: JobWork["progress"]
}

export function createRuns(host: ImportsHost, { fetching, holders, previews, staging, streams, batch }: Options): Runs {
  const { db, imports } = host
  const running = new Map<number, AbortController>()

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
    const fetched = isFetched(row) ? await fetchRest(at, folder) : undefined
    const staged = await sorted(at, folder, fetched)
    // A refused import shows what was read, and the lines that were rejected.
    if (number === 1) await updateImport(db, row.id, runFigures(staged))
    await storeRejects(at, staged)
    await refuse(at, staged)
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

  /** Fetches what the import needs. A failed one continues with what it has. */
  async function fetchRest({ row, site, source: { options }, signal, progress }: Running, folder: string): Promise<Fetched> {
    if (row.error_code !== null) await updateImport(db, row.id, { error_code: null, error_message: null }, ["running"])
    const report = (done: number, total: number) => progress({ phase: "fetch", done, total })
    const fetched = await fetching.finish(folder, { site, options }, signal, report)
    const listed = fetched.files.map(({ name, bytes }) => ({ name, bytes }))
    const bytes = listed.reduce((sum, file) => sum + file.bytes, 0)
    await updateImport(db, row.id, { files_json: JSON.stringify(listed), bytes }, ["running"])
    return fetched
  }

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

  /** Returns the change with which a run becomes part of its import. */
  const changeOf = ({ row, number, source }: Started, staged: Staged, newVisitors: number): ImportChange =>
    number > 1
      ? extendedFigures(row, staged, newVisitors, source.files)
      : {
          ...({ state: "completed", finished_at: host.now(), folder_expires_at: null } as const),
          rows_imported: staged.rows.accepted,
          refunds_json: staged.refunds ? JSON.stringify({ ...staged.refunds, published: 0 } satisfies Refunds) : null,
        }

  /** Sorts the rows, or returns what was sorted when the import was created or by an earlier attempt of this run. */
  async function sorted(
    { row, site, source, rules, stream, number, signal, progress }: Running,
    folder: string,
    fetched?: Fetched,
  ): Promise<Staged> {
    const basis = { rules, timezone: row.timezone }
    const known = readSorted(folder)
    // Rows that were begun to be written are those that are sorted.
    if (known && (imports.cursor(row.id, number) || Bun.deepEquals(known.basis, basis))) return known.staged
    beginSorting(folder)
    const files = fetched?.files ?? sourceFiles(source.files, folder)
    progress({ phase: "sort", done: 0, total: files.reduce((sum, { bytes }) => sum + bytes, 0) })
    const staged = await previews.stage(
      {
        do: "stage",
        folder: rowsIn(folder),
        ...stageInput(host, {
          site: { ...site, timezone: row.timezone },
          source: row.source,
          options: source.options,
          files,
          isInline: false,
        }),
        rules,
        geoDb: host.geoDb,
        salt: saltIn(folder, host.random),
        ...(fetched && { warnings: fetched.warnings }),
        ...(stream && { stream: await streams.task(stream) }),
      },
      signal,
      (done, total) => progress({ phase: "sort", done, total }),
    )
    await keepSorted(folder, { staged, basis })
    return staged
  }

  /** Throws the faults that only the whole content shows. */
  async function refuse({ row, source, stream, number }: Started, { rows, hash, days }: Staged): Promise<void> {
    const { accept_rejects = false } = source.options
    if (rows.rejected > rows.read * MAX_REJECT_SHARE && !accept_rejects)
      throw importError("too_many_rejects", `${rows.rejected} of ${rows.read} lines were rejected. Set accept_rejects to import the rest.`)
    // A run of a stream can be empty: all its lines were read before, or belong to visits that may go on.
    if (days.length === 0 && !stream) throw nothingToImport()
    if (days.length > 0 && number === 1 && days.every(({ skip }) => skip !== undefined)) throw noEffectiveDays()
    if (hash === undefined || row.forced === 1 || stream) return
    const duplicate = await duplicateOf(db, { siteId: row.site_id, hash, except: row.id })
    if (duplicate) throw importError("duplicate_import", `Import ${duplicate.id} has the same content.`, { import_id: duplicate.id })
    if (row.source_hash === null) await updateImport(db, row.id, { source_hash: hash })
  }

  /** Stores the rejected lines behind those of earlier runs. */
  async function storeRejects({ row: { id, rows_rejected }, number }: Started, staged: Staged): Promise<void> {
    const before = number === 1 ? 0 : Math.min(rows_rejected, MAX_REJECTS)
    const rejects = staged.rejects.slice(0, MAX_REJECTS - before)
    await host.rows.write((rows) => deleteRejects(rows, id, before))
    for (let at = 0; at < rejects.length; at += REJECTS_PER_WRITE)
      await host.rows.write((rows) => insertRejects(rows, id, before + at + 1, rejects.slice(at, at + REJECTS_PER_WRITE)))
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

  async function undo({ payload: { importId, actor }, progress }: Pick<JobWork<RunPayload>, "payload" | "progress">): Promise<void> {
    const row = await importById(db, importId)
    const site = row && host.services.sites.directory.byId(row.site_id)
    if (!row || !site || row.state !== "undoing") return
    progress({ phase: "undo", done: 0 })
    await host.exclusively(() => imports.drop(row.site_id, row.id))
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

const REJECTS_PER_WRITE = 500

const isFetched = ({ source }: Pick<ImportRow, "source">): boolean => sourceById(source)?.isFetched === true

const sourceMissing = () => importError("source_missing", "The staged files of the import are gone. Start a new import.")
export const nothingToImport = () => importError("nothing_to_import", "No row of the files can be imported. The preview lists the reasons.")
export const noEffectiveDays = () =>
  importError("no_effective_days", "Every day of the files is excluded: by native data, by retention, or because it lies in the future.")

/** Returns the staged files of an import with the names under which they were sent. */
function sourceFiles(files: PendingRun["files"], folder: string): StagedFile[] {
  return files.map(({ name, bytes }, index) => ({ name, bytes, path: join(folder, "source", String(index)) }))
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
