import { CountRows, EmptyState, type WidgetPanelProps } from "#plugin/ui"

interface PixelOpens {
  rows: { pixel_id?: number; name: string; opens_total: number; opens_direct: number; opens_proxied: number }[]
}

/** Pixels on a dashboard: those with the most opens. */
export default function OpensPanel({ data, title }: WidgetPanelProps) {
  const { rows } = data as PixelOpens // the answer of this type of widget
  if (rows.length === 0) return <EmptyState>No opens in this period.</EmptyState>
  return (
    <CountRows
      title={title}
      counts={{ opens_total: "Opens", opens_direct: "Direct", opens_proxied: "Proxied" }}
      rows={rows.map(({ pixel_id, name, ...counts }, index) => ({
        // Names need not be unique.
        value: String(pixel_id ?? index),
        label: name || "(removed)",
        ...counts,
      }))}
    />
  )
}
