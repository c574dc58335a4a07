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
