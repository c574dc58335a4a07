import { type Examples, FACTS, GERMANS, page, STEPS, TIMES } from "./shop.ts"

const GOAL = { id: 7, site_id: 1, kind: "event", match: "exact", value: "signup", name: "Signed up", ...TIMES }
const FUNNEL = { id: 3, site_id: 1, name: "Signup", steps: STEPS, order: "sequential", window_hours: null, ...TIMES }
const SEGMENT = { id: 4, site_id: 1, name: "From Germany", filters: GERMANS, ...TIMES }
const ANNOTATION = { id: 12, site_id: 1, at: "2026-11-18", day: "2026-11-18", text: "New pricing page", ...TIMES }
const SHARE = {
  ...{ id: 5, site_id: 1, name: "Partners", url: "https://stats.example.org/share/s/8sT3kQ1zXw5yRb2nLm4pVc" },
  ...{ has_password: false, expires_at: "2027-01-31T12:00:00Z", locked_filters: GERMANS },
  ...{ allow_range: true, allow_filters: true, allow_export: false, embed_origins: [], ...TIMES },
  ...{ sections: ["summary", "sources", "pages"], is_public: false },
}

/** Examples of the definitions of a site. */
export const DEFINITION_EXAMPLES: Examples = {
  listGoals: { response: page(GOAL) },
  createGoal: { request: { kind: "event", match: "exact", value: "signup", name: "Signed up" }, response: GOAL },
  getGoal: { response: GOAL },
  updateGoal: { request: { name: "Signed up" }, response: GOAL },
  listFunnels: { response: page(FUNNEL) },
  createFunnel: {
    request: {
      name: "Signup",
      steps: [
        { type: "page", value: "/pricing", name: "Prices" },
        { type: "event", value: "signup" },
      ],
    },
    response: FUNNEL,
  },
  getFunnel: { response: FUNNEL },
  updateFunnel: { request: { window_hours: 24 }, response: { ...FUNNEL, window_hours: 24 } },
  getFunnelReport: {
    query: "period=28d",
    response: {
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
  },
  listSegments: { response: page(SEGMENT) },
  createSegment: { request: { name: "From Germany", filters: GERMANS }, response: SEGMENT },
  getSegment: { response: SEGMENT },
  updateSegment: { request: { name: "Germany" }, response: { ...SEGMENT, name: "Germany" } },
  listAnnotations: { response: page(ANNOTATION) },
  createAnnotation: { request: { at: "2026-11-18", text: "New pricing page" }, response: ANNOTATION },
  getAnnotation: { response: ANNOTATION },
  updateAnnotation: {
    request: { text: "New pricing page, second try" },
    response: { ...ANNOTATION, text: "New pricing page, second try" },
  },
  listShares: { response: page(SHARE) },
  createShare: {
    request: {
      ...{ name: "Partners", expires_at: "2027-01-31T12:00:00Z", locked_filters: GERMANS },
      sections: ["summary", "sources", "pages"],
    },
    response: SHARE,
  },
  getShare: { response: SHARE },
  updateShare: { request: { expires_at: null }, response: { ...SHARE, expires_at: null } },
}
