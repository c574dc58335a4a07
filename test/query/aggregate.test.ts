import { expect, test } from "bun:test"
import type { Dimension } from "../../src/domain/dimension.ts"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import type { Metric } from "../../src/domain/metric.ts"
import type { GoalRule, Grouping, Query, Row } from "../../src/domain/query.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { openTraffic, SITE } from "./traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const MINUTE = 60_000
const RANGE = { from: START, to: START + 120 * MINUTE }

const GOALS: GoalRule[] = [
  { id: 1, name: "Buy", kind: "event", match: "exact", value: "Buy" },
  { id: 2, name: "Any B", kind: "event", match: "prefix", value: "B" },
  { id: 3, name: "Visit /b", kind: "page", match: "exact", value: "/b" },
  { id: 4, name: "Read", kind: "scroll", match: "wildcard", value: "/a*", threshold: 50 },
  { id: 5, name: "Buy pro", kind: "event", match: "exact", value: "Buy", props: { plan: "pro" } },
]
const SHOP = { ...SITE, goals: GOALS }

/**
 * Three visitors with four visits in the range, and a fourth visitor whose visit begins before it:
 * one   10:00 /a, engaged 10 s and 60 % there, /b, Buy {plan pro} 12.50 EUR    DE, Google, entry /a, exit /b
 * two   10:05 only /a, engaged 3 s and 20 %                                    DE, entry = exit /a
 * one   11:00 /b, then Share, which is not interactive                         FR
 * three 11:30 Buy {plan free} 5.00 USD, then /a 90 s later                     FR, Bing
 * four  09:50 /b, then /a at 10:10                                             US
 */
function shop() {
  const traffic = openTraffic(START)
  traffic.visit({
    visitor: 1,
    traits: { country: "DE", source: "Google" },
    events: [
      { at: START, page: "/a", hostname: "shop.example" },
      { at: START + 10_000, name: "engagement", page: "/a", hostname: "shop.example", engagement: { engagedMs: 10_000, scrollDepth: 60 } },
      { at: START + 20_000, page: "/b", hostname: "shop.example" },
      { at: START + 24_000, name: "vitals", page: "/b", vitals: { lcp: 1_000, cls: 0.125 } },
      { at: START + 60_000, name: "Buy", page: "/b", props: [["plan", "pro"]], revenue: { amount: 1_250, currency: "EUR" } },
    ],
  })
  traffic.visit({
    visitor: 2,
    traits: { country: "DE" },
    events: [
      { at: START + 5 * MINUTE, page: "/a", hostname: "blog.example" },
      { at: START + 5 * MINUTE + 3_000, name: "engagement", page: "/a", engagement: { engagedMs: 3_000, scrollDepth: 20 } },
      { at: START + 5 * MINUTE + 4_000, name: "vitals", page: "/a", vitals: { lcp: 2_000 } },
    ],
  })
  traffic.visit({
    visitor: 1,
    traits: { country: "FR" },
    events: [
      { at: START + 60 * MINUTE, page: "/b", hostname: "shop.example" },
      { at: START + 60 * MINUTE + 30_000, name: "Share", page: "/b", interactive: false },
    ],
  })
  traffic.visit({
    visitor: 3,
    traits: { country: "FR", source: "Bing" },
    events: [
      { at: START + 90 * MINUTE, name: "Buy", page: "", props: [["plan", "free"]], revenue: { amount: 500, currency: "USD" } },
      { at: START + 90 * MINUTE + 90_000, page: "/a", hostname: "shop.example" },
    ],
  })
  traffic.visit({
    visitor: 4,
    traits: { country: "US" },
    events: [
      { at: START - 10 * MINUTE, page: "/b", hostname: "shop.example" },
      { at: START + 10 * MINUTE, page: "/a", hostname: "shop.example" },
    ],
  })
  return traffic
}

