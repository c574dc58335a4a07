import { type Dimension, dimensionFacts, FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { valueText } from "../../report/data/figures.ts"
import { counted, duration, exact, NO_VALUE, percent, short } from "../../text/format.ts"
import { dimensionLabel } from "../../text/labels.ts"
import { visible } from "../../text/safe-text.tsx"

type Step = FunnelInsight["steps"][number]
interface Stage extends Step {
  /** The same step in the comparison period. */
  before: Step | undefined
}

const stagesOf = ({ steps, comparison }: FunnelInsight): Stage[] =>
  steps.map((step, index) => ({ ...step, before: comparison?.steps[index] }))

/** Draws the steps as bars relative to the first, each with the visitors who dropped off before it hatched behind it. A tick marks the share in the comparison period, so that periods with different traffic can be compared. */
export function FunnelBars({ funnel }: { funnel: FunnelInsight }) {
  const earlier = funnel.comparison?.entered
  return (
    <ol class="funnel-bars">
      {stagesOf(funnel).map((step, index) => (
        <li key={step.step}>
          <p class="row spread">
            <strong>
              {step.step}. {visible(step.name)}
            </strong>
            <span>
              <span title={exact(step.visitors)}>{short(step.visitors)}</span> <span class="quiet small">visitors</span>
            </span>
          </p>
          <div class="funnel-track">
            {index > 0 && <span class="funnel-lost" style={{ width: `${share(funnel.steps[index - 1]!.visitors, funnel.entered)}%` }} />}
            <span class="funnel-bar" style={{ width: `${share(step.visitors, funnel.entered)}%` }} />
            {step.before && earlier !== undefined && (
              <span class="funnel-tick" style={{ left: `${share(step.before.visitors, earlier)}%` }} />
            )}
          </div>
          <p class="small quiet row">{factsOf(step).join(" · ")}</p>
        </li>
      ))}
    </ol>
  )
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100)

function factsOf({ step, conversion_rate, step_conversion_rate, dropoff, median_seconds, before }: Stage): string[] {
  const was = before ? ` (was ${percent(before.conversion_rate)})` : ""
  if (step === 1) return ["entered", ...(before ? [`was ${counted(before.visitors, "visitor")}`] : [])]
  return [
    `${percent(conversion_rate)} of step 1${was}`,
    ...(step > 2 ? [`${percent(step_conversion_rate)} of step ${step - 1}`] : []),
    `${exact(dropoff)} dropped off`,
    ...(median_seconds === undefined ? [] : [`median ${duration(median_seconds)}`]),
  ]
}

const text = (id: string, label: string, cell: (stage: Stage) => string): Column<Stage> => ({ id, label, number: true, cell })

/** Shows the numbers of the bars as a table. */
export function FunnelTable({ funnel }: { funnel: FunnelInsight }) {
  const hasBefore = funnel.comparison !== undefined
  const columns: Column<Stage>[] = [
    { id: "step", label: "Step", cell: ({ step, name }) => `${step}. ${visible(name)}` },
    text("visitors", "Visitors", ({ visitors }) => exact(visitors)),
    text("first", "Of first step", ({ conversion_rate }) => percent(conversion_rate)),
    text("previous", "Of previous step", ({ step_conversion_rate }) => percent(step_conversion_rate)),
    text("left", "Dropped off", ({ dropoff }) => exact(dropoff)),
    text("median", "Median time", ({ median_seconds }) => (median_seconds === undefined ? NO_VALUE : duration(median_seconds))),
    ...(hasBefore
      ? [
          text("visitors-before", "Visitors, comparison", ({ before }) => exact(before?.visitors)),
          text("first-before", "Of first step, comparison", ({ before }) => percent(before?.conversion_rate)),
        ]
      : []),
  ]
  return <DataTable caption="Steps of the funnel" columns={columns} rows={stagesOf(funnel)} keyOf={({ step }) => step} />
}

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

/** Maximum number of values of a report. */
export const MAX_ROWS = QUERY.funnelRows.max

type Split = NonNullable<FunnelInsight["breakdown"]>
type Row = Split["rows"][number]

/** Empty state of a funnel that no visitor entered. */
export const NoVisitors = () => <EmptyState>No visitors reached step 1 in this period.</EmptyState>

interface FunnelSplitProps {
  split: Split
  dimension: Dimension
  /** Shows as many values as a report can have. */
  onMore(): void
}

/** Shows the funnel for each of the most frequent values. Without any, the card of the steps has said so. */
export function FunnelSplit({ split, dimension, onMore }: FunnelSplitProps) {
  if (split.rows.length === 0) return null
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
      {split.total_rows > split.rows.length &&
        (split.rows.length < MAX_ROWS ? (
          <button type="button" class="text-button" onClick={onMore}>
            Show {exact(Math.min(MAX_ROWS, split.total_rows) - split.rows.length)} more
          </button>
        ) : (
          <p class="small quiet">
            The {MAX_ROWS} most frequent of {exact(split.total_rows)} values are shown.
          </p>
        ))}
    </div>
  )
}
