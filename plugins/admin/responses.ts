/** Responses of the console's routes. Its pages take their types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { type Console, CREATED_AT, field, Instant, type JobState, orNull } from "#plugin"

export const Id = t.Integer({ minimum: 1 })

const VERSION = field.integer("Version of the record, which increases with each change.")
const named = (description: string, noun: string) =>
  t.Object({ id: field.id(`Id of the ${noun}.`), name: field.text(`Display name of the ${noun}.`) }, { description })

export const UserResponse = t.Object(
  {
    id: t.Union([Id, t.Null()], { description: "Id of the user. null for an invited person without an account." }),
    invitation_id: t.Optional(t.Integer({ minimum: 1, description: "Id of the invitation. Present only for status `invited`." })),
    email: field.text("Email address."),
    name: field.text("Display name. Empty for an invited person."),
    status: t.Unsafe<Awaited<ReturnType<Console["users"]["get"]>>["status"]>(
      t.String({ description: "`active`, `invited` or `disabled`." }),
    ),
    is_instance_admin: field.flag("Whether the user has access to the admin console."),
    organizations: t.Array(
      t.Object({
        id: field.id("Id of the organization."),
        name: field.text("Display name of the organization."),
        role: field.text("Role of the user in the organization."),
      }),
      { description: "Organizations of the user. For an invited person, those of the invitations." },
    ),
    mfa: t.Object(
      { totp: field.flag("Whether an authenticator app is set up."), passkeys: field.integer("Number of passkeys.") },
      { description: "Second factors of the user." },
    ),
    auth: t.Object(
      { password: field.flag("Whether the user has a password."), oidc: field.texts("Ids of the linked identity providers.") },
      { description: "Sign-in methods of the user." },
    ),
    created_at: CREATED_AT,
    last_login_at: orNull(Instant, { description: "Time of the latest sign-in. null before the first." }),
    last_seen_at: orNull(Instant, { description: "Time of the latest request. null before the first sign-in." }),
    sessions: t.Integer({ description: "Number of active sessions." }),
    api_keys: t.Integer({ description: "Number of API keys that the user created." }),
    version: VERSION,
  },
  { title: "InstanceUser" },
)
export type UserResponse = Static<typeof UserResponse>

export const Link = t.Optional(t.String({ description: "Link to hand over if no email is sent. Shown once." }))

export const LinkedUserResponse = t.Composite([UserResponse, t.Object({ link: Link })], { title: "LinkedUser" })
export type LinkedUserResponse = Static<typeof LinkedUserResponse>

export const OrganizationResponse = t.Object(
  {
    id: field.id("Id of the organization."),
    name: field.text("Display name."),
    members: field.integer("Number of members, guests included."),
    owners: field.integer("Number of owners."),
    sites: field.integer("Number of sites."),
    keys: field.integer("Number of API keys."),
    events_30d: t.Integer({ description: "Number of events of the last 30 days." }),
    bytes: t.Integer({ description: "Size of the stored events in bytes." }),
    created_at: CREATED_AT,
    version: VERSION,
  },
  { title: "InstanceOrganization" },
)
export type OrganizationResponse = Static<typeof OrganizationResponse>

export const MemberResponse = t.Object({
  user: t.Object(
    { id: field.id("Id of the user."), name: field.text("Display name."), email: field.text("Email address.") },
    { description: "User." },
  ),
  role: field.text("Role in the organization: `owner`, `admin`, `editor`, `viewer` or `guest`."),
  mfa: field.flag("Whether the user has a second factor."),
  last_seen_at: t.Union([Instant, t.Null()], { description: "Time of the latest request. null before the first sign-in." }),
  joined_at: field.instant("Time at which the user became a member."),
  version: VERSION,
})
export type MemberResponse = Static<typeof MemberResponse>

export const InvitationResponse = t.Object({
  id: field.id("Id of the invitation."),
  organization: named("Organization that the invited person will join.", "organization"),
  email: field.text("Email address of the invited person."),
  role: field.text("Role of the future member."),
  has_account: field.flag("Whether a user with this email address exists."),
  created_at: CREATED_AT,
  expires_at: field.instant("Expiry time."),
  sent_at: orNull(Instant, { description: "Time at which the email was sent. null when the link is passed on by hand." }),
})
export type InvitationResponse = Static<typeof InvitationResponse>

export const KeyResponse = t.Object(
  {
    id: field.id("Id of the key."),
    organization: named("Organization that owns the key.", "organization"),
    name: field.text("Display name."),
    prefix: field.text("Visible beginning of the key, for recognizing it."),
    last4: field.text("Last four characters of the key."),
    scopes: field.texts("Granted scopes."),
    site_ids: orNull(t.Array(t.Integer()), { description: "Ids of the sites of a limited key. null: all sites." }),
    owner_email: orNull(t.String(), { description: "Email address of the owner of a personal key. null for other keys." }),
    state: field.text("State: `active`, `expired` or `revoked`."),
    created_at: CREATED_AT,
    expires_at: orNull(Instant, { description: "Expiry time. null if the key never expires." }),
    last_used_at: orNull(Instant, { description: "Time of the latest request. null before the first." }),
  },
  { title: "InstanceKey" },
)
export type KeyResponse = Static<typeof KeyResponse>

export const SessionResponse = t.Object(
  {
    id: field.id("Id of the session."),
    user: t.Object({ id: field.id("Id of the user."), email: field.text("Email address.") }, { description: "Signed-in user." }),
    method: field.text("Sign-in method: `password`, `passkey`, `oidc`, `setup`, `invitation` or `impersonation`."),
    mfa: field.flag("Whether a second factor, or a passkey that counts as two factors, was used."),
    device: field.text("Browser and operating system."),
    ip_prefix: field.text("Prefix of the IP address: /24 for IPv4, /48 for IPv6."),
    place: field.text("Country or city of the IP address. Empty when unknown."),
    created_at: field.instant("Time of the sign-in."),
    last_seen_at: field.instant("Time of the latest request."),
    expires_at: field.instant("Time at which the session ends at the latest."),
    current: field.flag("Whether the request was sent from this session."),
    impersonation: t.Optional(
      t.Object(
        { by: field.text("Email address of the instance admin."), mode: field.text("Mode: `read_only` or `full`.") },
        { description: "Impersonation by an instance admin. Absent from other sessions." },
      ),
    ),
  },
  { title: "InstanceSession" },
)
export type SessionResponse = Static<typeof SessionResponse>

export const SiteResponse = t.Object(
  {
    id: field.id("Id of the site."),
    name: field.text("Display name."),
    hosts: field.texts("Hosts of the site."),
    organization: named("Organization that owns the site.", "organization"),
    events_24h: t.Integer({ description: "Number of events of the last 24 hours." }),
    events_30d: t.Integer({ description: "Number of events of the last 30 days." }),
    bytes: t.Integer({ description: "Size of the stored events in bytes." }),
    last_event_at: orNull(Instant, { description: "Time of the latest event. null until the first one." }),
    retention_days: t.Union([t.Integer(), t.Null()], { description: "Number of days that events are kept. null means forever." }),
    created_at: CREATED_AT,
    deleted_at: t.Optional(field.instant("Time of the deletion. Present only for a deleted site, which can be restored for 30 days.")),
    version: VERSION,
  },
  { title: "InstanceSite", description: "Site with its figures." },
)
export type SiteResponse = Static<typeof SiteResponse>

/** A transferred site, with the keys and members of the former organization that have lost access to it. */
export const TransferResponse = t.Object({
  site: SiteResponse,
  detached: t.Object(
    {
      api_keys: t.Array(t.Object({ id: field.id("Id of the key."), name: field.text("Display name of the key.") }), {
        description: "API keys that have lost access to the site.",
      }),
      site_members: t.Array(
        t.Object({
          user_id: field.id("Id of the user."),
          email: field.text("Email address of the user."),
          role: field.text("Former role on the site."),
        }),
        { description: "Site-specific roles that have ended." },
      ),
    },
    { description: "Access of the former organization that ended with the transfer." },
  ),
})
export type TransferResponse = Static<typeof TransferResponse>

