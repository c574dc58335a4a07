import { counted, percent } from "#plugin/ui"
import type { HistogramResponse } from "../responses.ts"
import { peopleText } from "./labels.ts"

interface DayBarsProps {
  of: HistogramResponse["buckets"]
  /** Number of active days from which bars stand out. */
  from?: number
  /** What else hidden groups are left out of. */
  note?: string
}

/** Bars of people by their number of active days. */
export function DayBars({ of: buckets, from = Number.POSITIVE_INFINITY, note = "" }: DayBarsProps) {
  const most = Math.max(1, ...buckets.map(({ people }) => people ?? 0))
  return (
    <>
      <ol class="day-bars" aria-label="People by number of active days">
        {buckets.map(({ active_days, people, share }) => (
          <li
            key={active_days}
            data-chosen={active_days >= from || undefined}
            data-hidden={people === null || undefined}
            title={
              people === null
                ? "Too few people to show"
                : `${counted(active_days, "day")}: ${peopleText(people)}, ${percent(share ?? undefined)}`
            }
          >
            <span class="day-bar" style={{ height: `${((people ?? most) / most) * 100}%` }} />
            <span class="small quiet">{active_days}</span>
            <span class="visually-hidden">{people === null ? "hidden" : peopleText(people)}</span>
          </li>
        ))}
      </ol>
      {buckets.some(({ people }) => people === null) && (
        <p class="small quiet retention-key">
          <span data-state="suppressed">Too few people to show. {note}</span>
        </p>
      )}
    </>
  )
}
