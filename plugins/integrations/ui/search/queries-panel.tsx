import { CountRows, EmptyState, type WidgetPanelProps } from "#plugin/ui"

interface SearchQueries {
  rows: { key: string; clicks: number; impressions: number; position: number | null }[]
}

/** Search queries on a dashboard: what people searched for before they saw or opened the site. */
export default function SearchQueriesPanel({ data, title }: WidgetPanelProps) {
  const { rows } = data as SearchQueries // the answer of this type of widget
  if (rows.length === 0) return <EmptyState>No search results in this period.</EmptyState>
  return (
    <CountRows
      title={title}
      counts={{ clicks: "Clicks", impressions: "Impressions" }}
      rows={rows.map(({ key, clicks, impressions }) => ({ value: key || "(unknown)", label: key || "(unknown)", clicks, impressions }))}
    />
  )
}
