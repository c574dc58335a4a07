import { describe, expect, test } from "bun:test"
import { openEngine } from "../../../src/query/engine/engine.ts"
import { createStats } from "../../../src/services/stats/stats.ts"
import { openTraffic } from "../../query/traffic.ts"
import { openServices } from "../instance.ts"

const NOW = "2026-11-21T12:00:00Z"
const workerUrl = new URL("../../../src/query/engine/worker.ts", import.meta.url).href
const at = (text: string, seconds = 0) => Date.parse(text) + seconds * 1000

/** Opens a site in Berlin with goals and a funnel, and its statistics on a real store and a real worker. */
async function openShop(settings: Record<string, unknown> = {}) {
  const services = await openServices({ now: NOW })
  const organization = await services.organizations.create({ name: "Shops" })
  const created = await services.sites.create(organization.id, {
    name: "Shop",
    hosts: ["shop.example"],
    timezone: "Europe/Berlin",
    revenue_currency: "EUR",
  })
  const site = { ...created, ...settings }
  const traffic = openTraffic(at(NOW))
  const engine = openEngine({ workerUrl, path: traffic.path, cacheBytes: 8 << 20, workers: 1 })
  return {
    ...services,
    site,
    traffic,
    engine,
    stats: createStats({ ...services, engine, hasLateEvents: () => false, imports: { firstAt: traffic.store.firstAt, of: () => [] } }),
    async [Symbol.asyncDispose]() {
      await engine.close()
      traffic[Symbol.dispose]()
      await services[Symbol.asyncDispose]()
    },
  }
}

/** Records visits from Friday to Saturday noon in Berlin, and one visit of the previous week. */
function recordWeek({ traffic }: { traffic: ReturnType<typeof openTraffic> }): void {
  const google = { source: "Google", country: "DE" }
  traffic.visit({ visitor: 3, events: [{ at: at("2026-11-14T10:00:00Z") }] })
  const friday = "2026-11-20T09:00:00Z"
  traffic.visit({
    visitor: 1,
    traits: google,
    events: [
      { at: at(friday), page: "/" },
      { at: at(friday, 60), page: "/pricing", props: [["plan", "pro"]] },
      { at: at(friday, 120), name: "Signup", page: "/pricing", revenue: { amount: 1250, currency: "EUR" } },
    ],
  })
  // Half past midnight on Saturday in Berlin.
  traffic.visit({ visitor: 2, traits: { country: "FR" }, events: [{ at: at("2026-11-20T23:30:00Z"), page: "/" }] })
  const saturday = "2026-11-21T10:00:00Z"
  traffic.visit({
    visitor: 1,
    traits: google,
    events: [
      { at: at(saturday), page: "/blog" },
      { at: at(saturday, 30), page: "/" },
    ],
  })
  traffic.visit({ visitor: 4, events: [{ at: at("2026-11-21T11:59:00Z"), page: "/" }] })
}

const week = { from: "2026-11-15", to: "2026-11-21", timezone: "Europe/Berlin", includes_today: true }

test("a summary returns metrics, their comparison and the change", async () => {
  await using shop = await openShop()
  recordWeek(shop)
  expect(await shop.stats.summary(shop.site, { period: "7d", compare: "previous_period" })).toEqual({
    site_id: 1,
    range: week,
    visitor_window: "day",
    metrics: { visitors: 3, visits: 4, pageviews: 6, views_per_visit: 1.5, bounce_rate: 50, visit_duration: 38, events: 7 },
    comparison: {
      range: { from: "2026-11-08", to: "2026-11-14", timezone: "Europe/Berlin", includes_today: false },
      metrics: { visitors: 1, visits: 1, pageviews: 1, views_per_visit: 1, bounce_rate: 100, visit_duration: 0, events: 1 },
      change_percent: { visitors: 200, visits: 300, pageviews: 500, views_per_visit: 50, bounce_rate: -50, events: 600 },
    },
  })
})

test("a timeseries has a point for every local day and marks partial ones", async () => {
  await using shop = await openShop()
  recordWeek(shop)
  expect(
    await shop.stats.timeseries(shop.site, {
      from: "2026-11-19",
      to: "2026-11-21",
      compare: "custom",
      compare_from: "2026-11-14",
      compare_to: "2026-11-14",
    }),
  ).toEqual({
    site_id: 1,
    range: { ...week, from: "2026-11-19" },
    visitor_window: "day",
    interval: "day",
    points: [
      { time: "2026-11-19", visitors: 0, pageviews: 0 },
      { time: "2026-11-20", visitors: 1, pageviews: 2 },
      { time: "2026-11-21", partial: true, visitors: 3, pageviews: 4 },
    ],
    comparison: {
      range: { ...week, from: "2026-11-14", to: "2026-11-14", includes_today: false },
      points: [{ time: "2026-11-14", visitors: 1, pageviews: 1 }],
    },
  })
})

