import { useQuery } from "@tanstack/react-query"
import type { DropReport, DropSamples } from "../../../domain/drop-report.ts"
import { get } from "../../api/api.ts"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { DROP_REASON_LABELS } from "../../report/drop-reasons.ts"
import { useDrops } from "../../report/trust.tsx"
import { dayText, exact, timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { sitePath } from "./settings.ts"

type Row = DropReport["rows"][number]

const reasonText = (reason: string): string => DROP_REASON_LABELS[reason] ?? reason

/** Shows the events dropped in the last seven days by reason and day, and the latest of them individually. */
export function Drops({ siteId }: { siteId: number }) {
  const drops = useDrops(siteId, "period=7d")
  const samples = useQuery({
    queryKey: ["drops", siteId, "sample"],
    queryFn: ({ signal }) => get<DropSamples>(`${sitePath(siteId)}/drops/sample`, signal),
  })
  return (
    <>
      <section class="card stack" aria-labelledby="dropped">
        <h2 id="dropped">Dropped in the last 7 days</h2>
        <QueryResult of={drops} rows={4}>
          {({ days, rows }) => {
            const found = rows.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total)
            if (found.length === 0) return <EmptyState>No events were dropped in the last 7 days.</EmptyState>
            return (
              <DataTable caption="Dropped events by reason and day" rows={found} keyOf={({ reason }) => reason} columns={columnsOf(days)} />
            )
          }}
        </QueryResult>
      </section>
      {!drops.isLoading && samples.data?.data.length !== 0 && (
        <section class="card stack" aria-labelledby="last-dropped">
          <h2 id="last-dropped">Latest dropped events</h2>
          <p class="quiet">Shown without IP addresses or anything that identifies a visitor.</p>
          <QueryResult of={samples} rows={4}>
            {({ data }) => <Samples rows={data} />}
          </QueryResult>
        </section>
      )}
    </>
  )
}

const columnsOf = (days: readonly string[]): Column<Row>[] => [
  {
    id: "reason",
    label: "Reason",
    cell: ({ reason, entries }) => (
      <>
        <div>{reasonText(reason)}</div>
        {entries.length > 0 && (
          <div class="small quiet">
            {entries
              .slice(0, 3)
              .map(({ entry, count }) => `${visible(entry)} (${exact(count)})`)
              .join(", ")}
          </div>
        )}
      </>
    ),
  },
  { id: "total", label: "Total", number: true, cell: ({ total }) => exact(total) },
  ...days.map((day, index) => ({
    id: day,
    label: dayText(day, { weekday: "short", year: undefined }),
    number: true,
    cell: ({ counts }: Row) => exact(counts[index]),
  })),
]

const Samples = ({ rows }: { rows: readonly DropSamples["data"][number][] }) => (
  <DataTable
    caption="Dropped events, newest first"
    rows={rows.map((sample, index) => ({ ...sample, index }))}
    keyOf={({ index }) => index}
    columns={[
      { id: "at", label: "Time", cell: ({ at }) => timeText(at) },
      { id: "reason", label: "Reason", cell: ({ reason }) => reasonText(reason) },
      { id: "page", label: "Page", cell: ({ hostname, page }) => visible(hostname + page) },
      { id: "browser", label: "Browser", cell: ({ browser }) => visible(browser) || "–" },
      { id: "country", label: "Country", cell: ({ country }) => visible(country) || "–" },
    ]}
  />
)
