import { expect, setDefaultTimeout, test } from "bun:test"

import { noBrowser } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { openDashboard, shown } from "../report/dashboard-stand.ts"
import { ask, openAs } from "./site-stand.ts"

setDefaultTimeout(40_000)

test.skipIf(noBrowser)("adds a site by keyboard, allows an unknown host and shows the first event within two seconds", async () => {
  await using stand = await openDashboard()
  await using looking = await openAs(stand, "/sites")
  const { page } = looking
  await page.getByRole("link", { name: "Add site" }).focus()
  await page.keyboard.press("Enter")
  await page.getByLabel("Name").waitFor()
  // The first field has the focus.
  await page.keyboard.type("Bakery")
  await page.keyboard.press("Tab")
  await page.keyboard.type("https://bakery.example/")
  for (const _ of ["zone", "currency", "button"]) await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites/new?site=2")
  await shown(page, "Waiting for the first event. Open a page of your site.")
  const { body: made } = await ask(page, "/api/private/sites/2")
  expect(made).toMatchObject({ name: "Bakery", hosts: ["bakery.example"], timezone: "Europe/Berlin" })
  await shown(page, made.snippet)
  await shown(page, /Time zone: Europe\/Berlin \(now \d\d:\d\d\)/)

  await stand.instance.fetch(new Request(`${stand.origin}/js/script.js`, { headers: { referer: "https://bakery.example/" } }))
  await shown(page, /^Script found at/)
  await stand.instance.collect({ n: "pageview", d: made.tracking_id, u: "https://cakes.example/" })
  await page.getByText("An event arrived from cakes.example, which isn't a host of this site.").waitFor({ timeout: 2_000 })
  await page.getByRole("button", { name: "Allow cakes.example" }).press("Enter")
  await page.getByRole("button", { name: "Allow cakes.example" }).waitFor({ state: "detached" })
  expect((await ask(page, "/api/private/sites/2")).body.hosts).toEqual(["bakery.example", "cakes.example"])

  const before = performance.now()
  await stand.instance.collect({ n: "pageview", d: made.tracking_id, u: "https://cakes.example/menu" })
  await page.getByText("Event pageview on cakes.example/menu").waitFor({ timeout: 2_000 })
  expect(performance.now() - before).toBeLessThan(2_000)
  await shown(page, "Domain: allowed")

  await page.getByRole("button", { name: "Send test event" }).press("Enter")
  await shown(page, "Event Test event on bakery.example/")
  const mail = await page.getByRole("link", { name: "Email to a developer" }).getAttribute("href")
  expect(decodeURIComponent(mail ?? "")).toContain(made.snippet)
  expect(looking.faults.filter((fault) => !fault.includes("422"))).toEqual([])
})

test.skipIf(noBrowser)("shows the live check on the dashboard of a new site, and reconnects it", async () => {
  await using stand = await openDashboard()
  await using looking = await openAs(stand, "/sites/1?period=today")
  const { page, context } = looking
  await page.getByRole("heading", { name: "Installation check" }).waitFor()
  expect(await page.getByRole("heading", { name: "Sources" }).count()).toBe(0)
  await context.setOffline(true)
  await context.setOffline(false)
  await page.route("**/live", (route) => route.abort())
  await page.reload()
  await shown(page, "Connection lost. Reconnecting…")
  await page.unroute("**/live")
  await page.getByText("Connection lost. Reconnecting…").waitFor({ state: "detached" })
  await stand.instance.collect({ n: "pageview", u: "https://shop.example/" })
  await page.getByText("Event pageview on shop.example/").waitFor({ timeout: 2_000 })
})

