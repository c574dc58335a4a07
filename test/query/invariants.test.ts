import { expect, test } from "bun:test"
import type { Dimension } from "../../src/domain/dimension.ts"
import type { NewEvent } from "../../src/domain/event.ts"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import type { Metric } from "../../src/domain/metric.ts"
import type { GoalRule, Grouping, Query, Table } from "../../src/domain/query.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { openTraffic, SITE } from "./traffic.ts"

/** Checks what metrics.md 5.1 and api.md 6.4 promise for all data, on generated traffic that is the same on every run. */

const START = Date.parse("2026-10-24T12:00:00Z")
const HOUR = 3_600_000
const RANGE = { from: START + 5 * HOUR, to: START + 41 * HOUR + 1_234_567 }
const GOALS: GoalRule[] = [
  { id: 1, name: "Signup", kind: "event", match: "exact", value: "Signup" },
  { id: 2, name: "Pro", kind: "event", match: "prefix", value: "S", props: { plan: "pro" } },
  { id: 3, name: "Docs", kind: "page", match: "contains", value: "docs" },
  { id: 4, name: "Read", kind: "scroll", match: "wildcard", value: "/d*", threshold: 50 },
]
const SHOP = { ...SITE, goals: GOALS, bounceEngagedSeconds: 20 }

const PAGES = ["/", "/docs", "/docs/a", "/pricing", ""]
const HOSTS = ["shop.example", "docs.example", ""]

function randomNumbers(seed: number) {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return { next, of: <T>(list: readonly T[]): T => list[next(list.length)]! }
}

function randomEvents({ next, of }: ReturnType<typeof randomNumbers>, start: number) {
  let at = start
  return Array.from({ length: 1 + next(7) }, (_, i): Partial<NewEvent> & { at: number } => {
    if (i > 0) at += next(25 * 60_000)
    const where = { at, page: of(PAGES), hostname: of(HOSTS), title: of(["", "One", "Two"]) }
    const kind = i === 0 ? next(7) : next(10)
    if (kind < 5) return where
    if (kind < 7) {
      const props: [string, string][] = [["plan", of(["pro", "free"])]]
      const revenue = { amount: next(5_000) - 500, currency: of(["EUR", "USD"]) }
      return {
        ...where,
        name: of(["Signup", "Share"]),
        interactive: next(2) === 0,
        props: next(2) === 0 ? props : [],
        ...(next(2) === 0 && { revenue }),
      }
    }
    if (kind === 7) return { ...where, name: "vitals", vitals: { lcp: next(4_000), ...(next(2) === 0 && { cls: next(300) / 1_000 }) } }
    return { ...where, name: "engagement", engagement: { engagedMs: next(60_000), ...(next(4) > 0 && { scrollDepth: next(101) }) } }
  })
}

function makeTraffic() {
  const traffic = openTraffic(START)
  const random = randomNumbers(11)
  for (let visit = 0; visit < 120; visit++) {
    const traits = {
      country: random.of(["DE", "FR", ""]),
      source: random.of(["Google", "Bing", ""]),
      browser: random.of(["Firefox", "Safari"]),
    }
    traffic.visit({ visitor: random.next(60), traits, events: randomEvents(random, START + random.next(44 * HOUR)) })
  }
  return traffic
}

const is = (dimension: Dimension, value: string | null, property?: string): Condition => ({
  op: "is",
  dimension,
  ...(property && { property }),
  values: value === null ? [] : [value],
  missing: value === null,
  caseSensitive: true,
})

const FILTERS: Record<string, Filter | undefined> = {
  nothing: undefined,
  country: is("country", "DE"),
  page: { ...is("page", "docs"), op: "contains" },
  "page and event": { op: "and", filters: [{ op: "not", filter: is("page", "/") }, is("event", "Signup")] },
  "not an event": { op: "not", filter: is("event", "Share") },
  "has done": { op: "and", filters: [{ op: "has_done", filter: is("goal", "Read") }, is("browser", "Firefox")] },
}

