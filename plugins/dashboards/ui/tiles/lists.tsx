/** Panels of lists: values of a dimension, the map, goals and notes. */
import { Suspense } from "preact/compat"
import {
  type Breakdown,
  type Dimension,
  dayText,
  dimensionLabel,
  EmptyState,
  filtersAfter,
  type GoalReport,
  isRowChosen,
  metricText,
  pageAddress,
  RankedList,
  type RankedRow,
  Skeleton,
  useSiteAddress,
  useStatsSource,
  valueText,
  visible,
  WorldMap,
} from "#plugin/ui"
import type { PanelProps } from "./panel.ts"

const NO_ROWS = "No data was recorded in this period."

const metricsIn = ({ metrics, metric }: PanelProps["config"]): string[] =>
  Array.isArray(metrics) ? metrics.map(String) : [typeof metric === "string" ? metric : "visitors"]

/** Returns the rows with readable names, and the address of the dashboard filtered by one of them. */
function useRows({ dimension, property, rows }: Breakdown) {
  const { base, address, searchWith } = useSiteAddress()
  const { filters } = useStatsSource()
  const tab = { id: dimension, label: "", dimension: dimension as Dimension, ...(property !== undefined && { property }) }
  return {
    tab,
    named: rows.map((row) => ({ ...row, label: valueText(dimension, row.value, row.label) }) as RankedRow),
    isChosen: (value: string) => isRowChosen(address.filters, tab, value),
    addressOf: filters ? (value: string) => `${base}${searchWith({ filters: filtersAfter(address.filters, tab, value) })}` : undefined,
  }
}

/** The top values of a dimension. A click on one filters the dashboard by it. */
export function BreakdownPanel({ data, config }: PanelProps) {
  const report = data as Breakdown // the answer of this type of widget
  const { tab, named, isChosen, addressOf } = useRows(report)
  if (named.length === 0) return <EmptyState>{NO_ROWS}</EmptyState>
  return (
    <div data-bars={config.bars === false ? "none" : undefined}>
      <RankedList
        title={dimensionLabel(tab.dimension, report.property)}
        rows={named}
        metrics={metricsIn(config)}
        currency={report.revenue_currency}
        isChosen={isChosen}
        addressOf={addressOf}
        pageOf={(value) => pageAddress(tab, value, undefined)}
      />
    </div>
  )
}

/** A metric by country on a map. Regions have no outlines, so they are a list. */
export function MapPanel(props: PanelProps) {
  const report = props.data as Breakdown // the answer of this type of widget
  const { named, addressOf } = useRows(report)
  if (named.length === 0) return <EmptyState>{NO_ROWS}</EmptyState>
  if (report.dimension !== "country") return <BreakdownPanel {...props} config={{ metrics: metricsIn(props.config) }} />
  const metric = metricsIn(props.config)[0]!
  return (
    <Suspense fallback={<Skeleton rows={6} />}>
      <WorldMap rows={named} metric={metric} twin={listText(named, metric)} addressOf={addressOf} />
    </Suspense>
  )
}

/** The figures of the map as a sentence, for those who can't see it. */
const listText = (rows: readonly RankedRow[], metric: string): string =>
  `${rows
    .slice(0, 20)
    .map((row) => `${visible(row.label ?? row.value)} ${metricText(metric, Number(row[metric] ?? 0), undefined, true)}`)
    .join(", ")}.`

/** Goals with their conversions. */
export function GoalsPanel({ data }: PanelProps) {
  const { goals, revenue_currency: currency } = data as GoalReport // the answer of this type of widget
  if (goals.length === 0) return <EmptyState>No goals yet. Goals count the visits that matter, such as sign-ups.</EmptyState>
  const hasRevenue = goals.some(({ revenue }) => revenue !== undefined)
  return (
    <RankedList
      title="Goal"
      rows={goals.map(({ goal_id, name, conversions, visitors, conversion_rate, revenue }, index) => ({
        value: String(goal_id ?? index),
        label: name,
        conversions,
        visitors,
        conversion_rate,
        ...(revenue !== undefined && { revenue }),
      }))}
      metrics={["conversions", "visitors", "conversion_rate", ...(hasRevenue ? ["revenue"] : [])]}
      currency={currency}
      isChosen={() => false}
      addressOf={undefined}
    />
  )
}

interface Notes {
  data: { id: number; day: string; text: string }[]
}

/** The latest notes. */
export function AnnotationsPanel({ data }: PanelProps) {
  const { data: notes } = data as Notes // the answer of this type of widget
  if (notes.length === 0) return <EmptyState>No notes in this period.</EmptyState>
  return (
    <ul class="note-list">
      {notes.map(({ id, day, text }, index) => (
        <li key={id ?? index}>
          <time class="small quiet" dateTime={day}>
            {dayText(day)}
          </time>
          <p>{visible(text)}</p>
        </li>
      ))}
    </ul>
  )
}
