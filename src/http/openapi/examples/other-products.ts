import { QUERY, QUERY_REQUEST } from "./reports.ts"
import type { Examples } from "./shop.ts"

const PLAUSIBLE_SITE = { domain: "shop.example", timezone: "Europe/Berlin" }
const PLAUSIBLE_GOAL = { id: "7", goal_type: "event", display_name: "Signed up", event_name: "signup", page_path: null }
const PLAUSIBLE_META = { after: null, before: null, limit: 100 }
const UMAMI_TOTALS = { pageviews: 2310, visitors: 812, visits: 990, bounces: 408, totaltime: 95040 }
const UMAMI_SERIES = {
  pageviews: [{ x: "2026-11-18T23:00:00Z", y: 402 }],
  sessions: [{ x: "2026-11-18T23:00:00Z", y: 141 }],
}

/** Examples of the paths of other products. */
export const OTHER_EXAMPLES: Examples = {
  queryPlausible: { request: QUERY_REQUEST, response: QUERY },
  getUmamiStats: {
    response: { ...UMAMI_TOTALS, comparison: { pageviews: 2001, visitors: 723, visits: 880, bounces: 378, totaltime: 79200 } },
  },
  getUmamiPageviews: { response: UMAMI_SERIES },
  getUmamiMetrics: { response: [{ x: "Mac", y: 318 }] },
  getUmamiActive: { response: { visitors: 9 } },
  countGoatCounter: { request: { no_sessions: true, hits: [{ path: "/one" }, { path: "/two" }] }, response: { status: "ok" } },
  getPlausibleVisitors: { response: 21 },
  getPlausibleAggregate: { response: { results: { visitors: { value: 812, change: 12 }, bounce_rate: { value: 41.2, change: -1.8 } } } },
  getPlausibleTimeseries: {
    response: {
      results: [
        { date: "2026-11-19", visitors: 141 },
        { date: "2026-11-20", visitors: 60 },
      ],
    },
  },
  getPlausibleBreakdown: { response: { results: [{ source: "Google", visitors: 402, bounce_rate: 38.5 }] } },
  listPlausibleSites: { response: { sites: [PLAUSIBLE_SITE], meta: PLAUSIBLE_META } },
  listPlausibleTeams: { response: { teams: [{ id: "1", name: "Shop Ltd", api_available: true }], meta: PLAUSIBLE_META } },
  createPlausibleSite: { request: { domain: "shop.example", timezone: "Europe/Berlin" }, response: PLAUSIBLE_SITE },
  getPlausibleSite: { response: { ...PLAUSIBLE_SITE, custom_properties: ["logged_in"] } },
  updatePlausibleSite: { request: { domain: "new.shop.example" }, response: { ...PLAUSIBLE_SITE, domain: "new.shop.example" } },
  deletePlausibleSite: { response: { deleted: "true" } },
  listPlausibleGoals: { response: { goals: [PLAUSIBLE_GOAL], meta: PLAUSIBLE_META } },
  putPlausibleGoal: {
    request: { site_id: "shop.example", goal_type: "event", event_name: "signup", display_name: "Signed up" },
    response: { domain: "shop.example", ...PLAUSIBLE_GOAL },
  },
  deletePlausibleGoal: { request: { site_id: "shop.example" }, response: { deleted: "true" } },
  putPlausibleSharedLink: {
    request: { site_id: "shop.example", name: "WordPress" },
    response: { name: "WordPress", url: "https://stats.example.org/share/s/8sT3kQ1zXw5yRb2nLm4pVc" },
  },
}