const METRICS: readonly Metric[] = [
  "visitors",
  "visits",
  "pageviews",
  "events",
  "views_per_visit",
  "bounce_rate",
  "visit_duration",
  "engaged_time",
  "time_on_page",
  "time_on_page_median",
  "scroll_depth",
  "exit_rate",
  "conversions",
  "total_revenue",
  "average_revenue",
  "lcp_p75",
  "cls_p75",
]

function ask(snapshot: Snapshot, more: Partial<Query>): Table {
  const plain = {
    site: SHOP,
    range: RANGE,
    timezone: "UTC",
    now: RANGE.to,
    groupings: [],
    order: [],
    limit: 1_000,
    offset: 0,
    fillBuckets: false,
  }
  return aggregate(snapshot, { ...plain, metrics: METRICS, ...more }, () => {})
}

const and = (...filters: (Filter | undefined)[]): Filter => ({ op: "and", filters: filters.filter((filter) => filter !== undefined) })

const GROUPED: readonly Dimension[][] = [
  ["country"],
  ["source"],
  ["entry_page"],
  ["exit_page"],
  ["page"],
  ["hostname"],
  ["title"],
  ["event"],
  ["goal"],
  ["property"],
  ["country", "page"],
  ["event", "page"],
  ["goal", "browser"],
  ["property", "hostname", "country"],
]

const grouping = (dimension: Dimension): Grouping => ({ by: "dimension", dimension, ...(dimension === "property" && { property: "plan" }) })

test("a row equals the total under a filter for its value", async () => {
  using traffic = makeTraffic()
  const check = () => {
    const snapshot = traffic.snapshot()
    const tables: unknown[] = []
    for (const [name, filter] of Object.entries(FILTERS)) {
      for (const dimensions of GROUPED) {
        for (const { keys, values } of ask(snapshot, { groupings: dimensions.map(grouping), ...(filter && { filter }) }).rows) {
          const own = dimensions.map((dimension, i) =>
            is(dimension, keys[i] as string | null, dimension === "property" ? "plan" : undefined),
          )
          const total = ask(snapshot, { filter: and(filter, ...own) }).rows[0]!.values
          expect({ name, dimensions, keys, values }).toEqual({ name, dimensions, keys, values: total })
          tables.push(values)
        }
      }
    }
    return tables
  }
  const tail = check()
  expect(tail.length).toBeGreaterThan(400)
  await traffic.seal()
  expect(check()).toEqual(tail)
})

test.each([
  ["hour", "Europe/Berlin"],
  ["hour", "Australia/Lord_Howe"],
  ["hour", "Asia/Kathmandu"],
  ["day", "Europe/Berlin"],
  ["day", "America/St_Johns"],
  ["week", "Asia/Kolkata"],
  ["month", "UTC"],
] as const)("buckets by %s in %s add up to the total, with and without those without data", async (interval, timezone) => {
  using traffic = makeTraffic()
  const metrics = ["visits", "pageviews", "events", "conversions"] as const
  const groupings: Grouping[] = [{ by: "time", interval }]
  const check = (snapshot: Snapshot) => {
    for (const filter of Object.values(FILTERS)) {
      const more = { metrics, timezone, ...(filter && { filter }) }
      const total = ask(snapshot, more).rows[0]!.values
      for (const fillBuckets of [false, true]) {
        const { rows } = ask(snapshot, { ...more, groupings, fillBuckets })
        expect(metrics.map((_, i) => rows.reduce((sum, row) => sum + row.values[i]!, 0))).toEqual(total as number[])
      }
    }
  }
  check(traffic.snapshot())
  await traffic.seal()
  check(traffic.snapshot())
})

test("the group conversion rate of a visit dimension equals the conversion rate under a filter", () => {
  using traffic = makeTraffic()
  const snapshot = traffic.snapshot()
  for (const dimension of ["country", "browser", "page"] as const) {
    for (const { keys, values } of ask(snapshot, { metrics: ["group_conversion_rate"], groupings: [grouping(dimension)] }).rows) {
      const filter = is(dimension, keys[0] as string | null)
      expect(values).toEqual(ask(snapshot, { metrics: ["conversion_rate"], filter }).rows[0]!.values)
    }
  }
})
