import { describe, expect, test } from "bun:test"
import { AppError } from "../../../src/domain/error.ts"
import type { Filter } from "../../../src/domain/filter.ts"
import type { Interval } from "../../../src/domain/query.ts"
import type { Form } from "../../../src/query/parse/arguments.ts"
import { parseQuery, parseRealtime, type Report } from "../../../src/query/parse/parse.ts"

const MOMENT = { now: Date.parse("2026-11-21T11:00:00Z"), timezone: "Europe/Berlin", firstAt: Date.parse("2025-03-04T12:00:00Z") }
const ask = (report: Report, given: Record<string, unknown>, form: Form = "json") => parseQuery(report, given, MOMENT, form)

/** Returns pointer and code of each fault. */
function faultsOf(work: () => unknown): (readonly [string, string])[] {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return (error.members.errors ?? []).map(({ pointer, code }) => [pointer, code] as const)
    throw error
  }
  return []
}

describe("without arguments", () => {
  test("a summary covers the last 30 days", () => {
    expect(ask("summary", {})).toMatchObject({
      range: { from: "2026-10-23", to: "2026-11-21", timezone: "Europe/Berlin", hours: false },
      clipped: false,
      metrics: ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events"],
      filtered: [],
    })
    expect(ask("summary", {})).not.toHaveProperty("compared")
  })

  test("a timeseries is by day", () => {
    expect(ask("timeseries", {})).toMatchObject({ metrics: ["visitors", "pageviews"], interval: "day" })
  })

  test.each([
    ["page", ["visitors", "pageviews"]],
    ["event", ["visitors", "events", "conversion_rate"]],
    ["goal", ["visitors", "conversions", "conversion_rate"]],
  ])("a breakdown by %s returns its default metrics and ten rows, most visitors first", (dimension, metrics) => {
    expect(ask("breakdown", { dimension })).toMatchObject({ dimension, metrics, sort: "visitors", descending: true, limit: 10, offset: 0 })
  })

  test("realtime returns ten rows", () => {
    expect(parseRealtime({}, "text")).toEqual({ limit: 10 })
  })
})

test("a query string is equivalent to the same JSON", () => {
  const filters = [{ dimension: "page", operator: "starts_with", values: ["/a,b"] }]
  const text = {
    dimension: "page",
    metrics: "visits,visitors",
    filters: JSON.stringify(filters),
    limit: "5",
    offset: "20",
    imports: "false",
    order: "asc",
  }
  const json = { dimension: "page", metrics: ["visits", "visitors"], filters, limit: 5, offset: 20, imports: false, order: "asc" }
  expect(ask("breakdown", text, "text")).toEqual(ask("breakdown", json))
})

test.each<[string, Record<string, unknown>, Interval]>([
  ["two days by hour", { from: "2026-11-20", to: "2026-11-21" }, "hour"],
  ["24h by hour", { period: "24h" }, "hour"],
  ["three days by day", { from: "2026-11-19", to: "2026-11-21" }, "day"],
  ["120 days by day", { from: "2026-07-25", to: "2026-11-21" }, "day"],
  ["121 days by week", { from: "2026-07-24", to: "2026-11-21" }, "week"],
  ["two years by week", { from: "2024-11-22", to: "2026-11-21" }, "week"],
  ["two years and a day by month", { from: "2024-11-21", to: "2026-11-21" }, "month"],
  ["1,000 days by day on request", { from: "2024-02-26", to: "2026-11-21", interval: "day" }, "day"],
])("splits %s", (_, given, interval) => {
  expect(ask("timeseries", given).interval).toBe(interval)
})

test("custom dates override a period, use the requested time zone and end today at the latest", () => {
  const { range, clipped } = ask("summary", { from: "2026-11-20", to: "2027-01-01", period: "7d", timezone: "asia/tokyo" })
  expect(clipped).toBeTrue()
  expect(range).toEqual({
    range: { from: Date.parse("2026-11-19T15:00:00Z"), to: Date.parse("2026-11-21T15:00:00Z") },
    from: "2026-11-20",
    to: "2026-11-21",
    timezone: "Asia/Tokyo",
    hours: false,
  })
})

