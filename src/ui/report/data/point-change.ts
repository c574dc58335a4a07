import { figureOf } from "./strip-metrics.ts"

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
