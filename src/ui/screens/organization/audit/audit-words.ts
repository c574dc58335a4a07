import type { AuditRowShown } from "../../../domain/audit.ts"

const VERBS: Readonly<Record<string, string>> = {
  create: "made",
  update: "changed",
  delete: "deleted",
  remove: "removed",
  revoke: "revoked",
  rotate: "rotated",
  resend: "sent again",
  accept: "accepted",
  transfer: "handed over",
  verify: "proved",
  leave: "left",
  end: "ended",
  begin: "begun",
  download: "downloaded",
  export: "exported",
  use: "used",
}
const THINGS: Readonly<Record<string, string>> = {
  api_key: "API key",
  mail_domain: "mail domain",
  provider: "identity provider",
  site_member: "role on a site",
}

/** `accounts.api_key.create` as "API key made"; what is not known from the parts of its name. */
export function actionWords(action: string): string {
  const [, thing = action, verb = ""] = action.split(".")
  const what = THINGS[thing] ?? thing.replaceAll(/[_-]/g, " ")
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} ${VERBS[verb] ?? verb.replaceAll(/[_-]/g, " ")}`.trim()
}

export interface FieldChange {
  field: string
  /** Undefined where there was nothing: the thing was made then. */
  before: string | undefined
  after: string
}

/** What changed, field by field, as text; of fields with parts only the parts that differ. */
export function changesOf({ changes }: Pick<AuditRowShown, "changes">): readonly FieldChange[] {
  const pairs = Object.entries((changes ?? {}) as Record<string, unknown>)
  return pairs.flatMap(([field, pair]) => {
    const [before, after] = Array.isArray(pair) ? pair : [null, pair]
    return differing(field, before, after)
  })
}

const isParted = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value)
const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)

function differing(field: string, before: unknown, after: unknown): FieldChange[] {
  if (isParted(before) || isParted(after)) {
    const [old, now] = [isParted(before) ? before : {}, isParted(after) ? after : {}]
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
