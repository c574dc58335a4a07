/** Between the address of a page and the range, filters and comparison that its dashboard is asked for. */
import { useEffect } from "preact/hooks"
import { addDays, addMonths, lengthOf, rangeOf, type SiteAddress, todayIn, useSiteAddress } from "#plugin/ui"
import type { BoardFilter, BoardRange, Compare } from "../../board.ts"

/** Body of a request for figures. */
export interface Question {
  range?: BoardRange
  compare?: Compare
  filters?: BoardFilter[]
}

/** Returns what a page with this address asks. Filters add to those of the dashboard. */
export function questionOf(address: SiteAddress, timezone: string): Question {
  const { period, from, to, interval, segment, cohort } = address
  const filters: BoardFilter[] = [
    ...address.filters,
    ...(segment === undefined ? [] : [{ dimension: "segment", operator: "is", values: [segment] }]),
    ...(cohort === undefined ? [] : [{ dimension: "cohort", operator: "is", values: [cohort] }]),
  ]
  return {
    range: { ...(period === "custom" ? { from: from!, to: to! } : { period }), ...(interval !== "auto" && { interval }) }, // a custom period has both
    compare: comparisonOf(address, timezone),
    ...(filters.length > 0 && { filters }),
  }
}

/** Returns the comparison. The same days of the week are up to six days further back, which the API takes as two days. */
function comparisonOf(address: SiteAddress, timezone: string): Compare {
  const { period, compare, match, compareFrom, compareTo } = address
  if (compare === "custom") return compareFrom && compareTo ? { from: compareFrom, to: compareTo } : "none"
  if (compare === "none" || period === "all") return "none"
  if (match === "date" || period === "24h") return compare
  const { from, to } = rangeOf(address, todayIn(timezone))
  const isYear = compare === "previous_year"
  const start = isYear ? addMonths(from, -12) : addDays(from, -lengthOf({ from, to }))
  const end = isYear ? addMonths(to, -12) : addDays(from, -1)
  const back = (weekdayOf(start) - weekdayOf(from) + 7) % 7
  return back === 0 ? compare : { from: addDays(start, -back), to: addDays(end, -back) }
}

const weekdayOf = (day: string): number => new Date(`${day}T12:00:00Z`).getUTCDay()

/** Returns the parts of an address that show a dashboard's own range. */
export function addressOf({ period, from, to, compare = "none", interval = "auto" }: BoardRange): Partial<SiteAddress> {
  const past = typeof compare === "string" ? { compare } : { compare: "custom" as const, compareFrom: compare.from, compareTo: compare.to }
  const days = period === undefined && from && to ? { period: "custom" as const, from, to } : { period: (period ?? "28d") as "28d" } // checked when it was saved
  return { ...days, ...past, interval }
}

/** Shows the range of a dashboard in the URL when it names none. Returns whether the URL names one. */
export function useBoardRange(range: BoardRange): boolean {
  const { namesPeriod, go } = useSiteAddress()
  useEffect(() => {
    if (!namesPeriod) go(addressOf(range), { replace: true })
  }, [namesPeriod])
  return namesPeriod
}
