/** Responses of the area's routes. The dashboard takes its types from here as well. */
import { type Static, type TSchema, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, orNull } from "#plugin"
import type { DaySkip, Overlap } from "./days.ts"
import type { ImportRow } from "./rows.ts"

const count = (description: string) => t.Integer({ minimum: 0, description })
const Day = t.String({ description: "Day in the zone of the import, YYYY-MM-DD." })
const dayOrNull = orNull(Day)
/** A string with a fixed set of values, which the type names. */
const text = <Value extends string>(description: string) => t.Unsafe<Value>(t.String({ description }))

/** A source that is available. */
export const ImporterResponse = t.Object(
  {
    source: t.String({ description: "Id of the source, for `source`." }),
    title: t.String({ description: "Name of the product." }),
    kinds: t.Array(text<"rows" | "aggregate">("`rows`: each row is an event. `aggregate`: totals per day."), {
      description: "Kinds of imports that the source provides.",
    }),
    formats: t.Array(t.String(), { description: "File formats, such as `zip` and `csv`." }),
    is_fetched: t.Boolean({ description: "Whether Footfall fetches the data itself. Then no files are sent." }),
    files: t.Array(t.Object({ name: t.String({ description: "Name of a file of the export." }) }), { description: "Files of an export." }),
    columns: t.Record(
      t.String(),
      t.Object({
        required: t.Array(t.String(), { description: "Columns that the file must have." }),
        optional: t.Array(t.String(), { description: "Columns that are read if the file has them." }),
      }),
      { description: "Columns by the name of the file." },
    ),
    options_schema: t.Unsafe<OptionsSchema>(t.Any({ description: "JSON schema of the options that only this source has." })),
    limits: t.Object(
      {
        json_bytes: t.Integer({ description: "Maximum size of a JSON body." }),
        multipart_bytes: t.Integer({ description: "Maximum size of a multipart body." }),
        upload_bytes: t.Integer({ description: "Maximum size of a staged upload." }),
      },
      { description: "Limits of the three ways to send files, in bytes." },
    ),
  },
  { title: "Importer" },
)
export type ImporterResponse = Static<typeof ImporterResponse>

/** The part of a JSON schema that describes options. */
export interface OptionsSchema {
  type: "object"
  properties: Readonly<Record<string, OptionSchema>>
  required?: readonly string[]
}
export interface OptionSchema {
  type?: string
  title?: string
  description?: string
  default?: unknown
  enum?: readonly string[]
  anyOf?: readonly { const?: string }[]
  maxLength?: number
}

const Skipped = t.Record(t.String(), t.Integer(), { description: "Rows that were not imported, by reason." })
const Totals = t.Object(
  {
    visitors: count("Visitors, each counted once per day."),
    visits: count("Visits."),
    pageviews: count("Pageviews."),
    events: count("Custom events."),
    revenue: t.Optional(
      t.Array(
        t.Object({
          currency: t.String({ description: "ISO 4217 code." }),
          amount_minor: t.Integer({ description: "Amount in minor units." }),
          amount: t.String({ description: "Amount in major units, as decimal text." }),
        }),
        { description: "Revenue by currency. Absent without the permission `revenue:read`." },
      ),
    ),
  },
  { description: "Totals of what is stored." },
)
export type Totals = Static<typeof Totals>

const range = <Properties extends Record<string, TSchema>>(properties: Properties) => t.Object({ from: Day, to: Day, ...properties })

