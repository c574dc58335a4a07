import type { Deed } from "../../domain/audit.ts"
import type { Site } from "../../domain/site.ts"

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
