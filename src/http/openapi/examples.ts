/** Example bodies of requests and responses, by operation. They describe an invented shop on 20 November 2026. */

const TIMES = { created_at: "2026-01-05T10:00:00Z", updated_at: "2026-01-05T10:00:00Z" }
const SITE = {
  id: 1,
  name: "Shop",
  hosts: ["shop.example", "*.shop.example"],
  timezone: "Europe/Berlin",
  retention_days: 730,
  revenue_currency: "EUR",
  tracking_id: "6f1c8a52-3d1e-4b1c-9f0a-2a5d1c7e9b34",
  snippet: '<script defer src="https://stats.example.com/js/script.js" data-site="6f1c8a52-3d1e-4b1c-9f0a-2a5d1c7e9b34"></script>',
  first_event_at: "2026-01-05T10:14:09Z",
  ...TIMES,
}
const GOAL = { id: 7, site_id: 1, kind: "event", match: "exact", value: "signup", name: "Signed up", ...TIMES }
const STEPS = [
  { type: "page", match: "exact", value: "/pricing", name: "Prices" },
  { type: "event", match: "exact", value: "signup", name: "signup" },
]
const FUNNEL = { id: 3, site_id: 1, name: "Signup", steps: STEPS, order: "sequential", window_hours: null, ...TIMES }
const ANNOTATION = { id: 12, site_id: 1, at: "2026-11-18", day: "2026-11-18", text: "New pricing page", ...TIMES }

