import { instantOrNull, instantText } from "#plugin"
import type { ImportsHost } from "./area.ts"
import { rangesOf } from "./days.ts"
import { LIMITS } from "./input.ts"
import { hasSource } from "./lifecycle.ts"
import type { ImporterResponse, ImportResponse, Totals } from "./responses.ts"
import { type DayRow, daysOf, type ImportRow } from "./rows.ts"
import type { Source } from "./source.ts"
import type { Staging } from "./staging.ts"
import { streamOfImport } from "./streams/rows.ts"

/** Converts rows to responses. */
export interface Format extends ImportFormat {
  importer(source: Source): ImporterResponse
  /** Returns the conversion for a person, who may not see the revenue that was imported. */
  seenBy(permissions: ReadonlySet<string>): ImportFormat
}

interface ImportFormat {
  /** Converts an import, with its days and the progress of its job. */
  response(row: ImportRow): Promise<ImportResponse>
  /** Converts an import whose run was just enqueued. */
  started(row: ImportRow): ImportResponse
  /** Converts an import without its days and its progress. */
  created(row: ImportRow): ImportResponse
}

const EMPTY: Totals = { visitors: 0, visits: 0, pageviews: 0, events: 0, revenue: [] }

export function createFormat(host: ImportsHost, staging: Staging): Format {
  const full = importFormat(host, staging)
  return {
    ...full,
    seenBy: (permissions) => (permissions.has("revenue:read") ? full : withoutRevenue(full)),
    importer: (source) => ({
      source: source.id,
      title: source.title,
      kinds: [...source.kinds],
      formats: [...source.formats],
      is_fetched: source.isFetched === true,
      files: source.files.map(({ name }) => ({ name })),
      columns: Object.fromEntries(
        source.files.map(({ name, required, optional }) => [name, { required: [...required], optional: [...optional] }]),
      ),
      options_schema: JSON.parse(JSON.stringify(source.options)) as ImporterResponse["options_schema"], // an object schema
      limits: { json_bytes: LIMITS.json, multipart_bytes: LIMITS.multipart, upload_bytes: host.settings.max_bytes },
    }),
  }
}

function withoutRevenue({ response, started, created }: ImportFormat): ImportFormat {
  const hide = (shown: ImportResponse): ImportResponse => ({ ...shown, totals: hiddenRevenue(shown.totals) })
  return { response: async (row) => hide(await response(row)), started: (row) => hide(started(row)), created: (row) => hide(created(row)) }
}

/** Returns totals without revenue. */
export function hiddenRevenue({ revenue: _, ...totals }: Totals): Totals {
  return totals
}

const importFormat = ({ db, jobs }: ImportsHost, staging: Staging): ImportFormat => ({
  async response(row) {
    const stream = row.state === "completed" && streamOf(row) !== null ? await streamOfImport(db, row.id) : undefined
    const isExtending = stream !== undefined && stream.pending_json !== null
    const hasJob = (isOpen(row) || isExtending) && row.job_id !== null
    const [days, job] = await Promise.all([daysOf(db, row.id), hasJob ? jobs.get(row.job_id!) : undefined])
    return formatImport(row, {
      days,
      progress: (job && jobs.progressOf(job)) ?? (isExtending ? ENQUEUED : null),
      canRetry: row.state === "failed" && hasSource(staging, row),
    })
  },
  // The state of an import that a run extends stays completed.
  started: (row) => formatImport(row, { days: [], progress: row.state === "completed" ? ENQUEUED : null, canRetry: false }),
  created: (row) => formatImport(row, { days: [], progress: null, canRetry: false }),
})

const ENQUEUED = { phase: "sort", done: 0 } as const

function streamOf({ options_json }: ImportRow): string | null {
  const { stream } = JSON.parse(options_json) as { stream?: string } // written with the import
  return stream ?? null
}

const isOpen = ({ state }: ImportRow): boolean => state === "pending" || state === "running" || state === "undoing"

interface More {
  days: readonly DayRow[]
  progress: ReturnType<ImportsHost["jobs"]["progressOf"]>
  canRetry: boolean
}

function formatImport(row: ImportRow, { days, progress, canRetry }: More): ImportResponse {
  const created = JSON.parse(row.created_objects_json) as { type: string; id: number }[]
  const options = JSON.parse(row.options_json) as Record<string, unknown> // written with the import
  return {
    id: row.id,
    source: row.source,
    label: row.label,
    kind: row.kind,
    state: row.state,
    enabled: row.enabled === 1,
    overlap: row.overlap,
    options,
    stream: streamOf(row),
    files: JSON.parse(row.files_json) as ImportResponse["files"], // written with the import
    bytes: row.bytes,
    rows: {
      total: row.rows_total,
      read: row.rows_read,
      imported: row.rows_imported,
      skipped: row.rows_skipped,
      rejected: row.rows_rejected,
    },
    skip_reasons: JSON.parse(row.skip_reasons_json) as Record<string, number>, // written by the run
    totals: { ...EMPTY, ...(JSON.parse(row.totals_json) as Partial<Totals>) }, // written by the run
    date_start: row.date_start,
    date_end: row.date_end,
    days_effective: row.days_effective,
    days: rangesOf(days.map(({ day, state, reason, masked_by }) => [day, { state, reason, masked_by }] as const)).map(
      ({ from, to, value }) => ({ from, to, ...value }),
    ),
    timezone: row.timezone,
    progress: progress as ImportResponse["progress"], // its phases are those of the jobs of the area
    created_objects: created.map(({ type, id }) => ({ type, id })),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    can_retry: canRetry,
    created_by: row.created_by,
    created_at: instantText(row.created_at),
    started_at: instantOrNull(row.started_at),
    finished_at: instantOrNull(row.finished_at),
    undone_at: instantOrNull(row.undone_at),
    version: row.version,
  }
}
