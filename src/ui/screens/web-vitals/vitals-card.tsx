import { useState } from "preact/hooks"
import { Link } from "wouter"
import { rangeArguments } from "../../../domain/site-address.ts"
import type { WebVitalsBreakdown } from "../../../domain/web-vitals.ts"
import { isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { SortField } from "../../parts/narrow-table.tsx"
import { Card } from "../../parts/page.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { valueText } from "../../report/data/figures.ts"
import { useReport } from "../../report/data/reports.ts"
import { WEB_VITAL_NAMES, WEB_VITALS } from "../../report/data/web-vitals.ts"
import { exact, NO_VALUE, short } from "../../text/format.ts"
import { dimensionLabel } from "../../text/labels.ts"
import { TruncatedText } from "../../text/safe-text.tsx"
import { Rated } from "./rating.tsx"

type Row = WebVitalsBreakdown["rows"][number]
type Dimension = "page" | "device" | "country"

const FEW = 10
const MANY = 100
/** Number of rows that a phone shows at once. Fewer need no order. */
const SCREENFUL = 5

interface VitalsCardProps {
  title: string
  dimension: Dimension
}

/** Table of web vitals by the values of a dimension. A click on a value filters the page by it. */
export function VitalsCard({ title, dimension }: VitalsCardProps) {
  const { address } = useSiteAddress()
  const [sort, setSort] = useState("-measured_loads")
  const [limit, setLimit] = useState(FEW)
  const by = { sort: sort.replace("-", ""), order: sort.startsWith("-") ? "desc" : "asc" }
  const report = useReport("web-vitals-breakdown", { ...rangeArguments(address), dimension, ...by, limit })
  return (
    <Card title={title} full>
      <CardResult of={report}>
        {(data) => {
          const { rows, has_more: hasMore } = data as WebVitalsBreakdown
          if (rows.length === 0) return <EmptyCard />
          const order = { columns: columns(dimension), sort, onSort: setSort }
          return (
            <div class="vitals-table">
              {rows.length > SCREENFUL && <SortField {...order} />}
              <DataTable stacks caption={`Web vitals by ${dimension}`} rows={rows} keyOf={({ value }) => value} {...order} />
              {hasMore && limit < MANY && (
                <div class="pager">
                  <Button onClick={() => setLimit(MANY)}>Show {MANY} rows</Button>
                </div>
              )}
            </div>
          )
        }}
      </CardResult>
    </Card>
  )
}

const columns = (dimension: Dimension): Column<Row>[] => [
  { id: "value", label: dimensionLabel(dimension), cell: (row) => <ValueLink row={row} dimension={dimension} /> },
  ...WEB_VITAL_NAMES.map(
    (name): Column<Row> => ({
      id: name,
      label: WEB_VITALS[name].short,
      number: true,
      sort: name,
      cell: (row) => {
        const value = row[name]
        return value === undefined ? NO_VALUE : <Rated name={name} value={value} />
      },
    }),
  ),
  {
    id: "loads",
    label: "Loads",
    number: true,
    sort: "measured_loads",
    cell: ({ measured_loads: loads }) => <span title={exact(loads)}>{short(loads)}</span>,
  },
]

function ValueLink({ row: { value, label }, dimension }: { row: Row; dimension: Dimension }) {
  const { base, address, searchWith } = useSiteAddress()
  return (
    <Link
      class="plain-link"
      href={`${base}/web-vitals${searchWith({ filters: toggledFilter(address.filters, { dimension }, value) })}`}
      aria-current={isFilteredBy(address.filters, dimension, value) ? "true" : undefined}
    >
      <TruncatedText text={valueText(dimension, value, label)} />
    </Link>
  )
}
