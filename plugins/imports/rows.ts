import type { OwnStatements, RowStatements, Sql } from "#plugin"
import { raw, sql } from "#plugin/worker"
import type { DayRules, DaySkip, Overlap } from "./days.ts"

/** Statements on the plugin's tables. */

export const STATES = ["pending", "running", "completed", "failed", "cancelled", "undoing", "undone"] as const
export type ImportState = (typeof STATES)[number]

/** A row of `imports_imports`. */
export interface ImportRow {
  id: number
  site_id: number
  source: string
  label: string
  kind: "rows" | "aggregate" | "mixed"
  state: ImportState
  options_json: string
  overlap: Overlap
  source_hash: string | null
  preview_hash: string | null
  files_json: string
  bytes: number
  rows_total: number | null
  rows_read: number
  rows_imported: number
  rows_skipped: number
  rows_rejected: number
  skip_reasons_json: string
  totals_json: string
  date_start: string | null
  date_end: string | null
  days_effective: number
  enabled: number
  created_objects_json: string
  created_by: number | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  undone_by: number | null
  undone_at: number | null
  error_code: string | null
  error_message: string | null
  timezone: string
  folder: string | null
  folder_expires_at: number | null
  rules_json: string | null
  /** Refunds of the import as JSON, see `Refunds`. Null without any. */
  refunds_json: string | null
  job_id: number | null
  forced: number
  version: number
}

const NAMES = [
  ...["id", "site_id", "source", "label", "kind", "state", "options_json", "overlap", "source_hash", "preview_hash", "files_json", "bytes"],
  ...["rows_total", "rows_read", "rows_imported", "rows_skipped", "rows_rejected", "skip_reasons_json", "totals_json", "date_start"],
  ...[
    "date_end",
    "days_effective",
    "enabled",
    "created_objects_json",
    "created_by",
    "created_at",
    "started_at",
    "finished_at",
    "undone_by",
  ],
  ...[
    "undone_at",
    "error_code",
    "error_message",
    "timezone",
    "folder",
    "folder_expires_at",
    "rules_json",
    "refunds_json",
    "job_id",
    "forced",
    "version",
  ],
]
const COLUMNS = raw(NAMES.join(", "))

export type NewImport = Pick<
  ImportRow,
  | "site_id"
  | "source"
  | "label"
  | "kind"
  | "options_json"
  | "overlap"
  | "source_hash"
  | "preview_hash"
  | "files_json"
  | "bytes"
  | "created_by"
  | "created_at"
  | "timezone"
  | "folder"
  | "forced"
  | "date_start"
  | "date_end"
>

export async function insertImport(statements: OwnStatements, one: NewImport): Promise<ImportRow> {
  const row = await statements.get<ImportRow>(sql`
    insert into imports_imports (site_id, source, label, kind, state, options_json, overlap, source_hash, preview_hash, files_json, bytes,
      created_by, created_at, timezone, folder, forced, date_start, date_end)
    values (${one.site_id}, ${one.source}, ${one.label}, ${one.kind}, 'pending', ${one.options_json}, ${one.overlap}, ${one.source_hash},
      ${one.preview_hash}, ${one.files_json}, ${one.bytes}, ${one.created_by}, ${one.created_at}, ${one.timezone}, ${one.folder},
      ${one.forced}, ${one.date_start}, ${one.date_end})
    returning ${COLUMNS}`)
  return row! // an insert that does not fail returns its row
}

/** Columns that can change. */
export type ImportChange = Partial<Omit<ImportRow, "id" | "site_id" | "source" | "created_by" | "created_at" | "version">>

/** Changes an import and raises its version. Returns undefined if it is not in one of the given states. */
export function updateImport(
  statements: OwnStatements,
  id: number,
  change: ImportChange,
  states: readonly ImportState[] = STATES,
): Promise<ImportRow | undefined> {
  const wanted = Object.entries(change).filter(([, value]) => value !== undefined) as [string, string | number | null][] // the types of all columns
  const sets = wanted.reduce<Sql>((all, [name, value]) => sql`${all}${raw(name)} = ${value}, `, sql``)
  return statements.get(sql`
    update imports_imports set ${sets} version = version + 1
    where id = ${id} and state in (select value from json_each(${JSON.stringify(states)})) returning ${COLUMNS}`)
}

