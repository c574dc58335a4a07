/** The metrics of the query engine (metrics.md section 5). The flat form calls `total_revenue` `revenue`. */
export const METRICS = [
  "visitors",
  "visits",
  "pageviews",
  "events",
  "views_per_visit",
  "bounce_rate",
  "visit_duration",
  "engaged_time",
  "time_on_page",
  "time_on_page_median",
  "scroll_depth",
  "exit_rate",
  "percentage",
  "conversions",
  "conversion_rate",
  "group_conversion_rate",
  "total_revenue",
  "average_revenue",
  "lcp_p75",
  "inp_p75",
  "cls_p75",
  "fcp_p75",
  "ttfb_p75",
] as const
/**
 * Further metrics of the query engine, which only some reports use: the number of page loads with web vitals, and the sums of which
 * `bounce_rate` and `visit_duration` are the shares.
 */
export const OWN_METRICS = ["measured_loads", "bounces", "total_duration"] as const
export type Metric = (typeof METRICS)[number] | (typeof OWN_METRICS)[number]

/** The metric names of the flat form, in the order of the public documentation. */
export const FLAT_METRICS = [
  "visitors",
  "visits",
  "pageviews",
  "events",
  "views_per_visit",
  "bounce_rate",
  "visit_duration",
  "engaged_time",
  "time_on_page",
  "scroll_depth",
  "exit_rate",
  "conversions",
  "conversion_rate",
  "revenue",
] as const
export type FlatMetric = (typeof FLAT_METRICS)[number]

/** The divisor of each mean and rate. When it is 0, responses contain 0 although there is no value. */
export const DIVISORS: Readonly<Record<string, FlatMetric>> = {
  views_per_visit: "visits",
  bounce_rate: "visits",
  visit_duration: "visits",
  engaged_time: "visits",
  exit_rate: "pageviews",
}

/**
 * Returns numerator / denominator, rounded half away from zero to a number of decimals; 0 for a zero denominator (metrics.md
 * 5.2). Exact for whole numbers: the remainder decides about the half, not a quotient that is itself rounded.
 */
export function roundedRatio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0
  const scale = 10 ** decimals
  const size = Math.abs(numerator) * scale
  const whole = size <= Number.MAX_SAFE_INTEGER ? quotient(size, denominator) : largeQuotient(numerator, denominator, scale)
  return whole === 0 ? 0 : (Math.sign(numerator) * whole) / scale
}

function quotient(size: number, denominator: number): number {
  const rest = size % denominator
  return (size - rest) / denominator + (rest * 2 >= denominator ? 1 : 0)
}

/** Divides with BigInt, for sums of money in minor units that exceed the safe integers. */
function largeQuotient(numerator: number, denominator: number, scale: number): number {
  const [size, by] = [BigInt(Math.abs(numerator)) * BigInt(scale), BigInt(denominator)]
  return Number((2n * size + by) / (2n * by))
}
