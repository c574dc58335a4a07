import { useState } from "preact/hooks"
import { Card, CardAnswer, CountRows, dimensionLabel, EmptyState, useRangeQuery, valueText, visible } from "#plugin/ui"
import type { Via } from "../via.ts"
import { type PixelAnswer, type PixelBreakdown, useSiteQuery } from "./answers.ts"

const ROUTE_WORDS: Readonly<Record<Via, string>> = {
  direct: "Direct",
  github_camo: "GitHub, proxied",
  gmail_proxy: "Gmail, proxied",
  yahoo_proxy: "Yahoo Mail, proxied",
  apple_mpp: "Apple Mail, prefetched",
  outlook_scan: "Email security gateway, prefetched",
  bot: "Bots (not in opens)",
}
const PLACES = ["country", "region", "city", "language"] as const
const DEVICES = ["device", "browser", "os"] as const
const ROWS = 9

/** Opens by route and by parameter; direct opens also by location and device. */
export function OpenBreakdowns({ siteId, pixel }: { siteId: number; pixel: PixelAnswer }) {
  return (
    <>
      <DimensionCard title="How it was opened" dimensions={["via"]} siteId={siteId} pixel={pixel} />
      {pixel.allowed_params.length > 0 && (
        <DimensionCard title="Parameters" dimensions={pixel.allowed_params.map((name) => `param:${name}`)} siteId={siteId} pixel={pixel} />
      )}
      <DimensionCard title="Locations" dimensions={PLACES} siteId={siteId} pixel={pixel} />
      <DimensionCard title="Devices" dimensions={DEVICES} siteId={siteId} pixel={pixel} />
    </>
  )
}

interface DimensionCardProps {
  title: string
  dimensions: readonly string[]
  siteId: number
  pixel: PixelAnswer
}

function DimensionCard({ title, dimensions, siteId, pixel }: DimensionCardProps) {
  const [wanted, setWanted] = useState(dimensions[0]!)
  const dimension = dimensions.includes(wanted) ? wanted : dimensions[0]!
  const { plain } = useRangeQuery()
  const query = new URLSearchParams({ dimension, limit: String(ROWS) })
  const rows = useSiteQuery<PixelBreakdown>(siteId, `pixels/${pixel.id}/breakdown?${query}&${plain}`)
  const tabs = dimensions.length > 1 && {
    tabs: dimensions.map((id) => ({ id, label: headOf(id) })),
    chosen: dimension,
    onChoose: setWanted,
  }
  return (
    <Card title={title} {...tabs}>
      <CardAnswer of={rows}>{(data) => <Table of={data} />}</CardAnswer>
    </Card>
  )
}

function Table({ of: { dimension, rows, meta } }: { of: PixelBreakdown }) {
  return (
    <>
      {rows.length === 0 ? (
        <EmptyState>No opens in this period.</EmptyState>
      ) : (
        <CountRows
          title={headOf(dimension)}
          counts={{ opens: "Opens" }}
          rows={rows.map((row) => ({ ...row, label: labelOf(dimension, row.value, row.label) }))}
        />
      )}
      {meta.notes.map((note) => (
        <p class="small quiet" key={note}>
          {visible(note)}
        </p>
      ))}
    </>
  )
}

const headOf = (dimension: string): string =>
  dimension === "via"
    ? "How it was opened"
    : dimension.startsWith("param:")
      ? visible(dimension.slice("param:".length))
      : dimensionLabel(dimension as Parameters<typeof dimensionLabel>[0])

const labelOf = (dimension: string, value: string, label?: string): string =>
  dimension === "via" ? (ROUTE_WORDS[value as Via] ?? value) : valueText(dimension, value, label)
