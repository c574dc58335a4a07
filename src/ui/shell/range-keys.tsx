import { isFiltered, useSiteAddress } from "../browser/address.ts"
import { useFirstItem } from "../parts/first-item.ts"
import { MenuItem } from "../parts/menu.tsx"
import { useKeys } from "../parts/shortcuts.ts"
import { COMPARISON_LABELS, PERIOD_LABELS, stepped, todayIn } from "../report/data/ranges.ts"
import { useStatsSource } from "../report/data/reports.ts"
import { openDialog } from "../report/dialogs.tsx"
import { clearFilters } from "../report/filters/filter-bar.tsx"
import { rangeText } from "../text/format.ts"

/** Binds the shortcuts of pages with a period: periods, steps, comparison and filter. Escape clears the filters. */
export function RangeKeys() {
  const { address, go } = useSiteAddress()
  const { timezone, filters: changesFilters } = useStatsSource()
  const step = (direction: -1 | 1) => () => {
    const next = stepped(address, direction, todayIn(timezone))
    if (next) go(next)
  }
  const periods = PERIOD_LABELS.flatMap(({ period, key }) => (key ? [[key.toLowerCase(), () => go({ period })] as const] : []))
  useKeys({
    ...Object.fromEntries(periods),
    c: () => openDialog.set({ name: "range" }),
    "[": step(-1),
    "]": step(1),
    x: () => go({ compare: address.compare === "none" ? "previous_period" : "none" }),
    ...(changesFilters && {
      "/": () => openDialog.set({ name: "filter" }),
      Escape: () => {
        if (isFiltered(address)) clearFilters({ address, go })
      },
    }),
  })
  return null
}

interface ItemsProps {
  close(): void
}

/** Items of the period menu. */
export function PeriodItems({ close }: ItemsProps) {
  const { address, go } = useSiteAddress()
  const { timezone } = useStatsSource()
  const { period } = address
  const box = useFirstItem()
  return (
    <div ref={box}>
      {PERIOD_LABELS.map((one) => (
        <MenuItem
          key={one.period}
          checked={one.period === period}
          hint={one.key}
          onSelect={() => {
            go({ period: one.period })
            close()
          }}
        >
          {one.label}
        </MenuItem>
      ))}
      <MenuItem
        checked={period === "custom"}
        hint="C"
        onSelect={() => {
          close()
          openDialog.set({ name: "range" })
        }}
      >
        Custom range
      </MenuItem>
      <p class="menu-head">Time zone: {timezone}</p>
    </div>
  )
}

/** Items of the comparison menu. */
export function ComparisonItems({ close }: ItemsProps) {
  const { address, go } = useSiteAddress()
  const { compare, match, compareFrom, compareTo } = address
  const box = useFirstItem()
  return (
    <div ref={box}>
      {COMPARISON_LABELS.map((one) => (
        <MenuItem
          key={one.compare}
          checked={one.compare === compare}
          hint={one.compare === "none" ? "X" : undefined}
          onSelect={() => {
            go({ compare: one.compare })
            close()
          }}
        >
          {one.label}
        </MenuItem>
      ))}
      <MenuItem
        checked={compare === "custom"}
        onSelect={() => {
          close()
          openDialog.set({ name: "comparison" })
        }}
      >
        {compare === "custom" && compareFrom && compareTo ? rangeText(compareFrom, compareTo) : "Custom range"}
      </MenuItem>
      <hr class="menu-line" />
      <MenuItem checked={match === "weekday"} toggles onSelect={() => go({ match: match === "weekday" ? "date" : "weekday" })}>
        Match day of week
      </MenuItem>
      <p class="menu-head">Today is compared with a full day</p>
    </div>
  )
}
