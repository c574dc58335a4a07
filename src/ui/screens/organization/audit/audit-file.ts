import type { AuditRowShown } from "../../../domain/audit.ts"
import { csvText } from "../../csv.ts"

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
] as const satisfies readonly (keyof AuditRowShown)[]

/** The rows as a file: CSV with a head, or one JSON object a line. */
export function auditFile(rows: readonly AuditRowShown[], format: AuditFormat): string {
  if (format === "ndjson") return rows.map((row) => `${JSON.stringify(row)}\n`).join("")
  return csvText(COLUMNS, rows)
}