export const PreviewResponse = t.Object(
  {
    source: t.String({ description: "Source by which the files were read." }),
    detected: t.Object(
      {
        source: t.String({ description: "Source by which the files were read." }),
        confidence: t.Number({ description: "Certainty from 0 to 1." }),
        delimiter: orNull(t.String({ description: "Delimiter of columns. null for files without columns." })),
        encoding: orNull(t.String({ description: "Encoding of the text. null if there is no text file." })),
        timezone: orNull(t.String({ description: "IANA zone of times without an offset." })),
      },
      { description: "Detected properties of the files." },
    ),
    complete: t.Boolean({ description: "Whether all bytes were read. If not, the figures cover `scanned_bytes`." }),
    scanned_bytes: count("Bytes read."),
    files: t.Array(
      t.Object({
        name: t.String({ description: "Name of the file." }),
        table: orNull(t.String({ description: "Table of the export that the file holds. Null for ignored files." })),
        rows: count("Rows of the file."),
        columns: t.Array(t.String(), { description: "Columns that are read." }),
        ignored: t.Array(t.String(), { description: "Columns that are not read." }),
        reason: t.Optional(t.String({ description: "Code of the reason why the file is ignored. Absent for files that are read." })),
      }),
      { description: "Files in the order in which they were sent, with the entries of archives." },
    ),
    date_start: dayOrNull,
    date_end: dayOrNull,
    totals: Totals,
    rows: t.Object(
      {
        read: count("Rows of the files."),
        accepted: count("Rows that would be imported."),
        rejected: count("Rows with faults."),
        skipped: count("Rows that are left out on purpose."),
      },
      { description: "Numbers of rows." },
    ),
    skip_reasons: Skipped,
    rejects: t.Array(
      t.Object({
        file: t.String({ description: "Name of the file." }),
        line: t.Integer({ description: "Number of the line, counted from 1." }),
        code: t.String({ description: "Code of the fault." }),
        message: t.String({ description: "Explanation of the fault, in English." }),
      }),
      { description: "The first rejected lines, at most 50." },
    ),
    overlap: t.Object(
      {
        policy: text<Overlap>("Rule for days that are already held: `native_wins`, `fill_gaps`, `import_wins_over_imports` or `allow`."),
        native_start: orNull(t.String({ description: "First day with native visits." })),
        days_total: count("Days with rows."),
        days_effective: count("Days with rows that take part."),
        days_skipped: t.Array(range({ reason: text<DaySkip>("`native`, `beyond_retention` or `in_future`.") }), {
          description: "Days whose rows are not stored.",
        }),
        days_masked: t.Array(range({ import_id: field.id("Id of the import that holds the days.") }), {
          description: "Days that another import holds.",
        }),
      },
      { description: "Days that the import shares with native data or with other imports." },
    ),
    retention: t.Object(
      {
        cutoff: dayOrNull,
        days_skipped: count("Days before the cutoff."),
      },
      { description: "Effect of the site's retention." },
    ),
    mapping: t.Optional(
      t.Unsafe<ColumnMapping>(t.Any({ description: "Mapping of columns that was used, or the proposed one with `confidence`." })),
    ),
    choices: t.Optional(
      t.Object(
        {
          website_ids: t.Optional(
            t.Array(t.Object({ id: t.String({ description: "Id of the website in the export." }), rows: count("Rows of the website.") }), {
              description: "Websites in the files, for `options.website_id`.",
            }),
          ),
        },
        { description: "Choices that a run requires. Present only if there are any." },
      ),
    ),
    sample: t.Array(t.Record(t.String(), t.Any()), { description: "The first rows as they would be stored, at most 20." }),
    unsupported: t.Array(t.String(), { description: "Parts of the export that cannot be imported, such as `exit_pages`." }),
    warnings: t.Array(
      t.Object({
        code: t.String({ description: "Code of the warning." }),
        message: t.String({ description: "Explanation of the warning, in English." }),
        file: t.Optional(t.String({ description: "Name of the file. Absent for warnings about the import as a whole." })),
      }),
      { description: "Facts to know before the run." },
    ),
    duplicate_of: t.Optional(t.Integer({ description: "Id of an import with the same content." })),
    estimate: t.Object(
      { seconds: count("Estimated duration of the run."), bytes: count("Estimated size in the event store.") },
      { description: "Estimated cost of the run." },
    ),
    preview_hash: t.String({ description: "Send it with the run, which then does exactly what the preview shows." }),
  },
  { title: "ImportPreview" },
)
export type PreviewResponse = Static<typeof PreviewResponse>

/** What the rows of a delimited file are, and which of its columns holds which field. */
export interface ColumnMapping {
  kind: "events" | "daily_totals" | "daily_dimension"
  dimension?: string
  /** In the form of `options.mapping`. A proposal has a confidence for each column. */
  mapping: Mapping
  /** Columns of the file. Absent in a mapping that was sent. */
  columns?: readonly string[]
}
export interface Mapping {
  readonly props?: Readonly<Record<string, MappedColumn>>
  readonly [field: string]: MappedColumn | Readonly<Record<string, MappedColumn>> | undefined
}
export interface MappedColumn {
  column: string
  /** From 0 to 1. Absent in a mapping that was sent. */
  confidence?: number
  /** Format and zone of a timestamp. */
  format?: string
  timezone?: string
}

