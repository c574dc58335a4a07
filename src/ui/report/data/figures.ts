import type { Dimension } from "../../../domain/dimension.ts"
import { DIVISORS, type FlatMetric } from "../../../domain/metric.ts"
import { type SiteAddress, STRIP_METRICS } from "../../../domain/site-address.ts"
import { locale, memoize } from "../../text/format.ts"

type Filtered = Pick<SiteAddress, "filters">

const OF_PAGES: readonly FlatMetric[] = ["visitors", "visits", "pageviews", "scroll_depth", "time_on_page", "exit_rate"]
const OF_CONVERSIONS: readonly FlatMetric[] = ["visitors", "conversions", "conversion_rate"]

export const isAboutConversions = ({ filters }: Filtered): boolean =>
  filters.some(({ dimension }) => dimension === "goal" || dimension === "event")

const withRevenue = (metrics: readonly FlatMetric[], seesRevenue: boolean): readonly FlatMetric[] =>
  seesRevenue ? [...metrics, "revenue"] : metrics

/** Returns the metrics of the figure strip. A goal filter shows conversions, a page filter shows reading metrics. */
export function stripMetrics({ filters }: Filtered, seesRevenue: boolean): readonly FlatMetric[] {
  if (isAboutConversions({ filters })) return withRevenue(OF_CONVERSIONS, seesRevenue)
  if (filters.some(({ dimension, operator }) => dimension === "page" && operator === "is")) return OF_PAGES
  return STRIP_METRICS
}

/** Returns the columns of a card, depending on its dimension and the filters. */
export function rowMetrics({ filters }: Filtered, dimension: Dimension, seesRevenue: boolean): FlatMetric[] {
  if (dimension === "goal") return [...withRevenue(["conversions", "visitors", "conversion_rate"], seesRevenue)]
  if (dimension === "event") return [...withRevenue(["events", "visitors", "conversion_rate"], seesRevenue)]
  return isAboutConversions({ filters }) && dimension !== "property" ? ["conversions", "conversion_rate"] : ["visitors"]
}

/** Returns a figure, or undefined for a mean or rate whose divisor is 0: the server responds with 0, but the value is undefined. */
export const figureOf = (figures: Readonly<Record<string, unknown>>, metric: string): number | undefined =>
  figures[DIVISORS[metric] ?? ""] === 0 ? undefined : (figures[metric] as number | undefined) // metrics are numbers

interface Row {
  comparison?: { metrics: Record<string, number> }
  [metric: string]: unknown
}

/** Returns a number of a row. Revenue is undefined for goals and events that never had any, because they may not carry revenue at all. */
export const rowValue = (row: Row, metric: string): number | undefined =>
  metric === "revenue" && !row.revenue && !row.comparison?.metrics.revenue ? undefined : figureOf(row, metric)

const namesOf = memoize((locale: string, type: "region" | "language") => new Intl.DisplayNames(locale, { type }))

/** Returns a country's name in the user's locale. Undefined if the text is not a country code. */
export const countryName = (code: string): string | undefined =>
  /^[A-Z]{2}$/.test(code) ? namesOf(locale(), "region").of(code) : undefined

const DEVICES: Readonly<Record<string, string>> = { desktop: "Desktop", mobile: "Phone", tablet: "Tablet" }

/** The server's name for a missing value in breakdowns, filters and URLs. */
export const MISSING = "(none)"
/** The server's name for the group of values beyond a limit. */
export const OTHER = "(other)"
export const UNKNOWN = "Unknown"
/** Returns whether a row stands for missing or grouped values and needs an explanation. */
export const isNoValue = (value: string): boolean => value === OTHER || value === MISSING

/** Dimensions that every visit has, so that a missing value means unknown. Other dimensions may be absent. */
const OF_EVERY_VISIT = /^(country|region|city|language|device|size|browser|os)/

/** Returns the readable text of a dimension's value. Codes are replaced by names; `label` is the server's name. */
export function valueText(dimension: string, value: string, label?: string): string {
  if ((value === "" || value === MISSING) && OF_EVERY_VISIT.test(dimension)) return UNKNOWN
  if (dimension === "country") return countryName(value) ?? label ?? value
  if (dimension === "language" && /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(value)) return namesOf(locale(), "language").of(value) ?? value
  if (dimension === "device") return DEVICES[value.toLowerCase()] ?? value
  return label ?? value
}
