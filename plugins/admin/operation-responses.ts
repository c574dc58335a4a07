/** Responses about the operation of the instance: jobs, storage, backups, settings and health. The pages take their types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { type Console, CREATED_AT, field, Instant, type JobState, orNull } from "#plugin"
import { Id, VERSION } from "./account-responses.ts"

type Progress = NonNullable<ReturnType<Console["jobs"]["progressOf"]>>

export const JobResponse = t.Object(
  {
    id: field.id("Id of the job."),
    kind: field.text("Kind of job, such as `core.back-up`."),
    key: field.text("Key of the job. Only one job of the same kind and key runs at a time."),
    state: t.Unsafe<JobState>(t.String({ description: "`queued`, `running`, `done`, `failed` or `cancelled`." })),
    organization_id: orNull(t.Integer(), { description: "Id of the organization. null for a job that concerns no single organization." }),
    site_id: orNull(t.Integer(), { description: "Id of the site. null for a job that concerns no single site." }),
    progress: orNull(t.Unsafe<Progress>(t.Any({ description: "Progress of a job that reports it." }))),
    attempts: t.Integer({ description: "Number of starts." }),
    run_at: field.instant("Earliest time at which the job starts."),
    created_by: orNull(t.Integer(), { description: "Id of the user who started the job. null for a job of the system." }),
    created_at: CREATED_AT,
    started_at: orNull(Instant, { description: "Time of the latest start. null before the first." }),
    finished_at: orNull(Instant, { description: "Time at which the job was done, failed or cancelled. null until then." }),
    error_code: orNull(t.String(), { description: "Code of the error. null without an error." }),
    error_message: orNull(t.String(), { description: "Message of the error. null without an error." }),
  },
  { title: "InstanceJob" },
)
export type JobResponse = Static<typeof JobResponse>
type Line = Awaited<ReturnType<Console["jobs"]["get"]>>["lines"][number]
/** A job with its log lines. Its route has no schema, because the fields of a line are open. */
export type WholeJobResponse = JobResponse & { lines: (Omit<Line, "at"> & { at: string })[] }

export const ScheduleResponse = t.Object(
  {
    name: field.text("Kind of the job that the schedule starts."),
    cron: field.text("Cron expression with five fields."),
    timezone: field.text("IANA time zone of the cron expression."),
    enabled: field.flag("Whether the schedule starts jobs."),
    last_run_at: orNull(Instant, { description: "Time of the latest run. null before the first." }),
    last_state: orNull(t.String(), { description: "State of the latest job. null before the first." }),
    next_run_at: orNull(Instant, { description: "Time of the next run. null if none is planned." }),
  },
  { title: "Schedule" },
)
export type ScheduleResponse = Static<typeof ScheduleResponse>

/** Data that a deletion would remove. */
export const PreviewResponse = t.Object(
  {
    at: field.instant("Time of the preview. A run with this value has the same cutoffs."),
    cutoff: orNull(t.String(), { description: "First local day that is kept, YYYY-MM-DD. null if it differs between sites." }),
    by: t.Array(
      t.Object({
        site_id: field.id("Id of the site."),
        kind: field.text("Kind of data: `visits`, `clicks`, `opens` or `imported_totals`."),
        cutoff: field.text("First local day of the site that is kept, YYYY-MM-DD."),
        rows: field.integer("Number of visits, records or rows of imported totals that would be deleted."),
        events: field.integer("Number of their events. 0 for imported totals."),
        days: field.integer("Number of days from the oldest of them to the cutoff."),
      }),
      { description: "Data by site and kind." },
    ),
    plugins: t.Array(t.Object({ id: field.text("Id of the plugin."), rows: field.integer("Number of rows that would be deleted.") }), {
      description: "Data that plugins derived from the visits.",
    }),
    bytes: field.integer("Approximate size of the data in bytes."),
  },
  { title: "InstanceRetentionPreview" },
)
export type PreviewResponse = Static<typeof PreviewResponse>