const SEGMENT = { id: 4, site_id: 1, name: "From Germany", filters: [{ dimension: "country", values: ["DE"] }], ...TIMES }
const SHARE = {
  ...{ id: 5, site_id: 1, name: "Partners", url: "https://stats.example.org/share/s/8sT3kQ1zXw5yRb2nLm4pVc" },
  ...{ has_password: false, expires_at: "2027-01-31T12:00:00Z", locked_filters: [{ dimension: "country", values: ["DE"] }] },
  ...{ allow_range: true, allow_filters: true, allow_export: false, embed_origins: [], ...TIMES },
  ...{ sections: ["summary", "sources", "pages"], is_public: false },
}
const MEMBER = { id: 8, name: "Ann", email: "ann@shop.example", role: "viewer", created_at: TIMES.created_at }
const API_KEY = {
  ...{ id: 6, name: "Shop server", prefix: "ff_8sT3kQ1z", last4: "pVc7", scopes: ["events:write"], site_ids: [1] },
  ...{ ip_allow: [], rate_limit: null, created_at: TIMES.created_at, expires_at: "2027-01-05T10:00:00Z" },
  ...{ last_used_at: null, revoked_at: null, state: "active" },
}
const NEW_API_KEY = { ...API_KEY, key: "ff_8sT3kQ1z_0000000000000000000000000000000000000000000000pVc7" }
const SETTINGS = {
  ...{ timezone: "Europe/Berlin", retention_days: 730, revenue_currency: "EUR" },
  ...{ strict_origin: false, accept_any_host: false, identity_mode: "daily", persistent_days: 180, store_user_ids: false },
  ...{ consent_default: "denied", respect_gpc: false, drop_bots: true, drop_spam: true, drop_probes: true, drop_datacenters: false },
  ...{ min_group: 5, bounce_engaged_seconds: 0, allowed_query_params: ["page"], hash_routing: false },
  compat_ids: { plausible: [], umami: [], goatcounter: [] },
  ...{ order_property: "order_id", read_role: "viewer" },
}
const CONFIGURATION = {
  site: { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", retention_days: 730, revenue_currency: "EUR" },
  settings: { respect_gpc: true, allowed_query_params: ["page"] },
  shields: [{ kind: "ip", value: "203.0.113.0/24", note: "Office", enabled: true }],
  goals: [{ kind: "event", match: "exact", value: "signup", name: "Signed up" }],
  funnels: [{ name: "Signup", steps: STEPS, order: "sequential", window_hours: null }],
  segments: [{ name: "From Germany", filters: [{ dimension: "country", values: ["DE"] }] }],
}
const CHANGES = {
  changes: [
    { action: "update", kind: "site", name: "Shop", fields: { respect_gpc: [false, true] } },
    {
      ...{ action: "create", kind: "segment", name: "From Germany" },
      fields: { name: [null, "From Germany"], filters: [null, [{ dimension: "country", values: ["DE"] }]] },
    },
  ],
}

const page = (row: object) => ({ data: [row], has_more: false })

const RANGE = { from: "2026-11-14", to: "2026-11-20", timezone: "Europe/Berlin", includes_today: true }
const FACTS = { site_id: 1, range: RANGE, visitor_window: "day" }
const METRICS = {
  visitors: 812,
  visits: 990,
  pageviews: 2310,
  views_per_visit: 2.33,
  bounce_rate: 41.2,
  visit_duration: 96,
  events: 2387,
}

const WEEK = ["2026-11-14T00:00:00+01:00", "2026-11-20T23:59:59+01:00"]
const WEEK_BEFORE = ["2026-11-07T00:00:00+01:00", "2026-11-13T23:59:59+01:00"]
const QUERY = {
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
const QUERY_REQUEST = {
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
const SUMMARY = { ...FACTS, metrics: METRICS }

const EVENT = { name: "pageview", url: "https://shop.example/pricing?utm_source=letter", id: "order-4711-view", user_agent: "Mozilla/5.0" }

const PLAUSIBLE_SITE = { domain: "shop.example", timezone: "Europe/Berlin" }
const PLAUSIBLE_GOAL = { id: "7", goal_type: "event", display_name: "Signed up", event_name: "signup", page_path: null }
const PLAUSIBLE_META = { after: null, before: null, limit: 100 }
const form = (example: object) => ({
  "application/json": example,
  "multipart/form-data": example,
  "application/x-www-form-urlencoded": example,
})

const UMAMI_TOTALS = { pageviews: 2310, visitors: 812, visits: 990, bounces: 408, totaltime: 95040 }
const UMAMI_SERIES = {
  pageviews: [{ x: "2026-11-18T23:00:00Z", y: 402 }],
  sessions: [{ x: "2026-11-18T23:00:00Z", y: 141 }],
}

/** Request bodies by operation and media type. */
const REQUESTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  createSite: { "application/json": { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", revenue_currency: "EUR" } },
  updateSite: { "application/json": { retention_days: 730 } },
  createGoal: { "application/json": { kind: "event", match: "exact", value: "signup", name: "Signed up" } },
  updateGoal: { "application/json": { name: "Signed up" } },
  createFunnel: {
    "application/json": {
      name: "Signup",
      steps: [
        { type: "page", value: "/pricing", name: "Prices" },
        { type: "event", value: "signup" },
      ],
    },
  },
  updateFunnel: { "application/json": { window_hours: 24 } },
  createSegment: { "application/json": { name: "From Germany", filters: [{ dimension: "country", values: ["DE"] }] } },
  updateSegment: { "application/json": { name: "Germany" } },
  updateSettings: { "application/json": { respect_gpc: true } },
  putMember: { "application/json": { role: "viewer" } },
  createApiKey: { "application/json": { name: "Shop server", scopes: ["events:write"] } },
  rotateApiKey: { "application/json": { grace_hours: 24 } },
  createShare: {
    "application/json": {
      ...{ name: "Partners", expires_at: "2027-01-31T12:00:00Z", locked_filters: [{ dimension: "country", values: ["DE"] }] },
      sections: ["summary", "sources", "pages"],
    },
  },
  updateShare: { "application/json": { expires_at: null } },
  putConfiguration: { "application/json": CONFIGURATION },
  previewConfiguration: { "application/json": CONFIGURATION },
  createAnnotation: { "application/json": { at: "2026-11-18", text: "New pricing page" } },
  updateAnnotation: { "application/json": { text: "New pricing page, second try" } },
  getJourneys: { "application/json": { start: { page: "/pricing" }, steps: 2, period: "7d" } },
  sendEvents: {
    "application/json": { events: [EVENT, { name: "purchase", url: "/thanks", revenue: { amount: "49.90", currency: "EUR" } }] },
    "application/x-ndjson": `${JSON.stringify(EVENT)}\n`,
  },
  query: { "application/json": COMPARED_QUERY_REQUEST },
  runQueries: {
    "application/json": { queries: [QUERY_REQUEST, TODAY_REQUEST] },
  },
  queryPlausible: { "application/json": QUERY_REQUEST },
  callMcp: { "application/json": TOOL_CALL },
  countGoatCounter: { "application/json": { no_sessions: true, hits: [{ path: "/one" }, { path: "/two" }] } },
  createPlausibleSite: form({ domain: "shop.example", timezone: "Europe/Berlin" }),
  updatePlausibleSite: form({ domain: "new.shop.example" }),
  deletePlausibleGoal: form({ site_id: "shop.example" }),
  putPlausibleGoal: form({ site_id: "shop.example", goal_type: "event", event_name: "signup", display_name: "Signed up" }),
  putPlausibleSharedLink: form({ site_id: "shop.example", name: "WordPress" }),
}

/** JSON response bodies by operation. */
const RESPONSES: Readonly<Record<string, unknown>> = {
  getOpenApi: { openapi: "3.1.0", info: { title: "Footfall API", version: "1" }, paths: {} },
  getKey: {
    id: 4,
    name: "Reports",
    prefix: "ff_3kT9sQ1z",
    organization: { id: 1, name: "Shop Ltd" },
    scopes: ["stats:read"],
    unrestricted: false,
    site_ids: [1],
    created_at: TIMES.created_at,
    expires_at: "2027-01-05T10:00:00Z",
    rate_limit: { limit: 600, window_seconds: 60 },
  },
  listSites: page(SITE),
  createSite: SITE,
  getSite: SITE,
  updateSite: SITE,
  listGoals: page(GOAL),
  createGoal: GOAL,
  getGoal: GOAL,
  updateGoal: GOAL,
  listFunnels: page(FUNNEL),
  createFunnel: FUNNEL,
  getFunnel: FUNNEL,
  updateFunnel: { ...FUNNEL, window_hours: 24 },
  getFunnelReport: {
    ...FACTS,
    funnel_id: 3,
    name: "Signup",
    order: "sequential",
    entered: 500,
    completed: 60,
    conversion_rate: 12,
    steps: [
      { step: 1, ...STEPS[0], visitors: 500, conversion_rate: 100, step_conversion_rate: 100, dropoff: 0 },
      { step: 2, ...STEPS[1], visitors: 60, conversion_rate: 12, step_conversion_rate: 12, dropoff: 440, median_seconds: 74 },
    ],
  },
  listSegments: page(SEGMENT),
  createSegment: SEGMENT,
  getSegment: SEGMENT,
  updateSegment: { ...SEGMENT, name: "Germany" },
  listMembers: page(MEMBER),
  putMember: MEMBER,
  listApiKeys: page(API_KEY),
  createApiKey: NEW_API_KEY,
  getApiKey: API_KEY,
  rotateApiKey: NEW_API_KEY,
  listShares: page(SHARE),
  createShare: SHARE,
  getShare: SHARE,
  updateShare: { ...SHARE, expires_at: null },
  getSettings: SETTINGS,
  updateSettings: { ...SETTINGS, respect_gpc: true },
  getConfiguration: { ...CONFIGURATION, settings: SETTINGS },
  putConfiguration: CHANGES,
  previewConfiguration: CHANGES,
  listAnnotations: page(ANNOTATION),
  createAnnotation: ANNOTATION,
  getAnnotation: ANNOTATION,
  updateAnnotation: { ...ANNOTATION, text: "New pricing page, second try" },
  getSummary: SUMMARY,
  getTimeseries: {
    ...FACTS,
    range: { ...RANGE, from: "2026-11-19" },
    interval: "day",
    points: [
      { time: "2026-11-19", visitors: 141, pageviews: 402 },
      { time: "2026-11-20", partial: true, visitors: 60, pageviews: 155 },
    ],
  },
  getBreakdown: {
    ...FACTS,
    dimension: "country",
    rows: [
      { value: "DE", label: "Germany", visitors: 512, pageviews: 1480, share: 63.1 },
      { value: "AT", label: "Austria", visitors: 96, pageviews: 251, share: 11.8 },
    ],
    total_rows: 14,
    has_more: true,
  },
  getRealtime: {
    site_id: 1,
    at: "2026-11-20T12:00:00Z",
    window_minutes: 5,
    visitors: 9,
    pageviews: 21,
    pages: [{ value: "/pricing", visitors: 6 }],
    sources: [{ value: "Direct", visitors: 9 }],
    countries: [{ value: "DE", label: "Germany", visitors: 7 }],
  },
  getGoalReport: {
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
  getBusyHours: {
    ...FACTS,
    grid: Array.from({ length: 7 }, (_, day) => Array.from({ length: 24 }, (_, hour) => (hour < 7 ? 1 : 9 - day))),
  },
  getWebVitals: { ...FACTS, percentile: 75, measured_loads: 1480, metrics: { lcp: 1840, inp: 96, cls: 0.042, fcp: 910, ttfb: 210 } },
  getWebVitalsBreakdown: {
    ...{ ...FACTS, percentile: 75, dimension: "page" },
    rows: [{ value: "/pricing", measured_loads: 640, lcp: 2110, inp: 104, cls: 0.051, fcp: 980, ttfb: 230 }],
    has_more: false,
  },
  getDrops: {
    range: RANGE,
    days: ["2026-11-19", "2026-11-20"],
    rows: [{ reason: "bot", total: 214, counts: [120, 94], entries: [] }],
    counters: [{ counter: "cardinality", total: 0 }],
  },
  getJourneys: {
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
  query: COMPARED_QUERY,
  runQueries: {
    results: [
      { status: 200, data: QUERY },
      { status: 200, data: TODAY },
    ],
  },
  queryPlausible: QUERY,
  sendEvents: { accepted: 1, rejected: [{ index: 1, code: "required", detail: "url is required." }], dropped: [] },
  getUmamiStats: { ...UMAMI_TOTALS, comparison: { pageviews: 2001, visitors: 723, visits: 880, bounces: 378, totaltime: 79200 } },
  getUmamiPageviews: UMAMI_SERIES,
  getUmamiMetrics: [{ x: "Mac", y: 318 }],
  getUmamiActive: { visitors: 9 },
  countGoatCounter: { status: "ok" },
  getPlausibleVisitors: 21,
  getPlausibleAggregate: { results: { visitors: { value: 812, change: 12 }, bounce_rate: { value: 41.2, change: -1.8 } } },
  getPlausibleTimeseries: {
    results: [
      { date: "2026-11-19", visitors: 141 },
      { date: "2026-11-20", visitors: 60 },
    ],
  },
  getPlausibleBreakdown: { results: [{ source: "Google", visitors: 402, bounce_rate: 38.5 }] },
  listPlausibleSites: { sites: [PLAUSIBLE_SITE], meta: PLAUSIBLE_META },
  listPlausibleTeams: { teams: [{ id: "1", name: "Shop Ltd", api_available: true }], meta: PLAUSIBLE_META },
  createPlausibleSite: PLAUSIBLE_SITE,
  getPlausibleSite: { ...PLAUSIBLE_SITE, custom_properties: ["logged_in"] },
  updatePlausibleSite: { ...PLAUSIBLE_SITE, domain: "new.shop.example" },
  deletePlausibleSite: { deleted: "true" },
  listPlausibleGoals: { goals: [PLAUSIBLE_GOAL], meta: PLAUSIBLE_META },
  putPlausibleGoal: { domain: "shop.example", ...PLAUSIBLE_GOAL },
  deletePlausibleGoal: { deleted: "true" },
  putPlausibleSharedLink: { name: "WordPress", url: "https://stats.example.org/share/s/8sT3kQ1zXw5yRb2nLm4pVc" },
  callMcp: {
    jsonrpc: "2.0",
    id: 1,
    result: { content: [{ type: "text", text: JSON.stringify(SUMMARY) }], structuredContent: SUMMARY },
  },
}

/** Query strings of example requests, by operation. Parameters that are not named keep their defaults. */
const QUERIES: Readonly<Record<string, string>> = {
  listSites: "limit=20",
  getFunnelReport: "period=28d",
  getSummary: "period=7d",
  getTimeseries: "from=2026-11-19&to=2026-11-20&interval=day",
  getBreakdown: "dimension=country&period=7d&limit=2",
  getGoalReport: "period=7d",
  exportSite: "type=visits&format=ndjson&since=2026-11-20T10:00:00Z",
}

/** Returns the query string of an example request. */
export const queryExample = (operationId: string): string | undefined => QUERIES[operationId]

/** Bodies of responses that are not JSON, by operation and media type. */
const TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  exportSite: {
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
  getReference: { "text/html": "<!doctype html>…" },
}

/** Returns the example of a request body. */
export const requestExample = (operationId: string, mediaType: string): unknown => REQUESTS[operationId]?.[mediaType]

/** Returns the example of a body of the successful response. */
export const responseExample = (operationId: string, mediaType: string): unknown =>
  mediaType === "application/json" ? RESPONSES[operationId] : TEXTS[operationId]?.[mediaType]
