import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../kit.ts"

/** Noon of a Saturday in UTC, 13:00 in Berlin. */
const NOW = "2026-11-21T12:00:00Z"
const OURS = "/api/public/v1/query"
const PLAUSIBLE = "/api/v2/query"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ now: NOW })
  const { app, site, clock, collect } = instance
  await app.instance.goals.create(site, { kind: "event", value: "Signup" })
  const sites = app.instance.sites
  // Site 2 has a host of its own and shares one with site 1; site 3 belongs to another organization.
  await sites.create(site.organization_id, { name: "Docs", hosts: ["docs.example", "*.shop.example", "shared.example"] })
  await sites.update(site.id, { hosts: ["shop.example", "shared.example"] })
  const other = await app.instance.organizations.create({ name: "Other" })
  await sites.create(other.id, { name: "Foreign", hosts: ["foreign.example", "shared.example"] })
  const visit = (address: string, page: string, more: object = {}) =>
    collect({ n: "pageview", u: `https://shop.example${page}`, d: site.tracking_id, ...more }, { address })
  clock.advance(-86_400_000)
  await visit("198.51.100.1", "/docs", { tz: "Europe/Tallinn" })
  clock.advance(86_400_000)
  await visit("198.51.100.2", "/docs?utm_medium=social&utm_source=twitter", { tz: "Europe/Tallinn", p: { is_customer: "true" } })
  await visit("198.51.100.3", "/pricing", { tz: "America/New_York" })
  await collect(
    { n: "Signup", u: "https://shop.example/pricing", d: site.tracking_id, $: { currency: "EUR", amount: "9.90" } },
    { address: "198.51.100.3" },
  )
  await collect(
    { n: "Gift", u: "https://shop.example/pricing", d: site.tracking_id, $: { currency: "USD", amount: "5" } },
    { address: "198.51.100.3" },
  )
})
afterAll(() => instance[Symbol.asyncDispose]())

const post = (body: unknown, path = OURS, key: string | undefined = instance.statsKey) => instance.api.post(path, body, key)
const rowsOf = async (body: object) => {
  const answer = await post({ site_id: "shop.example", ...body })
  return (answer.body as { results: unknown }).results
}

