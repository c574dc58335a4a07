import type { AuditRowResponse } from "../../../../domain/audit.ts"
import { csvText } from "../../../browser/files.ts"

const VERBS: Readonly<Record<string, string>> = {
  create: "created",
  update: "changed",
  delete: "deleted",
  remove: "removed",
  revoke: "revoked",
  rotate: "rotated",
  resend: "resent",
  accept: "accepted",
  transfer: "transferred",
  verify: "verified",
  leave: "left",
  end: "ended",
  begin: "started",
  download: "downloaded",
  export: "exported",
  use: "used",
}
const THINGS: Readonly<Record<string, string>> = {
  api_key: "API key",
  mail_domain: "email domain",
  provider: "identity provider",
  share: "shared view",
  site_member: "site-specific role",
}

/** Describes an action: `accounts.api_key.create` as *API key created*. Unknown words are taken from the name. */
export function actionText(action: string): string {
  const [, thing = action, verb = ""] = action.split(".")
  const what = THINGS[thing] ?? thing.replaceAll(/[_-]/g, " ")
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} ${VERBS[verb] ?? verb.replaceAll(/[_-]/g, " ")}`.trim()
}

export interface FieldChange {
  field: string
  /** Undefined if there was no value before. */
  before: string | undefined
  after: string
}

/** Returns the changed fields as text. Of a nested field only the parts that differ. */
export function changesOf({ changes }: Pick<AuditRowResponse, "changes">): readonly FieldChange[] {
  const pairs = Object.entries((changes ?? {}) as Record<string, unknown>)
  return pairs.flatMap(([field, pair]) => {
    const [before, after] = Array.isArray(pair) ? pair : [null, pair]
    return differing(field, before, after)
  })
}

const isNested = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value)
const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)

function differing(field: string, before: unknown, after: unknown): FieldChange[] {
  if (isNested(before) || isNested(after)) {
    const [old, now] = [isNested(before) ? before : {}, isNested(after) ? after : {}]
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((part) => differing(part, old[part], now[part]))
  }
  if (JSON.stringify(before) === JSON.stringify(after) || (isNothing(before) && isNothing(after))) return []
  return [{ field: field.replaceAll("_", " "), before: isNothing(before) ? undefined : valueText(before), after: valueText(after) }]
}

function valueText(value: unknown): string {
  if (isNothing(value)) return "–"
  if (Array.isArray(value)) return value.map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one))).join(", ")
  return String(value)
}

export type AuditFormat = "csv" | "ndjson"

const COLUMNS = [
  "at",
  "actor_kind",
  "actor_email",
  "impersonator_email",
  "action",
  "target_type",
  "target_id",
  "target_label",
  "site_id",
  "outcome",
  "ip_prefix",
  "user_agent",
  "request_id",
  "changes",
] as const satisfies readonly (keyof AuditRowResponse)[]

/** Formats rows as CSV with a header, or as one JSON object per line. */
export function auditFile(rows: readonly AuditRowResponse[], format: AuditFormat): string {
  if (format === "ndjson") return rows.map((row) => `${JSON.stringify(row)}\n`).join("")
  return csvText(COLUMNS, rows)
}
