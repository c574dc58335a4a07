/** Responses of the console's routes. Its pages take their types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { type Console, Instant, type JobState, orNull } from "#plugin"

export const Id = t.Integer({ minimum: 1 })

export const UserResponse = t.Object(
  {
    id: t.Union([Id, t.Null()], { description: "Id of the user. null for an invited person without an account." }),
    invitation_id: t.Optional(t.Integer({ minimum: 1, description: "Id of the invitation. Present only for status `invited`." })),
    email: t.String(),
    name: t.String(),
    status: t.Unsafe<Awaited<ReturnType<Console["users"]["get"]>>["status"]>(
      t.String({ description: "`active`, `invited` or `disabled`." }),
    ),
    is_instance_admin: t.Boolean(),
    organizations: t.Array(t.Object({ id: Id, name: t.String(), role: t.String() })),
    mfa: t.Object({ totp: t.Boolean(), passkeys: t.Integer() }),
    auth: t.Object({ password: t.Boolean(), oidc: t.Array(t.String()) }),
    created_at: Instant,
    last_login_at: orNull(Instant),
    last_seen_at: orNull(Instant),
    sessions: t.Integer({ description: "Number of active sessions." }),
    api_keys: t.Integer({ description: "Number of API keys that the user created." }),
    version: t.Integer(),
  },
  { title: "InstanceUser" },
)
export type UserResponse = Static<typeof UserResponse>

export const Link = t.Optional(t.String({ description: "Link to hand over if no email is sent. Shown once." }))

export const LinkedUserResponse = t.Composite([UserResponse, t.Object({ link: Link })], { title: "LinkedUser" })
export type LinkedUserResponse = Static<typeof LinkedUserResponse>

export const OrganizationResponse = t.Object(
  {
    id: Id,
    name: t.String(),
    members: t.Integer(),
    owners: t.Integer(),
    sites: t.Integer(),
    keys: t.Integer(),
    events_30d: t.Integer({ description: "Number of events of the last 30 days." }),
    bytes: t.Integer({ description: "Size of the stored events." }),
    created_at: Instant,
    version: t.Integer(),
  },
  { title: "InstanceOrganization" },
)
export type OrganizationResponse = Static<typeof OrganizationResponse>

export const MemberResponse = t.Object({
  user: t.Object({ id: Id, name: t.String(), email: t.String() }),
  role: t.String(),
  mfa: t.Boolean(),
  last_seen_at: t.Union([Instant, t.Null()]),
  joined_at: Instant,
  version: t.Integer(),
})
export type MemberResponse = Static<typeof MemberResponse>

export const InvitationResponse = t.Object({
  id: Id,
  organization: t.Object({ id: Id, name: t.String() }),
  email: t.String(),
  role: t.String(),
  has_account: t.Boolean(),
  created_at: Instant,
  expires_at: Instant,
  sent_at: orNull(Instant),
})
export type InvitationResponse = Static<typeof InvitationResponse>

export const KeyResponse = t.Object(
  {
    id: Id,
    organization: t.Object({ id: Id, name: t.String() }),
    name: t.String(),
    prefix: t.String(),
    last4: t.String(),
    scopes: t.Array(t.String()),
    site_ids: orNull(t.Array(t.Integer())),
    owner_email: orNull(t.String()),
    state: t.String(),
    created_at: Instant,
    expires_at: orNull(Instant),
    last_used_at: orNull(Instant),
  },
  { title: "InstanceKey" },
)
export type KeyResponse = Static<typeof KeyResponse>

export const SessionResponse = t.Object(
  {
    id: Id,
    user: t.Object({ id: Id, email: t.String() }),
    method: t.String(),
    mfa: t.Boolean(),
    device: t.String(),
    ip_prefix: t.String(),
    place: t.String(),
    created_at: Instant,
    last_seen_at: Instant,
    expires_at: Instant,
    current: t.Boolean(),
    impersonation: t.Optional(t.Object({ by: t.String(), mode: t.String() })),
  },
  { title: "InstanceSession" },
)
export type SessionResponse = Static<typeof SessionResponse>

export const SiteResponse = t.Object(
  {
    id: Id,
    name: t.String(),
    hosts: t.Array(t.String()),
    organization: t.Object({ id: Id, name: t.String() }),
    events_24h: t.Integer({ description: "Number of events of the last 24 hours." }),
    events_30d: t.Integer({ description: "Number of events of the last 30 days." }),
    bytes: t.Integer({ description: "Size of the stored events." }),
    last_event_at: orNull(Instant),
    retention_days: t.Union([t.Integer(), t.Null()], { description: "Number of days that events are kept. null means forever." }),
    created_at: Instant,
    deleted_at: t.Optional(Instant),
    version: t.Integer(),
  },
  { title: "InstanceSite" },
)
export type SiteResponse = Static<typeof SiteResponse>

/** A transferred site, with the keys and members of the former organization that have lost access to it. */
export const TransferResponse = t.Object({
  site: SiteResponse,
  detached: t.Object({
    api_keys: t.Array(t.Object({ id: Id, name: t.String() })),
    site_members: t.Array(t.Object({ user_id: Id, email: t.String(), role: t.String() })),
  }),
})
export type TransferResponse = Static<typeof TransferResponse>

