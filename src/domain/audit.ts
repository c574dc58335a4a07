import { type Static, Type as t } from "@sinclair/typebox"
import { instantText } from "./moment.ts"

/** The originator of an action: a user, an API key, the system or the command line. */
export interface Actor {
  kind: "user" | "key" | "system" | "cli"
  /** Id of the user or key; absent for the other kinds. */
  id?: number
  /** Snapshot that outlives the user. For the command line, the name of the operating system's user. */
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

const Id = t.Integer({ minimum: 1 })
const WordsOrNull = t.Union([t.String(), t.Null()])
const WholeOrNull = t.Union([t.Integer(), t.Null()])

/** Schema of an audit log row, as every list of the API returns it. */
export const AuditRowResponse = t.Object(
  {
    id: Id,
    at: t.String({ format: "date-time" }),
    actor_kind: t.String(),
    actor_id: WholeOrNull,
    actor_email: t.String(),
    impersonator_id: WholeOrNull,
    impersonator_email: WordsOrNull,
    action: t.String(),
    target_type: t.String(),
    target_id: t.String(),
    target_label: t.String(),
    organization_id: WholeOrNull,
    site_id: WholeOrNull,
    outcome: t.String(),
    ip_prefix: t.String(),
    user_agent: t.String(),
    request_id: t.String(),
    changes: t.Any({ description: "Old and new value of each changed field." }),
  },
  { title: "AuditRow" },
)
export type AuditRowResponse = Static<typeof AuditRowResponse>

/** Formats a stored row, whose time is in epoch milliseconds, for a response. */
export const formatAuditRow = ({ at, ...row }: Omit<AuditRowResponse, "at"> & { at: number }): AuditRowResponse => ({
  ...row,
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