describe("queries from Plausible's documentation", () => {
  test("a simple aggregate", async () => {
    const answer = await post({ site_id: "shop.example", metrics: ["visitors", "events"], date_range: "7d" }, PLAUSIBLE)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({
      results: [{ metrics: [3, 5], dimensions: [] }],
      meta: { visitor_window: "day" },
      query: {
        site_id: 1,
        metrics: ["visitors", "events"],
        date_range: ["2026-11-15T00:00:00+01:00", "2026-11-21T23:59:59+01:00"],
        dimensions: [],
        filters: [],
        order_by: [["visitors", "desc"]],
        include: {},
        pagination: { limit: 10_000, offset: 0 },
        timezone: "Europe/Berlin",
      },
    })
  })

  test.each<[string, object, unknown]>([
    ["a range of days", { metrics: ["visitors"], date_range: ["2026-11-20", "2026-11-20"] }, [{ dimensions: [], metrics: [1] }]],
    [
      "country and city",
      {
        metrics: ["visitors", "pageviews", "bounce_rate"],
        date_range: "7d",
        filters: [["is_not", "visit:country_name", [""]]],
        dimensions: ["visit:country_name", "visit:city_name"],
      },
      [
        { dimensions: ["Estonia", "(not set)"], metrics: [2, 2, 100] },
        { dimensions: ["United States", "(not set)"], metrics: [1, 1, 0] },
      ],
    ],
    [
      "campaigns",
      { metrics: ["visitors", "events", "pageviews"], date_range: "7d", dimensions: ["visit:utm_medium", "visit:utm_source"] },
      [
        { dimensions: ["(not set)", "(not set)"], metrics: [2, 4, 2] },
        { dimensions: ["social", "twitter"], metrics: [1, 1, 1] },
      ],
    ],
    [
      "trees",
      {
        metrics: ["visitors"],
        date_range: "7d",
        filters: [
          ["contains", "event:page", ["/docs", "/pricing"]],
          [
            "or",
            [
              ["not", ["is", "visit:utm_source", ["twitter"]]],
              ["is", "visit:country_name", ["Finland", "United States of America"]],
            ],
          ],
        ],
      },
      [{ dimensions: [], metrics: [2] }],
    ],
    [
      "terms in any case",
      { metrics: ["visitors"], date_range: "7d", filters: [["contains", "event:page", ["DOC"], { case_sensitive: false }]] },
      [{ dimensions: [], metrics: [2] }],
    ],
    [
      "a timeseries",
      { metrics: ["visitors", "events"], date_range: "7d", dimensions: ["time:day"] },
      [
        { dimensions: ["2026-11-20"], metrics: [1, 1] },
        { dimensions: ["2026-11-21"], metrics: [2, 4] },
      ],
    ],
    [
      "properties by day",
      {
        metrics: ["visitors"],
        date_range: "7d",
        dimensions: ["time:day", "event:props:is_customer"],
        order_by: [
          ["time:day", "asc"],
          ["event:props:is_customer", "desc"],
        ],
      },
      [
        { dimensions: ["2026-11-20", "(none)"], metrics: [1] },
        { dimensions: ["2026-11-21", "true"], metrics: [1] },
        { dimensions: ["2026-11-21", "(none)"], metrics: [1] },
      ],
    ],
    [
      "revenue by goal",
      { metrics: ["total_revenue", "conversion_rate"], date_range: "all", dimensions: ["event:goal"] },
      [{ dimensions: ["Signup"], metrics: [{ value: 9.9, currency: "EUR", short: "€9.9", long: "€9.90" }, 33.3] }],
    ],
    [
      "other events of the same visitors",
      {
        metrics: ["visitors"],
        date_range: "all",
        filters: [
          ["is", "event:goal", ["Signup"]],
          ["has_done", ["is", "event:page", ["/docs"]]],
        ],
      },
      [{ dimensions: [], metrics: [0] }],
    ],
  ])("%s", async (_, body, results) => {
    expect(await rowsOf(body)).toEqual(results)
  })

  test("a page of rows with the total count", async () => {
    const answer = await post({
      site_id: "shop.example",
      metrics: ["visitors"],
      date_range: "7d",
      dimensions: ["event:page"],
      include: { total_rows: true },
      pagination: { limit: 1, offset: 1 },
    })
    expect(answer.body).toMatchObject({ results: [{ dimensions: ["/pricing"], metrics: [1] }], meta: { total_rows: 2 } })
  })

  test("the labels of all hours, with rows for some", async () => {
    const answer = await post({
      site_id: "shop.example",
      metrics: ["visitors"],
      date_range: "day",
      dimensions: ["time"],
      include: { time_labels: true },
    })
    const { results, meta, query } = answer.body as {
      results: unknown
      meta: { time_labels: string[] }
      query: { dimensions: string[]; order_by: unknown }
    }
    expect(results).toEqual([{ dimensions: ["2026-11-21 13:00:00"], metrics: [2] }])
    expect(meta.time_labels).toHaveLength(24)
    expect([meta.time_labels[0], meta.time_labels[23]]).toEqual(["2026-11-21 00:00:00", "2026-11-21 23:00:00"])
    expect([query.dimensions, query.order_by]).toEqual([["time:hour"], [["time:hour", "asc"]]])
  })

  test("imported totals when there are none", async () => {
    const answer = await post({ site_id: 1, metrics: ["visitors"], date_range: "7d", include: { imports: true, total_rows: false } })
    expect(answer.body).toMatchObject({
      meta: { imports_included: false, imports_skip_reason: "none_in_range", imports_warning: expect.any(String) },
      query: { include: { imports: true } },
    })
    expect((answer.body as { query: object }).query).toMatchObject({ include: { imports: true } })
  })

  test("an unknown segment", async () => {
    const body = { site_id: "shop.example", metrics: ["visitors", "events"], filters: [["is", "segment", [2]]], date_range: "7d" }
    expect(await post(body)).toMatchObject({ status: 422, body: { errors: [{ pointer: "/filters/0/2/0", code: "invalid_choice" }] } })
  })
})

