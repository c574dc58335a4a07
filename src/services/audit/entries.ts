import type { AuditEntry } from "../../domain/audit.ts"
import type { ApiKey } from "../../domain/key.ts"
import type { Organization } from "../../domain/organization.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site } from "../../domain/site.ts"
import type { User } from "../../domain/user.ts"

/** Returns the audit entry of an action on an organization. */
export const organizationEntry =
  (verb: string) =>
  ({ id, name }: Pick<Organization, "id" | "name">): AuditEntry => ({
    action: `accounts.organization.${verb}`,
    target: { type: "organization", id, label: name },
    organizationId: id,
  })

export const keyEntry =
  (verb: string) =>
  ({ id, name, prefix, organization_id }: ApiKey): AuditEntry => ({
    action: `accounts.api_key.${verb}`,
    target: { type: "api_key", id, label: `${name} (${prefix})` },
    organizationId: organization_id,
  })

/** Returns the audit entry of an action on a user. */
export const userEntry =
  (action: string) =>
  ({ id, email }: Pick<User, "id" | "email">) => ({ action, target: { type: "user", id, label: email } })

/** Returns the audit entry of an action on a session. */
export const sessionEntry = (action: string, id: number) => ({ action, target: { type: "session", id, label: "" } })

/** Returns the audit entry of an action on a whole site. */
export const siteEntry =
  (action: string) =>
  ({ id, name, organization_id }: Site): AuditEntry => ({
    action,
    target: { type: "site", id, label: name },
    organizationId: organization_id,
    siteId: id,
  })

/** Returns the audit entry of an action on a definition of a site, such as a goal. */
export const definitionEntry =
  (action: string, type: string, { id: siteId, organization_id }: Site) =>
  ({ id, name }: { id: number; name: string }): AuditEntry => ({
    action,
    target: { type, id, label: name },
    organizationId: organization_id,
    siteId,
  })

/** Returns the audit entry of an action on a shield of a site, or of the whole instance if `site` is missing. */
export const shieldEntry =
  (verb: string, site: Site | undefined) =>
  ({ id, kind, value }: Shield): AuditEntry => ({
    action: `sites.shield.${verb}`,
    target: { type: "shield", id, label: `${kind} ${value}` },
    ...(site && { organizationId: site.organization_id, siteId: site.id }),
  })

export const backupEntry = (verb: string, { id, label }: { id: string; label?: string | null | undefined }): AuditEntry => ({
  action: `admin.backup.${verb}`,
  target: { type: "backup", id, label: label ?? id },
})
