import { type Dimension, dimensionFacts, FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { valueText } from "../../report/data/value-text.ts"
import { exact, percent } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { dimensionLabel } from "../../text/words.ts"

/** Dimensions of which a visit has exactly one value. */
const SPLITS: readonly Dimension[] = FLAT_DIMENSIONS.filter((name) => dimensionFacts(name).level === "visit")

export const splitOf = (text: string | undefined): Dimension | undefined => SPLITS.find((name) => name === text)

interface SplitFieldProps {
  dimension: Dimension | undefined
  onDimension(dimension: Dimension | undefined): void
}

export const SplitField = ({ dimension, onDimension }: SplitFieldProps) => (
  <SelectField
    label="Break down by"
    value={dimension ?? ""}
    options={[{ value: "", label: "None" }, ...SPLITS.map((name) => ({ value: name, label: dimensionLabel(name) }))]}
    onValue={(name) => onDimension(splitOf(name))}
  />
)

type Split = NonNullable<FunnelInsight["breakdown"]>
type Row = Split["rows"][number]

/** Shows the funnel for each of the most frequent values. */
export function FunnelSplit({ split, dimension }: { split: Split; dimension: Dimension }) {
  if (split.rows.length === 0) return <EmptyState>No visitors reached step 1 in this period.</EmptyState>
  const steps = split.rows[0]?.steps ?? []
  const columns: Column<Row>[] = [
    { id: "value", label: dimensionLabel(dimension), cell: ({ value, label }) => visible(valueText(dimension, value, label)) },
    { id: "entered", label: "Entered", number: true, cell: ({ entered }) => exact(entered) },
    ...steps.slice(1).map(
      ({ step, name }, index): Column<Row> => ({
        id: `step-${step}`,
        label: `${step}. ${visible(name)}`,
        number: true,
        cell: (row) => `${exact(row.steps[index + 1]?.visitors)} (${percent(row.steps[index + 1]?.conversion_rate)})`,
      }),
    ),
    { id: "rate", label: "Completed", number: true, cell: ({ conversion_rate }) => percent(conversion_rate) },
  ]
  return (
    <div class="stack">
      <DataTable
        caption={`Funnel by ${dimensionLabel(dimension).toLowerCase()}`}
        columns={columns}
        rows={split.rows}
        keyOf={({ value }) => value}
      />
      {split.total_rows > split.rows.length && (
        <p class="small quiet">{exact(split.total_rows - split.rows.length)} more values aren't shown.</p>
      )}
    </div>
  )
}