test.each<[string, Record<string, unknown>, string, string]>([
  ["local times", { from: "2026-11-20T08:00", to: "2026-11-20T17:59:59" }, "2026-11-20T07:00:00Z", "2026-11-20T17:00:00Z"],
  [
    "local times of a requested zone",
    { from: "2026-11-20T08:00", to: "2026-11-20T08:00", timezone: "UTC" },
    "2026-11-20T08:00:00Z",
    "2026-11-20T08:00:01Z",
  ],
  ["times with offsets", { from: "2026-11-20T08:00:00Z", to: "2026-11-20T12:30:00+02:00" }, "2026-11-20T08:00:00Z", "2026-11-20T10:30:01Z"],
])("a range can start and end at %s", (_, given, from, to) => {
  const { range, clipped } = ask("summary", given)
  expect(clipped).toBeFalse()
  expect(range).toMatchObject({ range: { from: Date.parse(from), to: Date.parse(to) }, from: "2026-11-20", to: "2026-11-20", hours: true })
})

test("a range of times ends with today at the latest, and is compared with as many hours", () => {
  const day = { from: "2026-11-20T12:00", to: "2026-11-20T17:59:59" }
  expect(ask("summary", { ...day, to: "2026-12-01T00:00" })).toMatchObject({ clipped: true, range: { to: "2026-11-21" } })
  const hours = (given: object) => ask("summary", { ...day, ...given }).compared!.range
  expect(hours({ compare: "previous_period" })).toEqual({
    from: Date.parse("2026-11-20T05:00:00Z"),
    to: Date.parse("2026-11-20T11:00:00Z"),
  })
  expect(hours({ compare: "custom", compare_from: "2026-11-19T12:00", compare_to: "2026-11-19T17:59:59" })).toEqual({
    from: Date.parse("2026-11-19T11:00:00Z"),
    to: Date.parse("2026-11-19T17:00:00Z"),
  })
})

test("accepts exactly ten years", () => {
  expect(ask("summary", { period: "120mo" }).range.from).toBe("2016-12-01")
  expect(ask("summary", { period: "3652d" }).range.from).toBe("2016-11-22")
  expect(ask("summary", { from: "2016-11-22", to: "2026-11-21" }).range.from).toBe("2016-11-22")
})

test("a comparison includes the compared range", () => {
  expect(ask("summary", { period: "7d", compare: "previous_period" }).compared).toMatchObject({ from: "2026-11-08", to: "2026-11-14" })
  const custom = { period: "7d", compare: "custom", compare_from: "2026-01-01", compare_to: "2026-01-07" }
  expect(ask("timeseries", custom).compared).toMatchObject({ from: "2026-01-01", to: "2026-01-07" })
})

const page = (op: "is" | "contains" | "starts_with" | "matches_wildcard", value: string): Filter => ({
  op,
  dimension: "page",
  values: [value],
  missing: false,
  caseSensitive: true,
})

