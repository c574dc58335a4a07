import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Dimension } from "../../src/domain/dimension.ts"
import type { Condition } from "../../src/domain/filter.ts"
import type { ImportedKind, ImportedRow, VisibleImport } from "../../src/domain/imported.ts"
import type { Metric } from "../../src/domain/metric.ts"
import type { GoalRule, Grouping, Interval, Query, Table } from "../../src/domain/query.ts"
import { importFacts } from "../../src/query/imported/imported.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { type SuggestQuery, suggest } from "../../src/query/rows/suggest.ts"
import { propertyKeys } from "../../src/query/rows/tally.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { temporaryFolder } from "../kit.ts"
import { dayRange } from "../oracle/days.ts"
import { event, NO_TRAITS } from "../store/events/samples.ts"
import { importOn } from "../visible-imports.ts"

const ZONE = "Europe/Berlin"
const SITE = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] as GoalRule[] }
const OCTOBER = importOn(7, ZONE, ["2026-10-01", "2026-10-31"])
const check = () => {}

/** Opens a store in which totals, visits and queries are short to write. */
function openSite() {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: Date.parse("2026-11-21T12:00:00Z") })
  const reader = openEventReader(path, { cacheBytes: 8 << 20 })
  return {
    /** Adds rows of `[day, texts, counts]`; a day may have an hour (`2026-10-01T13`). */
    totals: (kind: ImportedKind, rows: readonly Short[], importId = 7) =>
      store.importTotals({ siteId: 1, importId }, kind, rows.map(toRow)),
    /** Adds visits of one import, each with a single pageview. */
    visits: (importId: number, ...starts: string[]) =>
      store.importVisits(
        { siteId: 1, importId },
        starts.map((at) => ({ visitor: at, traits: NO_TRAITS, events: [event({ at: Date.parse(at), page: "/a" })], day: at.slice(0, 10) })),
      ),
    /** Records a native visit of one pageview. */
    record(at: string, visitor: number, page = "/a", traits = {}): void {
      store.write(Date.parse(at), (writer) => {
        const ordinal = writer.visitor(1, at.slice(0, 10), { high: 1, low: visitor })
        const who = { rotating: ordinal, visitor: ordinal, visitorKind: "rotating" as const, traits: { ...NO_TRAITS, ...traits } }
        writer.add(1, writer.openVisit(1, who, at.slice(0, 10)), event({ at: Date.parse(at), page }), at.slice(0, 10))
      })
    },
    ask: (query: Asked, imports: readonly VisibleImport[] = [OCTOBER]) =>
      aggregate(reader.snapshot(1, "visits", imports), queryOf(query), check),
    /** Returns the suggested values, which equal a breakdown by visitors, with their visitors. */
    values: (dimension: Dimension, more: Partial<SuggestQuery> = {}, query: Partial<Asked> = {}) => {
      const { site, range, timezone, filter, importedTotals } = queryOf({ metrics: ["visitors"], ...query })
      const lookup = { site, range, timezone, ...(filter && { filter }), ...(importedTotals && { importedTotals }) }
      const wanted = { dimension, q: "", limit: 10, ...more, ...lookup }
      return suggest(reader.snapshot(1, "visits", [OCTOBER]), wanted, check).map(({ key, visitors }) => [key, visitors])
    },
    /** Returns the property keys with their events. */
    keys: (query: Partial<Asked> = {}) => {
      const { site, range, timezone, filter, importedTotals } = queryOf({ metrics: ["events"], ...query })
      const lookup = { site, range, timezone, ...(filter && { filter }), ...(importedTotals && { importedTotals }) }
      return propertyKeys(reader.snapshot(1, "visits", [OCTOBER]), lookup, check).map(({ property, events }) => [property, events])
    },
    facts: (query: Asked, imports: readonly VisibleImport[] = [OCTOBER]) =>
      importFacts(reader.snapshot(1, "visits", imports), { site: SITE, range: queryOf(query).range, importedTotals: true }),
    [Symbol.dispose]() {
      reader.close()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

type Short = readonly [day: string, texts: Record<string, string>, counts: Record<string, number>]
const toRow = ([at, texts, counts]: Short): ImportedRow => {
  const [day, hour] = at.split("T")
  return { day: day!, ...(hour !== undefined && { hour: Number(hour) }), texts, counts }
}

interface Asked {
  metrics: readonly Metric[]
  by?: readonly (Dimension | `property ${string}` | `time ${Interval}`)[]
  filter?: Query["filter"]
  /** Local days, both inclusive, in `timezone`. */
  days?: readonly [string, string]
  range?: Query["range"]
  timezone?: string
  goals?: readonly GoalRule[]
  imports?: boolean
}

function queryOf({
  metrics,
  by = [],
  filter,
  days = ["2026-10-01", "2026-10-31"],
  range,
  timezone = ZONE,
  goals = [],
  imports = true,
}: Asked): Query {
  const groupings = by.map((name): Grouping => {
    const [first, rest] = name.split(" ") as [string, string | undefined]
    if (first === "time") return { by: "time", interval: rest as Interval } // by the type of `by`
    return { by: "dimension", dimension: first as Dimension, ...(rest !== undefined && { property: rest }) }
  })
  return {
    site: { ...SITE, goals },
    range: range ?? dayRange(...days, timezone),
    timezone,
    now: Date.parse("2026-11-21T12:00:00Z"),
    metrics,
    groupings,
    ...(filter && { filter }),
    order: groupings.map((_, index) => ({ by: "grouping", index, descending: false })),
    limit: 1_000,
    offset: 0,
    fillBuckets: false,
    ...(imports && { importedTotals: true }),
  }
}

const is = (dimension: Dimension, ...values: string[]): Condition => ({ op: "is", dimension, values, missing: false, caseSensitive: true })
const rowsOf = ({ rows }: Table) => rows.map(({ keys, values }) => [...keys, ...values])
const goal = (given: Partial<GoalRule> & { kind: GoalRule["kind"]; value: string }): GoalRule => ({
  id: 1,
  name: given.value,
  match: "exact",
  ...given,
})

const FIVE = { visitors: 10, pageviews: 30, visits: 12, bounces: 3, visit_duration: 600 }
const FIVE_METRICS: Metric[] = ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration"]
/** The values of `FIVE_METRICS` for `FIVE`. */
const OF_FIVE = [10, 12, 30, 2.5, 25, 50]

test.each<[ImportedKind, Dimension, string]>([
  ["imported_sources", "source", "Google"],
  ["imported_sources", "channel", "Organic Search"],
  ["imported_sources", "referrer", "google.com"],
  ["imported_sources", "utm_source", "news"],
  ["imported_sources", "utm_medium", "email"],
  ["imported_sources", "utm_campaign", "spring"],
  ["imported_sources", "utm_content", "a"],
  ["imported_sources", "utm_term", "shoes"],
  ["imported_locations", "country", "DE"],
  ["imported_locations", "region", "DE-BE"],
  ["imported_locations", "city", "2950159"],
  ["imported_devices", "device", "Desktop"],
  ["imported_browsers", "browser", "Firefox"],
  ["imported_browsers", "browser_version", "141.0"],
  ["imported_operating_systems", "os", "Linux"],
  ["imported_operating_systems", "os_version", "6.1"],
  ["imported_languages", "language", "de"],
  ["imported_sizes", "size", "1440+"],
])("%s answers %s, as a dimension and as a filter", async (kind, dimension, value) => {
  using site = openSite()
  await site.totals(kind, [
    ["2026-10-02", { [dimension]: value }, FIVE],
    ["2026-10-02", {}, { ...FIVE, visitors: 1 }],
  ])
  const grouped = site.ask({ metrics: FIVE_METRICS, by: [dimension] })
  expect(rowsOf(grouped)).toContainEqual([value, ...OF_FIVE])
  expect(rowsOf(grouped)).toContainEqual([null, 1, ...OF_FIVE.slice(1)])
  expect(grouped.imports).toEqual({ ids: [7] })
  expect(rowsOf(site.ask({ metrics: FIVE_METRICS, filter: is(dimension, value) }))).toEqual([OF_FIVE])
  const other: Dimension = dimension === "device" ? "country" : "device"
  expect(site.ask({ metrics: ["visitors"], by: [dimension], filter: is(other, "x") })).toMatchObject({
    rows: [],
    imports: { ids: [], reason: "unsupported_filters" },
  })
})

test("the totals of the site answer a report without dimensions; events are stated or the sum of pageviews and custom events", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [["2026-10-02", {}, FIVE]])
  const metrics: Metric[] = [...FIVE_METRICS, "events"]
  expect(rowsOf(site.ask({ metrics }))).toEqual([[...OF_FIVE, 30]])
  await site.totals("imported_custom_events", [["2026-10-02", { name: "Signup" }, { visitors: 2, events: 5 }]])
  expect(rowsOf(site.ask({ metrics }))).toEqual([[...OF_FIVE, 35]])
  await site.totals("imported_visitors", [["2026-10-03", {}, { ...FIVE, events: 31 }]])
  expect(rowsOf(site.ask({ metrics: ["events"] }))).toEqual([[31]])
})

