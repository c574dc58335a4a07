import type { AuditEntry, Site } from "#plugin"
import type { Link } from "./link.ts"
import type { Domain, Template } from "./rows.ts"

/** Fields of a link whose changes are not audited: those that the server sets, and counters. */
const NOT_AUDITED = new Set([
  ...["id", "site_id", "version", "created_at", "updated_at", "created_by", "password_version"],
  ...["clicks_human", "clicks_bot", "clicks_qr", "last_click_at"],
])

interface Change<Thing> {
  verb: string
  site: Site
  before?: Thing | undefined
  after?: Thing | undefined
}

/** Returns the audit entry of a change to a link. Of the password it only says that it changed. */
export function linkEntry({ verb, site, before, after }: Change<Link>): AuditEntry {
  const link = (after ?? before)! // one of the two is there
  const names = Object.keys(link).filter((name) => !NOT_AUDITED.has(name)) as (keyof Link)[] // its own keys
  const { password_hash: password, ...changes } = changedFields(names, before, after)
  const redacted = (value: unknown) => (value === null ? null : "(redacted)")
  return {
    action: `links.link.${verb}`,
    target: { type: "link", id: link.id, label: link.title || link.slug },
    organizationId: site.organization_id,
    siteId: site.id,
    changes: { ...changes, ...(password && { password: [redacted(password[0]), redacted(password[1])] as const }) },
  }
}

export function domainEntry({ verb, site, before, after }: Change<Domain>): AuditEntry {
  const { id, host } = (after ?? before)! // one of the two is there
  return {
    action: `links.link-domain.${verb}`,
    target: { type: "link-domain", id, label: host },
    organizationId: site.organization_id,
    siteId: site.id,
    changes: changedFields(["host", "verified_at", "root_destination", "not_found_destination"], before, after),
  }
}

export function templateEntry({ verb, site, before, after }: Change<Template>): AuditEntry {
  const { id, name } = (after ?? before)! // one of the two is there
  return {
    action: `links.utm-template.${verb}`,
    target: { type: "utm-template", id, label: name },
    organizationId: site.organization_id,
    siteId: site.id,
    changes: changedFields(["name", "fields", "required"], before, after),
  }
}

/** Returns the fields that differ, with their values before and after. */
function changedFields<Thing>(names: readonly (keyof Thing & string)[], before: Thing | undefined, after: Thing | undefined) {
  const value = (of: Thing | undefined, name: keyof Thing): unknown => of?.[name] ?? null
  const changed = names.filter((name) => !Bun.deepEquals(value(before, name), value(after, name)))
  return Object.fromEntries(changed.map((name) => [name, [value(before, name), value(after, name)] as const]))
}
