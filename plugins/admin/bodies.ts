/** Request bodies of the console for the OpenAPI document. Services validate them with rules that a schema cannot express. */
import { type TProperties, Type as t } from "@sinclair/typebox"

const closed = (properties: TProperties) => t.Object(properties, { additionalProperties: false })
const opt = t.Optional
const Id = t.Integer({ minimum: 1 })
const DaysOrNull = t.Union([t.Integer({ minimum: 1 }), t.Null()])
const Role = t.String({ description: "`owner`, `admin`, `editor`, `viewer` or `guest`." })
const Day = t.String({ format: "date" })
const Version = opt(Id)
const store = t.String({ enum: ["catalog", "events"] })
const passphrase = t.String({ minLength: 1, maxLength: 1_024 })
const Changes = t.Object({}, { additionalProperties: true, description: "Settings by name. Null restores the default." })

export const BODIES = {
  newUser: closed({
    email: t.String({ format: "email" }),
    name: t.String({ minLength: 1 }),
    organization_id: opt(Id),
    role: opt(Role),
    password: opt(t.String()),
    send_invitation: opt(t.Boolean()),
    is_instance_admin: opt(t.Boolean()),
  }),
  user: closed({
    name: opt(t.String({ minLength: 1 })),
    email: opt(t.String({ format: "email" })),
    is_instance_admin: opt(t.Boolean()),
    version: Version,
  }),
  removal: closed({ transfer: opt(t.Array(closed({ organization_id: Id, user_id: Id }))) }),
  impersonation: closed({
    reason: t.String({ minLength: 1 }),
    minutes: opt(t.Integer({ minimum: 5, maximum: 60, default: 30 })),
    mode: opt(t.String({ enum: ["read_only", "full"] })),
  }),
  organization: closed({ name: t.String({ minLength: 1 }) }),
  organizationPatch: closed({ name: opt(t.String({ minLength: 1 })), policy: opt(Changes), version: Version }),
  confirmation: closed({ confirm: t.String({ description: "Name of the item, to confirm the deletion." }) }),
  member: closed({ role: Role, version: Version }),
  memberRemoval: closed({ transfer_to: opt(Id) }),
  transfer: closed({ organization_id: Id }),
  hostDecision: closed({ organization_id: Id }),
  purge: closed({ before: Day, dry_run: opt(t.Boolean()) }),
  maintenance: closed({ enabled: t.Boolean(), message: opt(t.String()), until: opt(t.String({ format: "date-time" })) }),
  settings: closed({ changes: Changes, version: Version }),
  mailTest: closed({ to: t.String({ format: "email" }) }),
  providerTest: closed({ provider: t.String() }),
  area: closed({ id: t.String(), enabled: t.Boolean(), version: Version }),
  areas: closed({ changes: t.Record(t.String(), t.Boolean()) }),
  store: closed({ store }),
  retention: closed({ default_days: opt(DaysOrNull), sites: opt(t.Array(closed({ site_id: Id, retention_days: DaysOrNull }))) }),
  retentionRun: closed({ site_id: opt(Id), retention_days: opt(t.Integer({ minimum: 1 })), at: opt(t.String({ format: "date-time" })) }),
  schedule: closed({ cron: opt(t.String()), enabled: opt(t.Boolean()) }),
  backup: closed({
    label: opt(t.String()),
    include: opt(t.Array(t.String({ enum: ["db", "config"] }))),
    encrypt: opt(closed({ passphrase })),
  }),
  backupSchedule: t.Object(
    {},
    {
      additionalProperties: true,
      description: "Schedule with `cron`, `keep`, `target` and `s3` (`endpoint`, `bucket`, `prefix`, `region`, `key_id`, `secret`).",
    },
  ),
  verification: closed({ full: opt(t.Boolean()) }),
  restore: closed({ confirm: t.String({ description: "ID of the backup, to confirm the restore." }), passphrase: opt(passphrase) }),
} as const
