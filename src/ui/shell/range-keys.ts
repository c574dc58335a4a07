import { isFiltered, useSiteAddress } from "../address.ts"
import { useKeys } from "../keys.ts"
import { PERIOD_WORDS } from "../period-words.ts"
import { clearFilters } from "../stats/clear-filters.ts"
import { openDialog } from "../stats/open-dialog.ts"
import { stepped, todayIn } from "../stats/ranges.ts"
import { useStatsSource } from "../stats/source.ts"

/** Keys of every page about a period: the periods, steps, comparison and filter; Escape clears the filters. */
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
