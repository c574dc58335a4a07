import { type Column, DataTable, Dialog, EmptyState, NOTHING, timeText, visible } from "#plugin/ui"
import { Facts } from "./parts.tsx"

export interface AuditRow {
  id: number
  at: string
  actor_kind: string
  actor_id: number | null
  actor_email: string
  impersonator_id: number | null
  impersonator_email: string | null
  action: string
  target_type: string
  target_id: string
  target_label: string
  organization_id: number | null
  site_id: number | null
  outcome: string
  ip_prefix: string
  user_agent: string
  request_id: string
  /** By field: before and after. */
  changes: Record<string, readonly [before: unknown, after: unknown]>
}

/** One deed: field by field what was and what is, and where it came from. */
export const AuditDetails = ({ row, onClose }: { row: AuditRow; onClose(): void }) => {
  const changes = Object.entries(row.changes).map(([field, [before, after]]) => ({ field, before, after }))
  return (
    <Dialog title={row.action} onClose={onClose} wide>
      <div class="stack">
        {changes.length === 0 ? (
          <EmptyState>No field was changed.</EmptyState>
        ) : (
          <DataTable caption="Changes" columns={COLUMNS} rows={changes} keyOf={({ field }) => field} />
        )}
        <Facts
          of={[
            ["When", timeText(row.at)],
            ["Who", visible(`${row.actor_email || row.actor_kind}${row.actor_id === null ? "" : ` (${row.actor_id})`}`)],
            ...(row.impersonator_email === null
              ? []
              : [["Looked as, by", visible(`${row.impersonator_email} (${row.impersonator_id})`)] as const]),
            ["Target", visible([row.target_type, row.target_id, row.target_label].filter(Boolean).join(" "))],
            ["Organization", row.organization_id === null ? "none" : String(row.organization_id)],
            ["Site", row.site_id === null ? "none" : String(row.site_id)],
            ["Network", visible(row.ip_prefix) || "none"],
            ["Browser", visible(row.user_agent) || "none"],
            ["Request", visible(row.request_id) || "none"],
          ]}
        />
      </div>
    </Dialog>
  )
}

const COLUMNS: Column<{ field: string; before: unknown; after: unknown }>[] = [
  { id: "field", label: "Field", cell: ({ field }) => <code>{visible(field)}</code> },
  { id: "before", label: "Before", cell: ({ before }) => <code>{valueText(before)}</code> },
  { id: "after", label: "After", cell: ({ after }) => <code>{valueText(after)}</code> },
]

const valueText = (value: unknown): string =>
  value === null || value === undefined ? NOTHING : visible(typeof value === "string" ? value : JSON.stringify(value))