const by = (dimension: Dimension, property?: string): Grouping => ({ by: "dimension", dimension, ...(property && { property }) })
const is = (dimension: Dimension, ...values: string[]): Condition => ({
  op: "is",
  dimension,
  values: values.filter((value) => value !== "(none)"),
  missing: values.includes("(none)"),
  caseSensitive: true,
})
const property = (name: string, ...values: string[]): Condition => ({ ...is("property", ...values), property: name })
const all = (...filters: Filter[]): Filter => ({ op: "and", filters })
const any = (...filters: Filter[]): Filter => ({ op: "or", filters })
const not = (filter: Filter): Filter => ({ op: "not", filter })
const done = (filter: Filter): Filter => ({ op: "has_done", filter })

function ask(traffic: ReturnType<typeof openTraffic>, metrics: readonly Metric[], more: Partial<Query> = {}) {
  const plain = {
    site: SHOP,
    range: RANGE,
    timezone: "UTC",
    now: RANGE.to,
    groupings: [],
    order: [],
    limit: 100,
    offset: 0,
    fillBuckets: false,
  }
  return aggregate(traffic.snapshot(), { ...plain, metrics, ...more }, () => {})
}
const values = (rows: Row[]) => rows.map(({ keys, values }) => [...keys, ...values])

/** Runs the query twice: on the tail, and on the segment that the tail is sealed into. */
async function expectBoth(traffic: ReturnType<typeof openTraffic>, metrics: readonly Metric[], more: Partial<Query>, expected: unknown) {
  expect(values(ask(traffic, metrics, more).rows)).toEqual(expected as never)
  await traffic.seal()
  expect(values(ask(traffic, metrics, more).rows)).toEqual(expected as never)
}

const COUNTS = ["visitors", "visits", "pageviews", "events"] as const

test.each<[Metric, number | null, Filter | undefined]>([
  ["visitors", 4, undefined],
  ["visits", 4, undefined],
  ["pageviews", 6, undefined],
  ["events", 9, undefined],
  // 2 + 1 + 1 + 1 pageviews in 4 visits.
  ["views_per_visit", 1.25, undefined],
  // The second visit, and the third, whose Share is not interactive.
  ["bounce_rate", 50, undefined],
  // 60 + 0 + 30 + 90 s.
  ["visit_duration", 45, undefined],
  // 13 s in 4 visits, rounded half away from zero.
  ["engaged_time", 3, undefined],
  ["percentage", 100, undefined],
  // Buy twice by name, Any B twice, /b twice, Read once, Buy pro once.
  ["conversions", 8, undefined],
  // Visitors one and three.
  ["conversion_rate", 50, undefined],
  ["total_revenue", 1_250, undefined],
  ["average_revenue", 1_250, undefined],
  ["lcp_p75", 2_000, undefined],
  ["cls_p75", 0.125, undefined],
  ["inp_p75", null, undefined],
  // On /a: 13 s in the visits of one, two, three and four.
  ["time_on_page", 3, is("page", "/a")],
  // The median of 10, 3, 0 and 0 s is the mean of the middle two, 1.5.
  ["time_on_page_median", 2, is("page", "/a")],
  ["scroll_depth", 40, is("page", "/a")],
  // Three visits in the range contain /a and two of them end there; four's visit began before the range. 4 pageviews.
  ["exit_rate", 50, is("page", "/a")],
  ["time_on_page", null, is("page", "/b")],
  ["scroll_depth", null, is("page", "/b")],
  ["exit_rate", 100, is("page", "/b")],
  // The same with a filter by exit page: the denominator is the page's pageviews, not the pageviews of the visits that end there.
  ["exit_rate", 50, is("exit_page", "/a")],
  // Only visits that entered on /a: those of one, two and three. Two's visit is a bounce.
  ["bounce_rate", 33.3, is("page", "/a")],
  ["bounce_rate", 50, is("country", "DE")],
])("%s is %p", async (metric, expected, filter) => {
  using traffic = shop()
  await expectBoth(traffic, [metric], filter ? { filter } : {}, [[expected]])
})

test("does not count a visit as a bounce if it was engaged for as long as the site requires", () => {
  using traffic = shop()
  expect(ask(traffic, ["bounce_rate"], { site: { ...SHOP, bounceEngagedSeconds: 3 } }).rows[0]!.values).toEqual([25])
})

