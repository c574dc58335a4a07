import type { AuditEntry, Site } from "#plugin"
import type { ImportRow } from "./rows.ts"

/** Returns the audit entry for an import. Files appear by name only. */
export const auditEntry = (
  verb: "create" | "extend" | "cancel" | "complete" | "retry" | "undo" | "undone" | "update",
  site: Site,
  { id, label }: Pick<ImportRow, "id" | "label">,
  changes: NonNullable<AuditEntry["changes"]>,
): AuditEntry => ({
  action: `imports.import.${verb}`,
  target: { type: "import", id, label },
  organizationId: site.organization_id,
  siteId: site.id,
  changes,
})
