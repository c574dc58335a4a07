import type { Row } from "../domain/query.ts"
import { zoned } from "./period.ts"

const DAYS = 7
const HOURS = 24

/** Hours by their start, folded into a week: by weekday from Monday and hour of the day. An hour that comes twice counts in one cell. */
export function foldHours(rows: readonly Row[], timezone: string): number[][] {
  const grid = Array.from({ length: DAYS }, () => new Array<number>(HOURS).fill(0))
  for (const { keys, values } of rows) {
    const local = zoned(Number(keys[0]), timezone)
    const day = grid[local.dayOfWeek - 1]!
    day[local.hour] = day[local.hour]! + (values[0] ?? 0)
  }
  return grid
}