test("24h has 24 hours with their offsets and names its range", async () => {
  await using shop = await openShop()
  recordWeek(shop)
  const { range, interval, points } = await shop.stats.timeseries(shop.site, { period: "24h", metrics: ["pageviews"] })
  expect(range).toEqual({ ...week, from: "2026-11-20", from_time: "2026-11-20T13:00:00Z", to_time: "2026-11-21T13:00:00Z" })
  expect(interval).toBe("hour")
  expect(points).toHaveLength(24)
  expect(points.filter(({ pageviews, partial }) => pageviews !== 0 || partial)).toEqual([
    { time: "2026-11-21T00:00:00+01:00", pageviews: 1 },
    { time: "2026-11-21T11:00:00+01:00", pageviews: 2 },
    { time: "2026-11-21T12:00:00+01:00", pageviews: 1 },
    { time: "2026-11-21T13:00:00+01:00", partial: true, pageviews: 0 },
  ])
})

test("a week and a month cut by the range are partial and begin with its first day", async () => {
  await using shop = await openShop()
  const points = async (interval: string) =>
    (await shop.stats.timeseries(shop.site, { from: "2026-11-04", to: "2026-11-18", interval, metrics: ["visits"] })).points
  expect(await points("week")).toEqual([
    { time: "2026-11-04", partial: true, visits: 0 },
    { time: "2026-11-09", visits: 0 },
    { time: "2026-11-16", partial: true, visits: 0 },
  ])
  expect(await points("month")).toEqual([{ time: "2026-11-04", partial: true, visits: 0 }])
})

test.each<[string, Record<string, unknown>, object]>([
  [
    "pages with their share",
    { dimension: "page" },
    {
      rows: [
        { value: "/", visitors: 3, pageviews: 4, share: 100 },
        { value: "/blog", visitors: 1, pageviews: 1, share: 33.3 },
        { value: "/pricing", visitors: 1, pageviews: 1, share: 33.3 },
      ],
      total_rows: 3,
      has_more: false,
    },
  ],
  [
    "paginated rows",
    { dimension: "page", limit: 1, offset: 1, order: "asc", sort: "pageviews", metrics: ["pageviews"] },
    { rows: [{ value: "/pricing", pageviews: 1 }], total_rows: 3, has_more: true },
  ],
  [
    "countries with their names",
    { dimension: "country", metrics: ["visitors"] },
    {
      rows: [
        { value: "(none)", visitors: 1, share: 33.3 },
        { value: "DE", label: "Germany", visitors: 1, share: 33.3 },
        { value: "FR", label: "France", visitors: 1, share: 33.3 },
      ],
    },
  ],
  [
    "sources, with Direct for a missing one",
    { dimension: "source", metrics: ["visits"] },
    {
      rows: [
        { value: "Direct", visits: 2 },
        { value: "Google", visits: 2 },
      ],
    },
  ],
  [
    "events without pageviews",
    { dimension: "event" },
    { rows: [{ value: "Signup", visitors: 1, events: 1, conversion_rate: 33.3, share: 33.3 }], total_rows: 1, has_more: false },
  ],
  ["no rows beyond the last", { dimension: "event", offset: 1 }, { rows: [], total_rows: 1, has_more: false }],
  [
    "goals",
    { dimension: "goal" },
    { rows: [{ value: "Signup", visitors: 1, conversions: 1, conversion_rate: 33.3, share: 33.3 }], total_rows: 1 },
  ],
  [
    "property values",
    { dimension: "property", property: "plan", metrics: ["events"] },
    {
      property: "plan",
      rows: [
        { value: "(none)", events: 6 },
        { value: "pro", events: 1 },
      ],
    },
  ],
  [
    "conversion among the visitors of a row",
    { dimension: "country", metrics: ["conversion_rate"] },
    {
      rows: [
        { value: "DE", conversion_rate: 100 },
        { value: "(none)", conversion_rate: 0 },
        { value: "FR", conversion_rate: 0 },
      ],
    },
  ],
  [
    "revenue in major units",
    { dimension: "source", metrics: ["revenue"] },
    {
      revenue_currency: "EUR",
      rows: [
        { value: "Google", revenue: 12.5 },
        { value: "Direct", revenue: 0 },
      ],
    },
  ],
  [
    "filtered rows",
    { dimension: "page", metrics: ["visitors"], filters: [{ dimension: "source", values: ["Direct"] }] },
    { rows: [{ value: "/", visitors: 2, share: 100 }] },
  ],
])("a breakdown returns %s", async (_, given, expected) => {
  await using shop = await openShop()
  await shop.goals.create(shop.site, { kind: "event", value: "Signup" })
  recordWeek(shop)
  await shop.traffic.seal()
  const answer = await shop.stats.breakdown(shop.site, { period: "7d", ...given })
  expect(answer).toMatchObject({ site_id: 1, range: week, dimension: String(given.dimension), ...expected })
})

