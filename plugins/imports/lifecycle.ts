import { existsSync } from "node:fs"
import { join } from "node:path"
import { Type as t } from "@sinclair/typebox"
import { type Actor, AppError, fault, inspect, type OwnStatements, parseId, refuseFaults, refuseStaleBody, type Site } from "#plugin"
import type { ImportsHost } from "./area.ts"
import { auditEntry } from "./audit-entries.ts"
import type { Overlap } from "./days.ts"
import { importError } from "./errors.ts"
import type { Holders } from "./holders.ts"
import { type ImportInput, LIMITS } from "./input.ts"
import type { Preview, Previews } from "./preview.ts"
import { deleteUpload, type ImportRow, type ImportState, importById, insertImport, type UploadRow, updateImport } from "./rows.ts"
import type { Fetched, Fetching } from "./run/fetching/fetching.ts"
import { enqueueJob } from "./run/jobs.ts"
import type { Runs } from "./run/run.ts"
import { noEffectiveDays, nothingToImport } from "./run/sorting.ts"
import type { StagedFile } from "./run/task.ts"
import { MAX_WAIT_MS } from "./sources/server-log/open-visits.ts"
import { sourceById } from "./sources/sources.ts"
import type { Staging } from "./staging.ts"
import { type PendingRun, type StreamRow, streamByName, streamOfImport, streamsWaitingSince, updateStream } from "./streams/rows.ts"
import type { Streams } from "./streams/streams.ts"
import type { Uploads } from "./uploads.ts"

/** Imports of a site, as people start, cancel, undo and hide them. */
export interface Imports {
  /** Reads the input as a run does, without storing anything. */
  preview(author: Author, input: ImportInput, signal: AbortSignal): Promise<Preview>
  /** Stores an import and enqueues its run; the next run of a stream extends its import. `alongside` runs in the transaction. */
  create(author: Author, input: ImportInput, signal: AbortSignal, alongside: Alongside): Promise<ImportRow>
  get(site: Site, id: string | undefined): Promise<ImportRow>
  /** The following throw `invalid_state` in a wrong state. */
  cancel(author: Author, id: string | undefined): Promise<ImportRow>
  /** Idempotent. */
  undo(author: Author, id: string | undefined): Promise<ImportRow>
  retry(author: Author, id: string | undefined): Promise<ImportRow>
  update(author: Author, id: string | undefined, body: unknown, terms: Terms): Promise<ImportRow>
  /** Starts runs of streams whose open visits have waited long enough for their rest. */
  writeWaitingVisits(): Promise<void>
  /** Returns whether `writeWaitingVisits` has something to write. */
  hasWaitingVisits(): Promise<boolean>
}

export interface Author {
  site: Site
  actor: Actor
  /** Null for the command line. */
  userId: number | null
  permissions: Pick<ReadonlySet<string>, "has">
}

type Alongside = (statements: OwnStatements, change: { after: ImportRow }) => Promise<void>
interface Terms {
  /** Throws `precondition_failed` unless a version is the one that the request names. */
  expected(row: ImportRow): void
  /** Returns the import as answers show it, for `version_conflict`. */
  current(row: ImportRow): object
}

export const ImportPatch = t.Object(
  {
    label: t.Optional(t.String({ minLength: 1, maxLength: LIMITS.label, description: "Name of the import." })),
    enabled: t.Optional(t.Boolean({ description: "Whether answers include the import." })),
    version: t.Optional(t.Integer({ minimum: 1, description: "Version on which the change is based." })),
  },
  { additionalProperties: false, title: "ImportPatch" },
)

/** The files of an input in a folder. */
interface GivenFiles {
  folder: string
  files: StagedFile[]
  uploaded: UploadRow[]
  fetched: Fetched | undefined
}

interface Options {
  fetching: Fetching
  holders: Holders
  previews: Previews
  runs: Runs
  staging: Staging
  streams: Streams
  uploads: Uploads
}

