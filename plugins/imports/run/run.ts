import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Actor, AppError, type JobWork, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { auditEntry } from "../audit-entries.ts"
import type { DayRules } from "../days.ts"
import { importError } from "../errors.ts"
import type { Holders } from "../holders.ts"
import { linksUsers, type Previews, shownTotals, stageInput } from "../preview.ts"
import {
  type DayRow,
  deleteDays,
  deleteRejects,
  duplicateOf,
  type ImportRow,
  importById,
  insertRejects,
  putDays,
  updateImport,
} from "../rows.ts"
import type { Staging } from "../staging.ts"
import { createDefinitions, removeDefinitions } from "./definitions.ts"
import type { Staged, StagedFile } from "./task.ts"
import { type WriteOptions, writeStaged } from "./write.ts"

/** The work of imports: runs and undoing, as jobs that continue after a restart. */
export interface Runs {
  run(work: JobWork<RunPayload>): Promise<void>
  undo(work: JobWork<RunPayload>): Promise<void>
  /** Ends a run within seconds. Its import is already cancelled. */
  stop(importId: number): void
}

export interface RunPayload {
  importId: number
  /** The person who started it, for the audit log and for emails. */
  actor: Actor
}

/** Time for which the staged files of a failed import are kept for another attempt. */
const RETRY_MS = 24 * 3_600_000
/** Share of rejected lines above which an import fails. */
const MAX_REJECT_SHARE = 0.5

interface Options {
  holders: Holders
  previews: Pick<Previews, "stage" | "rules">
  staging: Staging
  /** Smaller batches for tests. */
  batch?: WriteOptions["batch"]
}

/** An import at work. */
interface Running {
  row: ImportRow
  site: Site
  actor: Actor
  signal: AbortSignal
  progress: JobWork["progress"]
}

