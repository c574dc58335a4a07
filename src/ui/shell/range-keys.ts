import { isFiltered, useSiteAddress } from "../browser/address.ts"
import { useKeys } from "../parts/shortcuts.ts"
import { stepped, todayIn } from "../report/data/ranges.ts"
import { useStatsSource } from "../report/data/source.ts"
import { clearFilters } from "../report/filters/filter-bar.tsx"
import { openDialog } from "../report/open-dialog.ts"
import { PERIOD_WORDS } from "../text/period-words.ts"

/** Binds the shortcuts of pages with a period: periods, steps, comparison and filter. Escape clears the filters. */
export default function RangeKeys() {
  const { address, go } = useSiteAddress()
  const { timezone, filters: changesFilters } = useStatsSource()
  const step = (direction: -1 | 1) => () => {
    const next = stepped(address, direction, todayIn(timezone))
    if (next) go(next)
  }
  const periods = PERIOD_WORDS.flatMap(({ period, key }) => (key ? [[key.toLowerCase(), () => go({ period })] as const] : []))
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
