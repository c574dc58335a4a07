import { join } from "node:path"
import type { Actor, JobWork, Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import type { DayRules } from "../days.ts"
import { importError } from "../errors.ts"
import { type Previews, stageInput } from "../preview.ts"
import { deleteRejects, duplicateOf, type ImportRow, insertRejects, updateImport } from "../rows.ts"
import { sourceById } from "../sources/sources.ts"
import type { PendingRun, StreamRow } from "../streams/rows.ts"
import type { Streams } from "../streams/streams.ts"
import type { Fetched, Fetching } from "./fetching/fetching.ts"
import { runFigures } from "./figures.ts"
import { beginSorting, keepSorted, readSorted, rowsIn, saltIn } from "./sorted.ts"
import { MAX_REJECTS, type Staged, type StagedFile } from "./task.ts"

/** Share of rejected lines above which an import fails. */
const MAX_REJECT_SHARE = 0.5
const REJECTS_PER_WRITE = 500

/** What a run reads, and where it writes. */
export interface Started {
  row: ImportRow
  source: Pick<PendingRun, "files" | "options"> & { folder: string | null }
  rules: DayRules
  /** Absent unless the import is a stream. */
  stream?: StreamRow | undefined
  /** Number of the run: 1, or more for a run that extends a stream. */
  number: number
}

/** An import at work. */
export interface Running extends Started {
  site: Site
  actor: Actor
  signal: AbortSignal
  progress: JobWork["progress"]
}

interface SortingOptions {
  fetching: Fetching
  previews: Pick<Previews, "stage">
  streams: Pick<Streams, "task">
}

/**
 * Creates the first phase of a run: it fetches and sorts the rows, in a folder of staged files, and stores which lines were rejected. Throws
 * the faults that only the whole content shows.
 */
export function createSorting(host: ImportsHost, { fetching, previews, streams }: SortingOptions) {
  const { db, imports } = host

  async function sort(at: Running, folder: string): Promise<Staged> {
    const fetched = isFetched(at.row) ? await fetchRest(at, folder) : undefined
    const staged = await sorted(at, folder, fetched)
    // A refused import shows what was read, and the lines that were rejected.
    if (at.number === 1) await updateImport(db, at.row.id, runFigures(staged))
    await storeRejects(at, staged)
    await refuse(at, staged)
    return staged
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

  /** Stores the rejected lines behind those of earlier runs. */
  async function storeRejects({ row: { id, rows_rejected }, number }: Started, staged: Staged): Promise<void> {
    const before = number === 1 ? 0 : Math.min(rows_rejected, MAX_REJECTS)
    const rejects = staged.rejects.slice(0, MAX_REJECTS - before)
    await host.rows.write((rows) => deleteRejects(rows, id, before))
    for (let at = 0; at < rejects.length; at += REJECTS_PER_WRITE)
      await host.rows.write((rows) => insertRejects(rows, id, before + at + 1, rejects.slice(at, at + REJECTS_PER_WRITE)))
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
  return sort
}

/** Returns whether a source has no files, but a service from which they are fetched. */
export const isFetched = ({ source }: Pick<ImportRow, "source">): boolean => sourceById(source)?.isFetched === true

export const nothingToImport = () => importError("nothing_to_import", "No row of the files can be imported. The preview lists the reasons.")
export const noEffectiveDays = () =>
  importError("no_effective_days", "Every day of the files is excluded: by native data, by retention, or because it lies in the future.")

/** Returns the staged files of an import with the names under which they were sent. */
function sourceFiles(files: PendingRun["files"], folder: string): StagedFile[] {
  return files.map(({ name, bytes }, index) => ({ name, bytes, path: join(folder, "source", String(index)) }))
}