test("pages are weighted by the visits whose time and depth are known", async () => {
  using site = openSite()
  await site.totals("imported_pages", [
    [
      "2026-10-02",
      { page: "/a", hostname: "shop.example" },
      {
        visitors: 9,
        visits: 10,
        pageviews: 20,
        exits: 5,
        time_on_page: 900,
        time_on_page_visits: 9,
        scroll_depth_sum: 400,
        scroll_depth_visits: 8,
      },
    ],
    [
      "2026-10-03",
      { page: "/a" },
      { visitors: 1, visits: 1, pageviews: 1, time_on_page: 10, time_on_page_visits: 1, scroll_depth_sum: 1, scroll_depth_visits: 2 },
    ],
    ["2026-10-03", { page: "/b" }, { visitors: 4, visits: 4, pageviews: 4 }],
  ])
  const metrics: Metric[] = ["visitors", "visits", "pageviews", "time_on_page", "scroll_depth", "exit_rate"]
  expect(rowsOf(site.ask({ metrics, by: ["page"] }))).toEqual([
    ["/a", 10, 11, 21, 91, 40, 23.8],
    ["/b", 4, 4, 4, null, null, 0],
  ])
  expect(rowsOf(site.ask({ metrics: ["visitors"], by: ["page"], filter: is("hostname", "shop.example") }))).toEqual([["/a", 9]])
  // Bounces are those of entry pages.
  expect(site.ask({ metrics: ["bounce_rate"], by: ["page"] }).imports).toEqual({ ids: [], reason: "unsupported_metric" })
})

