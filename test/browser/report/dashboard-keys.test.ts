import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Summary } from "../../../src/domain/report.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { expectedFigures, figures, openAt, type Seen } from "./dashboard-figures.ts"
import { openDashboard, settled } from "./dashboard-stand.ts"

setDefaultTimeout(40_000)

let seen: Seen
beforeAll(async () => {
  if (noBrowser) return
  const stand = await openDashboard()
  await fillSite(stand.instance)
  seen = { stand, cookie: await stand.signIn({ role: "owner" }) }
}, 40_000)
afterAll(() => seen?.stand[Symbol.asyncDispose]())

test.skipIf(noBrowser)("shortcuts choose period, comparison and figure, and are inactive while typing", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const search = () => new URL(page.url()).search
  for (const [key, expected] of [
    ["d", "?period=today"],
    ["w", "?period=7d"],
    ["x", "?period=7d&compare=none"],
    ["x", "?period=7d"],
    ["3", "?period=7d&metric=pageviews"],
    ["1", "?period=7d"],
    ["m", "?period=month"],
    ["[", "?period=last_month"],
    ["]", "?period=month"],
  ] as const) {
    await page.keyboard.press(key)
    await page.waitForFunction((wanted) => location.search === wanted, expected, { timeout: 3_000 }).catch(() => {})
    expect({ key, search: search() }).toEqual({ key, search: expected })
  }
  await page.keyboard.press("?")
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor()
  await page.keyboard.press("w")
  expect(search()).toBe("?period=month")
  await page.keyboard.press("Escape")
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" })
  await page.keyboard.press("c")
  await page.getByLabel("From", { exact: true }).fill("2026-11-10")
  await page.getByLabel("To", { exact: true }).fill("2026-11-12")
  await page.getByLabel("To", { exact: true }).press("Enter")
  await page.waitForURL("**/sites/1?period=custom&from=2026-11-10&to=2026-11-12")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("shortcuts can be disabled in the preferences", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const change = (shortcuts: boolean) =>
    page.evaluate(async (on) => {
      const { user } = await (await fetch("/api/private/me")).json()
      const body = JSON.stringify({ shortcuts: on, version: user.version })
      return (await fetch("/api/private/me", { method: "PATCH", headers: { "content-type": "application/json" }, body })).status
    }, shortcuts)
  expect(await change(false)).toBe(200)
  await page.reload()
  await settled(page)
  await page.keyboard.press("w")
  await page.keyboard.press("/")
  await Bun.sleep(200)
  expect(new URL(page.url()).search).toBe("?period=28d")
  expect(await page.locator("dialog").count()).toBe(0)
  expect(await change(true)).toBe(200)
})

