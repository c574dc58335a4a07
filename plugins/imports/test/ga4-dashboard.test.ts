import { expect, setDefaultTimeout, test } from "bun:test"

import { analyticsData, google } from "#plugin/test"
import { noBrowser, openDashboard, overflow, settled, shown, violations } from "#plugin/test/browser"
import { EACH_THEME } from "./dashboard-stand.ts"
import { PATH } from "./kit.ts"

setDefaultTimeout(120_000)

const PROPERTY = "properties/123"
const row = (date: string, users: string) => ({ date, totalUsers: users, screenPageViews: "9", sessions: "5", engagedSessions: "2" })

/** An instance with all plugins and a Google that has one property with two days. */
async function openConnected(scenario: "connected" | "alone" = "connected") {
  const clock = { now: () => Date.now() }
  const fake = await google({ now: () => clock.now() })
  const rows = { "": [row("20261001", "4"), row("20261002", "3")] }
  const data = analyticsData(fake, { property: PROPERTY, rows, today: "2026-11-21" })
  data.metadata = { timeZone: "Europe/Berlin" }
  const accountSummaries = [{ displayName: "Shop", propertySummaries: [{ property: PROPERTY, displayName: "Web" }] }]
  fake.api(async (request, url) =>
    url.pathname === "/v1beta/accountSummaries" ? Response.json({ accountSummaries }) : data.answer(request, url),
  )
  const settings = { ...fake.settings, ga4_api_base: fake.origin, ga4_admin_api_base: fake.origin }
  const stand = await openDashboard({ settings })
  clock.now = stand.instance.clock.now
  const cookie = await stand.signIn({ role: "owner" })
  if (scenario === "connected") {
    const path = "/api/private/sites/1/integrations/google-analytics/connect"
    const answer = await stand.instance.api.post(path, { service_account: fake.serviceAccount() }, undefined, { cookie })
    expect(answer).toMatchObject({ status: 201 })
  }
  return {
    ...{ stand, data, cookie },
    look: (looking = {}) => stand.look({ cookie, ...looking }),
    async [Symbol.asyncDispose]() {
      await stand[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
    },
  }
}

test.skipIf(noBrowser)("imports a property of a connected Google account, and shows why it waits", async () => {
  await using connected = await openConnected()
  const { stand, data, cookie } = connected
  await using looked = await connected.look()
  const { page } = looked
  await looked.open("/sites/1/imports/new?source=ga4_api")
  await page.getByLabel("Property").waitFor()
  await page.getByLabel("Last day").fill("2026-10-31")
  await page.getByRole("button", { name: "Preview import" }).click()
  await shown(page, "This preview covers the daily totals.")
  await shown(page, "2 of 2 days with rows will be imported.")
  await page.getByRole("button", { name: "Continue" }).click()
  Object.assign(data, { scenario: "quota_429", after: data.requests.length + 1 })
  await page.getByRole("button", { name: "Start import" }).click()
  await page.waitForURL("**/sites/1/imports/1")
  await stand.instance.runJobs()
  await shown(page, "Google Analytics allows no more requests for this property now.")
  data.scenario = "ok"
  stand.instance.clock.advance(61 * 60_000)
  await stand.instance.runJobs()
  expect(await stand.instance.api.get(`${PATH}/1`, undefined, { cookie })).toMatchObject({ body: { state: "completed" } })
  await page.reload()
  await shown(page, "Completed: 2 rows imported. Reports include 2 days.")

  // Totals of whole days cannot be shown as days of another zone.
  await stand.instance.app.instance.sites.update(1, { timezone: "America/New_York" })
  await page.reload()
  await shown(page, "Completed: 2 rows imported. Reports include none of its days.")
  await shown(page, "Reports leave them out while the time zone of the site is America/New_York.")
  await looked.open("/sites/1/imports")
  await shown(page, "not in reports: days of Europe/Berlin")
  await stand.instance.app.instance.sites.update(1, { timezone: "Europe/Berlin" })
  await page.reload()
  await shown(page, "2 days in reports")
})

test.skipIf(noBrowser)("leads to the integrations while no account is connected", async () => {
  await using connected = await openConnected("alone")
  await using looked = await connected.look()
  await looked.open("/sites/1/imports/new?source=ga4_api")
  await shown(looked.page, "Google Analytics is not connected")
  await looked.page.getByRole("link", { name: "Open integrations" }).click()
  await looked.page.waitForURL("**/sites/1/integrations")
})

test.skipIf(noBrowser).each(EACH_THEME.slice(0, 2))(
  "%d px, %s: the choice of a property has no accessibility violation and does not overflow",
  async (width, theme) => {
    await using connected = await openConnected()
    await using looked = await connected.look({ width, theme })
    await looked.open("/sites/1/imports/new?source=ga4_api")
    await looked.page.getByLabel("Property").waitFor()
    await settled(looked.page)
    expect(await violations(looked.page)).toEqual([])
    expect(await overflow(looked.page)).toBe(0)
  },
)
