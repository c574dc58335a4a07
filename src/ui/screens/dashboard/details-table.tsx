import { Link } from "wouter"
import type { ComparedBreakdown } from "../../../domain/insight.ts"
import type { FlatMetric } from "../../../domain/metric.ts"
import { useSiteAddress } from "../../address.ts"
import { metricLabel, metricText, percent } from "../../format.ts"
import { CutText } from "../../parts/cut-text.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { isNoValue, valueText } from "../../stats/value-text.ts"
import type { CardTab } from "./card-tabs.ts"
import { filtersAfter } from "./row-filters.ts"
import RowNote from "./row-note.tsx"
import { rowValue } from "./strip-metrics.ts"

interface DetailsTableProps {
  tab: CardTab
  title: string
  data: ComparedBreakdown
  metrics: readonly FlatMetric[]
  sort: string
  onSort(sort: string): void
  hasShare: boolean
}

/** A page of rows; a click on one filters the dashboard behind by it. */
export function DetailsTable({ tab, title, data, metrics, sort, onSort, hasShare }: DetailsTableProps) {
  const { base, address, searchWith } = useSiteAddress()
  if (data.rows.length === 0) return <EmptyState>Nothing matches in this period.</EmptyState>
  type Row = ComparedBreakdown["rows"][number]
  const columns: Column<Row>[] = [
    {
      id: "value",
      label: title,
      cell: ({ value, label }) => {
        const text = valueText(tab.dimension, value, label)
        const link = (
          <Link class="plain-link" href={`${base}${searchWith({ filters: filtersAfter(address.filters, tab, value) })}`}>
            <CutText text={text} />
          </Link>
        )
        if (!isNoValue(value)) return link
        return (
          <span class="row">
            {link}
            <RowNote value={value} label={text} />
          </span>
        )
      },
    },
    ...metrics.map((metric) => ({
      id: metric,
      label: metricLabel(metric),
      number: true,
      sort: metric,
      cell: (row: Row) => metricText(metric, rowValue(row, metric), data.revenue_currency, true),
    })),
    ...(hasShare ? [{ id: "share", label: "Share", number: true, cell: ({ share }: Row) => percent(share) }] : []),
  ]
  return <DataTable caption={title} columns={columns} rows={data.rows} keyOf={({ value }) => value} sort={sort} onSort={onSort} />
}
