import { describe, expect, test } from "bun:test"
import { AppError } from "../../../src/domain/error.ts"
import type { Filter } from "../../../src/domain/filter.ts"
import { parseArrayQuery } from "../../../src/query/parse/array-parse.ts"
import { arrayQuery } from "../../../src/query/parse/array-query.ts"
import { Faults } from "../../../src/query/parse/faults.ts"

const MOMENT = { now: Date.parse("2026-11-21T11:00:00Z"), timezone: "Europe/Berlin", firstAt: Date.parse("2025-03-04T12:00:00Z") }
const SITE = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }
const SAVED: Filter = { op: "is", dimension: "browser", values: ["Firefox"], missing: false, caseSensitive: true }

const parse = (body: Record<string, unknown>) =>
  parseArrayQuery(body, MOMENT, new Faults(), (kind, id) => (kind === "segment" && id === 4 ? SAVED : undefined))
/** Parses a query for today's visitors with the given changes. */
const parseWith = (more: Record<string, unknown>) => parse({ site_id: 1, metrics: ["visitors"], date_range: "day", ...more })
const queryOf = (more: Record<string, unknown>) => arrayQuery(parseWith(more), SITE, MOMENT.now)

/** Returns pointer and code of each fault. */
function faultsOf(work: () => unknown): string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError && error.code === "validation_failed")
      return (error.members.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)
    throw error
  }
  return []
}
const leaf = ["is", "event:page", ["/a"]]
const wrapped = (operator: string, times: number): unknown => (times === 0 ? leaf : [operator, wrapped(operator, times - 1)])

test("applies the defaults to omitted fields", () => {
  expect(queryOf({})).toEqual({
    site: SITE,
    range: { from: Date.parse("2026-11-20T23:00:00Z"), to: Date.parse("2026-11-21T23:00:00Z") },
    timezone: "Europe/Berlin",
    now: MOMENT.now,
    metrics: ["visitors"],
    groupings: [],
    order: [{ by: "metric", index: 0, descending: true }],
    limit: 10_000,
    offset: 0,
    fillBuckets: false,
  })
})