test("without data, rates are 0 and averages are null", () => {
  using traffic = openTraffic(START)
  const metrics: Metric[] = [
    "visitors",
    "views_per_visit",
    "bounce_rate",
    "exit_rate",
    "percentage",
    "conversion_rate",
    "group_conversion_rate",
  ]
  expect(ask(traffic, metrics).rows).toEqual([{ keys: [], values: [0, 0, 0, 0, 0, 0, 0] }])
  const measured: Metric[] = ["time_on_page", "time_on_page_median", "scroll_depth", "lcp_p75", "total_revenue", "average_revenue"]
  expect(ask(traffic, measured).rows).toEqual([{ keys: [], values: [null, null, null, null, null, null] }])
})

test.each<[string, Filter, number[]]>([
  ["by a visit dimension", is("country", "DE"), [2, 2, 3, 4]],
  ["by several values", is("country", "DE", "US"), [3, 2, 4, 5]],
  ["by a negated condition", not(is("country", "DE")), [3, 2, 3, 5]],
  ["by a missing value", is("source", "(none)"), [3, 2, 3, 4]],
  ["by a negated condition, which missing values pass", not(is("source", "Google")), [4, 3, 4, 6]],
  ["by a negated condition that lists the missing value", not(is("source", "Google", "(none)")), [1, 1, 1, 2]],
  ["by an event dimension, counting the visits with such an event", is("page", "/a"), [4, 3, 4, 4]],
  ["by a missing page", is("page", "(none)"), [1, 1, 0, 1]],
  ["by two event conditions that one event meets", all(is("page", "/b"), is("event", "Buy")), [1, 1, 0, 1]],
  ["by two event conditions that no single event meets", all(is("page", "/a"), is("event", "Buy")), [0, 0, 0, 0]],
  ["by a visit condition and an event condition", all(is("country", "FR"), is("page", "/a")), [1, 1, 1, 1]],
  ["by a visit condition or an event condition", any(is("country", "US"), is("event", "Share")), [2, 1, 1, 2]],
  ["by has_done, counting all events of the visit", done(is("event", "Buy")), [2, 2, 3, 5]],
  ["by has_done and an event condition", all(is("page", "/a"), done(is("event", "Buy"))), [2, 2, 2, 2]],
  ["by has_not_done", not(done(is("event", "Buy"))), [3, 2, 3, 4]],
  ["by has_done with an event before the range", done(all(is("page", "/b"), is("country", "US"))), [1, 0, 1, 1]],
  ["by a property", property("plan", "pro"), [1, 1, 0, 1]],
  ["by a missing property", property("plan", "(none)"), [4, 4, 6, 7]],
  ["by a negated property", not(property("plan", "pro")), [4, 4, 6, 8]],
  ["by a property key that the site does not have", property("colour", "red"), [0, 0, 0, 0]],
  ["by a missing value of a property key that the site does not have", property("colour", "(none)"), [4, 4, 6, 9]],
  ["by contains, case-sensitive", { ...is("event", "u"), op: "contains" }, [2, 2, 0, 2]],
  ["by contains, case-sensitive, with another case", { ...is("event", "bU"), op: "contains" }, [0, 0, 0, 0]],
  ["by contains, case-insensitive", { ...is("event", "bU"), op: "contains", caseSensitive: false }, [2, 2, 0, 2]],
  ["by starts_with", { ...is("hostname", "shop"), op: "starts_with" }, [3, 3, 5, 5]],
  ["by a wildcard", { ...is("hostname", "*.example"), op: "matches_wildcard" }, [4, 4, 6, 6]],
  ["by contains, where a star is literal", { ...is("hostname", "*.example"), op: "contains" }, [0, 0, 0, 0]],
  ["by an event goal", is("goal", "Buy"), [2, 2, 0, 2]],
  ["by a goal with properties", is("goal", "Buy pro"), [1, 1, 0, 1]],
  ["by a page goal", is("goal", "Visit /b"), [1, 2, 2, 2]],
  ["by a scroll goal, whose engagement report is not counted as an event", is("goal", "Read"), [1, 1, 0, 0]],
  ["by part of a goal's name", { ...is("goal", "B"), op: "contains" }, [2, 2, 0, 2]],
  ["by an unknown goal", is("goal", "None"), [0, 0, 0, 0]],
  ["by a negated scroll goal", not(is("goal", "Read")), [4, 4, 6, 9]],
  ["by has_done with a scroll goal", done(is("goal", "Read")), [1, 1, 2, 3]],
])("filters %s", async (_, filter, expected) => {
  using traffic = shop()
  await expectBoth(traffic, COUNTS, { filter }, [expected])
})

