import { expect, test } from "bun:test"
import { changeOf } from "../../src/ui/report/chart/points.ts"

test.each([
  ["grows", 812, 723, 12.3],
  ["grows by a quarter of a percent", 4_010, 4_000, 0.3],
  ["falls by a quarter of a percent, rounded like an increase", 3_990, 4_000, -0.3],
  ["falls further below 0", -20, -10, -100],
  ["grows from below 0", -10, -20, 50],
  ["is unchanged", 5, 5, 0],
  ["grows from 0", 5, 0, undefined],
])("a chart point that %s shows the same change as the API", (_, value, before, expected) => {
  expect(changeOf({ revenue: value }, { revenue: before }, "revenue")).toBe(expected)
})