test("entrances are the visits of entry pages, and exits those of exit pages", async () => {
  using site = openSite()
  await site.totals("imported_entry_pages", [
    ["2026-10-02", { entry_page: "/a" }, { visitors: 8, entrances: 10, bounces: 4, visit_duration: 300 }],
  ])
  await site.totals("imported_exit_pages", [["2026-10-02", { exit_page: "/b" }, { visitors: 5, exits: 6 }]])
  expect(rowsOf(site.ask({ metrics: ["visitors", "visits", "bounce_rate", "visit_duration"], by: ["entry_page"] }))).toEqual([
    ["/a", 8, 10, 40, 30],
  ])
  expect(rowsOf(site.ask({ metrics: ["visitors", "visits"], by: ["exit_page"] }))).toEqual([["/b", 5, 6]])
  expect(site.ask({ metrics: ["visitors"], by: ["entry_page", "exit_page"] }).imports).toMatchObject({ reason: "unsupported_filters" })
  expect(site.ask({ metrics: ["pageviews"], by: ["entry_page"] }).imports).toMatchObject({ reason: "unsupported_metric" })
})

test("custom events answer events and the properties url and path; other properties have a table without events", async () => {
  using site = openSite()
  await site.totals("imported_custom_events", [
    ["2026-10-02", { name: "Click", link_url: "https://a.example/" }, { visitors: 2, events: 3 }],
    ["2026-10-02", { name: "Click" }, { visitors: 1, events: 1 }],
    ["2026-10-02", { name: "404", path: "/gone" }, { visitors: 4, events: 4 }],
  ])
  await site.totals("imported_custom_props", [
    ["2026-10-02", { property: "plan", value: "pro" }, { visitors: 6, events: 7 }],
    ["2026-10-02", { property: "color", value: "red" }, { visitors: 1, events: 1 }],
  ])
  const metrics: Metric[] = ["visitors", "events"]
  expect(rowsOf(site.ask({ metrics, by: ["event"] }))).toEqual([
    ["404", 4, 4],
    ["Click", 3, 4],
  ])
  // The row without a link also has the pageviews, which only recorded events have.
  expect(rowsOf(site.ask({ metrics, by: ["property url"] }))).toEqual([["https://a.example/", 2, 3]])
  expect(rowsOf(site.ask({ metrics, by: ["property url"], filter: is("event", "Click") }))).toEqual([
    [null, 1, 1],
    ["https://a.example/", 2, 3],
  ])
  expect(rowsOf(site.ask({ metrics, by: ["property path"], filter: is("event", "404") }))).toEqual([["/gone", 4, 4]])
  expect(rowsOf(site.ask({ metrics, by: ["property plan"] }))).toEqual([["pro", 6, 7]])
  const excluded = { rows: [], imports: { ids: [], reason: "unsupported_filters" } }
  expect(site.ask({ metrics, by: ["property plan"], filter: is("event", "Click") })).toMatchObject(excluded)
  expect(site.ask({ metrics, by: ["event"], filter: { op: "not", filter: is("event", "Click") } })).toMatchObject(excluded)
})

