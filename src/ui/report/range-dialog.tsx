import { useState } from "preact/hooks"
import { isDay } from "../../domain/site-address.ts"
import { useSite } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { TextField } from "../parts/form/fields.tsx"
import { dayText } from "../text/format.ts"
import { addDays, addMonths, type DayRange, rangeOf, todayIn } from "./data/ranges.ts"
import { useStatsSource } from "./data/reports.ts"

interface RangeDialogProps {
  of: "range" | "comparison"
  onClose(): void
}

const monthOf = (day: string): string => `${day.slice(0, 8)}01`

/** Dialog for a custom range, picked in a two-month calendar or typed. */
export default function RangeDialog({ of, onClose }: RangeDialogProps) {
  const { address, go } = useSiteAddress()
  const { timezone, siteId } = useStatsSource()
  const { data: site } = useSite(siteId)
  const today = todayIn(timezone)
  const begins = site?.first_event_at ? todayIn(timezone, Date.parse(site.first_event_at)) : undefined
  const [range, setRange] = useState<DayRange>(() => given(of, address, today, begins))
  const [shown, setShown] = useState(() => addMonths(monthOf(range.to), -1))
  /** Whether the first day was picked and the last day is still to come. */
  const [isHalf, setHalf] = useState(false)
  const problem = faultOf(range, today)
  const choose = (day: string) => {
    setRange(isHalf ? ordered(range.from, day) : { from: day, to: day })
    setHalf(!isHalf)
  }
  const type = (part: "from" | "to") => (text: string) => {
    const day = text.trim()
    setRange({ ...range, [part]: day })
    setHalf(false)
    if (isDay(day)) setShown(part === "from" ? monthOf(day) : addMonths(monthOf(day), -1))
  }
  return (
    <Dialog title={of === "range" ? "Custom range" : "Compare with"} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (problem) return
          go(of === "range" ? { period: "custom", ...range } : { compare: "custom", compareFrom: range.from, compareTo: range.to })
          onClose()
        }}
      >
        <div class="pair">
          <TextField label="From" value={range.from} onValue={type("from")} placeholder="YYYY-MM-DD" autocomplete="off" autofocus />
          <TextField label="To" value={range.to} onValue={type("to")} placeholder="YYYY-MM-DD" autocomplete="off" />
        </div>
        <p class="small quiet" role="status">
          {problem ?? `${dayText(range.from)} – ${dayText(range.to)}, in ${timezone}`}
        </p>
        <div class="months-head">
          <IconButton icon="left" label="Earlier month" onClick={() => setShown(addMonths(shown, -1))} />
          <IconButton
            icon="right"
            label="Later month"
            disabled={addMonths(shown, 1) >= monthOf(today)}
            onClick={() => setShown(addMonths(shown, 1))}
          />
        </div>
        <div class="pair">
          {[shown, addMonths(shown, 1)].map((month) => (
            <MonthGrid
              key={month}
              month={month}
              range={range}
              last={today}
              onChoose={choose}
              onLeave={(months) => setShown(addMonths(shown, months))}
            />
          ))}
        </div>
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={problem !== undefined}>
            Show
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function given(
  of: RangeDialogProps["of"],
  address: ReturnType<typeof useSiteAddress>["address"],
  today: string,
  begins?: string,
): DayRange {
  const range = rangeOf(address, today, begins)
  if (of === "range") return range
  const { compareFrom, compareTo } = address
  return compareFrom && compareTo
    ? { from: compareFrom, to: compareTo }
    : { from: addMonths(range.from, -12), to: addMonths(range.to, -12) }
}

const ordered = (a: string, b: string): DayRange => (a <= b ? { from: a, to: b } : { from: b, to: a })

/** Returns the reason why a range is invalid, or undefined. */
function faultOf({ from, to }: DayRange, today: string): string | undefined {
  if (!isDay(from) || !isDay(to)) return "Enter days as YYYY-MM-DD, such as 2026-11-21."
  if (from > to) return "The first day must not be after the last day."
  if (from > today) return "The first day is in the future."
  if (addMonths(from, 120) <= to) return "A range can have at most 10 years."
  return undefined
}

interface MonthGridProps {
  /** First day of the month. */
  month: string
  range: DayRange
  /** Last day that can be selected. */
  last: string
  onChoose(day: string): void
  /** Called when the arrow keys leave the two visible months. */
  onLeave(months: number): void
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6].map((index) => addDays("2024-01-01", index))
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/** Calendar of one month with weeks starting on Monday. */
function MonthGrid({ month, range, last, onChoose, onLeave }: MonthGridProps) {
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

/** Returns the weeks of a month from Monday, including the adjacent days of other months. */
function weeksOf(month: string): string[][] {
  const first = addDays(month, -((new Date(`${month}T12:00:00Z`).getUTCDay() + 6) % 7))
  const end = addMonths(month, 1)
  const weeks: string[][] = []
  for (let monday = first; monday < end; monday = addDays(monday, 7)) weeks.push(WEEKDAYS.map((_, index) => addDays(monday, index)))
  return weeks
}