test("compares each row with its previous value", async () => {
  const answer = await post({
    site_id: 1,
    metrics: ["visitors", "total_revenue"],
    date_range: "day",
    dimensions: ["event:page"],
    order_by: [["event:page", "asc"]],
    include: { comparisons: { mode: "previous_period" } },
  })
  expect(answer.body).toMatchObject({
    results: [
      { dimensions: ["/docs"], metrics: [1, null], comparison: { dimensions: ["/docs"], metrics: [1, null], change: [0, null] } },
      {
        dimensions: ["/pricing"],
        metrics: [1, { value: 9.9 }],
        comparison: { dimensions: ["/pricing"], metrics: [0, null], change: [null, null] },
      },
    ],
    // Amounts in another currency are listed but not added.
    meta: { metric_warnings: { total_revenue: { code: "other_currencies", warning: expect.stringContaining("USD") } } },
    query: {
      include: { comparisons: { mode: "previous_period", date_range: ["2026-11-20T00:00:00+01:00", "2026-11-20T23:59:59+01:00"] } },
    },
  })
})

test("realtime covers the last five minutes", async () => {
  const answer = await post({ site_id: 1, metrics: ["visitors", "pageviews"], date_range: "realtime" })
  expect(answer.body).toMatchObject({
    results: [{ dimensions: [], metrics: [2, 2] }],
    query: { date_range: ["2026-11-21T12:55:00+01:00", "2026-11-21T13:00:00+01:00"] },
  })
})

test("notes every limit that was applied", async () => {
  const answer = await post({ site_id: 1, metrics: ["visitors"], date_range: ["2026-11-21", "2026-12-31"] })
  expect(answer.body).toMatchObject({
    meta: { notes: ["to was in the future and was set to today, 2026-11-21."] },
    query: { date_range: ["2026-11-21T00:00:00+01:00", "2026-11-21T23:59:59+01:00"] },
  })
})

test("rows and totals equal those of the flat endpoints", async () => {
  const flat = async (path: string) => (await instance.api.get(`/api/public/v1/sites/1/stats/${path}`, instance.statsKey)).body
  const names = "visitors,visits,pageviews,views_per_visit,bounce_rate,visit_duration,events"
  const metrics = names.split(",")
  const { metrics: summary } = (await flat(`summary?period=7d&metrics=${names}`)) as { metrics: Record<string, number> }
  expect(await rowsOf({ metrics, date_range: "7d" })).toEqual([{ dimensions: [], metrics: metrics.map((name) => summary[name]) }])
  const { rows } = (await flat(`breakdown?period=7d&dimension=page&metrics=${names}`)) as { rows: Record<string, number>[] }
  expect(await rowsOf({ metrics, date_range: "7d", dimensions: ["event:page"] })).toEqual(
    rows.map((row) => ({ dimensions: [row.value], metrics: metrics.map((name) => row[name]) })),
  )
  const { points } = (await flat("timeseries?period=7d&metrics=visitors,pageviews")) as { points: Record<string, number>[] }
  expect(await rowsOf({ metrics: ["visitors", "pageviews"], date_range: "7d", dimensions: ["time"] })).toEqual(
    points
      .filter(({ visitors }) => visitors !== 0)
      .map((point) => ({ dimensions: [point.time], metrics: [point.visitors, point.pageviews] })),
  )
})

test("the connection stays open as long as a report may take", async () => {
  const seconds: number[] = []
  const server = { requestIP: () => ({ address: "198.51.100.7" }), timeout: (_: Request, idle: number) => void seconds.push(idle) }
  const headers = { authorization: `Bearer ${instance.statsKey}`, "content-type": "application/json" }
  const body = JSON.stringify({ site_id: 1, metrics: ["visitors"], date_range: "day" })
  const answer = await instance.app.fetch(new Request(`http://localhost${OURS}`, { method: "POST", headers, body }), server)
  expect([answer.status, Math.max(...seconds)]).toEqual([200, 40])
})