test("an event goal is counted by custom events, a page goal by pages, and two kinds by no table", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [["2026-10-02", {}, { visitors: 50 }]])
  await site.totals("imported_custom_events", [
    ["2026-10-02", { name: "Signup" }, { visitors: 5, events: 8 }],
    ["2026-10-02", { name: "Other" }, { visitors: 9, events: 9 }],
  ])
  await site.totals("imported_pages", [["2026-10-02", { page: "/thanks" }, { visitors: 4, pageviews: 6 }]])
  const [signup, thanks] = [goal({ kind: "event", value: "Signup" }), goal({ id: 2, kind: "page", value: "/thanks" })]
  const metrics: Metric[] = ["visitors", "conversions", "conversion_rate"]
  expect(rowsOf(site.ask({ metrics, by: ["goal"], goals: [signup] }))).toEqual([["Signup", 5, 8, 10]])
  expect(rowsOf(site.ask({ metrics, by: ["goal"], goals: [thanks] }))).toEqual([["/thanks", 4, 6, 8]])
  expect(rowsOf(site.ask({ metrics, goals: [signup, thanks], filter: is("goal", "Signup") }))).toEqual([[5, 8, 10]])
  // Conversions of the site count events of goals only.
  expect(rowsOf(site.ask({ metrics: ["conversions", "conversion_rate"], goals: [signup] }))).toEqual([[8, 10]])
  expect(site.ask({ metrics, goals: [signup] }).imports).toMatchObject({ ids: [], reason: "unsupported_metric" })
  for (const goals of [[signup, thanks], [goal({ kind: "scroll", value: "/", threshold: 50 })], [{ ...signup, props: { plan: "pro" } }]])
    expect(site.ask({ metrics, by: ["goal"], goals }).imports).toMatchObject({ ids: [], reason: "unsupported_filters" })
})

test("counts are added to native ones before rates and shares are computed", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [["2026-10-02", {}, FIVE]])
  await site.totals("imported_sources", [["2026-10-02", { source: "Google" }, FIVE]])
  for (let visitor = 0; visitor < 8; visitor++) site.record("2026-10-05T10:00:00Z", visitor, "/a", { source: visitor < 6 ? "Google" : "" })
  // 10 imported visitors and 8 native ones, 12 visits with 3 bounces and 8 visits that all bounced.
  expect(rowsOf(site.ask({ metrics: FIVE_METRICS }))).toEqual([[18, 20, 38, 1.9, 55, 30]])
  expect(rowsOf(site.ask({ metrics: ["visitors", "percentage"], by: ["source"] }))).toEqual([
    [null, 2, 11.1],
    ["Google", 16, 88.9],
  ])
})