test("removes hidden characters from visitors' texts and truncates long ones", async () => {
  await using shop = await openShop()
  const titles = ["a\u202eb\u200bc", `${"x".repeat(499)}😀tail`]
  shop.traffic.visit({ visitor: 1, events: titles.map((title, i) => ({ at: at(NOW, i), title })) })
  const { rows } = await shop.stats.breakdown(shop.site, { period: "today", dimension: "title", metrics: ["events"] })
  expect(rows).toEqual([
    { value: "abc", events: 1 },
    { value: "x".repeat(499), truncated: true, events: 1 },
  ])
})

test("omits values that were not measured", async () => {
  await using shop = await openShop()
  recordWeek(shop)
  const filters = [{ dimension: "page", values: ["/"] }]
  const { metrics } = await shop.stats.summary(shop.site, {
    period: "7d",
    filters,
    metrics: ["time_on_page", "scroll_depth", "exit_rate", "visits"],
  })
  expect(metrics).toEqual({ exit_rate: 75, visits: 4 })
})

test("lists all goals and funnels, including those without conversions", async () => {
  await using shop = await openShop()
  await shop.goals.create(shop.site, { kind: "event", value: "Signup" })
  await shop.goals.create(shop.site, { kind: "scroll", value: "/nope", threshold: 50 })
  await shop.funnels.create(shop.site, {
    name: "Join",
    steps: [
      { type: "page", value: "/" },
      { type: "event", value: "Signup" },
    ],
    window_hours: 2,
  })
  recordWeek(shop)
  expect(await shop.stats.goals(shop.site, { period: "7d" })).toEqual({
    site_id: 1,
    range: week,
    visitor_window: "day",
    revenue_currency: "EUR",
    goals: [
      {
        goal_id: 1,
        name: "Signup",
        kind: "event",
        match: "exact",
        value: "Signup",
        visitors: 1,
        conversions: 1,
        conversion_rate: 33.3,
        revenue: 12.5,
      },
      {
        goal_id: 2,
        name: "Scroll 50 % on /nope",
        kind: "scroll",
        match: "exact",
        value: "/nope",
        threshold: 50,
        visitors: 0,
        conversions: 0,
        conversion_rate: 0,
      },
    ],
    funnels: [
      {
        funnel_id: 1,
        name: "Join",
        steps: [
          { type: "page", match: "exact", value: "/", name: "/" },
          { type: "event", match: "exact", value: "Signup", name: "Signup" },
        ],
        order: "sequential",
        window_hours: 2,
      },
    ],
  })
})

const STEPS = [
  { type: "page", value: "/" },
  { type: "event", value: "Signup", name: "Joined" },
]

test("a saved funnel equals its steps given inline", async () => {
  await using shop = await openShop()
  await shop.funnels.create(shop.site, { name: "Join", steps: STEPS })
  recordWeek(shop)
  const inline = {
    site_id: 1,
    range: week,
    visitor_window: "day",
    order: "sequential",
    entered: 3,
    completed: 1,
    conversion_rate: 33.3,
    steps: [
      {
        step: 1,
        name: "/",
        type: "page",
        match: "exact",
        value: "/",
        visitors: 3,
        conversion_rate: 100,
        step_conversion_rate: 100,
        dropoff: 0,
      },
      {
        step: 2,
        name: "Joined",
        type: "event",
        match: "exact",
        value: "Signup",
        visitors: 1,
        conversion_rate: 33.3,
        step_conversion_rate: 33.3,
        dropoff: 2,
        median_seconds: 120,
      },
    ],
  }
  expect(await shop.stats.funnel(shop.site, { period: "7d", steps: STEPS })).toEqual(inline as never)
  expect(await shop.stats.funnel(shop.site, { period: "7d", funnel_id: 1 })).toEqual({ ...inline, funnel_id: 1, name: "Join" } as never)
})

