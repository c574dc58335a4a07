import type { Deed } from "../domain/audit.ts"
import type { ApiKey } from "../domain/key.ts"
import type { Organization } from "../domain/organization.ts"
import type { Shield } from "../domain/shield.ts"
import type { Site } from "../domain/site.ts"

/** What the audit log says of changes that the private API and the command line both make. */
export const organizationDeed =
  (verb: string) =>
  ({ id, name }: Pick<Organization, "id" | "name">): Deed => ({
    action: `accounts.organization.${verb}`,
    target: { type: "organization", id, label: name },
    organizationId: id,
  })

export const keyDeed =
  (verb: string) =>
  ({ id, name, prefix, organization_id }: ApiKey): Deed => ({
    action: `accounts.api_key.${verb}`,
    target: { type: "api_key", id, label: `${name} (${prefix})` },
    organizationId: organization_id,
  })

/** Something done to a site as a whole. */
export const deedOnSite =
  (action: string) =>
  ({ id, name, organization_id }: Site): Deed => ({
    action,
    target: { type: "site", id, label: name },
    organizationId: organization_id,
    siteId: id,
  })

/** Something done to a thing of a site. */
export const deedOnThing =
  (action: string, type: string, { id: siteId, organization_id }: Site) =>
  ({ id, name }: { id: number; name: string }): Deed => ({
    action,
    target: { type, id, label: name },
    organizationId: organization_id,
    siteId,
  })

/** Something done to a shield of a site, or to one that holds for all of them. */
export const shieldDeed =
  (verb: string, site: Site | undefined) =>
  ({ id, kind, value }: Shield): Deed => ({
    action: `sites.shield.${verb}`,
    target: { type: "shield", id, label: `${kind} ${value}` },
    ...(site && { organizationId: site.organization_id, siteId: site.id }),
  })

export const backupDeed = (verb: string, { id, label }: { id: string; label?: string | null | undefined }): Deed => ({
  action: `admin.backup.${verb}`,
  target: { type: "backup", id, label: label ?? id },
})