test("without imported totals the answer is exactly the native one", async () => {
  using site = openSite()
  site.record("2026-10-05T10:00:00Z", 1)
  await site.totals("imported_visitors", [["2026-10-02", {}, FIVE]])
  const native = [[1, 1, 1, 1, 100, 0]]
  expect(site.ask({ metrics: FIVE_METRICS, imports: false })).toMatchObject({ imports: { ids: [], reason: "disabled" } })
  expect(rowsOf(site.ask({ metrics: FIVE_METRICS, imports: false }))).toEqual(native)
  expect(rowsOf(site.ask({ metrics: FIVE_METRICS, timezone: "America/New_York" }))).toEqual(native)
  expect(site.ask({ metrics: FIVE_METRICS, timezone: "America/New_York" }).imports).toEqual({ ids: [], reason: "unsupported_timezone" })
  expect(site.ask({ metrics: FIVE_METRICS, days: ["2026-11-01", "2026-11-02"] }).imports).toEqual({ ids: [], reason: "none_in_range" })
  expect(site.ask({ metrics: FIVE_METRICS }, []).imports).toBeUndefined()
  expect(rowsOf(site.ask({ metrics: ["visitors", "engaged_time"] }))).toEqual([[1, 0]])
  expect(site.ask({ metrics: ["visitors", "engaged_time"] }).imports).toEqual({ ids: [], reason: "unsupported_metric" })
  const done = { op: "has_done", filter: is("page", "/a") } as const
  expect(site.ask({ metrics: ["visitors"], filter: done }).imports).toEqual({ ids: [], reason: "unsupported_filters" })
})

test("whole days answer days, weeks and months, and hours only what lies on whole days of the range", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [
    ["2026-10-24", {}, { visitors: 1 }],
    ["2026-10-25", {}, { visitors: 10 }],
    ["2026-10-26", {}, { visitors: 100 }],
  ])
  const ask = (interval: Interval) => site.ask({ metrics: ["visitors"], by: [`time ${interval}`], days: ["2026-10-24", "2026-10-26"] })
  const local = (table: Table) => rowsOf(table).map(([at, visitors]) => [new Date(Number(at)).toISOString(), visitors])
  // The 25th has 25 hours.
  expect(local(ask("day"))).toEqual([
    ["2026-10-23T22:00:00.000Z", 1],
    ["2026-10-24T22:00:00.000Z", 10],
    ["2026-10-25T23:00:00.000Z", 100],
  ])
  expect(local(ask("week")).map(([, visitors]) => visitors)).toEqual([11, 100])
  expect(local(ask("month")).map(([, visitors]) => visitors)).toEqual([111])
  expect(ask("hour")).toMatchObject({ rows: [], imports: { ids: [], reason: "unsupported_interval" } })
  // A range that cuts an imported day needs its hours; one that cuts another day does not.
  const from = Date.parse("2026-10-23T22:00:00Z")
  const cut = (to: string) => site.ask({ metrics: ["visitors"], range: { from, to: Date.parse(to) } })
  expect(cut("2026-10-26T12:00:00Z").imports).toEqual({ ids: [], reason: "unsupported_interval" })
  expect(rowsOf(cut("2026-10-28T12:00:00Z"))).toEqual([[111]])
})

test("hours answer hours, ranges of hours and days, also when clocks change", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [
    ["2026-10-25T0", {}, { visitors: 1 }],
    ["2026-10-25T2", {}, { visitors: 10 }],
    ["2026-10-25T3", {}, { visitors: 100 }],
    ["2026-10-25T23", {}, { visitors: 1_000 }],
  ])
  const hours = site.ask({ metrics: ["visitors"], by: ["time hour"], days: ["2026-10-25", "2026-10-25"] })
  // The hour from 2 to 3 runs twice and counts in its first run.
  expect(rowsOf(hours).map(([at, visitors]) => [new Date(Number(at)).toISOString(), visitors])).toEqual([
    ["2026-10-24T22:00:00.000Z", 1],
    ["2026-10-25T00:00:00.000Z", 10],
    ["2026-10-25T02:00:00.000Z", 100],
    ["2026-10-25T22:00:00.000Z", 1_000],
  ])
  const range = { from: Date.parse("2026-10-25T00:00:00Z"), to: Date.parse("2026-10-25T22:00:00Z") }
  expect(rowsOf(site.ask({ metrics: ["visitors"], range }))).toEqual([[110]])
  expect(rowsOf(site.ask({ metrics: ["visitors"], by: ["time day"] })).map(([, visitors]) => visitors)).toEqual([1_111])
  expect(site.ask({ metrics: ["visitors"], by: ["time minute"], range }).imports).toMatchObject({ reason: "unsupported_interval" })
})