test.skipIf(noBrowser)("exports the page as an API call with the same answer, a prompt, a file and an image", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d&f=browser:is:Firefox|Chrome")
  const { page, context } = looking
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  const take = async (name: string) => {
    await page.getByRole("button", { name: "Export" }).click()
    await page.getByRole("menuitem", { name }).click()
    await page.getByText("Copied").last().waitFor()
    return page.evaluate(() => navigator.clipboard.readText())
  }
  const call = await take("Copy as API call")
  const address = /^curl -H "Authorization: Bearer \$FOOTFALL_KEY" '(.+)'$/.exec(call)?.[1] ?? ""
  const { pathname, search } = new URL(address)
  const { body } = await seen.stand.instance.api.get(pathname + search, seen.stand.instance.statsKey)
  expect(String((body as Summary).metrics.visitors)).toBe((await figures(page)).Visitors!)
  const given = JSON.parse(/get_summary with (\{.+\}) and/.exec(await take("Copy as MCP prompt"))?.[1] ?? "")
  expect(given).toMatchObject({
    site_id: 1,
    period: "28d",
    filters: [{ dimension: "browser", operator: "is", values: ["Firefox", "Chrome"] }],
  })

  const download = async (act: () => Promise<void>): Promise<string> => {
    const [file] = await Promise.all([page.waitForEvent("download"), act()])
    return Bun.file(await file.path()).text()
  }
  const csv = await download(async () => {
    await page.getByRole("button", { name: "Export" }).click()
    await page.getByRole("menuitem", { name: "Download CSV" }).click()
  })
  expect(csv.split("\n")[0]?.trim()).toBe("time,partial,visitors")
  const card = await download(() => page.locator(".card", { hasText: "Sources" }).getByRole("link", { name: "CSV" }).click())
  expect(card.split("\n")[0]).toStartWith("value,label,visitors")
  const picture = await download(async () => {
    await page.getByRole("button", { name: "Export" }).click()
    await page.getByRole("menuitem", { name: "Download PNG" }).click()
  })
  expect(picture.slice(1, 4)).toBe("PNG")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("shows 28 days at first, later the last period, and today for a new site", async () => {
  await using looking = await openAt(seen, "/sites/1")
  const { page } = looking
  await page.waitForURL("**/sites/1?period=28d")
  await page.keyboard.press("w")
  await page.waitForURL("**/sites/1?period=7d")
  await looking.open("/sites/1")
  await page.waitForURL("**/sites/1?period=7d")
  const { organization_id } = seen.stand.instance.site
  await seen.stand.instance.app.instance.sites.create(organization_id, {
    name: "Young",
    hosts: ["young.example"],
    timezone: "UTC",
    revenue_currency: "EUR",
  })
  await looking.open("/sites/2")
  await page.waitForURL("**/sites/2?period=today")
  // Without events, the live check replaces the cards.
  await page.getByRole("heading", { name: "Installation check" }).waitFor()
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("without the server, shows figures only for the selected period and with their age", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d")
  const { page, context } = looking
  const clock = new Date(seen.stand.instance.clock.now()).toLocaleTimeString("en-GB", { timeStyle: "short", timeZone: "Europe/Berlin" })
  const bar = page.getByText(`Can't reach the server. Showing data from ${clock}.`)
  const before = await figures(page)
  // The first interaction loads what filters and empty cards need.
  await page.keyboard.press("Shift")
  await page.waitForLoadState("networkidle")
  await context.setOffline(true)
  await bar.waitFor()
  expect(await figures(page)).toEqual(before)

  // Another period must not show figures of the previous one.
  await page.keyboard.press("y")
  await page.getByRole("button", { name: "Period: Year to date" }).waitFor()
  await page.locator(".instrument").getByRole("alert").first().waitFor()
  await page.waitForFunction(() => document.querySelectorAll(".figure, .chart, .card tbody tr, [aria-busy=true]").length === 0)
  expect(await page.getByRole("alert").allTextContents()).toContain("Can't reach the server. Check your connection and try again.Try again")

  // The page keeps working with a filter and the known figures of the previous period.
  await page.goBack()
  await bar.waitFor()
  expect(await figures(page)).toEqual(before)
  await page.getByRole("link", { name: "Firefox", exact: true }).click()
  await page.getByText("Browser is Firefox").waitFor()
  await page.waitForFunction(() => document.querySelectorAll(".figure, [aria-busy=true]").length === 0)

  await context.setOffline(false)
  await page
    .getByText(/Can't reach the server/)
    .first()
    .waitFor({ state: "detached" })
  await settled(page)
  const filters = [{ dimension: "browser", operator: "is", values: ["Firefox"] }]
  expect(await figures(page)).toEqual(await expectedFigures(seen, { period: "7d", filters }))
  expect(looking.faults.filter((fault) => !fault.includes("ERR_INTERNET_DISCONNECTED"))).toEqual([])
})

test.skipIf(noBrowser)("on a phone, nothing is wider than the screen, and invalid parts of the address are reported", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d&f=mood:is:good&cards=locations:map", 375)
  const { page } = looking
  await page.getByText("Some parts of this link were not recognized and were ignored: mood:is:good").waitFor()
  await page.locator(".map-country[data-heat]").first().waitFor({ state: "attached" })
  for (const width of [375, 320]) {
    await page.setViewportSize({ width, height: 812 })
    // Waits one frame, in which the chart takes its new width.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50))))
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  }
  expect(looking.faults).toEqual([])
})
