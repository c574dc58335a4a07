import type { FunnelInsight } from "../../../domain/insight.ts"
import { counted } from "../../counted.ts"
import { duration, exact, NOTHING, percent, short } from "../../format.ts"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { visible } from "../../safe-text.ts"

type Step = FunnelInsight["steps"][number]
interface Stage extends Step {
  /** The same step in the earlier range. */
  before: Step | undefined
}

const stagesOf = ({ steps, comparison }: FunnelInsight): Stage[] =>
  steps.map((step, index) => ({ ...step, before: comparison?.steps[index] }))

/** Steps as bars, the first one full; the tick is the earlier period's share, so that unlike crowds can be compared. */
export function FunnelBars({ funnel }: { funnel: FunnelInsight }) {
  const earlier = funnel.comparison?.entered
  return (
    <ol class="funnel-bars">
      {stagesOf(funnel).map((step) => (
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
  const earlier = before ? [`before ${percent(before.conversion_rate)}`] : []
  if (step === 1) return ["entered", ...(before ? [`before ${counted(before.visitors, "visitor")}`] : [])]
  return [
    `${percent(conversion_rate)} of the first step`,
    ...earlier,
    `${percent(step_conversion_rate)} of the one before`,
    `${exact(dropoff)} left`,
    ...(median_seconds === undefined ? [] : [`${duration(median_seconds)} median`]),
  ]
}

const text = (id: string, label: string, cell: (stage: Stage) => string): Column<Stage> => ({ id, label, number: true, cell })

/** The same numbers. */
export function FunnelTable({ funnel }: { funnel: FunnelInsight }) {
  const hasBefore = funnel.comparison !== undefined
  const columns: Column<Stage>[] = [
    { id: "step", label: "Step", cell: ({ step, name }) => `${step}. ${visible(name)}` },
    text("visitors", "Visitors", ({ visitors }) => exact(visitors)),
    text("first", "Of the first", ({ conversion_rate }) => percent(conversion_rate)),
    text("previous", "Of the one before", ({ step_conversion_rate }) => percent(step_conversion_rate)),
    text("left", "Left", ({ dropoff }) => exact(dropoff)),
    text("median", "Median time", ({ median_seconds }) => (median_seconds === undefined ? NOTHING : duration(median_seconds))),
    ...(hasBefore
      ? [
          text("visitors-before", "Visitors before", ({ before }) => exact(before?.visitors)),
          text("first-before", "Of the first before", ({ before }) => percent(before?.conversion_rate)),
        ]
      : []),
  ]
  return <DataTable caption="Steps of the funnel" columns={columns} rows={stagesOf(funnel)} keyOf={({ step }) => step} />
}