test("a day counts once: native data begins where the effective days end, and masked days do not count", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [
    ["2026-10-09", {}, { visitors: 5 }],
    ["2026-10-10", {}, { visitors: 7 }],
    ["2026-10-11", {}, { visitors: 9 }],
  ])
  await site.visits(8, "2026-10-09T21:59:00Z", "2026-10-09T22:00:00Z", "2026-10-10T22:00:00Z")
  site.record("2026-10-10T22:00:00Z", 1)
  const totals = importOn(7, ZONE, ["2026-10-09", "2026-10-09"])
  const visits = importOn(8, ZONE, ["2026-10-10", "2026-10-10"])
  const perDay = (...imports: VisibleImport[]) =>
    rowsOf(site.ask({ metrics: ["visitors"], by: ["time day"], days: ["2026-10-09", "2026-10-11"] }, imports)).map(
      ([, visitors]) => visitors,
    )
  expect(perDay(totals, visits)).toEqual([5, 1, 1])
  expect(perDay(importOn(7, ZONE, ["2026-10-09", "2026-10-10"]))).toEqual([5, 7, 1])
  expect(perDay(visits)).toEqual([1, 1])
  expect(perDay()).toEqual([1])
})

test("several imports take part each for itself, and the answer names those that do and why others do not", async () => {
  using site = openSite()
  const others = [importOn(8, "UTC", ["2026-10-01", "2026-10-31"]), importOn(9, ZONE, ["2026-10-01", "2026-10-31"])]
  const all = [OCTOBER, ...others, importOn(10, ZONE, ["2026-10-01", "2026-10-31"])]
  await site.totals("imported_visitors", [["2026-10-02", {}, { visitors: 1 }]], 7)
  await site.totals("imported_visitors", [["2026-10-03", {}, { visitors: 10 }]], 8)
  await site.totals("imported_visitors", [["2026-10-04", {}, { visitors: 100 }]], 9)
  await site.totals("imported_sources", [["2026-10-04", { source: "Google" }, { visitors: 100 }]], 9)
  await site.visits(10, "2026-10-05T10:00:00Z")
  const table = site.ask({ metrics: ["visitors"] }, all)
  expect(table).toMatchObject({
    rows: [{ values: [102] }],
    imports: { ids: [7, 9, 10], reason: "unsupported_timezone", isEstimated: true },
  })
  // Of the imports in this zone only one has sources.
  const sources = site.ask({ metrics: ["visitors"], by: ["source"] }, [OCTOBER, others[1]!])
  expect(sources.imports).toEqual({ ids: [9], reason: "unsupported_filters" })
  expect(site.facts({ metrics: [] }, all)).toEqual({ ids: [10], reason: "unsupported_filters" })
  expect(site.facts({ metrics: [] }, [all[3]!])).toEqual({ ids: [10] })
  expect(site.facts({ metrics: [], days: ["2026-09-01", "2026-09-02"] }, all)).toEqual({ ids: [], reason: "none_in_range" })
  expect(site.facts({ metrics: [] }, [])).toBeUndefined()
})

test("visitors are estimated when those of several days, hours or rows are added up", async () => {
  using site = openSite()
  await site.totals("imported_visitors", [
    ["2026-10-02", {}, { visitors: 5 }],
    ["2026-10-03", {}, { visitors: 5 }],
    ["2026-10-04T1", {}, { visitors: 5 }],
    ["2026-10-04T2", {}, { visitors: 5 }],
  ])
  await site.totals("imported_sources", [
    ["2026-10-02", { source: "Google", utm_medium: "a" }, FIVE],
    ["2026-10-02", { source: "Google", utm_medium: "b" }, FIVE],
  ])
  const isEstimated = (query: Asked) => site.ask(query).imports?.isEstimated ?? false
  const day = ["2026-10-02", "2026-10-02"] as const
  expect(isEstimated({ metrics: ["visitors"], days: day })).toBe(false)
  expect(isEstimated({ metrics: ["visitors"], days: ["2026-10-02", "2026-10-03"] })).toBe(true)
  expect(isEstimated({ metrics: ["visitors"], days: ["2026-10-04", "2026-10-04"] })).toBe(true)
  expect(isEstimated({ metrics: ["visitors"], by: ["source"], days: day })).toBe(true)
  expect(isEstimated({ metrics: ["visitors"], by: ["utm_medium"], days: day })).toBe(false)
  expect(isEstimated({ metrics: ["visits"], by: ["source"], days: day })).toBe(false)
})