describe("the site", () => {
  const base = { metrics: ["visitors"], date_range: "day" }
  test.each<[string, () => unknown, number]>([
    ["its id", () => 1, 1],
    ["its id as a string", () => "1", 1],
    ["its id as a string with spaces", () => " 1 ", 1],
    ["its tracking id", () => instance.site.tracking_id, 1],
    ["its tracking id in upper case", () => instance.site.tracking_id.toUpperCase(), 1],
    ["its host", () => "Shop.Example.", 1],
    ["its host with www", () => "www.shop.example", 1],
    ["a host below a wildcard", () => "blog.shop.example", 2],
    ["that wildcard", () => "*.shop.example", 2],
    ["a host of its own", () => "docs.example", 2],
  ])("is found by %s", async (_, name, id) => {
    expect(await post({ site_id: name(), ...base })).toMatchObject({ status: 200, body: { query: { site_id: id } } })
  })

  test("must be named by id if several visible sites have the host", async () => {
    const answer = await post({ site_id: "shared.example", ...base })
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: "/site_id", code: "ambiguous_site", allowed: [1, 2] }] } })
    const limited = await instance.makeKey(["stats:read"], [2])
    expect(await post({ site_id: "shared.example", ...base }, OURS, limited)).toMatchObject({
      status: 200,
      body: { query: { site_id: 2 } },
    })
  })

  test.each<[unknown, number, string]>([
    [9, 404, "site_not_found"],
    [3, 404, "site_not_found"],
    ["3", 404, "site_not_found"],
    ["foreign.example", 404, "site_not_found"],
    [0, 404, "site_not_found"],
    [-1, 404, "site_not_found"],
    ["01", 404, "site_not_found"],
    ["1e0", 404, "site_not_found"],
    ["https://shop.example", 404, "site_not_found"],
    ["\u0000", 404, "site_not_found"],
    ["\ud800", 404, "site_not_found"],
    ["x".repeat(50_000), 404, "site_not_found"],
    ["__proto__", 404, "site_not_found"],
    [1.5, 422, "validation_failed"],
    [2 ** 53, 422, "validation_failed"],
    ["  ", 422, "validation_failed"],
    [null, 422, "validation_failed"],
    [[1], 422, "validation_failed"],
    [true, 422, "validation_failed"],
    [undefined, 422, "validation_failed"],
  ])("rejects %j", async (site_id, status, code) => {
    expect(await post({ site_id, ...base })).toMatchObject({ status, body: { code } })
  })
})