export function createRuns(host: ImportsHost, { holders, previews, staging, batch }: Options): Runs {
  const { db, imports } = host
  const running = new Map<number, AbortController>()

  async function run({ payload, signal, progress }: JobWork<RunPayload>): Promise<void> {
    const { importId, actor } = payload
    const found = await importById(db, importId)
    const site = found && host.services.sites.directory.byId(found.site_id)
    if (!found || !site) return
    const own = new AbortController()
    running.set(importId, own)
    try {
      const row = await started(found, site, signal)
      if (!row) return await purge(found, site, actor)
      await complete({ row, site, actor, progress, signal: AbortSignal.any([signal, own.signal]) })
    } catch (error) {
      if (own.signal.aborted) return await purge(found, site, actor)
      // The end of the process only interrupts the run.
      if (signal.aborted) throw error
      await fail(found, site, actor, error)
    } finally {
      running.delete(importId)
    }
  }

  /** Returns the import as running, with rules that stay the same after an interruption. Undefined if it was cancelled meanwhile. */
  async function started(row: ImportRow, site: Site, signal: AbortSignal): Promise<ImportRow | undefined> {
    if (row.state === "running") return row
    const rules = await previews.rules(site, row.overlap, signal)
    const change = { state: "running", started_at: host.now(), rules_json: JSON.stringify(rules), timezone: site.timezone } as const
    return updateImport(db, row.id, change, ["pending"])
  }

  async function complete(at: Running): Promise<void> {
    const { row, site, signal, progress } = at
    const folder = row.folder === null ? undefined : staging.path(row.folder)
    if (!folder || !existsSync(join(folder, "source"))) throw sourceMissing()
    const rules = JSON.parse(row.rules_json!) as DayRules // written when it started
    const staged = await sorted(at, folder, rules)
    await refuse(row, staged)
    await updateImport(db, row.id, runFigures(staged))
    await storeRejects(row, staged)
    const { visits, rows } = await writeStaged({
      imports,
      siteId: site.id,
      importId: row.id,
      folder: join(folder, "sorted"),
      staged,
      linksUsers: linksUsers(site, JSON.parse(row.options_json) as Record<string, unknown>), // written with the import
      batch,
      signal,
      report: (done, total) => progress({ phase: "write", done, total }),
    })
    progress({ phase: "complete", done: visits + rows, total: visits + rows })
    await createDefinitions(host, { row, site, actor: at.actor, staged })
    signal.throwIfAborted()
    await db.transaction(
      async (statements) => {
        const change = {
          ...({ state: "completed", finished_at: host.now(), folder: null, folder_expires_at: null } as const),
          rows_imported: staged.rows.accepted,
        }
        const completed = await updateImport(statements, row.id, change, ["running"])
        if (!completed) throw signal.reason ?? new Error("The import is no longer running.")
        await deleteDays(statements, row.id)
        await putDays(statements, row.id, dayRows(staged))
        const show = await holders.recompute(statements, site.id)
        await host.audit.write(statements, at.actor, auditEntry("complete", site, completed, { state: ["running", "completed"] }))
        await host.outbox.write(statements, eventOf("import.completed", site, completed))
        return show
      },
      (show) => show(),
    )
    if (row.folder !== null) staging.remove(row.folder)
  }

  /** Sorts the rows, or returns what an earlier attempt of this run has sorted. */
  async function sorted({ row, site, signal, progress }: Running, folder: string, rules: DayRules): Promise<Staged> {
    const [target, summary] = [join(folder, "sorted"), join(folder, "sorted.json")]
    if (existsSync(summary)) return JSON.parse(readFileSync(summary, "utf8")) as Staged // written below
    rmSync(target, { recursive: true, force: true })
    mkdirSync(target, { mode: 0o700 })
    const options = JSON.parse(row.options_json) as Record<string, unknown> // written with the import
    const files = sourceFiles(row, folder)
    const staged = await previews.stage(
      {
        do: "stage",
        folder: target,
        ...stageInput({ site: { ...site, timezone: row.timezone }, source: row.source, options, files, isInline: false }),
        rules,
        geoDb: host.geoDb,
        salt: saltIn(folder, host.random),
      },
      signal,
      (done, total) => progress({ phase: "sort", done, total }),
    )
    writeFileSync(summary, JSON.stringify(staged), { mode: 0o600 })
    return staged
  }

  /** Throws the faults that only the whole content shows. */
  async function refuse(row: ImportRow, { rows, hash, days }: Staged): Promise<void> {
    const { accept_rejects = false } = JSON.parse(row.options_json) as { accept_rejects?: boolean } // validated with the import
    if (rows.rejected > rows.read * MAX_REJECT_SHARE && !accept_rejects)
      throw importError("too_many_rejects", `${rows.rejected} of ${rows.read} lines were rejected. Set accept_rejects to import the rest.`)
    if (days.length === 0) throw nothingToImport()
    if (days.every(({ skip }) => skip !== undefined)) throw noEffectiveDays()
    if (hash === undefined || row.forced === 1) return
    const duplicate = await duplicateOf(db, { siteId: row.site_id, hash, except: row.id })
    if (duplicate) throw importError("duplicate_import", `Import ${duplicate.id} has the same content.`, { import_id: duplicate.id })
    if (row.source_hash === null) await updateImport(db, row.id, { source_hash: hash })
  }

  async function storeRejects({ id }: ImportRow, { rejects }: Staged): Promise<void> {
    await host.rows.write((rows) => deleteRejects(rows, id))
    for (let at = 0; at < rejects.length; at += REJECTS_PER_WRITE)
      await host.rows.write((rows) => insertRejects(rows, id, at + 1, rejects.slice(at, at + REJECTS_PER_WRITE)))
  }

  /** Removes the rows and definitions of an import that did not complete, and its staged files unless it can be tried again. */
  async function purge(row: ImportRow, site: Site, actor: Actor, keepsSource = false): Promise<void> {
    await imports.drop(row.site_id, row.id)
    await removeDefinitions(host, row.id, site, actor)
    if (row.folder === null) return
    if (!keepsSource) {
      staging.remove(row.folder)
      await updateImport(db, row.id, { folder: null })
      return
    }
    for (const name of ["sorted", "sorted.json", "salt"]) rmSync(join(staging.path(row.folder), name), { recursive: true, force: true })
  }

  async function fail(row: ImportRow, site: Site, actor: Actor, error: unknown): Promise<void> {
    if (!(error instanceof AppError)) host.log.error("an import failed", { import: row.id, error })
    const code = error instanceof AppError ? error.code : "internal_error"
    const message =
      error instanceof AppError ? error.message : "The import failed because of an error of the server. The cause is in its log."
    const keepsSource = row.source !== "server_log" && code !== "source_missing"
    await purge(row, site, actor, keepsSource)
    const failed = await db.transaction(async (statements) => {
      const change = {
        ...({ state: "failed", error_code: code, error_message: message, finished_at: host.now() } as const),
        ...(keepsSource ? { folder_expires_at: host.now() + RETRY_MS } : {}),
      }
      const changed = await updateImport(statements, row.id, change, ["pending", "running"])
      if (!changed) return undefined
      const entry = auditEntry("complete", site, changed, { error: [null, code] })
      await host.audit.write(statements, actor, { ...entry, outcome: "failed" })
      await host.outbox.write(statements, eventOf("import.failed", site, changed))
      return changed
    })
    if (failed && actor.kind === "user" && host.mail.isOn()) await host.mail.send(failureEmail(host, failed, site, actor.email))
  }

  async function undo({ payload: { importId, actor }, progress }: JobWork<RunPayload>): Promise<void> {
    const row = await importById(db, importId)
    const site = row && host.services.sites.directory.byId(row.site_id)
    if (!row || !site || row.state !== "undoing") return
    progress({ phase: "undo", done: 0 })
    await host.exclusively(() => imports.drop(row.site_id, row.id))
    await removeDefinitions(host, row.id, site, actor)
    await db.transaction(async (statements) => {
      const change = { state: "undone", undone_at: host.now() } as const
      const undone = await updateImport(statements, row.id, change, ["undoing"])
      if (!undone) return
      await host.audit.write(statements, actor, auditEntry("undone", site, undone, { state: ["undoing", "undone"] }))
      await host.outbox.write(statements, eventOf("import.undone", site, undone))
    })
  }
  return { run, undo, stop: (importId) => running.get(importId)?.abort() }
}