test("a funnel without visitors has rates of 0", async () => {
  await using shop = await openShop()
  const { entered, conversion_rate, steps } = await shop.stats.funnel(shop.site, { steps: STEPS })
  expect([entered, conversion_rate, steps.map((step) => step.step_conversion_rate)]).toEqual([0, 0, [0, 0]])
})

test.each<[Record<string, unknown>, string, unknown]>([
  [{}, "validation_failed", [["/steps", "required"]]],
  [{ steps: STEPS, funnel_id: 1 }, "validation_failed", [["/steps", "unsupported_combination"]]],
  [
    { funnel_id: 1, order: "strict", window_hours: 2 },
    "validation_failed",
    [
      ["/order", "unsupported_combination"],
      ["/window_hours", "unsupported_combination"],
    ],
  ],
  [{ funnel_id: 1.5 }, "validation_failed", [["/funnel_id", "invalid_type"]]],
  [{ funnel_id: 9 }, "funnel_not_found", undefined],
  [{ funnel_id: "x" }, "funnel_not_found", undefined],
  [
    { steps: STEPS.slice(1), period: "8w" },
    "validation_failed",
    [
      ["/period", "invalid_choice"],
      ["/steps", "too_few_steps"],
    ],
  ],
  [{ steps: STEPS, metrics: ["visitors"] }, "validation_failed", [["/metrics", "unknown_field"]]],
  [{ steps: STEPS, window_hours: 721 }, "validation_failed", [["/window_hours", "out_of_range"]]],
])("rejects the funnel %j", async (given, code, faults) => {
  await using shop = await openShop()
  const error = await shop.stats.funnel(shop.site, given).then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(error.code).toBe(code)
  expect(error.members.errors?.map((fault: { pointer: string; code: string }) => [fault.pointer, fault.code])).toEqual(faults as never)
})

const mode = (identity_mode: string) => ({
  settings: { identity_mode, bounce_engaged_seconds: 0, allowed_query_params: [], hash_routing: false },
})

test.each([
  ["daily", 25, { needed_days: 2, mode: "daily", horizon_days: 1, options: ["shorten_window", "switch_mode"] }],
  ["weekly", 169, { needed_days: 8, mode: "weekly", horizon_days: 7, options: ["shorten_window", "switch_mode"] }],
])("rejects a %s identity for a window of %d hours", async (identity, window_hours, members) => {
  await using shop = await openShop(mode(identity))
  await expect(shop.stats.funnel(shop.site, { steps: STEPS, window_hours })).rejects.toMatchObject({
    code: "identity_insufficient",
    members,
  })
})

test("with user ids, a long window counts only identified visitors and adds a note", async () => {
  await using shop = await openShop(mode("identified"))
  recordWeek(shop)
  const events = [
    { at: at(NOW), page: "/" },
    { at: at(NOW, 5), name: "Signup" },
  ]
  shop.traffic.visit({ visitor: 9, kind: "user", events })
  const long = await shop.stats.funnel(shop.site, { period: "7d", steps: STEPS, window_hours: 48 })
  expect(long).toMatchObject({
    entered: 1,
    completed: 1,
    visitor_window: "identified",
    window_hours: 48,
    notes: [expect.stringContaining("identified")],
  })
  expect(await shop.stats.funnel(shop.site, { period: "7d", steps: STEPS, window_hours: 24 })).toMatchObject({ entered: 4, completed: 2 })
})

test("realtime covers the last five minutes", async () => {
  await using shop = await openShop()
  recordWeek(shop)
  expect(await shop.stats.realtime(shop.site, { limit: "1" }, { form: "text" })).toEqual({
    site_id: 1,
    at: "2026-11-21T12:00:00Z",
    window_minutes: 5,
    visitors: 1,
    pageviews: 1,
    pages: [{ value: "/", visitors: 1 }],
    sources: [{ value: "Direct", visitors: 1 }],
    countries: [{ value: "(none)", visitors: 1 }],
  })
})