describe("order of checks", () => {
  const good = { site_id: 1, metrics: ["visitors"], date_range: "day" }
  test.each<[string, string | undefined, unknown, Record<string, string>, number, string]>([
    ["no key, malformed body", undefined, "{", {}, 401, "missing_api_key"],
    ["missing scope, unknown site", "events", { ...good, site_id: 9 }, {}, 403, "insufficient_scope"],
    ["unacceptable Accept", "stats", good, { accept: "text/csv" }, 406, "not_acceptable"],
    ["a large body", "stats", JSON.stringify({ ...good, zz: "x".repeat(70_000) }), {}, 413, "body_too_large"],
    ["unsupported media type", "stats", "{", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ["no body", "stats", undefined, {}, 400, "invalid_json"],
    ["a truncated body", "stats", '{"site_id":', {}, 400, "invalid_json"],
    ["thirteen levels of nesting", "stats", `{"filters":${"[".repeat(12)}${"]".repeat(12)}}`, {}, 400, "invalid_json"],
    ["invalid content, unknown site", "stats", { ...good, site_id: 9, metrics: [] }, {}, 422, "validation_failed"],
    ["an unknown site", "stats", { ...good, site_id: 9 }, {}, 404, "site_not_found"],
    ["an array", "stats", "[]", {}, 422, "validation_failed"],
    ["null", "stats", "null", {}, 422, "validation_failed"],
    ["a number", "stats", "5", {}, 422, "validation_failed"],
    ["a string", "stats", '"x"', {}, 422, "validation_failed"],
  ])("reports %s", async (_, key, body, headers, status, code) => {
    const keys: Record<string, string> = { stats: instance.statsKey, events: instance.eventsKey }
    for (const path of [OURS, PLAUSIBLE])
      expect(await instance.api.post(path, body, key && keys[key], headers)).toMatchObject({ status, body: { status, code } })
  })

  test("rejects other methods", async () => {
    for (const path of [OURS, PLAUSIBLE]) {
      const answer = await instance.api.get(path, instance.statsKey)
      expect(answer).toMatchObject({ status: 405, body: { code: "method_not_allowed" } })
      expect(answer.headers.get("allow")).toBe("POST")
    }
  })

  test("rejects an unknown query parameter", async () => {
    expect(await post(good, `${OURS}?debug=1`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  })
})

test("accepts four nested operators and rejects five", async () => {
  const leaf = ["is", "event:page", ["/pricing"], { case_sensitive: true }]
  const nested = (operators: number, name: "and" | "or"): unknown => (operators === 0 ? leaf : [name, [nested(operators - 1, name)]])
  const ask = (filter: unknown) => post({ site_id: 1, metrics: ["visitors"], date_range: "day", filters: [filter] })
  for (const name of ["and", "or"] as const) {
    expect(await ask(nested(4, name))).toMatchObject({ status: 200, body: { results: [{ metrics: [1] }] } })
    expect((await ask(nested(5, name))).status).toBeGreaterThanOrEqual(400)
  }
})

test("hostile bodies are rejected and never cause an internal error", async () => {
  const leaf = ["is", "event:page", ["/"]]
  const odd = [null, true, -0, 1e21, "", "\ud800", "\u0000", [], {}, [[]], { length: 3 }, JSON.parse('{"__proto__":[1]}'), "__proto__"]
  const bodies = [
    ...["site_id", "metrics", "date_range", "timezone", "dimensions", "filters", "order_by", "include", "pagination", "toString"].flatMap(
      (field) => odd.map((value) => ({ site_id: 1, metrics: ["visitors"], date_range: "day", [field]: value })),
    ),
    ...odd.flatMap((value) => [
      { site_id: 1, metrics: [value], date_range: [value, value], dimensions: [value], filters: [value], order_by: [value] },
      {
        site_id: 1,
        metrics: ["visitors"],
        date_range: "day",
        filters: [
          ["and", value],
          ["not", value],
          [value, value, value, value],
        ],
      },
      {
        site_id: 1,
        metrics: ["visitors"],
        date_range: "day",
        filters: [
          ["is", "segment", value],
          ["is", "event:page", value, value],
        ],
      },
      { site_id: 1, metrics: ["visitors"], date_range: "day", order_by: [[value, value]], pagination: { limit: value, offset: value } },
      { site_id: 1, metrics: ["visitors"], date_range: "day", include: { comparisons: { mode: value, date_range: [value, value] } } },
    ]),
    { site_id: 1, metrics: ["visitors"], date_range: "day", filters: Array.from({ length: 2_500 }, () => leaf) },
    { site_id: 1, metrics: ["visitors"], date_range: ["0000-01-01", "9999-12-31"] },
    { site_id: 1, metrics: ["visitors"], date_range: ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"] },
  ]
  const key = await instance.makeKey(["stats:read"])
  instance.clock.advance(60_000)
  for (const body of bodies) {
    const answer = await post(body, OURS, key)
    if (answer.status === 429) instance.clock.advance(60_000)
    else expect([200, 404, 422], JSON.stringify(body)).toContain(answer.status)
  }
  expect(instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
}, 30_000)

test("counts backfilled pageviews around a past midnight as one visit, and has_done does not restrict its exits", async () => {
  await using other = await startInstance({ now: NOW })
  const visitor = { ip: "203.0.113.7", user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0" }
  const view = (page: string, timestamp: string) => ({ ...visitor, name: "pageview", url: `https://shop.example${page}`, timestamp })
  const events = [view("/docs", "2026-11-10T23:05:00Z"), view("/pricing", "2026-11-10T22:50:00Z")]
  const sent = await other.api.post("/api/public/v1/sites/1/events", { events }, other.eventsKey)
  expect(sent).toMatchObject({ status: 202, body: { accepted: 2 } })
  const ask = async (body: object) => (await other.api.post(OURS, { site_id: 1, date_range: "30d", ...body }, other.statsKey)).body
  expect(await ask({ metrics: ["visitors", "visits", "visit_duration"] })).toMatchObject({ results: [{ metrics: [1, 1, 900] }] })
  const exits = {
    metrics: ["exit_rate"],
    dimensions: ["event:page"],
    filters: [["has_done", ["is", "event:page", ["/pricing"]]]],
  }
  expect(await ask(exits)).toMatchObject({
    results: [
      { dimensions: ["/docs"], metrics: [100] },
      { dimensions: ["/pricing"], metrics: [0] },
    ],
  })
})