export const BackupResponse = t.Object(
  {
    id: field.text("Id of the backup, which is the name of its folder."),
    label: orNull(t.String(), { description: "Label that the creator entered. null without one." }),
    kind: field.text("Reason for the backup: `manual`, `daily`, `migration` or `restore`."),
    created_at: CREATED_AT,
    bytes: field.integer("Size in bytes."),
    target: field.text("Location: `local` or `s3`."),
    includes: field.texts("Included parts: `catalog`, `events` and `config`."),
    encrypted: field.flag("Whether a passphrase is needed to restore the backup."),
    state: t.Unsafe<"verified" | "unverified" | "failed" | "damaged">(
      t.String({ description: "`verified`, `unverified`, `failed` (its last check) or `damaged` (its manifest cannot be read)." }),
    ),
    verified_at: orNull(Instant, { description: "Time of the latest successful verification. null before the first." }),
    version: field.text("Version of Footfall that created the backup."),
    schemas: t.Object(
      { catalog: field.texts("Migrations of the catalog."), events: field.texts("Migrations of the event store.") },
      { description: "Migrations that were applied to the stores." },
    ),
    note: t.Optional(t.String({ description: "Description of the damage. Present only for state `damaged`." })),
  },
  { title: "Backup" },
)
export type BackupResponse = Static<typeof BackupResponse>

export const BackupListResponse = t.Object({
  data: t.Array(BackupResponse, { description: "Backups, newest first." }),
  bucket_error: t.Optional(t.String({ description: "Reason why the backups in the bucket could not be listed." })),
})
export type BackupListResponse = Static<typeof BackupListResponse>

export const PlanResponse = t.Object({
  cron: orNull(t.String(), { description: "Cron expression with five fields, in UTC. null: no automatic backups." }),
  keep: t.Object(
    { daily: field.integer("Number of daily backups."), weekly: field.integer("Number of weekly backups.") },
    { description: "Automatic backups that are kept." },
  ),
  target: t.Unsafe<"local" | "s3">(t.String({ description: "`local`, or `s3` to copy each backup to the bucket as well." })),
  s3: t.Optional(
    t.Object(
      {
        endpoint: field.text("URL of the S3 service."),
        bucket: field.text("Name of the bucket."),
        prefix: field.text("Prefix of the object names. Empty without one."),
        region: field.text("Region of the bucket."),
        key_id: field.text("Id of the access key."),
        secret: t.Object(
          {
            set: field.flag("Whether the secret is set."),
            hint: t.Optional(t.String({ description: "Last characters of the secret." })),
            updated_at: t.Optional(t.String({ description: "Time at which the secret was set." })),
          },
          { description: "Secret access key, which is never returned." },
        ),
      },
      { description: "Bucket for copies. Absent if none is configured." },
    ),
  ),
  source: t.Unsafe<ReturnType<Console["backupSchedule"]["source"]>>(
    t.String({ description: "Source of the schedule: `env`, `file`, `db` or `default`." }),
  ),
})
export type PlanResponse = Static<typeof PlanResponse>

/** A setting as the console lists it, with the JSON Schema of its value. */
export type SettingResponse = ReturnType<Console["settings"]["list"]>["data"][number]
export const SettingsResponse = t.Object({
  data: t.Array(t.Unsafe<SettingResponse>(t.Any()), {
    description: "Settings, each with `key`, `value`, `default`, `source`, `editable`, `description` and the JSON Schema of its value.",
  }),
  version: field.integer("Version of the settings, which increases with each change."),
})
export type SettingsResponse = Static<typeof SettingsResponse>

export const PluginResponse = t.Object({
  id: field.text("Id of the plugin."),
  title: field.text("Display name."),
  enabled: field.flag("Whether the plugin is enabled. A disabled plugin keeps its data."),
  version: VERSION,
  schema: field.texts("Applied migrations."),
  tables: field.texts("Tables in the catalog."),
  rows: field.integer("Number of rows in these tables."),
})
export type PluginResponse = Static<typeof PluginResponse>

export const CheckResponse = t.Object({
  name: field.text("Name of the check, such as `disk_free`."),
  status: t.Unsafe<"ok" | "warn" | "fail">(t.String({ description: "Result: `ok`, `warn` or `fail`." })),
  detail: field.text("Finding of the check, as a sentence."),
  fix: field.text("Remedy. Empty for status `ok`."),
})
export type CheckResponse = Static<typeof CheckResponse>
export const HealthResponse = t.Object({
  status: field.text("Worst status of the checks: `ok`, `warn` or `fail`."),
  checks: t.Array(CheckResponse, { description: "Results of all checks." }),
})
export type HealthResponse = Static<typeof HealthResponse>

export const StateResponse = t.Object({
  code: field.text("Code of the problem, such as `storage_full`."),
  since: field.instant("Time at which the problem began."),
  remedy: field.text("Remedy, as a sentence."),
})
export type StateResponse = Static<typeof StateResponse>

export const ModeResponse = t.Object(
  {
    enabled: field.flag("Whether maintenance mode is on."),
    message: orNull(t.String(), { description: "Message for users. null without one." }),
    until: orNull(Instant, { description: "Expected end. null if it is unknown." }),
  },
  { description: "Maintenance mode." },
)
export type ModeResponse = Static<typeof ModeResponse>

