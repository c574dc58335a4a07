import { type Static, Type as t } from "@sinclair/typebox"
import { instantText } from "./moment.ts"
import { anyOf } from "./response.ts"

/** The originator of an action: a user, an API key, the system or the command line. */
export interface Actor {
  kind: "user" | "key" | "system" | "cli"
  /** Id of the user or key; absent for the other kinds. */
  id?: number
  /** Snapshot that outlives the user. For the command line, the name of the operating system's user; for an API key, its name. */
  email: string
  impersonator?: { id: number; email: string }
  ipPrefix: string
  userAgent: string
  requestId: string
}

/** Returns the id of the acting user; null when an API key, the command line or the instance itself acts. */
export const actingUserId = ({ kind, id }: Actor): number | null => (kind === "user" ? (id ?? null) : null)

/** An action to be recorded in the audit log. */
export interface AuditEntry {
  /** `<area>.<thing>.<verb>` */
  action: string
  target: { type: string; id: string | number; label: string }
  organizationId?: number | undefined
  siteId?: number | undefined
  outcome?: "ok" | "failed"
  /** Old and new value of each changed field. Secrets are recorded as `(redacted)`. */
  changes?: Readonly<Record<string, readonly [unknown, unknown]>>
}

const textOrNull = (description: string) => t.Union([t.String(), t.Null()], { description })
const idOrNull = (description: string) => t.Union([t.Integer(), t.Null()], { description })

/** Schema of an audit log row, as every list of the API returns it. */
export const AuditRowResponse = t.Object(
  {
    id: t.Integer({ minimum: 1, description: "Id of the row." }),
    at: t.String({ format: "date-time", description: "Time of the action." }),
    actor_kind: t.String({ description: "Originator of the action: `user`, `key`, `system` or `cli`." }),
    actor_id: idOrNull("Id of the user or API key. null for the other kinds."),
    actor_email: t.String({
      description:
        "Email address of the user at the time of the action. For `cli`: name of the operating system's user. For `key`: name of the API key.",
    }),
    impersonator_id: idOrNull("Id of the instance admin who impersonated the user. null without impersonation."),
    impersonator_email: textOrNull("Email address of the impersonating instance admin. null without impersonation."),
    action: t.String({ description: "Action as `<area>.<thing>.<verb>`, such as `sites.goal.create`." }),
    target_type: t.String({ description: "Type of the changed resource." }),
    target_id: t.String({ description: "Id of the changed resource." }),
    target_label: t.String({ description: "Name of the resource at the time of the action." }),
    organization_id: idOrNull("Id of the organization. null for actions on the instance."),
    site_id: idOrNull("Id of the site. null for actions that concern no site."),
    outcome: t.String({ description: "Outcome: `ok` or `failed`." }),
    ip_prefix: t.String({ description: "Prefix of the IP address: /24 for IPv4, /48 for IPv6. Empty if unknown." }),
    user_agent: t.String({ description: "User agent of the request. Empty if unknown." }),
    request_id: t.String({ description: "Id of the request. Log lines contain it." }),
    changes: anyOf<NonNullable<AuditEntry["changes"]>>({
      description: "Old and new value of each changed field. Secrets appear as `(redacted)`.",
    }),
  },
  { title: "AuditRow" },
)
export type AuditRowResponse = Static<typeof AuditRowResponse>

type StoredAuditRow = Omit<AuditRowResponse, "at" | "changes"> & { at: number; changes: AuditEntry["changes"] }

/** Formats a stored row, whose time is in epoch milliseconds, for a response. */
export const formatAuditRow = ({ at, changes = {}, ...row }: StoredAuditRow): AuditRowResponse => ({
  ...row,
  changes,
  at: instantText(at),
})

export const REDACTED = "(redacted)"

/** Returns the fields that differ between two states of a record. Ids, timestamps and versions are ignored. */
export function changesBetween(before: object | undefined, after: object | undefined): Record<string, readonly [unknown, unknown]> {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const names = new Set([...Object.keys(old), ...Object.keys(now)])
  const changed = [...names].filter((name) => !Bun.deepEquals(old[name], now[name]))
  return Object.fromEntries(changed.map((name) => [name, [old[name] ?? null, now[name] ?? null]]))
}

const IGNORED_FIELDS = new Set(["id", "hosts_listed_at", "site_id", "organization_id", "created_at", "updated_at", "version"])

const fieldsOf = (thing: object = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(thing).filter(([name]) => !IGNORED_FIELDS.has(name)))