const REJECTS_PER_WRITE = 500

const sourceMissing = () => importError("source_missing", "The staged files of the import are gone. Start a new import.")
export const nothingToImport = () => importError("nothing_to_import", "No row of the files can be imported. The preview lists the reasons.")
export const noEffectiveDays = () =>
  importError("no_effective_days", "Every day of the files is excluded: by native data, by retention, or because it lies in the future.")

/** Returns the staged files of an import with the names under which they were sent. */
export function sourceFiles(row: Pick<ImportRow, "files_json">, folder: string): StagedFile[] {
  const files = JSON.parse(row.files_json) as { name: string; bytes: number }[] // written with the import
  return files.map(({ name, bytes }, index) => ({ name, bytes, path: join(folder, "source", String(index)) }))
}

/** Returns the key of the visitors' hashes. It lies with the staged files and is destroyed with them. */
function saltIn(folder: string, random: ImportsHost["random"]): string {
  const path = join(folder, "salt")
  if (!existsSync(path)) writeFileSync(path, Buffer.from(random(32)).toString("hex"), { mode: 0o600 })
  return readFileSync(path, "utf8")
}

const runFigures = (staged: Staged) => ({
  kind: staged.kind,
  rows_total: staged.rows.read,
  rows_read: staged.rows.read,
  rows_skipped: staged.rows.skipped,
  rows_rejected: staged.rows.rejected,
  skip_reasons_json: JSON.stringify(staged.skipReasons),
  totals_json: JSON.stringify(shownTotals(staged)),
  date_start: staged.days[0]?.day ?? null,
  date_end: staged.days.at(-1)?.day ?? null,
})

const dayRows = ({ days }: Staged): DayRow[] =>
  days.map(({ day, skip }) =>
    skip ? { day, state: "skipped", reason: skip, masked_by: null } : { day, state: "masked", reason: null, masked_by: null },
  )

function eventOf(event: string, site: Site, { id, source, label, state, date_start, date_end, error_code }: ImportRow) {
  const payload = { import_id: id, source, label, state, date_start, date_end, ...(error_code !== null && { error: error_code }) }
  return { event, organizationId: site.organization_id, siteId: site.id, payload }
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