test.each<[string, Record<string, unknown>, Record<string, unknown>, string[] | undefined]>([
  ["no note", {}, {}, undefined],
  ["a last day in the future", {}, { from: "2026-11-20", to: "2026-12-24" }, ["to was in the future and was set to today, 2026-11-21."]],
  [
    "a range beyond the retention",
    { retention_days: 30 },
    { from: "2026-10-21", to: "2026-11-21" },
    ["Data is kept for 30 days. Older data is not included."],
  ],
  ["no note for exactly the retained days", { retention_days: 30 }, { from: "2026-10-22", to: "2026-11-21" }, undefined],
  ["no goals", {}, { metrics: ["conversions"] }, ["The site has no goals, so conversions are 0."]],
  [
    "a filter by goal without goals",
    {},
    { filters: [{ dimension: "goal", values: ["x"] }] },
    ["The site has no goals, so conversions are 0."],
  ],
  [
    "other currencies",
    { revenue_currency: "CHF" },
    { metrics: ["revenue"], period: "7d" },
    ["Amounts in EUR are not part of revenue, which is in CHF."],
  ],
])("adds a note: %s", async (_, settings, given, notes) => {
  await using shop = await openShop(settings)
  recordWeek(shop)
  expect((await shop.stats.summary(shop.site, given)).notes).toEqual(notes as string[])
})

test.each<[dimension: string, given: object, notes: string[] | undefined]>([
  ["event", {}, undefined],
  ["property", { property: "plan", metrics: ["conversion_rate"] }, undefined],
  ["event", { metrics: ["conversions"] }, ["The site has no goals, so conversions are 0."]],
  ["page", { metrics: ["conversion_rate"] }, ["The site has no goals, so conversions are 0."]],
])("adds the note about missing goals only for goal conversions: %s with %j", async (dimension, given, notes) => {
  await using shop = await openShop()
  recordWeek(shop)
  expect((await shop.stats.breakdown(shop.site, { dimension, ...given })).notes).toEqual(notes as string[])
})

test("rounds revenue to the currency's decimals, and returns 0 without revenue", async () => {
  await using shop = await openShop({ revenue_currency: "KWD" })
  shop.traffic.visit({ visitor: 1, events: [{ at: at(NOW), name: "Buy", revenue: { amount: 1234, currency: "KWD" } }] })
  const ask = (period: string) => shop.stats.summary(shop.site, { period, metrics: ["revenue"] })
  expect(await ask("today")).toMatchObject({ revenue_currency: "KWD", metrics: { revenue: 1.234 } })
  expect(await ask("yesterday")).toMatchObject({ revenue_currency: "KWD", metrics: { revenue: 0 } })
})

test("the period all begins with the first event", async () => {
  await using shop = await openShop()
  expect((await shop.stats.summary(shop.site, { period: "all" })).range.from).toBe("2026-11-21")
  recordWeek(shop)
  const { range, metrics } = await shop.stats.summary(shop.site, { period: "all", metrics: ["visits"] })
  expect([range.from, metrics]).toEqual(["2026-11-14", { visits: 5 }])
})

test.each([
  ["daily", { period: "today" }, undefined],
  ["daily", { period: "7d" }, "day"],
  ["weekly", { period: "7d" }, "week"],
  ["monthly", { period: "7d" }, "month"],
  ["identified", { period: "7d" }, "identified"],
  ["persistent", { period: "7d" }, "persistent"],
])("on a %s site, %j counts visitors once per %p", async (identity, given, window) => {
  await using shop = await openShop(mode(identity))
  expect((await shop.stats.summary(shop.site, given)).visitor_window).toBe(window as "day")
})

test.each([
  ["before the range", "2026-11-10T23:00:00Z", "week"],
  ["inside the range", "2026-11-18T23:00:00Z", "mixed"],
  ["in the future", "2026-11-21T23:00:00Z", "day"],
])("reports a change of the identity mode %s", async (_, from, window) => {
  const change = (begin: number, identity_mode: string) => ({ from: begin, timezone: "Europe/Berlin", identity_mode })
  await using shop = await openShop({ ...mode("weekly"), identity_history: [change(0, "daily"), change(Date.parse(from), "weekly")] })
  expect((await shop.stats.summary(shop.site, { period: "7d" })).visitor_window).toBe(window as "day")
})

test("computes changes from the rounded values", async () => {
  await using shop = await openShop()
  const visit = (day: string, pages: number) => {
    const events = Array.from({ length: pages }, (_, i) => ({ at: at(`${day}T10:00:00Z`, i) }))
    shop.traffic.visit({ visitor: 1, events })
  }
  for (const pages of [1, 2, 2]) visit("2026-11-10", pages)
  for (const pages of [1, 1, 2]) visit("2026-11-17", pages)
  const given = { period: "7d", compare: "previous_period", metrics: ["bounce_rate", "views_per_visit"] }
  // A third has doubled, and 5/3 became 4/3. The exact values would give 100 % and -20 %.
  expect(await shop.stats.summary(shop.site, given)).toMatchObject({
    metrics: { bounce_rate: 66.7, views_per_visit: 1.33 },
    comparison: { metrics: { bounce_rate: 33.3, views_per_visit: 1.67 }, change_percent: { bounce_rate: 100.3, views_per_visit: -20.4 } },
  })
})