describe("ranges", () => {
  test.each<[unknown, string, string]>([
    ["day", "2026-11-21T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    ["today", "2026-11-21T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    ["yesterday", "2026-11-20T00:00:00+01:00", "2026-11-21T00:00:00+01:00"],
    ["24h", "2026-11-20T13:00:00+01:00", "2026-11-21T13:00:00+01:00"],
    ["7d", "2026-11-15T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    ["91d", "2026-08-23T00:00:00+02:00", "2026-11-22T00:00:00+01:00"],
    ["14d", "2026-11-08T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    ["3mo", "2026-09-01T00:00:00+02:00", "2026-11-22T00:00:00+01:00"],
    ["last_week", "2026-11-09T00:00:00+01:00", "2026-11-16T00:00:00+01:00"],
    ["last_month", "2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00"],
    ["12mo", "2025-12-01T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    ["all", "2025-03-04T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    ["realtime", "2026-11-21T10:55:00.001Z", "2026-11-21T11:00:00.001Z"],
    [["2026-10-25", "2026-10-25"], "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"],
    // Clipped to today.
    [["2026-11-01", "2027-01-01"], "2026-11-01T00:00:00+01:00", "2026-11-22T00:00:00+01:00"],
    [["2026-11-01T12:00:00+02:00", "2027-01-01T00:00:00Z"], "2026-11-01T10:00:00Z", "2026-11-22T00:00:00+01:00"],
    // Both ends are inclusive, to the second.
    [["2026-11-01T12:00:00+02:00", "2026-11-01T15:59:59+02:00"], "2026-11-01T10:00:00Z", "2026-11-01T14:00:00Z"],
    [["2026-11-01T12:00:00.9Z", "2026-11-01T12:00:00.9Z"], "2026-11-01T12:00:00Z", "2026-11-01T12:00:01Z"],
    // Local times.
    [["2026-11-01T08:00", "2026-11-01T17:59:59"], "2026-11-01T08:00:00+01:00", "2026-11-01T18:00:00+01:00"],
    [["2026-11-01T08:00:00", "2026-11-01T12:00:00Z"], "2026-11-01T07:00:00Z", "2026-11-01T12:00:01Z"],
    // The hour that occurs twice counts from its first run, and a skipped one moves forward.
    [["2026-10-25T02:00", "2026-10-25T02:59:59"], "2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+02:00"],
    [["2026-03-29T02:30", "2026-03-29T03:59:59"], "2026-03-29T03:30:00+02:00", "2026-03-29T04:00:00+02:00"],
    [["2026-11-01t12:00:00z", "2026-11-01t12:00:00z"], "2026-11-01T12:00:00Z", "2026-11-01T12:00:01Z"],
  ])("%j", (date_range, from, to) => {
    expect(queryOf({ date_range }).range).toEqual({ from: Date.parse(from), to: Date.parse(to) })
  })

  test("count visitors by events of any name only for realtime", () => {
    expect(queryOf({ date_range: "realtime" })).toMatchObject({ anyEvent: true })
    expect(queryOf({ date_range: "24h" })).not.toHaveProperty("anyEvent")
  })

  test("use the query's time zone for the boundaries of days", () => {
    // It is already the next day there.
    expect(queryOf({ timezone: "pacific/auckland" })).toMatchObject({
      timezone: "Pacific/Auckland",
      range: { from: Date.parse("2026-11-22T00:00:00+13:00"), to: Date.parse("2026-11-23T00:00:00+13:00") },
    })
  })

  test.each<[unknown, string[]]>([
    ["8w", ["/date_range invalid_choice"]],
    ["0d", ["/date_range invalid_choice"]],
    ["9999d", ["/date_range invalid_range"]],
    ["121mo", ["/date_range invalid_range"]],
    ["__proto__", ["/date_range invalid_choice"]],
    [7, ["/date_range invalid_type"]],
    [null, ["/date_range invalid_type"]],
    [{}, ["/date_range invalid_type"]],
    [[], ["/date_range too_few"]],
    [["2026-11-01"], ["/date_range too_few"]],
    [["2026-11-01", "2026-11-02", "2026-11-03"], ["/date_range too_many"]],
    [
      ["2026-02-30", 5],
      ["/date_range/0 invalid_date", "/date_range/1 invalid_type"],
    ],
    [["2026-11-02", "2026-11-01"], ["/date_range invalid_range"]],
    [["2026-11-22", "2026-11-23"], ["/date_range invalid_range"]],
    [["2010-01-01", "2026-11-01"], ["/date_range invalid_range"]],
    [["2026-11-01", "2026-11-01T12:00:00Z"], ["/date_range invalid_range"]],
    [["2026-11-01T12:00:01Z", "2026-11-01T12:00:00Z"], ["/date_range invalid_range"]],
    [["2026-11-21T11:00:01Z", "2026-11-21T12:00:00Z"], ["/date_range invalid_range"]],
    [["0001-01-01T00:00:00Z", "2026-11-21T00:00:00Z"], ["/date_range invalid_range"]],
    // No minutes, no seconds with an offset, an hour that does not exist.
    [
      ["2026-11-01T12", "2026-11-01T12:00Z"],
      ["/date_range/0 invalid_date", "/date_range/1 invalid_date"],
    ],
    [
      ["2026-11-01T25:00:00Z", "2026-11-01T12:00:00+25:00"],
      ["/date_range/0 invalid_date", "/date_range/1 invalid_date"],
    ],
  ])("reject %j", (date_range, faults) => {
    expect(faultsOf(() => parseWith({ date_range }))).toEqual(faults)
  })
})

describe("dimensions", () => {
  test("accept Plausible's names, including aliases", () => {
    expect(queryOf({ dimensions: ["visit:screen", "event:props:is_customer", "visit:country_name"] }).groupings).toEqual([
      { by: "dimension", dimension: "device", missing: "(not set)" },
      { by: "dimension", dimension: "property", property: "is_customer", missing: "(none)" },
      { by: "dimension", dimension: "country", named: true, missing: "(not set)" },
    ])
  })

  test.each([
    ["day", "hour"],
    ["7d", "day"],
    [["2025-01-01", "2025-06-01"], "week"],
    [["2020-01-01", "2026-01-01"], "month"],
  ])("resolve time to an interval that suits %j", (date_range, interval) => {
    expect(queryOf({ date_range, dimensions: ["time"] })).toMatchObject({
      groupings: [{ by: "time", interval }],
      order: [{ by: "grouping", index: 0, descending: false }],
    })
  })

  test.each<[unknown, string[]]>([
    ["event:page", ["/dimensions invalid_type"]],
    [
      [7, null],
      ["/dimensions/0 invalid_type", "/dimensions/1 invalid_type"],
    ],
    [
      ["page", "event:props", "event:props:"],
      ["/dimensions/0 invalid_choice", "/dimensions/1 invalid_choice", "/dimensions/2 too_short"],
    ],
    [["constructor"], ["/dimensions/0 invalid_choice"]],
    [["event:page", "event:page"], ["/dimensions not_unique"]],
    [["event:page", "visit:os", "visit:city", "visit:browser"], ["/dimensions too_many"]],
    [["time:day", "event:page", "time:hour"], ["/dimensions/2 unsupported_combination"]],
    [[`event:props:${"k".repeat(301)}`], ["/dimensions/0 too_long"]],
    [["event:props:a\u0000"], ["/dimensions/0 invalid_characters"]],
    [["event:props:\ud800"], ["/dimensions/0 invalid_characters"]],
  ])("reject %j", (dimensions, faults) => {
    expect(faultsOf(() => parseWith({ dimensions }))).toEqual(faults)
  })

  test.each<[string, unknown, string[]]>([
    ["time:minute", "24h", []],
    ["time:minute", "7d", ["/dimensions/0 too_many_points"]],
    ["time:hour", ["2026-10-01", "2026-11-10"], []],
    ["time:hour", ["2026-10-01", "2026-11-15"], ["/dimensions/0 too_many_points"]],
    ["time:day", ["2022-01-01", "2026-01-01"], ["/dimensions/0 too_many_points"]],
  ])("%s of %j", (dimension, date_range, faults) => {
    expect(faultsOf(() => parseWith({ date_range, dimensions: [dimension] }))).toEqual(faults)
  })
})

describe("metrics", () => {
  test.each<[unknown, string[]]>([
    [undefined, ["/metrics required"]],
    ["visitors", ["/metrics invalid_type"]],
    [[], ["/metrics too_few"]],
    [["visitors", "visitors"], ["/metrics not_unique"]],
    [
      ["revenue", 5, "toString"],
      ["/metrics/0 invalid_choice", "/metrics/1 invalid_type", "/metrics/2 invalid_choice"],
    ],
    [Array.from({ length: 21 }, () => "visitors"), ["/metrics too_many"]],
  ])("reject %j", (metrics, faults) => {
    expect(faultsOf(() => parseWith({ metrics }))).toEqual(faults)
  })

  const page = ["is", "event:page", ["/a"]]
  const goal = ["is", "event:goal", ["Signup"]]
  test.each<[string[], string[], unknown[], string[]]>([
    [["bounce_rate", "engaged_time"], ["event:page", "event:hostname"], [], []],
    [
      ["visitors", "bounce_rate", "visit_duration"],
      ["event:name"],
      [],
      ["/metrics/1 unsupported_combination", "/metrics/2 unsupported_combination"],
    ],
    [["views_per_visit"], ["visit:os", "event:props:plan"], [], ["/metrics/0 unsupported_combination"]],
    [["engaged_time"], ["event:title"], [], ["/metrics/0 unsupported_combination"]],
    [["scroll_depth"], [], [], ["/metrics/0 unsupported_combination"]],
    [["exit_rate"], ["visit:exit_page"], [], ["/metrics/0 unsupported_combination"]],
    [["exit_rate", "time_on_page", "time_on_page_median", "scroll_depth"], ["event:page"], [], []],
    [["time_on_page"], [], [["not", ["or", [page, goal]]]], []],
    [["time_on_page"], [], [["has_done", page]], ["/metrics/0 unsupported_combination"]],
    [["conversion_rate"], [], [], ["/metrics/0 unsupported_combination"]],
    [["conversion_rate", "group_conversion_rate"], ["visit:source"], [goal], []],
    [["group_conversion_rate"], ["event:goal"], [], []],
    [["group_conversion_rate"], ["visit:source"], [["has_not_done", goal]], ["/metrics/0 unsupported_combination"]],
    [["percentage"], [], [], ["/metrics/0 unsupported_combination"]],
    [["percentage"], ["time:day"], [], []],
    [["lcp_p75"], ["event:page"], [], []],
    [["cls_p75"], ["event:props:plan"], [], ["/metrics/0 unsupported_combination"]],
  ])("%j by %j with %j", (metrics, dimensions, filters, faults) => {
    expect(faultsOf(() => parseWith({ metrics, dimensions, filters }))).toEqual(faults)
  })
})

describe("filters", () => {
  const condition = (more: object) => ({ op: "is", dimension: "page", values: ["/a"], missing: false, caseSensitive: true, ...more })

  test.each<[unknown[], unknown]>([
    [[leaf], condition({})],
    [
      [leaf, ["contains_not", "event:page", ["b"]]],
      { op: "and", filters: [condition({}), { op: "not", filter: condition({ op: "contains", values: ["b"] }) }] },
    ],
    [[["or", [leaf]]], { op: "or", filters: [condition({})] }],
    [[["has_not_done", leaf]], { op: "not", filter: { op: "has_done", filter: condition({}) } }],
    [[["is", "event:page", ["/a"], { case_sensitive: false }]], condition({ caseSensitive: false })],
    [[["is", "event:page", ["/a"], {}]], condition({})],
    // Plausible's documentation writes a missing value this way.
    [
      [["is_not", "visit:country_name", [""]]],
      { op: "not", filter: condition({ dimension: "country", named: true, values: [""], missing: true }) },
    ],
    [[["is", "visit:source", ["Direct"]]], condition({ dimension: "source", values: ["Direct"], missing: true })],
    [[["is", "visit:channel", ["Direct"]]], condition({ dimension: "channel", values: ["Direct"] })],
    [
      [["is", "visit:os", ["(NOT SET)"], { case_sensitive: false }]],
      condition({ dimension: "os", values: ["(NOT SET)"], missing: true, caseSensitive: false }),
    ],
    [[["contains", "visit:os", ["(none)"]]], condition({ op: "contains", dimension: "os", values: ["(none)"] })],
    // Passed on unchanged.
    [[["is", "event:props:a b", [" x "]]], condition({ dimension: "property", property: "a b", values: [" x "] })],
    [[["matches_wildcard", "event:page", ["/*%_"]]], condition({ op: "matches_wildcard", values: ["/*%_"] })],
    [[["is", "segment", [4]]], { op: "or", filters: [SAVED] }],
    [[["is_not", "segment", [4]]], { op: "not", filter: { op: "or", filters: [SAVED] } }],
  ])("%j", (filters, filter) => {
    expect(queryOf({ filters }).filter as unknown).toEqual(filter)
  })

  test.each<[string, unknown, string[]]>([
    ["a non-list", {}, ["/filters invalid_type"]],
    ["a bare leaf", leaf, ["/filters/0 invalid_type", "/filters/1 invalid_type", "/filters/2/0 invalid_choice", "/filters/2 too_few"]],
    ["an empty leaf", [[]], ["/filters/0/0 invalid_choice", "/filters/0 too_few"]],
    ["null", [null], ["/filters/0 invalid_type"]],
    ["an unknown operator", [["equals", "event:page", ["/a"]]], ["/filters/0/0 invalid_choice"]],
    ["an operator that is not a string", [[{}, "event:page", ["/a"]]], ["/filters/0/0 invalid_type"]],
    [
      "regular expressions",
      [
        ["matches", "event:page", ["^/"]],
        ["not", ["matches_not", "event:page", ["^/"]]],
      ],
      ["/filters/0/0 regex_not_supported", "/filters/1/1/0 regex_not_supported"],
    ],
    ["an unknown dimension", [["is", "event:country", ["DE"]]], ["/filters/0/1 invalid_choice"]],
    ["time", [["is", "time:day", ["2026-11-21"]]], ["/filters/0/1 unsupported_combination"]],
    ["is_not on a goal", [["is_not", "event:goal", ["Signup"]]], ["/filters/0/0 unsupported_combination"]],
    ["clauses that are not a list", [["is", "event:page", "/a"]], ["/filters/0/2 invalid_type"]],
    ["no clauses", [["is", "event:page", []]], ["/filters/0/2 too_few"]],
    ["101 clauses", [["is", "event:page", Array.from({ length: 101 }, () => "/a")]], ["/filters/0/2 too_many"]],
    [
      "clauses that are not strings",
      [["is", "visit:city", [1.5, null, ["a"]]]],
      ["/filters/0/2/0 invalid_type", "/filters/0/2/1 invalid_type", "/filters/0/2/2 invalid_type"],
    ],
    ["a long clause", [["is", "event:page", ["a".repeat(2_001)]]], ["/filters/0/2/0 too_long"]],
    ["an empty substring", [["contains", "event:page", [""]]], ["/filters/0/2/0 too_short"]],
    ["a lone surrogate", [["is", "event:page", ["\udc00"]]], ["/filters/0/2/0 invalid_characters"]],
    ["a pattern of nine stars", [["matches_wildcard_not", "event:page", ["*a*a*a*a*a*a*a*a*"]]], ["/filters/0/2/0 invalid_pattern"]],
    [
      "wrong modifiers",
      [[...leaf, { case_sensitive: "no", other: 1 }]],
      ["/filters/0/3/other unknown_field", "/filters/0/3/case_sensitive invalid_type"],
    ],
    ["modifiers that are a list", [[...leaf, []]], ["/filters/0/3 invalid_type"]],
    ["a fifth item", [[...leaf, {}, 1]], ["/filters/0 too_many"]],
    ["an empty and", [["and", []]], ["/filters/0/1 too_few"]],
    [
      "an and over a leaf",
      [["and", leaf]],
      ["/filters/0/1/0 invalid_type", "/filters/0/1/1 invalid_type", "/filters/0/1/2/0 invalid_choice", "/filters/0/1/2 too_few"],
    ],
    ["a not over a list", [["not", [leaf]]], ["/filters/0/1/0 invalid_type", "/filters/0/1 too_few"]],
    ["has_done nested in has_done", [["has_done", ["and", [leaf, ["has_not_done", leaf]]]]], ["/filters/0/1/1/1 unsupported_combination"]],
    ["five operators deep", [wrapped("not", 5)], ["/filters/0/1/1/1/1 too_many"]],
    ["an unknown segment", [["is", "segment", [4, 5]]], ["/filters/0/2/1 invalid_choice"]],
    ["a cohort", [["is_not", "cohort", [4]]], ["/filters/0/2/0 invalid_choice"]],
    ["a segment by name", [["contains", "segment", ["4"]]], ["/filters/0/0 unsupported_combination", "/filters/0/2/0 invalid_type"]],
    ["51 leaves", [["or", Array.from({ length: 51 }, () => leaf)]], ["/filters too_many"]],
  ])("reject %s", (_, filters, faults) => {
    expect(faultsOf(() => parseWith({ filters })).toSorted()).toEqual(faults.toSorted())
  })

  test("accept a nesting of four operators and 50 leaves", () => {
    expect(faultsOf(() => parseWith({ filters: [wrapped("not", 4)] }))).toEqual([])
    expect(faultsOf(() => parseWith({ filters: [["or", Array.from({ length: 50 }, () => leaf)]] }))).toEqual([])
  })
})

describe("order, pagination and include", () => {
  test("accept metrics and dimensions as sort keys", () => {
    const { order } = queryOf({
      metrics: ["visitors", "pageviews"],
      dimensions: ["time", "event:page"],
      order_by: [
        ["pageviews", "desc"],
        ["event:page", "asc"],
        ["time", "desc"],
      ],
    })
    expect(order).toEqual([
      { by: "metric", index: 1, descending: true },
      { by: "grouping", index: 1, descending: false },
      { by: "grouping", index: 0, descending: true },
    ])
  })

  test.each<[object, string[]]>([
    [{ order_by: "visitors" }, ["/order_by invalid_type"]],
    [{ order_by: ["visitors", "desc"] }, ["/order_by/0 invalid_type", "/order_by/1 invalid_type"]],
    [{ order_by: [["visitors"]] }, ["/order_by/0 too_few"]],
    [
      {
        order_by: [
          ["pageviews", "desc"],
          ["visitors", "DESC"],
          [1, null],
        ],
      },
      ["/order_by/0/0 invalid_choice", "/order_by/1/1 invalid_choice", "/order_by/2/0 invalid_type", "/order_by/2/1 invalid_type"],
    ],
    [{ order_by: Array.from({ length: 6 }, () => ["visitors", "asc"]) }, ["/order_by too_many"]],
    [{ pagination: { limit: 0, offset: -1 } }, ["/pagination/limit out_of_range", "/pagination/offset out_of_range"]],
    [{ pagination: { limit: "5", page: 1 } }, ["/pagination/limit invalid_type", "/pagination/page unknown_field"]],
    [{ pagination: { limit: 10_001, offset: 1.5 } }, ["/pagination/limit out_of_range", "/pagination/offset invalid_type"]],
    [{ pagination: [] }, ["/pagination invalid_type"]],
    [{ include: { imports: "yes", time_labels: null } }, ["/include/imports invalid_type", "/include/time_labels invalid_type"]],
    [{ include: { time_labels: true } }, ["/include/time_labels unsupported_combination"]],
    [{ include: { comparisons: {} } }, ["/include/comparisons/mode required"]],
    [
      { include: { comparisons: { mode: "previous_year", extra: 1 } } },
      ["/include/comparisons/mode invalid_choice", "/include/comparisons/extra unknown_field"],
    ],
    [{ include: { comparisons: { mode: "custom" } } }, ["/include/comparisons/date_range invalid_range"]],
    [
      { include: { comparisons: { mode: "custom", date_range: ["2026-13-01", 1] } } },
      ["/include/comparisons/date_range/0 invalid_date", "/include/comparisons/date_range/1 invalid_type"],
    ],
    [
      { include: { comparisons: { mode: "previous_period", date_range: ["2026-01-01", "2026-01-02"] } } },
      ["/include/comparisons/date_range unsupported_combination"],
    ],
    [{ timezone: "Mars/Base" }, ["/timezone invalid_timezone"]],
    [{ timezone: 1 }, ["/timezone invalid_type"]],
    [
      JSON.parse('{"__proto__":{"metrics":[]},"constructor":1,"a/b~c":2}'),
      ["/__proto__ unknown_field", "/constructor unknown_field", "/a~1b~0c unknown_field"],
    ],
  ])("reject %j", (more, faults) => {
    expect(faultsOf(() => parseWith(more as Record<string, unknown>))).toEqual(faults)
  })

  test("treat an empty order as omitted", () => {
    expect(queryOf({ order_by: [] }).order).toEqual([{ by: "metric", index: 0, descending: true }])
  })

  test("accept a number with a zero fraction as an integer", () => {
    expect(parseWith({ pagination: JSON.parse('{"limit": 5.0, "offset": 2e1}') })).toMatchObject({ limit: 5, offset: 20 })
  })
})

describe("comparisons", () => {
  const compared = (comparisons: object, date_range: unknown = "7d") => {
    const { range } = parseWith({ date_range, include: { comparisons } }).compared!
    return [new Date(range.from).toISOString(), new Date(range.to).toISOString()]
  }
  test.each<[object, unknown, [string, string]]>([
    [{ mode: "previous_period" }, "7d", ["2026-11-07T23:00:00.000Z", "2026-11-14T23:00:00.000Z"]],
    // It is noon: only the morning of the last day is compared, including the instant of noon itself.
    [{ mode: "previous_period", match_time_of_day: true }, "7d", ["2026-11-07T23:00:00.000Z", "2026-11-14T11:00:00.001Z"]],
    [{ mode: "year_over_year", match_time_of_day: true }, "day", ["2025-11-20T23:00:00.000Z", "2025-11-21T11:00:00.001Z"]],
    // A range in the past is compared with a whole one.
    [{ mode: "previous_period", match_time_of_day: true }, "yesterday", ["2026-11-18T23:00:00.000Z", "2026-11-19T23:00:00.000Z"]],
    [{ mode: "previous_period", match_time_of_day: true }, "24h", ["2026-11-19T12:00:00.000Z", "2026-11-20T11:00:00.001Z"]],
    [{ mode: "year_over_year", match_day_of_week: true }, "7d", ["2025-11-08T23:00:00.000Z", "2025-11-15T23:00:00.000Z"]],
    [{ mode: "custom", date_range: ["2026-01-01", "2026-01-03"] }, "7d", ["2025-12-31T23:00:00.000Z", "2026-01-03T23:00:00.000Z"]],
    [
      { mode: "custom", date_range: ["2026-01-01T00:00:00Z", "2026-01-01T00:59:59Z"] },
      "7d",
      ["2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00.000Z"],
    ],
    // Thursday 1 January, moved back to a Sunday because 15 November is one.
    [
      { mode: "custom", date_range: ["2026-01-01T00:00:00Z", "2026-01-01T00:59:59Z"], match_day_of_week: true },
      "7d",
      ["2025-12-28T00:00:00.000Z", "2025-12-28T01:00:00.000Z"],
    ],
    [
      { mode: "previous_period" },
      ["2026-11-01T10:00:00Z", "2026-11-01T10:59:59Z"],
      ["2026-11-01T09:00:00.000Z", "2026-11-01T10:00:00.000Z"],
    ],
  ])("%j of %j", (comparisons, date_range, range) => {
    expect(compared(comparisons, date_range)).toEqual(range)
  })
})

test("reports all faults at once, in the order of the body, at most twenty", () => {
  const body = { pagination: 5, zz: 1, filters: [["is", "x", [true]]], metrics: ["a"] }
  expect(faultsOf(() => parse(body))).toEqual([
    "/pagination invalid_type",
    "/zz unknown_field",
    "/filters/0/1 invalid_choice",
    "/filters/0/2/0 invalid_type",
    "/metrics/0 invalid_choice",
    "/date_range required",
  ])
  const clauses = Array.from({ length: 90 }, () => true)
  const many = faultsOf(() => parse({ filters: [["is", "event:page", clauses]], metrics: clauses.slice(0, 19) }))
  expect(many).toEqual(Array.from({ length: 20 }, (_, i) => `/filters/0/2/${i} invalid_type`))
})

test("rejects a body with thousands of faults quickly", () => {
  const fields = Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`f${i}`, i]))
  const bodies = [
    { ...fields, include: fields, pagination: fields },
    { filters: Array.from({ length: 10_000 }, () => leaf) },
    { filters: [["is", "event:page", ["/a"], fields]] },
    { metrics: Array.from({ length: 20_000 }, () => "x"), dimensions: Array.from({ length: 20_000 }, () => "y") },
  ]
  const began = performance.now()
  for (const body of bodies) expect(faultsOf(() => parse(body)).length).toBeGreaterThan(0)
  // Comparing each with every other one would take seconds.
  expect(performance.now() - began).toBeLessThan(2_000)
})
