import { CountRows, EmptyState, type WidgetPanelProps } from "#plugin/ui"

interface TopLinks {
  rows: { slug: string; title: string; human: number; unique: number }[]
}

/** Short links on a dashboard: the links with the most clicks. */
export default function TopLinksPanel({ data, title }: WidgetPanelProps) {
  const { rows } = data as TopLinks // the answer of this type of widget
  if (rows.length === 0) return <EmptyState>No clicks in this period.</EmptyState>
  return (
    <CountRows
      title={title}
      counts={{ human: "Clicks", unique: "People" }}
      rows={rows.map(({ slug, title: name, ...counts }) => ({
        value: slug || "(removed)",
        label: name === "" ? slug || "(removed)" : `${slug} · ${name}`,
        ...counts,
      }))}
    />
  )
}
