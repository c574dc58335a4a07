import { isFiltered, useSiteAddress } from "../browser/address.ts"
import { useKeys } from "../parts/shortcuts.ts"
import { PERIOD_LABELS, stepped, todayIn } from "../report/data/ranges.ts"
import { useStatsSource } from "../report/data/reports.ts"
import { openDialog } from "../report/dialogs.tsx"
import { clearFilters } from "../report/filters/filter-bar.tsx"

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