type Owner = NonNullable<Awaited<ReturnType<Console["hostDisputes"]["get"]>>["owner"]>

export const DisputeResponse = t.Object(
  {
    host: t.String({ description: "Disputed host. `*.example.com` stands for every host below `example.com`." }),
    organizations: t.Array(
      t.Object({
        id: Id,
        name: t.String(),
        sites: t.Array(t.Object({ id: Id, name: t.String() })),
        listed_at: t.String({ format: "date-time", description: "First listing of the host by one of the sites" }),
        has_events: t.Boolean({ description: "Whether a site has events from the host" }),
        is_proved: t.Boolean({ description: "Whether the organization has proved the host by a DNS record" }),
      }),
    ),
    owner: orNull(
      t.Object({
        organization_id: Id,
        reason: t.Unsafe<Owner["reason"]>(t.String({ description: "`decided`, `proved` or `listed_first`." })),
      }),
    ),
    decision: orNull(t.Object({ organization_id: Id, decided_at: Instant })),
  },
  { title: "InstanceHostDispute" },
)
export type DisputeResponse = Static<typeof DisputeResponse>

type Progress = NonNullable<ReturnType<Console["jobs"]["progressOf"]>>

export const JobResponse = t.Object(
  {
    id: Id,
    kind: t.String(),
    key: t.String(),
    state: t.Unsafe<JobState>(t.String({ description: "`queued`, `running`, `done`, `failed` or `cancelled`." })),
    organization_id: orNull(t.Integer()),
    site_id: orNull(t.Integer()),
    progress: orNull(t.Unsafe<Progress>(t.Any({ description: "Progress of a job that reports it." }))),
    attempts: t.Integer({ description: "Number of starts." }),
    run_at: Instant,
    created_by: orNull(t.Integer()),
    created_at: Instant,
    started_at: orNull(Instant),
    finished_at: orNull(Instant),
    error_code: orNull(t.String()),
    error_message: orNull(t.String()),
  },
  { title: "InstanceJob" },
)
export type JobResponse = Static<typeof JobResponse>
type Line = Awaited<ReturnType<Console["jobs"]["get"]>>["lines"][number]
/** A job with its log lines. Its route has no schema, because the fields of a line are open. */
export type WholeJobResponse = JobResponse & { lines: (Omit<Line, "at"> & { at: string })[] }

export const ScheduleResponse = t.Object(
  {
    name: t.String(),
    cron: t.String(),
    timezone: t.String(),
    enabled: t.Boolean(),
    last_run_at: orNull(Instant),
    last_state: orNull(t.String()),
    next_run_at: orNull(Instant),
  },
  { title: "Schedule" },
)
export type ScheduleResponse = Static<typeof ScheduleResponse>

/** Data that a deletion would remove. */
export const PreviewResponse = t.Object(
  {
    at: Instant,
    cutoff: orNull(t.String()),
    by: t.Array(t.Object({ site_id: Id, kind: t.String(), cutoff: t.String(), rows: t.Integer(), events: t.Integer(), days: t.Integer() })),
    plugins: t.Array(t.Object({ id: t.String(), rows: t.Integer() })),
    bytes: t.Integer(),
  },
  { title: "InstanceRetentionPreview" },
)
export type PreviewResponse = Static<typeof PreviewResponse>

export const BackupResponse = t.Object(
  {
    id: t.String(),
    label: orNull(t.String()),
    kind: t.String(),
    created_at: Instant,
    bytes: t.Integer(),
    target: t.String(),
    includes: t.Array(t.String()),
    encrypted: t.Boolean(),
    state: t.Unsafe<"verified" | "unverified" | "failed" | "damaged">(
      t.String({ description: "`verified`, `unverified`, `failed` (its last check) or `damaged` (its manifest cannot be read)." }),
    ),
    verified_at: orNull(Instant),
    version: t.String(),
    schemas: t.Object({ catalog: t.Array(t.String()), events: t.Array(t.String()) }),
    note: t.Optional(t.String()),
  },
  { title: "Backup" },
)
export type BackupResponse = Static<typeof BackupResponse>

export const BackupListResponse = t.Object({
  data: t.Array(BackupResponse),
  bucket_error: t.Optional(t.String({ description: "Reason why the backups in the bucket could not be listed." })),
})
export type BackupListResponse = Static<typeof BackupListResponse>

