/** Labels of periods and comparisons. */
import type { SiteAddress } from "../../domain/site-address.ts"

/** Periods in the order of the menu, with their keyboard shortcuts. */
export const PERIOD_WORDS: readonly { period: SiteAddress["period"]; label: string; key?: string }[] = [
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
  PERIOD_WORDS.find((one) => one.period === period)?.label ??
  ({ "30d": "Last 30 days", "90d": "Last 90 days", "6mo": "Last 6 months", custom: "Custom range" } as Record<string, string>)[period] ??
  period

export const COMPARISON_WORDS: readonly { compare: SiteAddress["compare"]; label: string }[] = [
  { compare: "none", label: "No comparison" },
  { compare: "previous_period", label: "Previous period" },
  { compare: "previous_year", label: "A year earlier" },
]
