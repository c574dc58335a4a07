/** Request bodies of the console for the OpenAPI document. Services validate them with rules that a schema cannot express. */
import { type TProperties, Type as t } from "@sinclair/typebox"
import { field } from "#plugin"

const closed = (properties: TProperties, description?: string) =>
  t.Object(properties, { additionalProperties: false, ...(description !== undefined && { description }) })
const opt = t.Optional
const name = (description: string) => t.String({ minLength: 1, description })
const email = (description: string) => t.String({ format: "email", description })
const Role = t.String({ description: "`owner`, `admin`, `editor`, `viewer` or `guest`." })
const Version = opt(field.id("Version that the change is based on."))
const store = t.String({ enum: ["catalog", "events"], description: "Store: `catalog` or `events`." })
const passphrase = (description: string) => t.String({ minLength: 1, maxLength: 1_024, description })
const Changes = t.Object({}, { additionalProperties: true, description: "Settings by name. Null restores the default." })
const daysOrNull = (description: string) => t.Union([t.Integer({ minimum: 1 }), t.Null()], { description })
const organizationId = field.id("Id of the organization.")
const siteId = field.id("Id of the site.")

export const BODIES = {
  newUser: closed({
    email: email("Email address."),
    name: name("Display name."),
    organization_id: opt(field.id("Id of the organization that the user joins. Requires `role`. Default: none.")),
    role: opt(t.String({ description: "Role in the organization: `owner`, `admin`, `editor` or `viewer`. Requires `organization_id`." })),
    password: opt(field.text("Password. Default: none, and the user receives an invitation link.")),
    send_invitation: opt(field.flag("Whether to send the invitation by email. Default: true.")),
    is_instance_admin: opt(field.flag("Whether the user has access to the admin console. Default: false.")),
  }),
  user: closed({
    name: opt(name("Display name.")),
    email: opt(email("Email address.")),
    is_instance_admin: opt(field.flag("Whether the user has access to the admin console. A change requires a recent proof of identity.")),
    version: Version,
  }),
  removal: closed({
    transfer: opt(
      t.Array(closed({ organization_id: organizationId, user_id: field.id("Id of the member who becomes the owner.") }), {
        description: "New owners of the organizations that only this user owns.",
      }),
    ),
  }),
  impersonation: closed({
    reason: name("Reason, for the audit log and, if the instance notifies users, for the user."),
    minutes: opt(t.Integer({ minimum: 5, maximum: 60, default: 30, description: "Duration in minutes. Default: 30." })),
    mode: opt(
      t.String({ enum: ["read_only", "full"], description: "`read_only`, or `full` to allow changes as well. Default: `read_only`." }),
    ),
  }),
  organization: closed({ name: name("Display name.") }),
  organizationPatch: closed({ name: opt(name("Display name.")), policy: opt(Changes), version: Version }),
  confirmation: closed({ confirm: t.String({ description: "Name of the item, to confirm the deletion." }) }),
  member: closed({ role: Role, version: Version }),
  memberRemoval: closed({
    transfer_to: opt(field.id("Id of another member of the organization. Reserved: it is validated, but has no effect.")),
  }),
  transfer: closed({ organization_id: field.id("Id of the new organization.") }),
  hostDecision: closed({ organization_id: field.id("Id of the organization to which the host belongs.") }),
  purge: closed({
    before: t.String({ format: "date", description: "Day, not after today. Visits that started before it are deleted." }),
    dry_run: opt(field.flag("Whether to return a preview and delete nothing. Default: false.")),
  }),
  maintenance: closed({
    enabled: field.flag("Whether maintenance mode is on."),
    message: opt(field.text("Message for users. Default: a general one.")),
    until: opt(field.instant("Expected end. Default: unknown.")),
  }),
  settings: closed({ changes: Changes, version: Version }),
  mailTest: closed({ to: email("Email address that receives the message.") }),
  providerTest: closed({ provider: field.text("Id of the identity provider.") }),
  area: closed({ id: field.text("Id of the plugin."), enabled: field.flag("Whether the plugin is enabled."), version: Version }),
  areas: closed({ changes: t.Record(t.String(), t.Boolean(), { description: "Whether each plugin is enabled, by id." }) }),
  store: closed({ store }),
  retention: closed({
    default_days: opt(daysOrNull("Number of days that sites without a value of their own keep events. null means forever.")),
    sites: opt(
      t.Array(closed({ site_id: siteId, retention_days: daysOrNull("Number of days that events are kept. null means forever.") }), {
        description: "Sites with a value of their own.",
      }),
    ),
  }),
  retentionRun: closed({
    site_id: opt(field.id("Id of the site. Default: all sites.")),
    retention_days: opt(t.Integer({ minimum: 1, description: "Number of days to keep. Default: the retention of each site." })),
    at: opt(field.instant("Value of `at` in a preview, for the same cutoffs. Default: now.")),
  }),
  schedule: closed({
    cron: opt(field.text("Cron expression with five fields.")),
    enabled: opt(field.flag("Whether the schedule starts jobs.")),
  }),
  backup: closed({
    label: opt(field.text("Label. Default: none.")),
    include: opt(
      t.Array(t.String({ enum: ["db", "config"] }), {
        description: "`db` for the stores, `config` for a readable copy of the settings. Default: both.",
      }),
    ),
    encrypt: opt(closed({ passphrase: passphrase("Passphrase that is needed to restore the backup.") }, "Encryption. Default: none.")),
  }),
  backupSchedule: t.Object(
    {},
    {
      additionalProperties: true,
      description: "Schedule with `cron`, `keep`, `target` and `s3` (`endpoint`, `bucket`, `prefix`, `region`, `key_id`, `secret`).",
    },
  ),
  verification: closed({ full: opt(field.flag("Whether to check every index and checksum as well. Default: false.")) }),
  restore: closed({
    confirm: t.String({ description: "Id of the backup, to confirm the restore." }),
    passphrase: opt(passphrase("Passphrase of an encrypted backup.")),
  }),
} as const