/** Notes how many refunds of a completed import are published. Its version stays. Returns undefined if it is no longer completed. */
export const setRefundsPublished = (statements: OwnStatements, id: number, published: number): Promise<Pick<ImportRow, "id"> | undefined> =>
  statements.get(sql`
    update imports_imports set refunds_json = json_set(refunds_json, '$.published', ${published})
    where id = ${id} and state = 'completed' returning id`)

/** Forgets the staged files of an import, which are deleted. Its version stays. */
export const forgetFolder = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`update imports_imports set folder = null where id = ${id}`)

export const importById = (statements: OwnStatements, id: number): Promise<ImportRow | undefined> =>
  statements.get(sql`select ${COLUMNS} from imports_imports where id = ${id}`)

export interface ImportFilter {
  siteId: number
  state?: ImportState
}

/** Returns imports of a site with an id below the given one, newest first. */
export const listImports = (
  statements: OwnStatements,
  { siteId, state }: ImportFilter,
  { before, limit }: { before: number; limit: number },
): Promise<ImportRow[]> =>
  statements.all(
    state === undefined
      ? sql`select ${COLUMNS} from imports_imports where site_id = ${siteId} and id < ${before} order by id desc limit ${limit}`
      : sql`select ${COLUMNS} from imports_imports where site_id = ${siteId} and state = ${state} and id < ${before}
          order by id desc limit ${limit}`,
  )

export const countImports = async (statements: OwnStatements, { siteId, state }: ImportFilter): Promise<number> =>
  (
    await statements.get<{ n: number }>(
      sql`select count(*) as n from imports_imports where site_id = ${siteId} and state = ifnull(${state ?? null}, state)`,
    )
  )?.n ?? 0

const SLICE = 500

/** Returns all imports of a site, oldest first. */
export async function importsOfSite(statements: OwnStatements, siteId: number): Promise<ImportRow[]> {
  const all: ImportRow[] = []
  for (;;) {
    const after = all.at(-1)?.id ?? 0
    const rows = await statements.all<ImportRow>(
      sql`select ${COLUMNS} from imports_imports where site_id = ${siteId} and id > ${after} order by id limit ${SLICE}`,
    )
    all.push(...rows)
    if (rows.length < SLICE) return all
  }
}

/** Returns an import of the site with the same content that is pending, running or completed. */
export const duplicateOf = (
  statements: OwnStatements,
  { siteId, hash, except = 0 }: { siteId: number; hash: string; except?: number },
): Promise<Pick<ImportRow, "id"> | undefined> =>
  statements.get(sql`
    select id from imports_imports where site_id = ${siteId} and source_hash = ${hash} and id <> ${except}
      and state in ('pending', 'running', 'completed') order by id limit 1`)

/** Returns imports that hold staged files, by ascending id. */
export const listWithFolder = (statements: OwnStatements, after: number): Promise<ImportRow[]> =>
  statements.all(sql`select ${COLUMNS} from imports_imports where id > ${after} and folder is not null order by id limit ${SLICE}`)

/** Returns imports whose job should be queued or at work, by ascending id. */
export const listUnsettled = (statements: OwnStatements, after: number): Promise<ImportRow[]> =>
  statements.all(sql`
    select ${COLUMNS} from imports_imports
    where id > ${after} and (
      state in ('pending', 'running', 'undoing') or (state = 'cancelled' and folder is not null) or (
        state = 'completed' and (folder is not null or id in (select import_id from imports_streams where pending_json is not null))))
    order by id limit ${SLICE}`)

/** Returns whether there are completed imports of rows. */
export const hasRowImports = async (statements: OwnStatements): Promise<boolean> =>
  (await statements.get(sql`select 1 from imports_imports where state = 'completed' and kind = 'rows' limit 1`)) !== undefined

export async function deleteImportsOf(statements: OwnStatements, siteId: number): Promise<number> {
  const rows = await importsOfSite(statements, siteId)
  await statements.run(sql`delete from imports_streams where site_id = ${siteId}`)
  for (const { id } of rows) {
    await statements.run(sql`delete from imports_days where import_id = ${id}`)
    await statements.run(sql`delete from imports_imports where id = ${id}`)
  }
  return rows.length
}

