import { expect, test } from "bun:test"
import type { Metric } from "../../../src/domain/metric.ts"
import type { Grouping, Query } from "../../../src/domain/query.ts"
import type { AnswerValue } from "../../../src/domain/query-answer.ts"
import { partnerOf } from "../../../src/query/parse/array-query.ts"
import { comparedRows, rowFormatter } from "../../../src/query/show/array-result.ts"

const at = (text: string) => Date.parse(text)

/** A query for the day on which clocks in Berlin go back from 03:00 to 02:00. */
function someQuery(groupings: readonly Grouping[], metrics: readonly Metric[] = ["visitors"], revenueCurrency = "EUR"): Query {
  return {
    site: { id: 1, bounceEngagedSeconds: 0, revenueCurrency, goals: [] },
    range: { from: at("2026-10-25T00:00:00+02:00"), to: at("2026-10-26T00:00:00+01:00") },
    timezone: "Europe/Berlin",
    now: at("2026-11-21T12:00:00Z"),
    metrics,
    groupings,
    order: [],
    limit: 100,
    offset: 0,
    fillBuckets: false,
  }
}

test.each<[Grouping, string | number | null, string]>([
  [{ by: "time", interval: "day" }, at("2026-10-25T00:00:00+02:00"), "2026-10-25"],
  [{ by: "time", interval: "hour" }, at("2026-10-25T02:00:00+02:00"), "2026-10-25 02:00:00"],
  [{ by: "time", interval: "hour" }, at("2026-10-25T02:00:00+01:00"), "2026-10-25 02:00:00+01:00"],
  [{ by: "time", interval: "hour" }, at("2026-10-25T03:00:00+01:00"), "2026-10-25 03:00:00"],
  [{ by: "time", interval: "minute" }, at("2026-10-25T02:59:00+01:00"), "2026-10-25 02:59:00+01:00"],
  [{ by: "dimension", dimension: "source" }, null, "Direct / None"],
  [{ by: "dimension", dimension: "referrer" }, null, "Direct / None"],
  [{ by: "dimension", dimension: "channel" }, null, "(not set)"],
  [{ by: "dimension", dimension: "property", property: "plan" }, null, "(none)"],
  [{ by: "dimension", dimension: "hostname" }, null, "(none)"],
  [{ by: "dimension", dimension: "exit_page_hostname" }, null, "(none)"],
  [{ by: "dimension", dimension: "title" }, null, "(not set)"],
  [{ by: "dimension", dimension: "title" }, "a\u200bb", "a\u200bb"],
  [{ by: "dimension", dimension: "page" }, `/${"x".repeat(900)}`, `/${"x".repeat(900)}`],
])("labels the key of %j, %j, as %s", (grouping, key, label) => {
  expect(rowFormatter(someQuery([grouping])).labels([key])).toEqual([label])
})

test.each<[string, number, AnswerValue]>([
  ["EUR", 50_020_070_025, { value: 500_200_700.25, currency: "EUR", short: "€500.2M", long: "€500,200,700.25" }],
  ["EUR", 11_200, { value: 112, currency: "EUR", short: "€112.0", long: "€112.00" }],
  ["USD", 165_950, { value: 1_659.5, currency: "USD", short: "$1.7K", long: "$1,659.50" }],
  ["USD", -550, { value: -5.5, currency: "USD", short: "-$5.5", long: "-$5.50" }],
  ["USD", 0, { value: 0, currency: "USD", short: "$0.0", long: "$0.00" }],
  ["JPY", 1_500, { value: 1_500, currency: "JPY", short: "¥1.5K", long: "¥1,500" }],
  ["KWD", 1_234, { value: 1.234, currency: "KWD", short: "KWD\u00a01.2", long: "KWD\u00a01.234" }],
])("formats an amount in %s: %d", (currency, minor, shown) => {
  expect(rowFormatter(someQuery([], ["total_revenue", "pageviews"], currency)).values([minor, minor])).toEqual([shown, minor])
})

test("returns null for metrics that were not measured", () => {
  expect(rowFormatter(someQuery([], ["average_revenue", "lcp_p75"])).values([null, null])).toEqual([null, null])
})

test("compares hours by position, and the 25th hour of a day with nothing", () => {
  const query = someQuery([{ by: "time", interval: "hour" }], ["visitors", "scroll_depth"])
  const before = { from: at("2026-10-24T00:00:00+02:00"), to: at("2026-10-25T00:00:00+02:00") }
  const rows = [
    { keys: [at("2026-10-25T02:00:00+01:00")], values: [6, 50] },
    { keys: [at("2026-10-25T22:00:00+01:00")], values: [1, null] },
    { keys: [at("2026-10-25T23:00:00+01:00")], values: [3, 75] },
  ]
  const compared = { rows: [{ keys: [at("2026-10-24T03:00:00+02:00")], values: [4, 60] }], totalRows: 1, otherCurrencies: [] }
  expect(comparedRows(rows, compared, partnerOf(query, before), query)).toEqual([
    {
      dimensions: ["2026-10-25 02:00:00+01:00"],
      metrics: [6, 50],
      comparison: { dimensions: ["2026-10-24 03:00:00"], metrics: [4, 60], change: [50, -16.7] },
    },
    {
      dimensions: ["2026-10-25 22:00:00"],
      metrics: [1, null],
      comparison: { dimensions: ["2026-10-24 23:00:00"], metrics: [0, null], change: [null, null] },
    },
    {
      dimensions: ["2026-10-25 23:00:00"],
      metrics: [3, 75],
      comparison: { dimensions: [null], metrics: [null, null], change: [null, null] },
    },
  ])
})