test.each<[string, Grouping[], readonly Metric[], unknown[][]]>([
  [
    "country",
    [by("country")],
    ["visitors", "visits", "pageviews", "events", "bounce_rate"],
    [
      ["DE", 2, 2, 3, 4, 50],
      ["FR", 2, 2, 2, 4, 50],
      ["US", 1, 0, 1, 1, 0],
    ],
  ],
  [
    "page",
    [by("page")],
    ["visitors", "visits", "pageviews", "events", "bounce_rate", "exit_rate", "time_on_page", "scroll_depth"],
    [
      // Sorted as (none), before the slash.
      [null, 1, 1, 0, 1, 0, 0, null, null],
      ["/a", 4, 3, 4, 4, 33.3, 50, 3, 40],
      ["/b", 1, 2, 2, 4, 100, 100, null, null],
    ],
  ],
  [
    "event",
    [by("event")],
    ["visitors", "events", "conversion_rate"],
    [
      ["Buy", 2, 2, 50],
      ["Share", 1, 1, 25],
      ["pageview", 4, 6, 100],
    ],
  ],
  [
    "goal",
    [by("goal")],
    ["visitors", "conversions", "conversion_rate", "total_revenue"],
    [
      ["Any B", 2, 2, 50, 1_250],
      ["Buy", 2, 2, 50, 1_250],
      ["Buy pro", 1, 1, 25, 1_250],
      ["Read", 1, 1, 25, null],
      ["Visit /b", 1, 2, 25, null],
    ],
  ],
  [
    "property",
    [by("property", "plan")],
    ["visitors", "visits", "events", "conversion_rate"],
    [
      [null, 4, 4, 7, 100],
      ["free", 1, 1, 1, 25],
      ["pro", 1, 1, 1, 25],
    ],
  ],
  [
    "country and event",
    [by("country"), by("event")],
    ["visitors", "visits", "events"],
    [
      ["DE", "Buy", 1, 1, 1],
      ["DE", "pageview", 2, 2, 3],
      ["FR", "Buy", 1, 1, 1],
      ["FR", "Share", 1, 1, 1],
      ["FR", "pageview", 2, 2, 2],
      ["US", "pageview", 1, 0, 1],
    ],
  ],
  [
    "source, with a label for the missing value",
    [by("source")],
    ["visitors", "percentage", "group_conversion_rate"],
    [
      ["Bing", 1, 25, 100],
      [null, 3, 75, 33.3],
      ["Google", 1, 25, 100],
    ],
  ],
  [
    "hour",
    [{ by: "time", interval: "hour" }],
    ["visitors", "visits", "pageviews", "conversions"],
    [
      [START, 3, 2, 4, 5],
      [START + 60 * MINUTE, 2, 2, 2, 3],
    ],
  ],
])("groups by %s", async (_, groupings, metrics, expected) => {
  using traffic = shop()
  await expectBoth(traffic, metrics, { groupings }, expected)
})

test("returns rows only for the goals that a filter lists when grouping by goal", () => {
  using traffic = shop()
  const table = ask(traffic, ["visitors", "conversions"], { groupings: [by("goal")], filter: is("goal", "Buy", "Read") })
  expect(values(table.rows)).toEqual([
    ["Buy", 2, 2],
    ["Read", 1, 1],
  ])
})

test("omits goal, event and property conditions from the denominator of conversion rates", () => {
  using traffic = shop()
  const rate = (filter: Filter) => ask(traffic, ["conversion_rate"], { filter }).rows[0]!.values[0]
  // One of the two visitors from DE converts; the denominator ignores the goal.
  expect(rate(all(is("goal", "Buy"), is("country", "DE")))).toBe(50)
  // An `or` with a removed alternative matches all four visitors: one and three buy, and one is also from DE.
  expect(rate(any(is("goal", "Buy"), is("country", "US")))).toBe(50)
})