test.each<[string, object[], Filter | undefined]>([
  ["no filter", [], undefined],
  ["is by default", [{ dimension: "page", values: ["/a"] }], page("is", "/a")],
  ["is_not", [{ dimension: "page", operator: "is_not", values: ["/a"] }], { op: "not", filter: page("is", "/a") }],
  ["contains", [{ dimension: "page", operator: "contains", values: ["a%_*"] }], page("contains", "a%_*")],
  ["contains_not", [{ dimension: "page", operator: "contains_not", values: ["a"] }], { op: "not", filter: page("contains", "a") }],
  ["starts_with", [{ dimension: "page", operator: "starts_with", values: ["/a"] }], page("starts_with", "/a")],
  ["matches_wildcard", [{ dimension: "page", operator: "matches_wildcard", values: ["/a*"] }], page("matches_wildcard", "/a*")],
  [
    "matches_wildcard_not",
    [{ dimension: "page", operator: "matches_wildcard_not", values: ["/a*"] }],
    { op: "not", filter: page("matches_wildcard", "/a*") },
  ],
  [
    "several filters, all of which must match",
    [
      { dimension: "page", values: ["/a"] },
      { dimension: "page", operator: "contains", values: ["b"] },
    ],
    { op: "and", filters: [page("is", "/a"), page("contains", "b")] },
  ],
  [
    "a property, case-sensitive",
    [{ dimension: "property", property: "plan", operator: "contains", values: ["Pro"] }],
    { op: "contains", dimension: "property", property: "plan", values: ["Pro"], missing: false, caseSensitive: true },
  ],
  [
    "part of a browser's name, case-insensitive",
    [{ dimension: "browser", operator: "contains", values: ["fire"] }],
    { op: "contains", dimension: "browser", values: ["fire"], missing: false, caseSensitive: false },
  ],
  [
    "a browser's whole name, case-sensitive",
    [{ dimension: "browser", values: ["Firefox"] }],
    { op: "is", dimension: "browser", values: ["Firefox"], missing: false, caseSensitive: true },
  ],
  [
    "a missing country or a given one",
    [{ dimension: "country", values: ["(none)", "DE"] }],
    { op: "is", dimension: "country", values: ["(none)", "DE"], missing: true, caseSensitive: true },
  ],
  [
    "any city",
    [{ dimension: "city", operator: "is_not", values: ["(not set)"] }],
    { op: "not", filter: { op: "is", dimension: "city", values: ["(not set)"], missing: true, caseSensitive: true } },
  ],
  [
    "a missing source",
    [{ dimension: "source", values: ["Direct"] }],
    { op: "is", dimension: "source", values: ["Direct"], missing: true, caseSensitive: true },
  ],
  [
    "a missing referrer",
    [{ dimension: "referrer", values: ["Direct / None"] }],
    { op: "is", dimension: "referrer", values: ["Direct / None"], missing: true, caseSensitive: true },
  ],
  // The channel Direct is an ordinary value.
  [
    "the direct channel",
    [{ dimension: "channel", values: ["Direct"] }],
    { op: "is", dimension: "channel", values: ["Direct"], missing: false, caseSensitive: true },
  ],
  [
    "a substring that looks like a missing value",
    [{ dimension: "page", operator: "contains", values: ["(none)"] }],
    { op: "contains", dimension: "page", values: ["(none)"], missing: false, caseSensitive: true },
  ],
  [
    "a group of which one filter must match, next to one that must match",
    [
      { dimension: "page", values: ["/a"] },
      {
        any: [
          { dimension: "browser", values: ["Firefox"] },
          { dimension: "page", operator: "contains", values: ["b"] },
        ],
      },
    ],
    {
      op: "and",
      filters: [
        page("is", "/a"),
        {
          op: "or",
          filters: [{ op: "is", dimension: "browser", values: ["Firefox"], missing: false, caseSensitive: true }, page("contains", "b")],
        },
      ],
    },
  ],
  ["a group of one filter", [{ any: [{ dimension: "page", values: ["/a"] }] }], page("is", "/a")],
])("parses a filter: %s", (_, filters, expected) => {
  expect(ask("summary", { filters }).filter).toEqual(expected)
})

const filters = (...list: unknown[]) => ({ filters: list })
const values = (count: number) => Array.from({ length: count }, (_, i) => String(i))
const NEEDED = { dimension: "page" }

