import { type Examples, FACTS, RANGE, STEPS } from "./shop.ts"

const METRICS = {
  visitors: 812,
  visits: 990,
  pageviews: 2310,
  views_per_visit: 2.33,
  bounce_rate: 41.2,
  visit_duration: 96,
  events: 2387,
}
const SUMMARY = { ...FACTS, metrics: METRICS }
const WEEK = ["2026-11-14T00:00:00+01:00", "2026-11-20T23:59:59+01:00"]
const WEEK_BEFORE = ["2026-11-07T00:00:00+01:00", "2026-11-13T23:59:59+01:00"]
export const QUERY = {
  results: [
    { dimensions: ["/pricing"], metrics: [812, 41.2] },
    { dimensions: ["/"], metrics: [604, 55.1] },
  ],
  meta: { visitor_window: "day", total_rows: 2 },
  query: {
    site_id: 1,
    metrics: ["visitors", "bounce_rate"],
    date_range: WEEK,
    dimensions: ["event:page"],
    filters: [["is", "visit:country", ["DE"]]],
    order_by: [["visitors", "desc"]],
    include: { total_rows: true },
    pagination: { limit: 10_000, offset: 0 },
    timezone: "Europe/Berlin",
  },
}
export const QUERY_REQUEST = {
  site_id: 1,
  metrics: ["visitors", "bounce_rate"],
  date_range: "7d",
  dimensions: ["event:page"],
  filters: [["is", "visit:country", ["DE"]]],
  include: { total_rows: true },
}
const COMPARED_QUERY_REQUEST = {
  ...QUERY_REQUEST,
  order_by: [["visitors", "desc"]],
  include: { total_rows: true, comparisons: { mode: "previous_period" } },
}
const COMPARED_QUERY = {
  results: [
    { ...QUERY.results[0], comparison: { dimensions: ["/pricing"], metrics: [700, 43], change: [16, -4.2] } },
    { ...QUERY.results[1], comparison: { dimensions: ["/"], metrics: [0, 0], change: [null, null] } },
  ],
  meta: QUERY.meta,
  query: { ...QUERY.query, include: { total_rows: true, comparisons: { mode: "previous_period", date_range: WEEK_BEFORE } } },
}
const TODAY_REQUEST = { site_id: 1, metrics: ["visitors"], date_range: "day" }
const TODAY = {
  results: [{ dimensions: [], metrics: [60] }],
  meta: {},
  query: {
    site_id: 1,
    metrics: ["visitors"],
    date_range: ["2026-11-20T00:00:00+01:00", "2026-11-20T23:59:59+01:00"],
    dimensions: [],
    filters: [],
    order_by: [["visitors", "desc"]],
    include: {},
    pagination: { limit: 10_000, offset: 0 },
    timezone: "Europe/Berlin",
  },
}
const TOOL_CALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "get_summary", arguments: { site_id: 1, period: "7d" } },
}
const EVENT = {
  ...{ name: "pageview", url: "https://shop.example/pricing?utm_source=letter", id: "order-4711-view" },
  user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
}
const purchaseOf = (amount: string) => ({ name: "purchase", url: "/thanks", revenue: { amount, currency: "EUR" } })