test.each<[string, Filter, number]>([
  // One and three convert, out of the four visitors of the range.
  ["a not of a removed condition", not(is("event", "Share")), 50],
  ["a not of a removed condition and another one", not(all(is("event", "Share"), is("country", "US"))), 50],
  ["a not of a removed condition or another one", not(any(is("event", "Share"), is("country", "US"))), 50],
  ["a not around a not of a removed condition", not(all(not(is("event", "Share")), is("country", "US"))), 50],
  // One and three convert, out of one, two and three.
  ["a not of a removed condition, but not its sibling", all(not(is("event", "Share")), not(is("country", "US"))), 66.7],
  // One is from DE and converts; the other conversions belong to visitors from elsewhere.
  ["two nots around a removed condition", not(not(all(is("goal", "Buy"), is("country", "DE")))), 25],
  // One and three convert in visits without a Share; all four visitors have such a visit. `has_not_done` is not omitted.
  ["nothing of has_not_done", not(done(is("event", "Share"))), 50],
])("omits from the denominator of conversion rates: %s", (_, filter, expected) => {
  using traffic = shop()
  expect(ask(traffic, ["conversion_rate"], { filter }).rows[0]!.values).toEqual([expected])
})

test("computes time on page for the visits of a custom event, although engagement lacks the filtered value", () => {
  using traffic = shop()
  const filter = is("page", "/a")
  // One and three bought: 10 s in two visits.
  expect(ask(traffic, ["time_on_page"], { filter: all(filter, is("event", "Buy")) }).rows[0]!.values).toEqual([5])
  const table = ask(traffic, ["time_on_page"], { filter, groupings: [by("event")] })
  expect(values(table.rows)).toEqual([["pageview", 3]])
})

test("sorts rows without revenue as 0", () => {
  using traffic = shop()
  const order = [{ by: "metric" as const, index: 0, descending: false }]
  const table = ask(traffic, ["total_revenue"], { groupings: [by("country")], order })
  expect(values(table.rows)).toEqual([
    ["FR", null],
    ["US", null],
    ["DE", 1_250],
  ])
})

test("an exit page has the same exit rate as the page", () => {
  using traffic = shop()
  const ofExits = ask(traffic, ["exit_rate"], { groupings: [by("exit_page")] })
  const ofPages = ask(traffic, ["exit_rate"], { groupings: [by("page")] })
  expect(values(ofExits.rows)).toEqual([
    ["/a", 50],
    ["/b", 100],
  ])
  expect(values(ofPages.rows)).toEqual([
    [null, 0],
    ["/a", 50],
    ["/b", 100],
  ])
})

test("a page in has_done selects visits without restricting their entry or exit page", () => {
  using traffic = openTraffic(START)
  // The first visit goes from /pricing to /docs; the second views only /docs.
  traffic.visit({
    visitor: 1,
    events: [
      { at: START, page: "/pricing", hostname: "shop.example" },
      { at: START + MINUTE, page: "/docs", hostname: "docs.example" },
    ],
  })
  traffic.visit({ visitor: 2, events: [{ at: START, page: "/docs", hostname: "docs.example" }] })
  const metrics = ["exit_rate", "bounce_rate", "visit_duration", "visits"] as const
  const rows = (filter: Filter, groupings: Grouping[] = [by("page")]) => values(ask(traffic, metrics, { filter, groupings }).rows)
  expect(rows(done(is("page", "/pricing")))).toEqual([
    ["/docs", 100, 0, 60, 1],
    ["/pricing", 0, 0, 60, 1],
  ])
  expect(rows(not(done(is("page", "/pricing"))))).toEqual([["/docs", 100, 100, 0, 1]])
  expect(rows(all(is("page", "/docs"), done(is("page", "/pricing"))))).toEqual([["/docs", 100, 0, 60, 1]])
  expect(rows(all(is("page", "/docs"), done(is("page", "/pricing"))), [])).toEqual([[100, 0, 60, 1]])
  // Both visits have a pageview of /docs, and one of them is a bounce.
  expect(rows(done(is("page", "/docs")), [])).toEqual([[66.7, 50, 30, 2]])
  expect(rows(done(is("hostname", "docs.example")), [])).toEqual([[66.7, 50, 30, 2]])
  // An exit page in has_done does not restrict a page's row to the exits from it.
  expect(rows(all(done(is("exit_page", "/docs")), is("page", "/pricing")))).toEqual([["/pricing", 0, 0, 60, 1]])
})