/** The state of a day of an import. */
export interface DayRow {
  day: string
  state: "effective" | "masked" | "skipped"
  reason: DaySkip | "disabled" | null
  masked_by: number | null
}

export async function daysOf(statements: OwnStatements, importId: number): Promise<DayRow[]> {
  const all: DayRow[] = []
  for (;;) {
    const after = all.at(-1)?.day ?? ""
    const rows = await statements.all<DayRow>(sql`
      select day, state, reason, masked_by from imports_days where import_id = ${importId} and day > ${after} order by day limit ${SLICE}`)
    all.push(...rows)
    if (rows.length < SLICE) return all
  }
}

/** Inserts or replaces days. */
export async function putDays(statements: OwnStatements, importId: number, days: readonly DayRow[]): Promise<void> {
  for (let at = 0; at < days.length; at += SLICE)
    await statements.run(sql`
      insert into imports_days (import_id, day, state, reason, masked_by)
      select ${importId}, value ->> 'day', value ->> 'state', value ->> 'reason', value ->> 'masked_by'
      from json_each(${JSON.stringify(days.slice(at, at + SLICE))}) where true
      on conflict do update set state = excluded.state, reason = excluded.reason, masked_by = excluded.masked_by`)
}

export const deleteDays = (statements: OwnStatements, importId: number): Promise<void> =>
  statements.run(sql`delete from imports_days where import_id = ${importId}`)

export interface UploadRow {
  id: string
  site_id: number
  user_id: number
  name: string
  path: string
  bytes: number
  received: number
  sha256: string | null
  expires_at: number
}

const UPLOAD = sql`id, site_id, user_id, name, path, bytes, received, sha256, expires_at`

export const insertUpload = (statements: OwnStatements, row: UploadRow): Promise<void> =>
  statements.run(sql`
    insert into imports_uploads (id, site_id, user_id, name, path, bytes, received, sha256, expires_at)
    values (${row.id}, ${row.site_id}, ${row.user_id}, ${row.name}, ${row.path}, ${row.bytes}, ${row.received}, ${row.sha256}, ${row.expires_at})`)

export const uploadById = (statements: OwnStatements, id: string): Promise<UploadRow | undefined> =>
  statements.get(sql`select ${UPLOAD} from imports_uploads where id = ${id}`)

export const liveUploadsOf = (statements: OwnStatements, userId: number, now: number): Promise<UploadRow[]> =>
  statements.all(sql`select ${UPLOAD} from imports_uploads where user_id = ${userId} and expires_at > ${now} limit 100`)

export const setReceived = (statements: OwnStatements, id: string, received: number): Promise<void> =>
  statements.run(sql`update imports_uploads set received = ${received} where id = ${id}`)

export const deleteUpload = (statements: OwnStatements, id: string): Promise<void> =>
  statements.run(sql`delete from imports_uploads where id = ${id}`)

export const expiredUploads = (statements: OwnStatements, now: number): Promise<UploadRow[]> =>
  statements.all(sql`select ${UPLOAD} from imports_uploads where expires_at <= ${now} limit ${SLICE}`)

export const uploadsOfSite = (statements: OwnStatements, siteId: number): Promise<UploadRow[]> =>
  statements.all(sql`select ${UPLOAD} from imports_uploads where site_id = ${siteId} limit ${SLICE}`)

/** A rejected line. The excerpt is the faulty value, never the line. */
export interface Reject {
  file: string
  line: number
  code: string
  excerpt: string
}

export function insertRejects(rows: RowStatements, importId: number, from: number, rejects: readonly Reject[]): void {
  rows.run(sql`
    insert or replace into imports_rejects (import_id, n, file, line, code, excerpt)
    select ${importId}, ${from} + key, value ->> 'file', value ->> 'line', value ->> 'code', value ->> 'excerpt'
    from json_each(${JSON.stringify(rejects)})`)
}

/** Deletes the rejected lines of an import behind the first ones. */
export const deleteRejects = (rows: RowStatements, importId: number, kept = 0): void =>
  void rows.run(sql`delete from imports_rejects where import_id = ${importId} and n > ${kept}`)

export const rejectsOf = (importId: number, after: number, limit: number): Sql =>
  sql`select n, file, line, code, excerpt from imports_rejects where import_id = ${importId} and n > ${after} order by n limit ${limit}`

export type StoredRules = DayRules
