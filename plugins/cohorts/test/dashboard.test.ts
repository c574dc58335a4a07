import { expect, setDefaultTimeout, test } from "bun:test"
import { noBrowser, openDashboard, overflow, settled, shown, violations } from "#plugin/test/browser"
import cohorts from "../cohorts.ts"
import type { LeaderResponse, RetentionResponse } from "../responses.ts"
import { type Deed, eventsOf } from "./kit.ts"

setDefaultTimeout(60_000)

const SITE = "/api/private/sites/1"

/** Ada visits on three days and signs up, Ben visits on two days, and Cleo on one, all before 21 November 2026. */
const DEEDS: readonly Deed[] = [
  { user: "ada", at: "2026-11-03T10:00:00Z", did: "/" },
  { user: "ada", at: "2026-11-03T10:05:00Z", did: "signup", props: { plan: "pro" } },
  { user: "ada", at: "2026-11-10T10:00:00Z", did: "/pricing" },
  { user: "ada", at: "2026-11-17T10:00:00Z", did: "/docs" },
  { user: "ben", at: "2026-11-04T11:00:00Z", did: "/" },
  { user: "ben", at: "2026-11-12T11:00:00Z", did: "/" },
  { user: "cleo", at: "2026-11-11T12:00:00Z", did: "/pricing" },
]

/** Starts an instance whose site recognizes the three people, in a browser of its owner. */
async function openPeople(looking: { width?: number; theme?: "light" | "dark" } = {}) {
  const stand = await openDashboard({ plugins: [cohorts], settings: { store_user_ids_allowed: "true" } })
  const cookie = await stand.signIn({ role: "owner" })
  const { api, eventsKey } = stand.instance
  const change = (settings: object) => api.send("PATCH", `${SITE}/settings`, settings, undefined, { cookie })
  expect(await change({ identity_mode: "identified", store_user_ids: true })).toMatchObject({ status: 200 })
  const sent = await api.post("/api/public/v1/sites/1/events", { events: eventsOf(DEEDS) }, eventsKey)
  expect(sent.body).toMatchObject({ accepted: DEEDS.length })
  const looked = await stand.look({ cookie, ...looking })
  return {
    ...looked,
    cookie,
    api,
    change,
    async [Symbol.asyncDispose]() {
      await looked[Symbol.asyncDispose]()
      await stand[Symbol.asyncDispose]()
    },
  }
}

test.skipIf(noBrowser)("the grid shows the counts of the API, and the histogram leads to a person and their visits", async () => {
  await using stand = await openPeople()
  const { page, api, cookie } = stand
  await stand.open("/sites/1/retention?periods=4")
  await page.getByRole("button", { name: "Show counts" }).click()
  const { body } = await api.post(`${SITE}/retention`, { cohort_by: "week", periods: 4 }, undefined, { cookie })
  const { rows } = body as RetentionResponse
  expect(rows.map(({ size }) => size)).toContain(2)
  const cells = page.locator(".retention-grid tbody tr")
  const texts = await cells.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.firstChild?.textContent ?? "")),
  )
  expect(texts).toEqual(rows.map(({ size, cells }) => [size, ...cells.map(({ count }) => count ?? "")].map(String)))

  await stand.open("/sites/1/power-users")
  await shown(page, "3 people")
  const bars = page.getByRole("list", { name: "People by number of active days" }).getByRole("listitem")
  expect((await bars.allTextContents()).slice(0, 4)).toEqual(["11 person", "21 person", "31 person", "40 people"])
  await page.getByRole("slider").fill("2")
  await shown(page, "2 people (67%)")
  await page.getByRole("link", { name: "ada" }).click()
  await page.getByRole("heading", { name: "ada", level: 1 }).waitFor()
  const leaders = (await api.get(`${SITE}/power-users`, undefined, { cookie })).body as { data: LeaderResponse[] }
  const ada = leaders.data.find(({ label }) => label === "ada")!
  expect(ada).toMatchObject({ active_days: 3, events: 4 })
  await shown(page, `3 active days, ${ada.visits} visits, 4 events`)
  for (const visit of await page.locator("summary").all()) await visit.click()
  await shown(page, "plan: pro")
  expect(stand.faults).toEqual([])
})

test.skipIf(noBrowser)("a cohort is created with its live size, listed, and named in the filters of the dashboard", async () => {
  await using stand = await openPeople()
  const { page } = stand
  await stand.open("/sites/1/cohorts")
  await shown(page, "No cohorts yet.")
  await shown(page, "People with a user ID are recognized as long as data is kept")
  await page.getByRole("button", { name: "New cohort" }).first().click()
  await shown(page, "Fill in the conditions to see how many people match.")
  await page.getByLabel("Name", { exact: true }).fill("Signed up")
  await page.getByLabel("Event name").fill("signup")
  await shown(page, "1 person")
  await page.getByLabel("The person").selectOption("did not")
  await shown(page, "2 people")
  await settled(page)
  expect(await violations(page)).toEqual([])
  await page.getByLabel("The person").selectOption("did")
  await page.getByRole("button", { name: "Create cohort" }).click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await stand.open("/sites/1/cohorts")
  await shown(page, "triggered the event signup")
  await page.getByRole("link", { name: "Signed up" }).click()
  await shown(page, "of 3 (33%)")
  await page.getByRole("link", { name: "Use as filter" }).click()
  await shown(page, "In cohort Signed up")
  await page.getByRole("button", { name: "Remove cohort Signed up" }).click()
  await page.getByText("In cohort").waitFor({ state: "detached" })
  await stand.open("/sites/1?period=28d&cohort=9")
  await shown(page, "Cohort 9 no longer exists and was removed from the filters")
})

test.skipIf(noBrowser).each([
  [1280, "light"],
  [375, "dark"],
] as const)("%i px, %s: a site that recognizes visitors for a day explains what would change it", async (width, theme) => {
  await using stand = await openPeople({ width, theme })
  const { page } = stand
  expect(await stand.change({ identity_mode: "daily", store_user_ids: false })).toMatchObject({ status: 200 })
  for (const path of ["/sites/1/retention", "/sites/1/power-users"]) {
    await stand.open(path)
    await page.getByRole("heading", { name: "This report can't be shown with the current identity mode" }).waitFor()
    await shown(page, "Visitors are recognized within one day.")
    await shown(page, path.endsWith("retention") ? "recognized for 14 days" : "recognized for 28 days")
    const link = page.getByRole("link", { name: "Change the identity mode" })
    expect(await link.getAttribute("href")).toBe("/sites/1/settings/privacy")
    expect({ path, found: await violations(page), beside: await overflow(page) }).toEqual({ path, found: [], beside: 0 })
  }
})