describe("on the day of a change of the identity mode", () => {
  const ranges = {
    "the week that ends with it": { period: "7d" },
    "that day alone": { period: "today" },
    "the hours up to now": { period: "24h" },
    "the days before": { from: "2026-11-15", to: "2026-11-20" },
  }
  const windows = (shop: Awaited<ReturnType<typeof openShop>>, periods: Record<string, Record<string, string>> = ranges) =>
    Promise.all(
      Object.values(periods).map(
        async (given) => (await shop.stats.summary(shop.sites.directory.byId(shop.site.id)!, given)).visitor_window,
      ),
    )

  test.each<[string, ...(string | undefined)[]]>([
    ["identified", "mixed", "mixed", "mixed", "day"],
    ["weekly", "mixed", "mixed", "mixed", "day"],
    ["daily", "day", undefined, "day", "day"],
  ])("to %s, visitors are counted by mixed windows", async (identity_mode, ...expected) => {
    await using shop = await openShop()
    await shop.sites.configure(shop.site.id, { identity_mode })
    expect<(string | undefined)[]>(await windows(shop)).toEqual(expected)
  })

  test("and back, visitors are counted by mixed windows on that day only", async () => {
    await using shop = await openShop()
    await shop.sites.configure(shop.site.id, { identity_mode: "identified" })
    await shop.sites.configure(shop.site.id, { identity_mode: "daily" })
    expect(await windows(shop)).toEqual(["mixed", "mixed", "mixed", "day"])
    shop.clock.advance(3 * 86_400_000)
    expect(await windows(shop)).toEqual(["mixed", undefined, "day", "day"])
  })

  test("twice, only these two days are mixed", async () => {
    await using shop = await openShop()
    await shop.sites.configure(shop.site.id, { identity_mode: "weekly" })
    shop.clock.advance(3 * 86_400_000)
    await shop.sites.configure(shop.site.id, { identity_mode: "identified" })
    shop.clock.advance(10 * 86_400_000)
    const days = (from: string, to: string) => ({ from, to })
    const periods = {
      "until the first change": days("2026-11-18", "2026-11-20"),
      "with the first change": days("2026-11-20", "2026-11-21"),
      "between the changes": days("2026-11-22", "2026-11-23"),
      "with the second change": days("2026-11-23", "2026-11-24"),
      "after the changes": days("2026-11-30", "2026-12-02"),
    }
    expect(await windows(shop, periods)).toEqual(["day", "mixed", "week", "mixed", "identified"])
  })

  test("a change of only the time zone mixes nothing", async () => {
    await using shop = await openShop()
    await shop.sites.update(shop.site.id, { timezone: "UTC" })
    expect(await windows(shop)).toEqual(["day", undefined, "day", "day"])
  })
})

test("reports invalid arguments of a query string as invalid_query", async () => {
  await using shop = await openShop()
  await expect(shop.stats.summary(shop.site, { period: "8w", hello: "1" }, { form: "text" })).rejects.toMatchObject({
    code: "invalid_query",
    message: "2 parameters are not valid.",
  })
  await expect(shop.stats.realtime(shop.site, { limit: "0" }, { form: "text" })).rejects.toMatchObject({ code: "invalid_query" })
})

test("reads raw visits through a separate worker and stops when cancelled", async () => {
  await using shop = await openShop()
  for (let visitor = 0; visitor < 1_200; visitor++) shop.traffic.visit({ visitor, events: [{ at: at(NOW, visitor / 1000) }] })
  const facts = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }
  const query = { site: facts, range: { from: at(NOW), to: at(NOW, 60) } }
  const sizes: number[] = []
  for await (const batch of shop.engine.rows(query, { organizationId: 1 })) sizes.push(batch.length)
  expect(sizes).toEqual([500, 500, 200])

  const giveUp = new AbortController()
  const taken = (async () => {
    for await (const _ of shop.engine.rows(query, { organizationId: 1, signal: giveUp.signal })) giveUp.abort()
  })()
  await expect(taken).rejects.toMatchObject({ code: "unavailable" })
})