export function createImports(host: ImportsHost, { fetching, holders, previews, runs, staging, streams, uploads }: Options): Imports {
  const { db, audit, jobs, now } = host

  type Starter = Pick<Author, "site" | "actor" | "userId">
  const enqueue = (
    statements: OwnStatements,
    name: "run-import" | "undo-import",
    row: ImportRow,
    { site, actor, userId }: Starter,
    folder?: string,
  ) => enqueueJob(host, statements, { name, row, site, actor, userId, ...(folder !== undefined && { folder }) })

  /** Enqueues one more run of a stream. */
  async function extend(statements: OwnStatements, { import_id }: StreamRow, pending: PendingRun, author: Starter): Promise<ImportRow> {
    await updateStream(statements, import_id, { pending_json: JSON.stringify(pending) })
    const row = (await importById(statements, import_id))! // a stream has an import
    const job = await enqueue(statements, "run-import", row, author, pending.folder)
    return (await updateImport(statements, row.id, { job_id: job.id, error_code: null, error_message: null }))! // read above
  }

  /** Returns the stream that a run extends, or undefined if its import is yet to be created. */
  async function growing(statements: OwnStatements, site: Site, { stream: name, overlap }: ImportInput["options"]) {
    const stream = typeof name === "string" ? await streamByName(statements, site.id, name) : undefined
    const row = stream && (await importById(statements, stream.import_id))
    if (!stream || !row) return undefined
    if (row.state !== "completed" || stream.pending_json !== null) throw runInProgress()
    if (overlap !== undefined && overlap !== row.overlap)
      refuseFaults([fault("/options/overlap", "invalid_choice", `must be that of the stream, ${row.overlap}, or be left out`)])
    return stream
  }

  /** Puts the files of an input, or what is fetched for it, into a folder, calls the function, and deletes the folder unless it returns true in `keeps`. */
  async function withFiles<T>(
    { site, userId }: Author,
    input: ImportInput,
    signal: AbortSignal,
    use: (given: GivenFiles) => Promise<T>,
  ): Promise<T> {
    const uploaded = await uploads.complete(site, userId, input.uploadIds)
    const folder = staging.create()
    try {
      const fetched = isFetched(input) ? await fetching.begin(staging.path(folder), { site, options: input.options }, signal) : undefined
      const files = uploaded.length > 0 ? staging.link(folder, uploaded) : await staging.write(folder, input.files)
      return await use({ folder, files: fetched?.files ?? files, uploaded, fetched })
    } catch (error) {
      await staging.remove(folder)
      throw error
    }
  }

  async function find(statements: OwnStatements, site: Site, id: string | undefined): Promise<ImportRow> {
    const row = await importById(statements, parseId(id) ?? 0)
    if (row?.site_id === site.id) return row
    throw importError("import_not_found", "This site has no import with this id.")
  }

  return {
    get: (site, id) => find(db, site, id),

    async preview(author, input, signal) {
      if (isFetched(input)) requireAll(author, ["integrations:write"])
      return withFiles(author, input, signal, async ({ folder, files, fetched }) => {
        const { source, options } = input
        const preview = await previews.preview({ site: author.site, source, options, files, fetched, isInline: isInline(input) }, signal)
        await staging.remove(folder)
        return preview
      })
    },

    async create(author, input, signal, alongside) {
      refuseOptions(author, input)
      const { site, actor, userId } = author
      return withFiles(author, input, signal, async ({ folder, files, uploaded, fetched }) => {
        const { source, options } = input
        const given = { site, source, options, files, fetched, isInline: isInline(input), importFolder: staging.path(folder) }
        const preview = await previews.preview(given, signal)
        refuseEmpty(preview)
        const listed = files.map(({ name, bytes }) => ({ name, bytes }))
        if (input.previewHash !== undefined && input.previewHash !== preview.previewHash)
          throw importError("preview_mismatch", "Files, options or days have changed since the preview. Make a new preview.")
        const { staged, answer } = preview
        const created = await db.transaction(async (statements) => {
          if (answer.duplicate_of !== undefined && !input.force) throw duplicate(answer.duplicate_of)
          const stream = await growing(statements, site, options)
          if (stream) {
            for (const { id } of uploaded) await deleteUpload(statements, id)
            const extended = await extend(statements, stream, { folder, files: listed, options }, author)
            await audit.write(statements, actor, auditEntry("extend", site, extended, { run: [stream.run, stream.run + 1] }))
            await alongside(statements, { after: extended })
            return extended
          }
          const row = await insertImport(statements, {
            site_id: site.id,
            source: staged.source,
            label: input.label ?? labelOf(staged.source, fetched ? [{ name: String(options.property) }] : files),
            kind: staged.kind,
            options_json: JSON.stringify(options),
            overlap: (options.overlap as Overlap | undefined) ?? "native_wins", // validated by `parseInput`
            source_hash: preview.hash ?? null,
            preview_hash: preview.previewHash,
            files_json: JSON.stringify(listed),
            bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
            created_by: userId,
            created_at: now(),
            timezone: fetched?.timezone ?? site.timezone,
            folder,
            forced: Number(input.force),
            date_start: answer.date_start,
            date_end: answer.date_end,
          })
          if (typeof options.stream === "string") await streams.begin(statements, site.id, options.stream, row.id)
          for (const { id } of uploaded) await deleteUpload(statements, id)
          const job = await enqueue(statements, "run-import", row, author)
          const pending = (await updateImport(statements, row.id, { job_id: job.id }))! // inserted above
          await audit.write(statements, actor, auditEntry("create", site, pending, { source: [null, staged.source] }))
          await alongside(statements, { after: pending })
          return pending
        })
        for (const { path } of uploaded) await staging.removeUpload(path)
        return created
      })
    },

    async cancel({ site, actor }, id) {
      const cancelled = await db.transaction(async (statements) => {
        const row = await find(statements, site, id)
        const stream = await streamOfImport(statements, row.id)
        if (row.state === "completed" && stream && stream.pending_json !== null) {
          await updateStream(statements, row.id, { pending_json: null })
          await audit.write(statements, actor, auditEntry("cancel", site, row, { run: [stream.run + 1, stream.run] }))
          return (await updateImport(statements, row.id, {}))! // found above
        }
        const change = { state: "cancelled", finished_at: now() } as const
        const changed = await updateImport(statements, row.id, change, ["pending", "running"])
        if (!changed) throw wrongState(row, "cancelled")
        await streams.forget(statements, row.id)
        await audit.write(statements, actor, auditEntry("cancel", site, changed, { state: [row.state, changed.state] }))
        return changed
      })
      runs.stop(cancelled.id)
      // A run that has yet to start, or waits until it can fetch again, removes its files now.
      const job = cancelled.job_id === null ? undefined : await jobs.get(cancelled.job_id)
      if (job?.state === "queued" && (await jobs.cancel(job.id))) await runs.settle(cancelled)
      return cancelled
    },

    async undo(author, id) {
      const { site, actor, userId } = author
      const undone = await db
        .transaction(
          async (statements) => {
            const row = await find(statements, site, id)
            if (row.state === "undoing" || row.state === "undone") return { row, show: () => {} }
            const change = { state: "undoing", undone_by: userId } as const
            const changed = await updateImport(statements, row.id, change, ["completed"])
            if (!changed) throw wrongState(row, "undone")
            await streams.forget(statements, row.id)
            const show = await holders.recompute(statements, site.id)
            const job = await enqueue(statements, "undo-import", changed, author)
            const undoing = (await updateImport(statements, row.id, { job_id: job.id }))! // found above
            await audit.write(statements, actor, auditEntry("undo", site, undoing, { state: [row.state, undoing.state] }))
            return { row: undoing, show }
          },
          ({ show }) => show(),
        )
        .then(({ row }) => row)
      // A run that extends a stream may be in progress.
      runs.stop(undone.id)
      return undone
    },

    async retry(author, id) {
      const { site, actor } = author
      return db.transaction(async (statements) => {
        const row = await find(statements, site, id)
        if (row.state !== "failed") throw wrongState(row, "retried")
        if (!hasSource(staging, row))
          throw importError("source_missing", "The staged files of this import were deleted. Start a new import.")
        const change = { state: "pending", error_code: null, error_message: null, finished_at: null, started_at: null } as const
        const changed = (await updateImport(statements, row.id, { ...change, folder_expires_at: null }, ["failed"]))! // checked above
        const job = await enqueue(statements, "run-import", changed, author)
        const pending = (await updateImport(statements, row.id, { job_id: job.id }))! // changed above
        await audit.write(statements, actor, auditEntry("retry", site, pending, { state: [row.state, pending.state] }))
        return pending
      })
    },

    async update({ site, actor }, id, body, { expected, current }) {
      const { fields, faults } = inspect(ImportPatch, body)
      refuseFaults(faults)
      const { label, enabled, version } = fields!
      return db
        .transaction(
          async (statements) => {
            const row = await find(statements, site, id)
            expected(row)
            refuseStaleBody(row, version, current)
            if (enabled !== undefined && row.state !== "completed") throw wrongState(row, enabled ? "shown" : "hidden")
            const change = { ...(label !== undefined && { label }), ...(enabled !== undefined && { enabled: Number(enabled) }) }
            const changed = (await updateImport(statements, row.id, change))! // found above
            const isToggled = changed.enabled !== row.enabled
            const show = isToggled ? await holders.recompute(statements, site.id) : () => {}
            const changes = {
              ...(changed.label !== row.label && { label: [row.label, changed.label] as const }),
              ...(isToggled && { enabled: [row.enabled === 1, changed.enabled === 1] as const }),
            }
            await audit.write(statements, actor, auditEntry("update", site, changed, changes))
            return { row: isToggled ? (await importById(statements, row.id))! : changed, show } // changed above
          },
          ({ show }) => show(),
        )
        .then(({ row }) => row)
    },

    hasWaitingVisits: async () => (await streamsWaitingSince(db, now() - MAX_WAIT_MS)).length > 0,
    async writeWaitingVisits() {
      for (const { import_id } of await streamsWaitingSince(db, now() - MAX_WAIT_MS)) {
        const folder = staging.create()
        const begun = await db.transaction(async (statements) => {
          const stream = await streamOfImport(statements, import_id)
          const row = await importById(statements, import_id)
          const site = row && host.services.sites.directory.byId(row.site_id)
          if (!stream || !site || row.state !== "completed" || stream.pending_json !== null) return undefined
          return extend(statements, stream, { folder, files: [], options: {} }, { site, actor: audit.system, userId: null })
        })
        if (!begun) await staging.remove(folder)
      }
    },
  }
}