test.each<[Report, Record<string, unknown>, [string, string][]]>([
  ["summary", { period: "8w" }, [["/period", "invalid_choice"]]],
  ["summary", { period: "0d" }, [["/period", "invalid_choice"]]],
  ["summary", { period: "-7d" }, [["/period", "invalid_choice"]]],
  ["summary", { period: "1.5mo" }, [["/period", "invalid_choice"]]],
  ["summary", { period: "48h" }, [["/period", "invalid_choice"]]],
  ["summary", { period: "day" }, [["/period", "invalid_choice"]]],
  ["summary", { period: "121mo" }, [["/period", "invalid_range"]]],
  ["summary", { period: "9999d" }, [["/period", "invalid_range"]]],
  ["summary", { period: null }, [["/period", "invalid_choice"]]],
  ["summary", { from: "2026-11-01" }, [["/to", "invalid_range"]]],
  ["summary", { to: "2026-11-01" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2026-11-02", to: "2026-11-01" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2026-11-22", to: "2026-11-23" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2016-11-21", to: "2026-11-21" }, [["/from", "invalid_range"]]],
  ["summary", { from: "0001-01-01", to: "2026-11-21" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2026-02-30", to: "2026-03-01" }, [["/from", "invalid_date"]]],
  ["summary", { from: "2026-11-01", to: "2026-11-02T08:00" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2026-11-02T08:00", to: "2026-11-02T07:59:59" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2026-11-21T13:00", to: "2026-11-21T14:00" }, [["/from", "invalid_range"]]],
  ["summary", { from: "2026-02-30T08:00", to: "2026-03-01T08:00" }, [["/from", "invalid_date"]]],
  [
    "summary",
    { from: "2026-11-01T24:00", to: "2026-11-01T8:00" },
    [
      ["/from", "invalid_date"],
      ["/to", "invalid_date"],
    ],
  ],
  // The plus of an offset is a space in a query string, unless it is escaped.
  ["summary", { from: "2026-11-01T08:00:00 01:00", to: "2026-11-01T09:00:00Z" }, [["/from", "invalid_date"]]],
  [
    "summary",
    { from: "2026-11-01T00", to: "tomorrow" },
    [
      ["/from", "invalid_date"],
      ["/to", "invalid_date"],
    ],
  ],
  ["summary", { from: 20261101, to: "2026-11-02" }, [["/from", "invalid_type"]]],
  ["summary", { timezone: "Mars/Base" }, [["/timezone", "invalid_timezone"]]],
  ["summary", { timezone: "+02:00" }, [["/timezone", "invalid_timezone"]]],
  ["summary", { timezone: "" }, [["/timezone", "invalid_timezone"]]],
  ["summary", { timezone: 2 }, [["/timezone", "invalid_type"]]],
  ["summary", { imports: "yes" }, [["/imports", "invalid_type"]]],
  ["summary", { metrics: "visitors" }, [["/metrics", "invalid_type"]]],
  ["summary", { metrics: [] }, [["/metrics", "too_few"]]],
  ["summary", { metrics: ["visitors", "visitors"] }, [["/metrics", "not_unique"]]],
  ["summary", { metrics: ["hits"] }, [["/metrics", "invalid_choice"]]],
  ["summary", { metrics: ["visitors", 5] }, [["/metrics", "invalid_choice"]]],
  ["summary", { metrics: ["total_revenue"] }, [["/metrics", "invalid_choice"]]],
  [
    "summary",
    {
      metrics: [
        "visitors",
        "visits",
        "pageviews",
        "events",
        "views_per_visit",
        "bounce_rate",
        "visit_duration",
        "engaged_time",
        "conversions",
        "conversion_rate",
        "revenue",
      ],
    },
    [["/metrics", "too_many"]],
  ],
  ["summary", { compare: "yesterday" }, [["/compare", "invalid_choice"]]],
  [
    "summary",
    { compare: "custom" },
    [
      ["/compare_from", "invalid_range"],
      ["/compare_to", "invalid_range"],
    ],
  ],
  ["summary", { compare: "custom", compare_from: "2026-01-01" }, [["/compare_to", "invalid_range"]]],
  ["summary", { compare: "custom", compare_from: "2026-02-01", compare_to: "2026-01-01" }, [["/compare_from", "invalid_range"]]],
  [
    "summary",
    { compare_from: "2026-01-01", compare_to: "2026-01-02" },
    [
      ["/compare_from", "unsupported_combination"],
      ["/compare_to", "unsupported_combination"],
    ],
  ],
  ["summary", { match_weekday: "sometimes" }, [["/match_weekday", "invalid_type"]]],
  ["summary", { interval: "day" }, [["/interval", "unknown_field"]]],
  ["summary", { "a/b~c": 1 }, [["/a~1b~0c", "unknown_field"]]],
  ["timeseries", { interval: "minute" }, [["/interval", "invalid_choice"]]],
  ["timeseries", { period: "90d", interval: "hour" }, [["/interval", "too_many_points"]]],
  ["timeseries", { from: "2024-02-25", to: "2026-11-21", interval: "day" }, [["/interval", "too_many_points"]]],
  ["timeseries", { dimension: "page" }, [["/dimension", "unknown_field"]]],
  ["breakdown", {}, [["/dimension", "required"]]],
  ["breakdown", { dimension: "click_id_type" }, [["/dimension", "invalid_choice"]]],
  ["breakdown", { dimension: "property" }, [["/property", "required"]]],
  ["breakdown", { dimension: "page", property: "plan" }, [["/property", "unsupported_combination"]]],
  ["breakdown", { dimension: "property", property: "" }, [["/property", "too_short"]]],
  ["breakdown", { dimension: "property", property: "x".repeat(301) }, [["/property", "too_long"]]],
  ["breakdown", { dimension: "property", property: "a\u0000" }, [["/property", "invalid_characters"]]],
  ["breakdown", { ...NEEDED, sort: "visits" }, [["/sort", "invalid_choice"]]],
  ["breakdown", { ...NEEDED, order: "up" }, [["/order", "invalid_choice"]]],
  ["breakdown", { ...NEEDED, limit: 0 }, [["/limit", "out_of_range"]]],
  ["breakdown", { ...NEEDED, limit: 1_001 }, [["/limit", "out_of_range"]]],
  ["breakdown", { ...NEEDED, limit: 1.5 }, [["/limit", "invalid_type"]]],
  ["breakdown", { ...NEEDED, limit: "1e1" }, [["/limit", "invalid_type"]]],
  ["breakdown", { ...NEEDED, limit: "" }, [["/limit", "invalid_type"]]],
  ["breakdown", { ...NEEDED, offset: -1 }, [["/offset", "out_of_range"]]],
  ["breakdown", { ...NEEDED, offset: "-1" }, [["/offset", "invalid_type"]]],
  ["breakdown", { ...NEEDED, offset: 10_001 }, [["/offset", "out_of_range"]]],
  ["breakdown", { ...NEEDED, compare: "none" }, [["/compare", "unknown_field"]]],
  ["goals", { metrics: ["visitors"] }, [["/metrics", "unknown_field"]]],
  ["summary", { filters: "page" }, [["/filters", "invalid_type"]]],
  ["summary", { filters: null }, [["/filters", "invalid_type"]]],
  ["summary", filters(...values(11).map((value) => ({ dimension: "page", values: [value] }))), [["/filters", "too_many"]]],
  ["summary", filters("page"), [["/filters/0", "invalid_type"]]],
  ["summary", filters({ values: ["/"] }), [["/filters/0/dimension", "required"]]],
  ["summary", filters({ dimension: "time", values: ["/"] }), [["/filters/0/dimension", "invalid_choice"]]],
  ["summary", filters({ dimension: "page" }), [["/filters/0/values", "required"]]],
  ["summary", filters({ dimension: "page", values: "/" }), [["/filters/0/values", "invalid_type"]]],
  ["summary", filters({ dimension: "page", values: [] }), [["/filters/0/values", "too_few"]]],
  [
    "summary",
    filters(
      { any: values(6).map((value) => ({ dimension: "page", values: [value] })) },
      ...values(5).map((value) => ({ dimension: "page", values: [value] })),
    ),
    [["/filters", "too_many"]],
  ],
  ["summary", filters({ any: [] }), [["/filters/0/any", "too_few"]]],
  ["summary", filters({ any: "page" }), [["/filters/0/any", "invalid_type"]]],
  ["summary", filters({ any: [{ dimension: "page", values: ["/"] }], dimension: "page" }), [["/filters/0", "unknown_field"]]],
  ["summary", filters({ any: [{ dimension: "page", values: [] }] }), [["/filters/0/any/0/values", "too_few"]]],
  ["summary", filters({ any: [{ any: [{ dimension: "page", values: ["/"] }] }] }), [["/filters/0/any/0", "unknown_field"]]],
  ["summary", filters({ dimension: "page", values: values(51) }), [["/filters/0/values", "too_many"]]],
  ["summary", filters({ dimension: "page", values: ["/", 5] }), [["/filters/0/values/1", "invalid_type"]]],
  ["summary", filters({ dimension: "page", values: [""] }), [["/filters/0/values/0", "too_short"]]],
  ["summary", filters({ dimension: "page", values: ["x".repeat(2_001)] }), [["/filters/0/values/0", "too_long"]]],
  ["summary", filters({ dimension: "page", values: ["\ud800"] }), [["/filters/0/values/0", "invalid_characters"]]],
  [
    "summary",
    filters({ dimension: "page", operator: "matches_wildcard", values: ["*********"] }),
    [["/filters/0/values/0", "invalid_pattern"]],
  ],
  [
    "summary",
    filters({ dimension: "page", operator: "matches_wildcard_not", values: ["x".repeat(201)] }),
    [["/filters/0/values/0", "invalid_pattern"]],
  ],
  ["summary", filters({ dimension: "page", operator: "matches", values: ["/"] }), [["/filters/0/operator", "regex_not_supported"]]],
  ["summary", filters({ dimension: "page", operator: "like", values: ["/"] }), [["/filters/0/operator", "invalid_choice"]]],
  ["summary", filters({ dimension: "page", colour: 1, values: ["/"] }), [["/filters/0", "unknown_field"]]],
  ["summary", filters({ dimension: "property", values: ["/"] }), [["/filters/0/property", "required"]]],
  ["summary", filters({ dimension: "page", property: "x", values: ["/"] }), [["/filters/0/property", "unsupported_combination"]]],
  ["summary", filters({ dimension: "goal", operator: "is_not", values: ["Signup"] }), [["/filters/0/operator", "unsupported_combination"]]],
  ["summary", filters({ dimension: "goal", operator: "starts_with", values: ["S"] }), [["/filters/0/operator", "unsupported_combination"]]],
  ["summary", filters({ dimension: "segment", values: ["1"] }), [["/filters/0/values", "invalid_choice"]]],
  ["summary", filters({ dimension: "cohort", operator: "contains", values: ["1"] }), [["/filters/0/operator", "unsupported_combination"]]],
  // Reports the first fault of each argument, for all arguments at once, in the order of the input.
  [
    "breakdown",
    { dimension: "nothing", limit: 0, "co/lour": 1, from: "2026-11-01", ...filters({}, {}) },
    [
      ["/dimension", "invalid_choice"],
      ["/limit", "out_of_range"],
      ["/co~1lour", "unknown_field"],
      ["/filters/0/dimension", "required"],
      ["/to", "invalid_range"],
    ],
  ],
])("rejects a %s with %j", (report, given, expected) => {
  expect(faultsOf(() => ask(report, given))).toEqual(expected)
})

const pageFilter = [{ dimension: "page", values: ["/"] }]
const exitFilter = [{ dimension: "exit_page", values: ["/"] }]
test.each<[Report, Record<string, unknown>, boolean]>([
  ["breakdown", { dimension: "event", metrics: ["bounce_rate"] }, false],
  ["breakdown", { dimension: "goal", metrics: ["visit_duration"] }, false],
  ["breakdown", { dimension: "property", property: "plan", metrics: ["views_per_visit"] }, false],
  ["breakdown", { dimension: "title", metrics: ["engaged_time"] }, false],
  ["breakdown", { dimension: "page", metrics: ["bounce_rate", "visit_duration", "views_per_visit", "engaged_time"] }, true],
  ["breakdown", { dimension: "hostname", metrics: ["bounce_rate"] }, true],
  ["summary", { metrics: ["time_on_page"] }, false],
  ["summary", { metrics: ["scroll_depth"], filters: exitFilter }, false],
  ["summary", { metrics: ["exit_rate"] }, false],
  ["summary", { metrics: ["exit_rate"], filters: exitFilter }, true],
  ["summary", { metrics: ["time_on_page", "scroll_depth", "exit_rate"], filters: pageFilter }, true],
  ["breakdown", { dimension: "page", metrics: ["time_on_page", "scroll_depth", "exit_rate"] }, true],
  ["breakdown", { dimension: "exit_page", metrics: ["exit_rate"] }, true],
  ["breakdown", { dimension: "exit_page", metrics: ["scroll_depth"] }, false],
  ["breakdown", { dimension: "country", metrics: ["time_on_page"], filters: pageFilter }, true],
])("a %s with %j is a supported combination: %p", (report, given, allowed) => {
  expect(faultsOf(() => ask(report, given))).toEqual(allowed ? [] : [["/metrics", "unsupported_combination"]])
})

test("reports invalid_query for a query string and invalid content for JSON", () => {
  const refuse = (form: Form) => () => ask("summary", { period: "8w" }, form)
  expect(refuse("text")).toThrow(expect.objectContaining({ code: "invalid_query" }))
  expect(refuse("json")).toThrow(expect.objectContaining({ code: "validation_failed" }))
})

test.each([
  [{ metrics: "" }, [["/metrics", "invalid_choice"]]],
  [{ metrics: "visitors," }, [["/metrics", "invalid_choice"]]],
  [{ filters: "[{" }, [["/filters", "invalid_type"]]],
  [{ filters: "" }, [["/filters", "invalid_type"]]],
  [{ imports: "1" }, [["/imports", "invalid_type"]]],
  [{ match_weekday: "TRUE" }, [["/match_weekday", "invalid_type"]]],
])("rejects the query string %j", (given, expected) => {
  expect(faultsOf(() => ask("summary", given, "text"))).toEqual(expected as [string, string][])
})

test("suggests the smallest interval that fits", () => {
  expect(() => ask("timeseries", { period: "90d", interval: "hour" })).toThrow(
    expect.objectContaining({
      members: { errors: [expect.objectContaining({ detail: "At most 1000 points are allowed: use interval=day." })] },
    }),
  )
})

test.each([{ limit: 0 }, { limit: 51 }, { limit: "x" }, { period: "7d" }, { filters: [] }])("realtime rejects %j", (given) => {
  expect(faultsOf(() => parseRealtime(given, "json"))).toHaveLength(1)
})
