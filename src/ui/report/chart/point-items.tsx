import type { Timeseries } from "../../../domain/report.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { MenuItem } from "../../parts/menu.tsx"
import { addDays, addMonths } from "../data/ranges.ts"
import { openDialog } from "../open-dialog.ts"
import { useFirstItem } from "../use-first-item.ts"

interface PointItemsProps {
  series: Timeseries
  time: string
  close(): void
}

/** Menu items for a point of the chart. */
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
        {interval === "week" ? "Show this week" : interval === "month" ? "Show this month" : "Show this day"}
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

/** Returns the last day of the bucket that starts on a day. Weeks start on Monday; the first bucket of a range may be shorter. */
function lastDayOf(day: string, interval: string): string {
  if (interval === "week") return addDays(day, (7 - new Date(`${day}T12:00:00Z`).getUTCDay()) % 7)
  return interval === "month" ? addDays(addMonths(`${day.slice(0, 8)}01`, 1), -1) : day
}
