import type { AuditRowResponse } from "../../../../domain/audit.ts"
import { csvText } from "../../../browser/files.ts"

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