export const PlanResponse = t.Object({
  cron: orNull(t.String()),
  keep: t.Object({ daily: t.Integer(), weekly: t.Integer() }),
  target: t.Unsafe<"local" | "s3">(t.String({ description: "`local`, or `s3` to copy each backup to the bucket as well." })),
  s3: t.Optional(
    t.Object({
      ...{ endpoint: t.String(), bucket: t.String(), prefix: t.String(), region: t.String(), key_id: t.String() },
      secret: t.Object({ set: t.Boolean(), hint: t.Optional(t.String()), updated_at: t.Optional(t.String()) }),
    }),
  ),
  source: t.Unsafe<ReturnType<Console["backupSchedule"]["source"]>>(
    t.String({ description: "Source of the schedule: `env`, `file`, `db` or `default`." }),
  ),
})
export type PlanResponse = Static<typeof PlanResponse>

/** A setting as the console lists it, with the JSON Schema of its value. */
export type SettingResponse = ReturnType<Console["settings"]["list"]>["data"][number]
export const SettingsResponse = t.Object({ data: t.Array(t.Unsafe<SettingResponse>(t.Any())), version: t.Integer() })
export type SettingsResponse = Static<typeof SettingsResponse>

export const PluginResponse = t.Object({
  id: t.String(),
  title: t.String(),
  enabled: t.Boolean(),
  version: t.Integer(),
  schema: t.Array(t.String()),
  tables: t.Array(t.String()),
  rows: t.Integer(),
})
export type PluginResponse = Static<typeof PluginResponse>

export const CheckResponse = t.Object({
  name: t.String(),
  status: t.Unsafe<"ok" | "warn" | "fail">(t.String()),
  detail: t.String(),
  fix: t.String(),
})
export type CheckResponse = Static<typeof CheckResponse>
export const HealthResponse = t.Object({ status: t.String(), checks: t.Array(CheckResponse) })
export type HealthResponse = Static<typeof HealthResponse>

export const StateResponse = t.Object({ code: t.String(), since: Instant, remedy: t.String() })
export type StateResponse = Static<typeof StateResponse>

export const ModeResponse = t.Object({ enabled: t.Boolean(), message: orNull(t.String()), until: orNull(Instant) })
export type ModeResponse = Static<typeof ModeResponse>

export const SlowQueryResponse = t.Object(
  {
    at: Instant,
    kind: t.String({ description: "Kind of query, such as `summary`, `timeseries`, `breakdown`, `funnels` or `paths`." }),
    site_id: orNull(Id),
    range_days: orNull(t.Integer()),
    waited_ms: t.Integer(),
    took_ms: t.Integer({ description: "Time from arrival to end in milliseconds, including the wait." }),
    ending: t.String({ description: "Outcome: `answered`, `late` (timed out), `left` (the client disconnected) or `failed`." }),
  },
  { title: "SlowQuery" },
)
export type SlowQueryResponse = Static<typeof SlowQueryResponse>
export const SlowQueriesResponse = t.Object({
  last_hour: t.Integer({ description: "Number of slow queries of the last hour." }),
  data: t.Array(SlowQueryResponse),
})
export type SlowQueriesResponse = Static<typeof SlowQueriesResponse>

export const UpdateResponse = t.Object(
  {
    current: t.String(),
    is_possible: t.Boolean(),
    is_automatic: t.Boolean(),
    checked_at: orNull(Instant),
    failure: orNull(t.String()),
    latest: orNull(t.Object({ version: t.String(), released_at: orNull(t.String()), notes: t.String(), changes_schema: t.Boolean() })),
    is_newer: t.Boolean(),
  },
  { title: "UpdateReport" },
)
export type UpdateResponse = Static<typeof UpdateResponse>

export const NoticeResponse = t.Object(
  {
    id: Id,
    kind: t.String(),
    title: t.String(),
    remedy: t.String(),
    detail: t.Unsafe<Readonly<Record<string, unknown>>>(t.Any({ description: "Details of the notice, by name." })),
    first_at: Instant,
    last_at: Instant,
  },
  { title: "AdminNotice" },
)
export type NoticeResponse = Static<typeof NoticeResponse>

export const MailTestResponse = t.Object({
  ok: t.Boolean(),
  steps: t.Array(t.Object({ name: t.String(), sent: t.String(), received: t.String(), ms: t.Integer() })),
})
export type MailTestResponse = Static<typeof MailTestResponse>

export const ProviderTestResponse = t.Object({
  ok: t.Boolean(),
  steps: t.Array(t.Object({ name: t.String(), ok: t.Boolean(), detail: t.String(), ms: t.Number() })),
  claims: t.Array(t.Object({ name: t.String(), needed: t.Boolean(), offered: t.Union([t.Boolean(), t.Null()]) })),
})
export type ProviderTestResponse = Static<typeof ProviderTestResponse>

export const AuditCheckResponse = t.Object({ ok: t.Boolean(), rows: t.Integer(), first_broken_id: t.Optional(Id) })
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
