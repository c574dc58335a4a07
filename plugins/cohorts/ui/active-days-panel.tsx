import { counted, type WidgetPanelProps } from "#plugin/ui"
import type { HistogramResponse } from "../responses.ts"
import { DayBars } from "./day-bars.tsx"
import { peopleText } from "./labels.ts"

/** Active days on a dashboard: people by the number of days on which they were active. */
export default function ActiveDaysPanel({ data }: WidgetPanelProps) {
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