const Progress = t.Object(
  {
    phase: text<"fetch" | "sort" | "write" | "complete" | "undo">("`fetch`, `sort`, `write`, `complete` or `undo`."),
    fraction: t.Optional(t.Number({ description: "From 0 to 1. Absent if the total is unknown." })),
    done: count("Rows done in the phase; requests in the phase `fetch`, bytes read in the phase `sort`."),
    total: t.Optional(count("Rows of the phase.")),
    eta_s: t.Optional(t.Integer({ description: "Estimated seconds until the end. Absent if unknown." })),
  },
  { description: "Progress of the run or the undo." },
)

export const ImportResponse = t.Object(
  {
    id: field.id("Id of the import."),
    source: t.String({ description: "Id of the source." }),
    label: t.String({ description: "Label given by a user, or the name of the source." }),
    kind: text<ImportRow["kind"]>("`rows`, `aggregate` or `mixed`."),
    state: text<ImportRow["state"]>("`pending`, `running`, `completed`, `failed`, `cancelled`, `undoing` or `undone`."),
    enabled: t.Boolean({ description: "Whether reports include the import." }),
    overlap: text<Overlap>("Rule for days that are already held."),
    options: t.Record(t.String(), t.Any(), { description: "Options of the run." }),
    stream: orNull(t.String({ description: "Name of the stream. Later runs with this name extend the import. null for other imports." })),
    files: t.Array(t.Object({ name: t.String({ description: "Name of the file." }), bytes: count("Size as sent, in bytes.") }), {
      description: "Files as they were sent; of a stream those of the last run.",
    }),
    bytes: count("Size of all files as sent, of all runs."),
    rows: t.Object(
      {
        total: orNull(count("Rows of all files. null until they are known.")),
        read: count("Rows read."),
        imported: count("Rows imported."),
        skipped: count("Rows left out on purpose."),
        rejected: count("Rows with faults."),
      },
      { description: "Numbers of rows." },
    ),
    skip_reasons: Skipped,
    totals: Totals,
    date_start: dayOrNull,
    date_end: dayOrNull,
    days_effective: count("Days that reports include."),
    days: t.Array(
      range({
        state: text<"effective" | "masked" | "skipped">("`effective`, `masked` by another import, or `skipped`."),
        reason: orNull(t.String({ description: "Reason of skipped days: `native`, `beyond_retention` or `in_future`." })),
        masked_by: orNull(field.id("Id of the import that holds the days. null for other days.")),
      }),
      { description: "Days with rows, in ranges of the same state." },
    ),
    timezone: t.String({ description: "IANA zone of the days." }),
    progress: orNull(Progress),
    created_objects: t.Array(
      t.Object({ type: t.String({ description: "Type of the object, such as `goal`." }), id: field.id("Id of the object.") }),
      { description: "Goals and others that the import created." },
    ),
    error: orNull(
      t.Object(
        {
          code: t.String({ description: "Code of the failure." }),
          message: t.String({ description: "Explanation of the failure, in English." }),
        },
        { description: "Why the import failed, or the last run of a stream that stays completed." },
      ),
    ),
    can_retry: t.Boolean({ description: "Whether the staged files are still there, so that a failed import can be retried." }),
    created_by: orNull(field.id("Id of the user who started the import. null for the command line.")),
    created_at: CREATED_AT,
    started_at: orNull(field.instant("Start of the run, of a stream of the first one. null before it.")),
    finished_at: orNull(field.instant("End of the run, of a stream of the first one. null before it.")),
    undone_at: orNull(field.instant("End of the undo. null before it.")),
    version: t.Integer({ description: "Version of the import, for `If-Match`." }),
  },
  { title: "Import" },
)
export type ImportResponse = Static<typeof ImportResponse>

export const UploadResponse = t.Object(
  {
    upload_id: t.String({ description: "Id of the upload, for `upload_ids`." }),
    chunk_bytes: t.Integer({ description: "Maximum size of a chunk." }),
    received: count("Bytes that have arrived."),
    expires_at: field.instant("Time when an unused upload is deleted."),
  },
  { title: "ImportUpload" },
)
export type UploadResponse = Static<typeof UploadResponse>
export const ReceivedResponse = t.Object({ received: count("Bytes that have arrived.") }, { title: "ImportUploadReceived" })
