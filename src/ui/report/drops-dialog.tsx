import { rangeArguments } from "../../domain/site-address.ts"
import { useSiteAddress } from "../browser/address.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { EmptyState, QueryResult } from "../parts/states.tsx"
import { dayText, exact } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"
import { asQuery } from "./data/reports.ts"
import { DROP_REASON_LABELS } from "./drop-reasons.ts"
import { useDrops } from "./trust.tsx"

/** Dialog with the dropped events of the period by reason and day. */
export default function DropsDialog({ onClose }: { onClose(): void }) {
  const { siteId, address } = useSiteAddress()
  const { filters: _, imports: __, ...range } = rangeArguments(address)
  const drops = useDrops(siteId, asQuery(range))
  return (
    <Dialog title="Dropped events" onClose={onClose} wide>
      <p class="quiet">These events were refused by a rule and are not counted in any report. The counts are kept for 90 days.</p>
      <QueryResult of={drops} rows={6}>
        {({ days, rows }) => {
          const found = rows.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total)
          if (found.length === 0) return <EmptyState>No events were dropped in this period.</EmptyState>
          const byDay = days
            .map((day, index) => ({ day, count: found.reduce((total, { counts }) => total + (counts[index] ?? 0), 0) }))
            .filter(({ count }) => count > 0)
          return (
            <div class="stack">
              <DataTable
                caption="By reason"
                rows={found}
                keyOf={({ reason }) => reason}
                columns={[
                  { id: "reason", label: "Reason", cell: ({ reason }) => DROP_REASON_LABELS[reason] ?? reason },
                  {
                    id: "entries",
                    label: "Most often",
                    cell: ({ entries }) =>
                      entries
                        .slice(0, 3)
                        .map(({ entry, count }) => `${visible(entry)} (${exact(count)})`)
                        .join(", "),
                  },
                  { id: "total", label: "Events", number: true, cell: ({ total }) => exact(total) },
                ]}
              />
              <DataTable
                caption="By day"
                rows={byDay}
                keyOf={({ day }) => day}
                columns={[
                  { id: "day", label: "Day", cell: ({ day }) => dayText(day) },
                  { id: "count", label: "Events", number: true, cell: ({ count }) => exact(count) },
                ]}
              />
            </div>
          )
        }}
      </QueryResult>
    </Dialog>
  )
}