test("a metric is left out if the source lacks its column, so that no rate is distorted", async () => {
  using site = openSite()
  const ask = (metrics: Metric[], by: Dimension[]) => site.ask({ metrics, by }).imports?.reason
  await site.totals("imported_sources", [["2026-10-02", { source: "Google" }, { ...FIVE, pageviews: 0 }]])
  expect(ask(["visitors", "visits", "bounce_rate"], ["source"])).toBeUndefined()
  expect([ask(["pageviews"], ["source"]), ask(["views_per_visit"], ["source"])]).toEqual(["unsupported_metric", "unsupported_metric"])
  await site.totals("imported_pages", [["2026-10-02", { page: "/a" }, { visitors: 1, pageviews: 2 }]])
  expect(ask(["visitors", "pageviews"], ["page"])).toBeUndefined()
  expect([ask(["visits"], ["page"]), ask(["exit_rate"], ["page"])]).toEqual(["unsupported_metric", "unsupported_metric"])
  // A source that counts visitors alone adds them, and nothing to the rates.
  await site.totals("imported_devices", [["2026-10-02", { device: "Desktop" }, { visitors: 3 }]])
  site.record("2026-10-05T10:00:00Z", 1, "/a", { device: "Desktop" })
  expect(rowsOf(site.ask({ metrics: FIVE_METRICS, by: ["device"] }))).toEqual([["Desktop", 4, 1, 1, 1, 100, 0]])
})

test("suggested values include those of imported totals, ordered by the visitors of both", async () => {
  using site = openSite()
  await site.totals("imported_pages", [
    ["2026-10-01", { hostname: "shop.example", page: "/pricing" }, { visitors: 5, pageviews: 9 }],
    ["2026-10-02", { hostname: "shop.example", page: "/pricing" }, { visitors: 2, pageviews: 2 }],
    ["2026-10-02", { hostname: "shop.example", page: "/a" }, { visitors: 1, pageviews: 1 }],
    ["2026-10-02", { hostname: "other.example", page: "/about" }, { visitors: 4, pageviews: 4 }],
  ])
  for (const visitor of [1, 2, 3]) site.record("2026-10-20T10:00:00Z", visitor)
  expect(site.values("page")).toEqual([
    ["/pricing", 7],
    ["/a", 4],
    ["/about", 4],
  ])
  expect(site.values("page", { q: "A", limit: 1 })).toEqual([["/a", 4]])
  expect(site.values("page", {}, { filter: is("hostname", "other.example") })).toEqual([["/about", 4]])
  expect(site.values("page", {}, { days: ["2026-10-02", "2026-10-02"] })).toEqual([
    ["/about", 4],
    ["/pricing", 2],
    ["/a", 1],
  ])
  // No table has both dimensions, and totals can be left out.
  expect(site.values("page", {}, { filter: is("device", "Mobile") })).toEqual([])
  expect(site.values("page", {}, { imports: false })).toEqual([["/a", 3]])
})

test("property keys and their values include imported totals where they are known", async () => {
  using site = openSite()
  await site.totals("imported_custom_props", [
    ["2026-10-01", { property: "plan", value: "pro" }, { visitors: 3, events: 4 }],
    ["2026-10-02", { property: "plan", value: "free" }, { visitors: 5, events: 6 }],
    ["2026-10-02", { property: "size", value: "L" }, { visitors: 1, events: 20 }],
  ])
  await site.totals("imported_custom_events", [
    ["2026-10-01", { name: "Download", link_url: "https://a.example/x.pdf" }, { visitors: 2, events: 3 }],
    ["2026-10-01", { name: "404", path: "/old" }, { visitors: 1, events: 1 }],
  ])
  expect(site.keys()).toEqual([
    ["size", 20],
    ["plan", 10],
    ["url", 3],
    ["path", 1],
  ])
  expect(site.keys({ filter: is("event", "Download") })).toEqual([["url", 3]])
  expect(site.keys({ filter: { ...is("property", "pro"), property: "plan" } })).toEqual([["plan", 4]])
  expect(site.keys({ imports: false })).toEqual([])
  expect(site.values("property", { property: "plan" })).toEqual([
    ["free", 5],
    ["pro", 3],
  ])
  expect(site.values("event")).toEqual([
    ["Download", 2],
    ["404", 1],
  ])
})
