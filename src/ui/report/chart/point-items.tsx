import type { Timeseries } from "../../../domain/report.ts"
import { useSiteAddress } from "../../address.ts"
import { MenuItem } from "../../parts/menu.tsx"
import { openDialog } from "../../stats/open-dialog.ts"
import { addDays, addMonths } from "../../stats/ranges.ts"
import { useFirstItem } from "../../stats/use-first-item.ts"

interface PointItemsProps {
  series: Timeseries
  time: string
  close(): void
}

/** What can be done with a point of the chart. */
export default function PointItems({ series: { interval, range }, time, close }: PointItemsProps) {
  const { siteId, go } = useSiteAddress()
  const box = useFirstItem()
  const day = time.slice(0, 10)
  const to = lastDayOf(day, interval)
  return (
    <div ref={box}>
      <MenuItem
        onSelect={() => {
          close()
          go({ period: "custom", from: day, to: [to, range.to].sort()[0]! })
        }}
      >
        {interval === "week" ? "Only this week" : interval === "month" ? "Only this month" : "Only this day"}
      </MenuItem>
      {!Number.isNaN(siteId) && (
        <MenuItem
          onSelect={() => {
            close()
            openDialog.set({ name: "notes", day })
          }}
        >
          Add note
        </MenuItem>
      )}
    </div>
  )
}

/** Weeks begin on Monday; the first bucket of a range may be cut. */
function lastDayOf(day: string, interval: string): string {
  if (interval === "week") return addDays(day, (7 - new Date(`${day}T12:00:00Z`).getUTCDay()) % 7)
  return interval === "month" ? addDays(addMonths(`${day.slice(0, 8)}01`, 1), -1) : day
}