/** Examples of reports, exports and events. */
export const REPORT_EXAMPLES: Examples = {
  getSummary: { query: "period=7d", response: SUMMARY },
  getTimeseries: {
    query: "from=2026-11-19&to=2026-11-20&interval=day",
    response: {
      ...FACTS,
      range: { ...RANGE, from: "2026-11-19" },
      interval: "day",
      points: [
        { time: "2026-11-19", visitors: 141, pageviews: 402 },
        { time: "2026-11-20", partial: true, visitors: 60, pageviews: 155 },
      ],
    },
  },
  getBreakdown: {
    query: "dimension=country&period=7d&limit=2",
    response: {
      ...FACTS,
      dimension: "country",
      rows: [
        { value: "DE", label: "Germany", visitors: 512, pageviews: 1480, share: 63.1 },
        { value: "AT", label: "Austria", visitors: 96, pageviews: 251, share: 11.8 },
      ],
      total_rows: 14,
      has_more: true,
    },
  },
  getRealtime: {
    response: {
      site_id: 1,
      at: "2026-11-20T12:00:00Z",
      window_minutes: 5,
      visitors: 9,
      pageviews: 21,
      pages: [{ value: "/pricing", visitors: 6 }],
      sources: [{ value: "Direct", visitors: 9 }],
      countries: [{ value: "DE", label: "Germany", visitors: 7 }],
    },
  },
  getGoalReport: {
    query: "period=7d",
    response: {
      ...FACTS,
      goals: [
        {
          goal_id: 7,
          name: "Signed up",
          kind: "event",
          match: "exact",
          value: "signup",
          visitors: 60,
          conversions: 61,
          conversion_rate: 7.4,
        },
      ],
      funnels: [{ funnel_id: 3, name: "Signup", steps: STEPS, order: "sequential" }],
    },
  },
  getBusyHours: {
    response: {
      ...FACTS,
      grid: Array.from({ length: 7 }, (_, day) => Array.from({ length: 24 }, (_, hour) => (hour < 7 ? 1 : 9 - day))),
    },
  },
  getWebVitals: {
    response: { ...FACTS, percentile: 75, measured_loads: 1480, metrics: { lcp: 1840, inp: 96, cls: 0.042, fcp: 910, ttfb: 210 } },
  },
  getWebVitalsBreakdown: {
    response: {
      ...{ ...FACTS, percentile: 75, dimension: "page" },
      rows: [{ value: "/pricing", measured_loads: 640, lcp: 2110, inp: 104, cls: 0.051, fcp: 980, ttfb: 230 }],
      has_more: false,
    },
  },
  getDrops: {
    response: {
      range: RANGE,
      days: ["2026-11-19", "2026-11-20"],
      rows: [{ reason: "bot", total: 214, counts: [120, 94], entries: [] }],
      counters: [{ counter: "cardinality", total: 0 }],
    },
  },
  getJourneys: {
    request: { start: { page: "/pricing" }, steps: 2, period: "7d" },
    response: {
      ...{ ...FACTS, mode: "start", anchor: { page: "/pricing" } },
      columns: [
        [{ kind: "page", page: "/pricing", visits: 400, conversion_rate: 100 }],
        [
          { kind: "page", page: "/signup", visits: 120, conversion_rate: 30 },
          { kind: "exit", page: "(exit)", visits: 280, conversion_rate: 70 },
        ],
      ],
      edges: [
        { column: 0, from: "/pricing", to: "/signup", from_node: 0, to_node: 0, visits: 120 },
        { column: 0, from: "/pricing", to: "(exit)", from_node: 0, to_node: 1, visits: 280 },
      ],
      dropped: [[280]],
      sample_visits: 400,
    },
  },
  query: { request: COMPARED_QUERY_REQUEST, response: COMPARED_QUERY },
  runQueries: {
    request: { queries: [QUERY_REQUEST, TODAY_REQUEST] },
    response: {
      results: [
        { status: 200, data: QUERY },
        { status: 200, data: TODAY },
      ],
    },
  },
  callMcp: {
    request: TOOL_CALL,
    response: {
      jsonrpc: "2.0",
      id: 1,
      result: { content: [{ type: "text", text: JSON.stringify(SUMMARY) }], structuredContent: SUMMARY },
    },
  },
  sendEvents: {
    request: { events: [EVENT, purchaseOf("49.90"), purchaseOf("49.999")] },
    response: {
      accepted: 2,
      rejected: [{ index: 2, code: "too_many_decimals", detail: "revenue has more decimal places than its currency." }],
      dropped: [],
    },
    texts: { "application/x-ndjson": `${JSON.stringify(EVENT)}\n` },
  },
  exportSite: {
    query: "type=visits&format=ndjson&since=2026-11-20T10:00:00Z",
    texts: {
      "application/x-ndjson": `${JSON.stringify({
        visit: "9c41f0d2a7b35e16",
        visitor: "51be07c93fd8a2e4",
        started_at: "2026-11-20T10:02:11Z",
        last_at: "2026-11-20T10:03:47Z",
        duration: 96,
        pageviews: 2,
        events: 3,
        bounce: false,
        engaged_seconds: 71,
        entry_page: "/pricing",
        entry_page_hostname: "shop.example",
        exit_page: "/thanks",
        exit_page_hostname: "shop.example",
        source: "Google",
        channel: "Organic Search",
        country: "DE",
        device: "Desktop",
        browser: "Firefox",
        os: "Mac",
        language: "de-DE",
        import_id: 0,
      })}\n`,
    },
  },
  getReference: { texts: { "text/html": "<!doctype html>…" } },
}
