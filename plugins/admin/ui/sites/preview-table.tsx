import { bytesText, type Column, DataTable, dayText, EmptyState, exact } from "#plugin/ui"
import type { Preview } from "../answers.ts"
import { siteText, useSiteNames } from "./site-field.tsx"

type Row = Preview["by"][number]

/** What a deletion of old data would remove, by site and kind, and the number of rows per plugin. */
export function PreviewTable({ preview }: { preview: Preview }) {
  const names = useSiteNames()
  const rows = preview.by.filter(({ events, rows }) => events > 0 || rows > 0)
  const plugins = preview.plugins.filter((area) => area.rows > 0)
  if (rows.length === 0 && plugins.length === 0) return <EmptyState>No data is older than that.</EmptyState>
  return (
    <div class="stack">
      <DataTable caption="Data to be deleted" columns={columnsOf(names)} rows={rows} keyOf={({ site_id, kind }) => `${site_id} ${kind}`} />
      <p class="quiet">
        About {bytesText(preview.bytes)} in total.
        {plugins.map(({ id, rows: count }) => ` ${id}: ${exact(count)} rows.`)}
      </p>
    </div>
  )
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<Row>[] => [
  { id: "site", label: "Site", cell: ({ site_id }) => siteText(names, site_id) },
  { id: "kind", label: "Kind", cell: ({ kind }) => kind },
  { id: "cutoff", label: "Before", cell: ({ cutoff }) => dayText(cutoff) },
  { id: "days", label: "Days", number: true, cell: ({ days }) => exact(days) },
  { id: "rows", label: "Visits", number: true, cell: ({ rows }) => exact(rows) },
  { id: "events", label: "Events", number: true, cell: ({ events }) => exact(events) },
]
