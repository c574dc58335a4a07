import type { Timeseries } from "../../../domain/report.ts"

/** How many points have begun: a day that runs is answered with its later hours, in which nothing can have happened yet. */
export const begunIn = ({ points }: Pick<Timeseries, "points">, now = Date.now()): number =>
  points.findLastIndex(({ time, partial }) => !partial || time.length < 11 || Date.parse(time) <= now) + 1

/** Of a point that is not whole, why: its time still runs, or the range begins or ends inside of it. */
export const partText = (series: Pick<Timeseries, "points" | "range">, index: number): string | undefined =>
  series.points[index]?.partial
    ? series.range.includes_today && index === begunIn(series) - 1
      ? "so far"
      : "cut by the period"
    : undefined
