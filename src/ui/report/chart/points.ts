import type { ReportRange, Timeseries } from "../../../domain/report.ts"
import { clockText, dayText, rangeText } from "../../text/format.ts"
import { figureOf } from "../data/figures.ts"

/** Returns how many points have started. The current day comes with its future hours, which can have no data yet. */
export const startedPoints = ({ points }: Pick<Timeseries, "points">, now = Date.now()): number =>
  points.findLastIndex(({ time, partial }) => !partial || time.length < 11 || Date.parse(time) <= now) + 1

/** Explains why a point is partial: it is still in progress, or the range starts or ends within it. */
export const partialText = (series: Pick<Timeseries, "points" | "range">, index: number): string | undefined =>
  series.points[index]?.partial
    ? series.range.includes_today && index === startedPoints(series) - 1
      ? "in progress"
      : "partly outside the period"
    : undefined

/** Explains what a point is made of: it is partial, has imported days, or both. "" if it is neither. */
export const markText = (series: Pick<Timeseries, "points" | "range">, index: number): string =>
  [partialText(series, index), series.points[index]?.imported && "imported"].filter(Boolean).join(", ")

/** Formats the time of a point. `time` is the first local day of the bucket; for hours, the local time with its offset. */
export function bucketText(time: string, interval: string, size: "long" | "short" = "long"): string {
  const isShort = size === "short"
  if (interval === "hour") {
    const clock = clockText(`${time.slice(0, 16)}Z`, "UTC") // keeps the local hour regardless of its offset
    return isShort ? clock : `${dayText(time, { year: undefined })} ${clock}`
  }
  if (interval === "month") return dayText(time, { weekday: undefined, day: undefined, ...(isShort && { year: "2-digit" }) })
  if (isShort) return dayText(time, { weekday: undefined, year: undefined })
  return interval === "week" ? `Week of ${dayText(time, { weekday: undefined })}` : dayText(time)
}

interface Compared {
  range: ReportRange
  comparison?: { range: ReportRange }
}

/** Returns the range of the comparison. Marks it as a full day or period if the current range is still in progress. */
export const comparisonText = ({ range, comparison }: Compared): string | undefined =>
  comparison &&
  `${rangeText(comparison.range.from, comparison.range.to)}${range.includes_today && !comparison.range.includes_today ? (comparison.range.from === comparison.range.to ? " (full day)" : " (full period)") : ""}`

/**
 * Returns the change of the displayed values in percent with one decimal, rounded half away from zero like the API's
 * `change_percent`. Undefined if the earlier value is 0 or missing.
 */
export function changeOf(point: object, before: object | undefined, metric: string): number | undefined {
  const [value, old] = [point, before].map((one) => figureOf({ ...one }, metric))
  if (value === undefined || !old) return undefined
  const tenths = Math.round((Math.abs(value - old) * 1_000) / Math.abs(old))
  return value < old ? -tenths / 10 : tenths / 10
}
