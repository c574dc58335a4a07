import type { Deed } from "../domain/audit.ts"
import type { ApiKey } from "../domain/key.ts"
import type { Organization } from "../domain/organization.ts"

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