test("lists amounts in other currencies separately and never adds them", () => {
  using traffic = shop()
  const table = ask(traffic, ["total_revenue"], { groupings: [by("country")] })
  expect(values(table.rows)).toEqual([
    ["DE", 1_250],
    ["FR", null],
    ["US", null],
  ])
  expect(table.otherCurrencies).toEqual(["USD"])
  expect(ask(traffic, ["total_revenue"], { filter: is("country", "DE") }).otherCurrencies).toEqual([])
})

test("a realtime query counts visitors with any event, including engagement", () => {
  using traffic = shop()
  const range = { from: START + 10_000, to: START + 11_000 }
  expect(ask(traffic, ["visitors", "events"], { range }).rows[0]!.values).toEqual([0, 0])
  expect(ask(traffic, ["visitors", "events"], { range, anyEvent: true }).rows[0]!.values).toEqual([1, 0])
  expect(values(ask(traffic, ["visitors"], { range, anyEvent: true, groupings: [by("page")] }).rows)).toEqual([["/a", 1]])
})

test("returns empty buckets on request, and the buckets add up", () => {
  using traffic = shop()
  const range = { from: START - 60 * MINUTE, to: START + 180 * MINUTE }
  const groupings: Grouping[] = [{ by: "time", interval: "hour" }]
  const hours = (more: Partial<Query>) => values(ask(traffic, ["visitors", "visits", "pageviews"], { range, groupings, ...more }).rows)
  expect(hours({ fillBuckets: true })).toEqual([
    [START - 60 * MINUTE, 1, 1, 1],
    [START, 3, 2, 4],
    [START + 60 * MINUTE, 2, 2, 2],
    [START + 120 * MINUTE, 0, 0, 0],
  ])
  expect(hours({})).toHaveLength(3)
  // Four meets the condition only after the end of the bucket: the first hour counts the visit but not the visitor.
  expect(hours({ filter: is("page", "/a") })[0]).toEqual([START - 60 * MINUTE, 0, 1, 0])
})

test("sorts by metric, then by value in code point order, and counts the rows before paging", () => {
  using traffic = openTraffic(START)
  const pages = ["/b", "/\u{1F600}", "/a", "/\uFF5E", "/c"]
  pages.forEach((page, visitor) => {
    traffic.visit({ visitor, events: [{ at: START, page }, ...(page === "/c" ? [{ at: START + 1, page }] : [])] })
  })
  const order = [{ by: "metric", index: 0, descending: true }] as const
  const page = (offset: number, limit: number) => ask(traffic, ["pageviews"], { groupings: [by("page")], order, offset, limit })
  expect(values(page(0, 10).rows).map(([key]) => key)).toEqual(["/c", "/a", "/b", "/\uFF5E", "/\u{1F600}"])
  expect(values(page(1, 2).rows)).toEqual([
    ["/a", 1],
    ["/b", 1],
  ])
  expect(page(1, 2).totalRows).toBe(5)
  const backwards = ask(traffic, ["pageviews"], {
    groupings: [by("page")],
    order: [{ by: "grouping", index: 0, descending: true }],
    limit: 2,
  })
  expect(values(backwards.rows).map(([key]) => key)).toEqual(["/\u{1F600}", "/\uFF5E"])
})

test("stops between parts when the query is cancelled", () => {
  using traffic = shop()
  const query = {
    site: SHOP,
    range: RANGE,
    timezone: "UTC",
    now: RANGE.to,
    groupings: [],
    order: [],
    limit: 1,
    offset: 0,
    fillBuckets: false,
  }
  const stop = () => {
    throw new Error("stopped")
  }
  expect(() => aggregate(traffic.snapshot(), { ...query, metrics: ["visitors"] }, stop)).toThrow("stopped")
})