/** Returns whether the staged files of an import are there. */
export const hasSource = (staging: Pick<Staging, "path">, { folder }: Pick<ImportRow, "folder">): boolean =>
  folder !== null && existsSync(join(staging.path(folder), "source"))

/** Returns whether the data is fetched instead of sent. */
const isFetched = ({ source }: Pick<ImportInput, "source">): boolean => source !== undefined && sourceById(source)?.isFetched === true

/** Returns whether the content came in the request. Uploads and files of this machine may be larger. */
const isInline = ({ files }: ImportInput): boolean => files.some((file) => "content" in file)

/** Some options need further permissions. */
function refuseOptions(author: Author, { source, options }: ImportInput): void {
  requireAll(author, [
    ...(isFetched({ source }) ? ["integrations:write"] : []),
    ...(options.overlap === "allow" ? ["site:write"] : []),
    ...(options.create_goals === true ? ["goals:write"] : []),
    ...(options.create_definitions === true ? ["goals:write", "funnels:write", "annotations:write", "segments:write"] : []),
  ])
}

function requireAll({ permissions }: Author, needed: readonly string[]): void {
  const missing = needed.find((name) => !permissions.has(name))
  if (missing) throw new AppError("forbidden", "Your role does not allow these options.", { required_permission: missing })
}

/** Throws what a complete preview shows already, so that the run need not find it. */
function refuseEmpty({ staged: { complete, rows, days, stream }, isExtension }: Preview): void {
  if (!complete || isExtension) return
  // All rows of a stream may belong to visits that may go on.
  if (stream && days.length === 0) return
  if (rows.accepted === 0 && days.every(({ skip }) => skip === undefined)) throw nothingToImport()
  if (days.every(({ skip }) => skip !== undefined)) throw noEffectiveDays()
}

const runInProgress = () =>
  new AppError("invalid_state", "A run of this stream is in progress. Send the log again when it has ended.", { state: "running" })

const duplicate = (id: number) =>
  importError("duplicate_import", `Import ${id} has the same content. Send force to import it again.`, { import_id: id })

const wrongState = ({ state }: { state: ImportState }, done: string) =>
  new AppError("invalid_state", `An import that is ${state} cannot be ${done}.`, { state })

function labelOf(source: string, files: readonly Pick<StagedFile, "name">[]): string {
  const [first] = files
  const others = files.length > 1 ? ` and ${files.length - 1} more` : ""
  return `${sourceById(source)?.title ?? source}: ${first?.name ?? ""}${others}`.slice(0, LIMITS.label)
}