test.skipIf(noBrowser)("a shared view asks for its password, applies its locked filter and shows the API's numbers", async () => {
  await using stand = await openDashboard({ now: "2026-11-12T12:00:00Z" })
  await fillSite(stand.instance)
  await using owner = await openAs(stand, "/sites/1/settings/sharing")
  await owner.page.getByRole("button", { name: "New shared view" }).click()
  const dialog = owner.page.getByRole("dialog")
  await dialog.getByLabel("Name", { exact: true }).fill("For Ann")
  await dialog.getByLabel("Require a password").check()
  await dialog.getByLabel("Password", { exact: true }).fill("open sesame")
  await dialog.getByRole("button", { name: "Add condition" }).click()
  await dialog.getByLabel("Filter by", { exact: true }).selectOption("country")
  await dialog.getByLabel("Value").fill("DE")
  await dialog.getByLabel("Devices").uncheck()
  await dialog.getByLabel("Export CSV files").check()
  await dialog.getByRole("button", { name: "Create shared view" }).click()
  await dialog.waitFor({ state: "detached" })
  await shown(owner.page, /password required · CSV export · only Country is DE/)
  const { body } = await ask(owner.page, "/api/private/sites/1/shares")
  const path = `/share/s/${body.data[0].slug}`

  await using stranger = await stand.look()
  const { page } = stranger
  page.setDefaultTimeout(8_000)
  await page.goto(stand.origin + path)
  await page.getByRole("heading", { name: "Enter the password" }).waitFor()
  await page.getByLabel("Password").fill("open barley")
  await page.keyboard.press("Enter")
  await shown(page, "The password is incorrect.")
  await page.getByLabel("Password").fill("open sesame")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "For Ann" }).waitFor()
  await page.getByRole("heading", { name: "Locations" }).waitFor()
  expect(await page.getByRole("heading", { name: "Devices" }).count()).toBe(0)
  expect(await page.getByRole("button", { name: /^Account/ }).count()).toBe(0)
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "country", operator: "is", values: ["DE"] }]))
  const api = await stand.instance.api.get(`/api/public/v1/sites/1/stats/summary?period=28d&filters=${filters}`, stand.instance.statsKey)
  const { visitors, visits, pageviews } = (api.body as { metrics: Record<string, number> }).metrics
  const figures = page.locator(".figure-value")
  await page.waitForFunction(() => /\d/.test(document.querySelector(".figure-value")?.textContent ?? ""))
  expect((await figures.allInnerTexts()).slice(0, 3)).toEqual([`${visitors}`, `${visits}`, `${pageviews}`])
  expect(visitors).toBeGreaterThan(0)
  const csv = await page.evaluate(
    async (href) => (await fetch(href!)).text(),
    await page.getByRole("link", { name: "CSV" }).first().getAttribute("href"),
  )
  expect(csv.split("\r\n")[0]).toStartWith("value,")
  // The last card to send its query. A pending query would be rejected under the new rules.
  const lastCard = page.waitForResponse((answer) => /busy-hours.*pricing/.test(answer.url()))
  await page.getByRole("link", { name: "/pricing", exact: true }).first().click()
  await page.waitForURL(/\/share\/s\/[^/]+\?.*f=page:is:\/pricing/)
  await lastCard

  await ask(owner.page, `/api/private/sites/1/shares/${body.data[0].id}`, "PATCH", {
    password: null,
    allow_range: false,
    allow_filters: false,
  })
  await page.goto(`${stand.origin}${path}?period=today&f=page:is:/nowhere`)
  // The API's default range is thirty days.
  await shown(page, /^Fri, 23 Oct 2026 – Sat, 21 Nov 2026/)
  expect(await page.getByRole("button", { name: /^Period/ }).count()).toBe(0)
  // The browser logs the rejection of a wrong password.
  expect(stranger.refusals.filter((refusal) => !refusal.endsWith("/unlock"))).toEqual([])
  expect(stranger.faults.filter((fault) => !fault.includes("401"))).toEqual([])

  await owner.page.reload()
  await owner.page.getByRole("button", { name: "Revoke link to For Ann" }).click()
  await owner.page.getByRole("button", { name: "Revoke link", exact: true }).click()
  await shown(owner.page, "No shared views yet.")
  for (const gone of [path, "/share/s/neverwas"]) {
    await page.goto(stand.origin + gone)
    await shown(page, "This shared view doesn't exist or was removed.")
  }
})

test.skipIf(noBrowser)("searches, sorts and pins many sites, and renders only those near the viewport", async () => {
  await using stand = await openDashboard()
  const { sites, organizations } = stand.instance.app.instance
  const { id } = (await organizations.list())[0]!
  for (let site = 1; site <= 70; site++)
    await sites.create(id, { name: `Site ${String(site).padStart(2, "0")}`, hosts: [`s${site}.example`] })
  let visits = 1
  for (const host of ["s33.example", "s33.example", "s34.example"])
    await stand.instance.collect({ n: "pageview", u: `https://${host}/` }, { address: `198.51.100.${visits++}` })
  await using looking = await openAs(stand, "/sites?sort=name")
  const { page } = looking
  await shown(page, /^71 sites/)
  const names = () => page.locator(".site-entry-link").allInnerTexts()
  expect((await names()).slice(0, 2)).toEqual(["Shop", "Site 01"])
  expect((await names()).length).toBeLessThan(45)
  await page.mouse.wheel(0, 10_000)
  await page.getByRole("link", { name: "Site 70" }).waitFor()
  expect(await names()).not.toContain("Site 01")
  await page.keyboard.press("/")
  await page.keyboard.type("s34.ex")
  await page.waitForFunction(() => document.querySelectorAll(".site-entry-link").length === 1)
  expect(await names()).toEqual(["Site 34"])
  await page.getByRole("button", { name: "Pin Site 34" }).click()
  await page.getByRole("button", { name: "Unpin Site 34" }).waitFor()
  await page.goto(`${stand.origin}/sites?sort=visitors`)
  await page.getByRole("img", { name: /^Site 33, visitors in the last 7 days/ }).waitFor()
  expect((await names()).slice(0, 2)).toEqual(["Site 34", "Site 33"])
  await page.getByRole("link", { name: "Site 34" }).focus()
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/sites\/34/)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("counts the first visitor across all sites as one visitor", async () => {
  await using stand = await openDashboard()
  await stand.instance.collect({ n: "pageview", u: "https://shop.example/" })
  await using looking = await openAs(stand, "/sites")
  await shown(looking.page, /^1 site · 1 online · 1 visitor in 7 days/)
})
