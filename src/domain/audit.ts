import { type Static, Type as t } from "@sinclair/typebox"
import { instantText } from "./moment.ts"

/** Who did something. */
export interface Actor {
  kind: "user" | "key" | "system" | "cli"
  /** Of a user or a key. */
  id?: number
  /** A snapshot, which outlives the user; of a command line the name of the system's user. */
  email: string
  impersonator?: { id: number; email: string }
  ipPrefix: string
  userAgent: string
  requestId: string
}

/** The user whom a changed row names; null where a key, a command line or the instance itself has changed it. */
export const userBehind = ({ kind, id }: Actor): number | null => (kind === "user" ? (id ?? null) : null)

/** What was done. */
export interface Deed {
  /** `<area>.<thing>.<verb>` */
  action: string
  target: { type: string; id: string | number; label: string }
  organizationId?: number | undefined
  siteId?: number | undefined
  outcome?: "ok" | "failed"
  /** By field: before and after. Secrets stand as `(redacted)`. */
  changes?: Readonly<Record<string, readonly [unknown, unknown]>>
}

const Id = t.Integer({ minimum: 1 })
const WordsOrNull = t.Union([t.String(), t.Null()])
const WholeOrNull = t.Union([t.Integer(), t.Null()])

/** A row of the log as every list of it answers one. */
export const AuditRowShown = t.Object(
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
    changes: t.Any({ description: "By field: before and after" }),
  },
  { title: "AuditRow" },
)
export type AuditRowShown = Static<typeof AuditRowShown>

/** A stored row, whose moment is in epoch ms, as it is shown. */
export const shownAuditRow = ({ at, ...row }: Omit<AuditRowShown, "at"> & { at: number }): AuditRowShown => ({
  ...row,
  at: instantText(at),
})

export const REDACTED = "(redacted)"

/** Fields that differ between two states of a thing; times of change and versions say nothing of their own. */
export function changesBetween(before: object | undefined, after: object | undefined): Record<string, readonly [unknown, unknown]> {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const names = new Set([...Object.keys(old), ...Object.keys(now)])
  const changed = [...names].filter((name) => !Bun.deepEquals(old[name], now[name]))
  return Object.fromEntries(changed.map((name) => [name, [old[name] ?? null, now[name] ?? null]]))
}

const SILENT = new Set(["id", "site_id", "organization_id", "created_at", "updated_at", "version"])

const fieldsOf = (thing: object = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(thing).filter(([name]) => !SILENT.has(name)))
