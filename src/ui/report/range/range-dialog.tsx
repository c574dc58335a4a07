import { useState } from "preact/hooks"
import { isDay } from "../../domain/site-address.ts"
import { useSiteAddress } from "../address.ts"
import { dayText } from "../format.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { TextField } from "../parts/fields.tsx"
import { useSite } from "../site.ts"
import { MonthGrid } from "./month-grid.tsx"
import { addMonths, type DayRange, rangeOf, todayIn } from "./ranges.ts"
import { useStatsSource } from "./source.ts"

interface RangeDialogProps {
  of: "range" | "comparison"
  onClose(): void
}

const monthOf = (day: string): string => `${day.slice(0, 8)}01`

/** Days of one's own choice, from two months side by side or typed. */
export default function RangeDialog({ of, onClose }: RangeDialogProps) {
  const { address, go } = useSiteAddress()
  const { timezone, siteId } = useStatsSource()
  const { data: site } = useSite(siteId)
  const today = todayIn(timezone)
  const begins = site?.first_event_at ? todayIn(timezone, Date.parse(site.first_event_at)) : undefined
  const [range, setRange] = useState<DayRange>(() => given(of, address, today, begins))
  const [shown, setShown] = useState(() => addMonths(monthOf(range.to), -1))
  /** The first of two clicks has been made. */
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
          {problem ?? `${dayText(range.from)} – ${dayText(range.to)}, days of ${timezone}`}
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

/** Why the range cannot be shown, in words. */
function faultOf({ from, to }: DayRange, today: string): string | undefined {
  if (!isDay(from) || !isDay(to)) return "Write days as 2026-11-21."
  if (from > to) return "The first day comes after the last one."
  if (from > today) return "The first day is in the future."
  if (addMonths(from, 120) <= to) return "A range has at most 10 years."
  return undefined
}
