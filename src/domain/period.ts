/** The named periods (metrics.md section 9.1). */
export const PERIODS = [
  "today",
  "yesterday",
  "24h",
  "7d",
  "28d",
  "30d",
  "90d",
  "91d",
  "6mo",
  "12mo",
  "month",
  "last_month",
  "year",
  "all",
] as const
export type Period = (typeof PERIODS)[number]

/** The ranges that a period can be compared with. */
export const COMPARISONS = ["none", "previous_period", "previous_year", "custom"] as const
