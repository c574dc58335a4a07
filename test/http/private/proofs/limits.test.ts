import { expect, test } from "bun:test"
import { startInstance } from "../../../kit.ts"

test("any signed-in user can read the effective limits", async () => {
  await using instance = await startInstance({ settings: { limit_visitor_events: "0", limit_site_events: "50", max_sites: "7" } })
  const cookie = await instance.signIn({ role: "guest" })
  const { status, body } = await instance.api.get("/api/private/limits", undefined, { cookie })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    collecting: { body_bytes: 65_536, visitor_events_per_minute: null, site_events_per_second: 50, site_burst: 500 },
    new_values_per_day: { page: 10_000, browser_version: 2_000 },
    api: { requests_per_minute: 600, private_requests_per_second: 50, private_list_limit: { min: 1, max: 200, default: 50 } },
    organization: { members: 500, sites: 7 },
    reports: { timeout_ms: 15_000, batch: 20 },
    site: { hosts: 100, goals: 200, funnel_steps: { min: 2, max: 10 } },
    password: { min: 12, max: 256 },
  })
  expect(await instance.api.get("/api/private/limits")).toMatchObject({ status: 401, body: { code: "session_required" } })
})
