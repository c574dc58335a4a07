import type { Timeseries } from "../../../domain/report.ts"

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
