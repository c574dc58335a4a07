import type { AuditEntry } from "#plugin"
import type { Link, Site } from "./link.ts"

/** Counters and what follows from the change itself are no change of anybody's. */
const UNTOLD = new Set([
  "id",
  "site_id",
  "version",
  "created_at",
  "updated_at",
  "clicks_human",
  "clicks_bot",
  "clicks_qr",
  "last_click_at",
  "counted_to",
  "password_version",
  "created_by",
])
const HIDDEN = "(redacted)"

/** What the audit says of a change: the fields that differ, and of a password only that it does. */
export function auditEntry(verb: string, site: Site, before: Link | undefined, after: Link | undefined): AuditEntry {
  const link = (after ?? before)! // one of the two is there
  const names = Object.keys(link).filter((name) => !UNTOLD.has(name)) as (keyof Link)[]
  const shown = (of: Link | undefined, name: keyof Link) => {
    const value = of?.[name] ?? null
    return name === "password_hash" && value !== null ? HIDDEN : value
  }
  const changed = names.filter((name) => !Bun.deepEquals(before?.[name] ?? null, after?.[name] ?? null))
  return {
    action: `links.link.${verb}`,
    target: { type: "link", id: link.id, label: link.title || link.slug },
    organizationId: site.organization_id,
    siteId: site.id,
    changes: Object.fromEntries(
      changed.map((name) => [name === "password_hash" ? "password" : name, [shown(before, name), shown(after, name)]]),
    ),
  }
}
