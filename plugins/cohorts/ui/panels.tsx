/** Panels of the area's widgets on dashboards. */
import { counted, type WidgetPanelProps } from "#plugin/ui"
import type { HistogramResponse, RetentionResponse } from "../responses.ts"
import { DayBars } from "./day-bars.tsx"
import { peopleText } from "./labels.ts"
import { Triangle } from "./retention-grid.tsx"

/** Retention on a dashboard: the grid in percent. */
export function RetentionPanel({ data, config }: WidgetPanelProps) {
  const report = data as Pick<RetentionResponse, "rows"> // the answer of this type of widget
  return <Triangle of={report} by={typeof config.grain === "string" ? config.grain : "week"} shows="rate" />
}

/** Active days on a dashboard: people by the number of days on which they were active. */
export function ActiveDaysPanel({ data }: WidgetPanelProps) {
  const { people, median, window, buckets } = data as HistogramResponse // the answer of this type of widget
  if (people === 0) return <p class="quiet">No one was active in the last {window} days.</p>
  return (
    <div class="panel-of-days">
      <p class="small">
        <strong>{people === null ? "Too few people to show" : peopleText(people)}</strong>{" "}
        <span class="quiet">
          in {window} days{median !== null && ` · median ${counted(median, "active day")}`}
        </span>
      </p>
      <DayBars of={buckets} />
    </div>
  )
}
