import { type Examples, GERMANS, page, STEPS, TIMES } from "./shop.ts"

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
const CONFIGURED = {
  ...{ strict_origin: false, accept_any_host: false, identity_mode: "daily", persistent_days: 180, store_user_ids: false },
  ...{ consent_default: "denied", respect_gpc: false, drop_bots: true, drop_spam: true, drop_probes: true, drop_datacenters: false },
  ...{ min_group: 5, bounce_engaged_seconds: 0, allowed_query_params: ["page"], hash_routing: false },
  compat_ids: { plausible: [], umami: [], goatcounter: [] },
  ...{ order_property: "order_id", read_role: "viewer" },
}
const SETTINGS = { timezone: "Europe/Berlin", retention_days: 730, revenue_currency: "EUR", ...CONFIGURED }
const CONFIGURATION = {
  site: { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", retention_days: 730, revenue_currency: "EUR" },
  settings: { respect_gpc: true, allowed_query_params: ["page"] },
  shields: [{ kind: "ip", value: "203.0.113.0/24", note: "Office", enabled: true }],
  goals: [{ kind: "event", match: "exact", value: "signup", name: "Signed up" }],
  funnels: [{ name: "Signup", steps: STEPS, order: "sequential", window_hours: null }],
  segments: [{ name: "From Germany", filters: GERMANS }],
}
const CHANGES = {
  changes: [
    { action: "update", kind: "site", name: "Shop", fields: { respect_gpc: [false, true] } },
    {
      ...{ action: "create", kind: "segment", name: "From Germany" },
      fields: { name: [null, "From Germany"], filters: [null, GERMANS] },
    },
  ],
}
const MEMBER = { id: 8, name: "Ann", email: "ann@shop.example", role: "viewer", created_at: TIMES.created_at }
const INVITATION = {
  ...{ id: 9, email: "ben@agency.example", role: "editor", site_ids: [1], state: "open" },
  ...{ created_at: "2026-11-20T12:00:00Z", expires_at: "2026-11-27T12:00:00Z", sent_at: "2026-11-20T12:00:00Z" },
}
const API_KEY = {
  ...{ id: 6, name: "Shop server", prefix: "ff_8sT3kQ1z", last4: "pVc7", scopes: ["events:write"], site_ids: [1] },
  ...{ ip_allow: [], rate_limit: null, created_at: TIMES.created_at, expires_at: "2027-01-05T10:00:00Z" },
  ...{ last_used_at: null, revoked_at: null, state: "active" },
}
const NEW_API_KEY = { ...API_KEY, key: "ff_8sT3kQ1z_0000000000000000000000000000000000000000000000pVc7" }

/** Examples of the management of sites. */
export const SITE_EXAMPLES: Examples = {
  getOpenApi: { response: { openapi: "3.1.0", info: { title: "Footfall API", version: "1" }, paths: {} } },
  getKey: {
    response: {
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
  },
  listSites: { query: "limit=20", response: page(SITE) },
  createSite: { request: { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", revenue_currency: "EUR" }, response: SITE },
  getSite: { response: SITE },
  updateSite: { request: { retention_days: 730 }, response: SITE },
  getSettings: { response: SETTINGS },
  updateSettings: { request: { respect_gpc: true }, response: { ...SETTINGS, respect_gpc: true } },
  getConfiguration: { response: { ...CONFIGURATION, settings: CONFIGURED } },
  putConfiguration: { request: CONFIGURATION, response: CHANGES },
  previewConfiguration: { request: CONFIGURATION, response: CHANGES },
  listMembers: { response: page(MEMBER) },
  putMember: { request: { role: "viewer" }, response: MEMBER },
  listInvitations: { response: page(INVITATION) },
  createInvitation: { request: { email: "ben@agency.example", role: "editor" }, response: INVITATION },
  getInvitation: { response: INVITATION },
  listApiKeys: { response: page(API_KEY) },
  createApiKey: { request: { name: "Shop server", scopes: ["events:write"] }, response: NEW_API_KEY },
  getApiKey: { response: API_KEY },
  rotateApiKey: { request: { grace_hours: 24 }, response: NEW_API_KEY },
}
