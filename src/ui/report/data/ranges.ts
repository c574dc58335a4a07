/**
 * Ranges of local days for the period menu, its arrows and the interval menu. Days are `YYYY-MM-DD` in the site's time zone, both
 * ends included. The server defines what a period means; the definitions are repeated here so that the previous and next period can be
 * named without a request.
 */
import type { AddressInterval, SiteAddress } from "../../../domain/site-address.ts"
import { memoize } from "../../text/format.ts"

export interface DayRange {
  from: string
  to: string
}

type Ranged = Pick<SiteAddress, "period" | "from" | "to">
type Step = { period: SiteAddress["period"]; from?: string; to?: string }

const DAY_MS = 86_400_000
const atNoon = (day: string): Date => new Date(`${day}T12:00:00Z`)
const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

export const addDays = (day: string, days: number): string => dayOf(new Date(atNoon(day).getTime() + days * DAY_MS))

/** Returns the same day of another month, or that month's last day if it is shorter. */
export function addMonths(day: string, months: number): string {
  const at = atNoon(day)
  const wanted = at.getUTCDate()
  at.setUTCDate(1)
  at.setUTCMonth(at.getUTCMonth() + months)
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
  at.setUTCDate(Math.min(wanted, last))
  return dayOf(at)
}

/** Returns the number of days in a range. */
export const lengthOf = ({ from, to }: DayRange): number => Math.round((atNoon(to).getTime() - atNoon(from).getTime()) / DAY_MS) + 1

const dayFormat = memoize(
  (timeZone: string) => new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }),
)

/** Returns the current day in a time zone. */
export function todayIn(timezone: string, now = Date.now()): string {
  const parts = dayFormat(timezone).formatToParts(now)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ""
  return `${part("year")}-${part("month")}-${part("day")}`
}

/** Returns the days of a period. `firstDay` is the start of the period `all`. */
export function rangeOf({ period, from, to }: Ranged, today: string, firstDay = today): DayRange {
  const month = `${today.slice(0, 8)}01`
  switch (period) {
    case "custom":
      return { from: from ?? today, to: to ?? today }
    case "today":
      return { from: today, to: today }
    case "yesterday":
      return { from: addDays(today, -1), to: addDays(today, -1) }
    case "24h":
      return { from: addDays(today, -1), to: today }
    case "month":
      return { from: month, to: today }
    case "last_month":
      return { from: addMonths(month, -1), to: addDays(month, -1) }
    case "year":
      return { from: `${today.slice(0, 5)}01-01`, to: today }
    case "6mo":
      return { from: addMonths(month, -5), to: today }
    case "12mo":
      return { from: addMonths(month, -11), to: today }
    case "all":
      return { from: firstDay < today ? firstDay : today, to: today }
    default:
      return { from: addDays(today, 1 - Number.parseInt(period, 10)), to: today }
  }
}

const MONTHS: Readonly<Record<string, number>> = { month: 1, last_month: 1, year: 12, "6mo": 6, "12mo": 12 }

/** Returns the number of calendar months in a range; undefined if it does not consist of whole months. */
function wholeMonths({ from, to }: DayRange): number | undefined {
  const after = addDays(to, 1)
  if (!from.endsWith("-01") || !after.endsWith("-01")) return undefined
  const [a, b] = [atNoon(from), atNoon(after)]
  return (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth()
}

/** Returns the previous (`-1`) or next (`1`) period of the same length, by name if it has one. Undefined if there is none. */
export function stepped(address: Ranged, direction: -1 | 1, today: string): Step | undefined {
  if (address.period === "all") return undefined
  if (address.period === "24h") return direction === -1 ? { period: "yesterday" } : undefined
  const here = rangeOf(address, today)
  const months = MONTHS[address.period] ?? wholeMonths(here)
  const days = lengthOf(here)
  const from = months ? addMonths(here.from, direction * months) : addDays(here.from, direction * days)
  const to = months ? addDays(addMonths(from, months), -1) : addDays(here.to, direction * days)
  return from > today ? undefined : named({ from, to: to > today ? today : to }, today, months ? BY_MONTHS : BY_DAYS)
}

const BY_DAYS = ["today", "yesterday", "7d", "28d", "30d", "90d", "91d", "month", "last_month"] as const
const BY_MONTHS = ["month", "last_month", "year", "6mo", "12mo"] as const

function named(range: DayRange, today: string, names: readonly SiteAddress["period"][]): Step {
  const period = names.find((one) => {
    const { from, to } = rangeOf({ period: one }, today)
    return from === range.from && to === range.to
  })
  return period ? { period } : { period: "custom", ...range }
}

/** Returns the intervals that suit a range of this many days: at least two buckets, and no more than can be drawn. */
export function fittingIntervals(days: number): AddressInterval[] {
  const fits: Partial<Record<AddressInterval, boolean>> = {
    auto: true,
    hour: days <= 31,
    day: days > 1 && days <= 731,
    week: days > 13,
    month: days > 59,
  }
  return (Object.keys(fits) as AddressInterval[]).filter((interval) => fits[interval])
}

/** Returns whether the compared range of a report reaches into the data of the site. True if that is unknown. */
export const hasEarlierData = (
  { comparison }: { comparison?: { range: DayRange } },
  site: { first_event_at?: string | undefined; timezone: string } | undefined,
): boolean => !comparison || !site?.first_event_at || comparison.range.to >= todayIn(site.timezone, Date.parse(site.first_event_at))

/** Periods in the order of the menu, with their keyboard shortcuts. */
export const PERIOD_LABELS: readonly { period: SiteAddress["period"]; label: string; key?: string }[] = [
  { period: "today", label: "Today", key: "D" },
  { period: "yesterday", label: "Yesterday", key: "E" },
  { period: "24h", label: "Last 24 hours", key: "H" },
  { period: "7d", label: "Last 7 days", key: "W" },
  { period: "28d", label: "Last 28 days", key: "F" },
  { period: "91d", label: "Last 91 days", key: "N" },
  { period: "month", label: "Month to date", key: "M" },
  { period: "last_month", label: "Last month", key: "P" },
  { period: "year", label: "Year to date", key: "Y" },
  { period: "12mo", label: "Last 12 months", key: "L" },
  { period: "all", label: "All time", key: "A" },
]

/** Returns the label of a period, including those that are not in the menu. */
export const periodLabel = (period: SiteAddress["period"]): string =>
  PERIOD_LABELS.find((one) => one.period === period)?.label ??
  ({ "30d": "Last 30 days", "90d": "Last 90 days", "6mo": "Last 6 months", custom: "Custom range" } as Record<string, string>)[period] ??
  period

export const COMPARISON_LABELS: readonly { compare: SiteAddress["compare"]; label: string }[] = [
  { compare: "none", label: "No comparison" },
  { compare: "previous_period", label: "Previous period" },
  { compare: "previous_year", label: "A year earlier" },
]
