import { figureOf } from "./strip-metrics.ts"

/** In percent with one decimal; undefined where there was nothing before. */
export function changeOf(point: object, before: object | undefined, metric: string): number | undefined {
  const [value, old] = [point, before].map((one) => figureOf({ ...one }, metric))
  if (value === undefined || !old) return undefined
  return Math.round(((value - old) / old) * 1_000) / 10
}