export const SlowQueryResponse = t.Object(
  {
    at: field.instant("Time at which the query ended."),
    kind: t.String({ description: "Kind of query, such as `summary`, `timeseries`, `breakdown`, `funnels` or `paths`." }),
    site_id: orNull(Id, { description: "Id of the site. null for a query of several sites." }),
    range_days: orNull(t.Integer(), { description: "Length of the range in days. null for a query without a range." }),
    waited_ms: field.integer("Time that the query waited for a free worker, in milliseconds."),
    took_ms: t.Integer({ description: "Time from arrival to end in milliseconds, including the wait." }),
    ending: t.String({ description: "Outcome: `answered`, `late` (timed out), `left` (the client disconnected) or `failed`." }),
  },
  { title: "SlowQuery" },
)
export type SlowQueryResponse = Static<typeof SlowQueryResponse>
export const SlowQueriesResponse = t.Object({
  last_hour: t.Integer({ description: "Number of slow queries of the last hour." }),
  data: t.Array(SlowQueryResponse, { description: "Latest slow queries, newest first." }),
})
export type SlowQueriesResponse = Static<typeof SlowQueriesResponse>

export const UpdateResponse = t.Object(
  {
    current: field.text("Running version."),
    is_possible: field.flag("Whether an update URL is configured."),
    is_automatic: field.flag("Whether updates are checked daily."),
    checked_at: orNull(Instant, { description: "Time of the latest check. null before the first." }),
    failure: orNull(t.String(), { description: "Reason why the latest check failed. null if it succeeded." }),
    latest: orNull(
      t.Object({
        version: field.text("Version of the release."),
        released_at: orNull(t.String(), { description: "Day or time of the release. null if it is unknown." }),
        notes: field.text("Release notes, as plain text."),
        changes_schema: field.flag("Whether installing the release migrates the stores."),
      }),
      { description: "Latest release. null before the first check." },
    ),
    is_newer: field.flag("Whether the latest release is newer than the running version."),
  },
  { title: "UpdateReport" },
)
export type UpdateResponse = Static<typeof UpdateResponse>

export const NoticeResponse = t.Object(
  {
    id: field.id("Id of the notice."),
    kind: field.text("Kind of notice, such as `backup_failed`."),
    title: field.text("Title."),
    remedy: field.text("Instruction for the administrator."),
    detail: t.Unsafe<Readonly<Record<string, unknown>>>(t.Any({ description: "Details of the notice, by name." })),
    first_at: field.instant("Time at which the problem was first noticed."),
    last_at: field.instant("Time at which the problem was last noticed."),
  },
  { title: "AdminNotice" },
)
export type NoticeResponse = Static<typeof NoticeResponse>

export const MailTestResponse = t.Object({
  ok: field.flag("Whether the server accepted the message."),
  steps: t.Array(
    t.Object({
      name: field.text("Name of the step."),
      sent: field.text("Line that was sent, without passwords. Empty for the greeting."),
      received: field.text("Response of the server."),
      ms: field.integer("Duration in milliseconds."),
    }),
    { description: "Steps of the SMTP dialogue." },
  ),
})
export type MailTestResponse = Static<typeof MailTestResponse>

export const AuditCheckResponse = t.Object({
  ok: field.flag("Whether the hash chain is intact."),
  rows: field.integer("Number of checked rows."),
  first_broken_id: t.Optional(t.Integer({ minimum: 1, description: "Id of the row at which the chain breaks. Absent if it is intact." })),
})
export type AuditCheckResponse = Static<typeof AuditCheckResponse>

/** Responses of routes without a schema, which return the report of the service as it is. */
export type SystemResponse = Awaited<ReturnType<Console["system"]>>
export type StorageResponse = Awaited<ReturnType<Console["storage"]["report"]>>
export type RetentionResponse = Awaited<ReturnType<Console["retention"]["list"]>>
export type IngestionResponse = Awaited<ReturnType<Console["ingestion"]["minutes"]>>
export type IngestionMinute = IngestionResponse["data"][number]
type Sample = Awaited<ReturnType<Console["ingestion"]["rejected"]>>[number]
/** A dropped event. */
export type SampleResponse = Pick<Sample, "site_id" | "reason" | "page" | "country"> & { at: string; host: string; browser_family: string }
export type LogLineResponse = Omit<ReturnType<Console["logLines"]>[number], "at"> & { at: string }
