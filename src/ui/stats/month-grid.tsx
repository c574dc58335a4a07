import { dayText } from "../format.ts"
import { addDays, addMonths, type DayRange } from "./ranges.ts"

interface MonthGridProps {
  /** Its first day. */
  month: string
  range: DayRange
  /** Days after this one cannot be chosen. */
  last: string
  onChoose(day: string): void
  /** The arrow keys left the two months that are shown. */
  onLeave(months: number): void
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6].map((index) => addDays("2024-01-01", index))
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/** One month as a table of days from Monday on. */
export function MonthGrid({ month, range, last, onChoose, onLeave }: MonthGridProps) {
  const weeks = weeksOf(month)
  const move = (event: KeyboardEvent) => {
    const day = (event.target as HTMLElement).dataset.day
    const step = STEPS[event.key]
    if (!day || step === undefined) return
    event.preventDefault()
    const next = addDays(day, step)
    const button = () => document.querySelector<HTMLElement>(`[data-day="${next}"]`)
    if (button()) button()?.focus()
    else if (next <= last) {
      onLeave(next < month ? -1 : 1)
      requestAnimationFrame(() => button()?.focus())
    }
  }
  return (
    <table class="month" onKeyDown={move}>
      <caption>{dayText(month, { weekday: undefined, day: undefined, month: "long" })}</caption>
      <thead>
        <tr>
          {WEEKDAYS.map((day) => (
            <th key={day} scope="col" abbr={dayText(day, ONLY_WEEKDAY)}>
              {dayText(day, { ...ONLY_WEEKDAY, weekday: "narrow" })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((day) => (
              <td key={day}>{day.startsWith(month.slice(0, 7)) && <Day day={day} range={range} last={last} onChoose={onChoose} />}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const ONLY_WEEKDAY: Intl.DateTimeFormatOptions = { weekday: "long", day: undefined, month: undefined, year: undefined }

function Day({ day, range, last, onChoose }: { day: string } & Pick<MonthGridProps, "range" | "last" | "onChoose">) {
  const isEdge = day === range.from || day === range.to
  return (
    <button
      type="button"
      class="day"
      data-day={day}
      data-in={(range.from <= day && day <= range.to) || undefined}
      aria-pressed={isEdge}
      aria-label={dayText(day)}
      disabled={day > last}
      onClick={() => onChoose(day)}
    >
      {Number(day.slice(8))}
    </button>
  )
}

/** Days in rows of seven from Monday on, those of the months around included. */
function weeksOf(month: string): string[][] {
  const first = addDays(month, -((new Date(`${month}T12:00:00Z`).getUTCDay() + 6) % 7))
  const end = addMonths(month, 1)
  const weeks: string[][] = []
  for (let monday = first; monday < end; monday = addDays(monday, 7)) weeks.push(WEEKDAYS.map((_, index) => addDays(monday, index)))
  return weeks
}