type Owner = NonNullable<Awaited<ReturnType<Console["hostDisputes"]["get"]>>["owner"]>

export const DisputeResponse = t.Object(
  {
    host: t.String({ description: "Disputed host. `*.example.com` stands for every host below `example.com`." }),
    organizations: t.Array(
      t.Object({
        id: field.id("Id of the organization."),
        name: field.text("Display name of the organization."),
        sites: t.Array(t.Object({ id: field.id("Id of the site."), name: field.text("Display name of the site.") }), {
          description: "Sites of the organization that list the host.",
        }),
        listed_at: t.String({ format: "date-time", description: "Time at which one of the sites first listed the host." }),
        has_events: t.Boolean({ description: "Whether a site has events from the host." }),
        is_proved: t.Boolean({ description: "Whether the organization has proved the host by a DNS record." }),
      }),
      { description: "Organizations whose sites list the host." },
    ),
    owner: orNull(
      t.Object({
        organization_id: field.id("Id of the organization."),
        reason: t.Unsafe<Owner["reason"]>(t.String({ description: "`decided`, `proved` or `listed_first`." })),
      }),
      { description: "Organization to which the host belongs. null if that is undecided." },
    ),
    decision: orNull(
      t.Object({ organization_id: field.id("Id of the organization."), decided_at: field.instant("Time of the decision.") }),
      { description: "Decision of an instance admin. null without one." },
    ),
  },
  { title: "InstanceHostDispute" },
)
export type DisputeResponse = Static<typeof DisputeResponse>

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

export const ProviderTestResponse = t.Object({
  ok: field.flag("Whether all steps succeeded."),
  steps: t.Array(
    t.Object({
      name: field.text("Name of the step."),
      ok: field.flag("Whether the step succeeded."),
      detail: field.text("Result of the step, as a sentence."),
      ms: t.Number({ description: "Duration in milliseconds." }),
    }),
    { description: "Checks of the discovery document and of the keys." },
  ),
  claims: t.Array(
    t.Object({
      name: field.text("Name of the claim."),
      needed: field.flag("Whether Footfall needs the claim."),
      offered: t.Union([t.Boolean(), t.Null()], { description: "Whether the provider offers the claim. null if it does not say." }),
    }),
    { description: "Claims of ID tokens." },
  ),
})
export type ProviderTestResponse = Static<typeof ProviderTestResponse>

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
export type IngestionResponse = ReturnType<Console["ingestion"]["minutes"]>
export type IngestionMinute = IngestionResponse["data"][number]
type Sample = ReturnType<Console["ingestion"]["rejected"]>[number]
/** A dropped event. */
export type SampleResponse = Pick<Sample, "site_id" | "reason" | "page" | "country"> & { at: string; host: string; browser_family: string }
export type LogLineResponse = Omit<ReturnType<Console["logLines"]>[number], "at"> & { at: string }
