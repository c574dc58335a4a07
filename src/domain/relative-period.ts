/** The relative periods of the API that have a name of their own (metrics.md section 9.1). The dashboard offers some of them. */
export const PERIOD_NAMES = ["today", "yesterday", "24h", "last_week", "month", "last_month", "year", "all"] as const

/** A period up to now: a named one, or any number of days (`14d`) or months (`3mo`), today included. */
export type RelativePeriod = (typeof PERIOD_NAMES)[number] | `${number}d` | `${number}mo`

/** Pattern of all relative periods, for schemas. */
export const PERIOD_PATTERN = `^(${PERIOD_NAMES.join("|")}|[1-9][0-9]{0,3}(d|mo))$`

/** All relative periods in words, for descriptions and errors. */
export const PERIOD_CHOICES = `${PERIOD_NAMES.join(", ")}, or a number of days or months, such as 14d or 3mo`

const PERIOD = new RegExp(PERIOD_PATTERN)
export const isRelativePeriod = (text: unknown): text is RelativePeriod => typeof text === "string" && PERIOD.test(text)

/** Returns number and unit of a period such as `14d`. Undefined for one with a name. */
export function countOf(period: RelativePeriod): { count: number; unit: "days" | "months" } | undefined {
  const [, count, unit] = /^(\d+)(d|mo)$/.exec(period) ?? []
  return count === undefined ? undefined : { count: Number(count), unit: unit === "d" ? "days" : "months" }
}
