import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser, openSignedIn, overflow, settled, shown, tabTo, violations } from "#plugin/test/browser"
import type { ReportResponse } from "../report/responses.ts"
import revenue from "../revenue.ts"
import { enter } from "./books.ts"
import { LOOKS } from "./looks.ts"

setDefaultTimeout(60_000)

const SITE = "/api/private/sites/1"

const openShop = (looking: { width?: number; theme?: "light" | "dark" } = {}) =>
  openSignedIn({ plugins: [revenue], now: "2026-11-26T12:00:00Z", ...looking })

const figureOf = (page: Page, label: string) =>
  page.locator(".revenue-strip .figure", { has: page.getByText(label, { exact: true }) }).locator(".figure-value")

test.skipIf(noBrowser)(
  "an order of a visitor's browser becomes a figure, and a refund on the page of its transaction changes it",
  async () => {
    await using shop = await openShop()
    const { page, instance, open } = shop
    await open("/sites/1/revenue")
    await shown(page, "No revenue yet")
    await shown(page, 'footfall("Purchase"')

    const payload = (name: string, more: object) => ({ d: instance.site.tracking_id, n: name, u: "https://shop.example/thanks", ...more })
    const buy = { p: { order_id: "A-1" }, $: { amount: "49.00", currency: "EUR" } }
    await instance.collect(payload("pageview", { r: "https://www.google.com/" }), { address: "203.0.113.9" })
    await instance.collect(payload("Purchase", buy), { address: "203.0.113.9" })
    // The page after the order is reloaded.
    await instance.collect(payload("Purchase", buy), { address: "203.0.113.9" })
    for (let step = 0; step < 2; step++) {
      instance.clock.advance(3_000)
      await instance.runJobs()
    }
    await open("/sites/1/revenue?period=today&compare=none")
    expect(await figureOf(page, "Gross").textContent()).toBe("€49.00")
    expect(await figureOf(page, "Orders").textContent()).toBe("1")
    expect(await figureOf(page, "Conversion rate").textContent()).toBe("100%")
    await shown(page, "Unverified")
    const row = page.getByRole("row", { name: /Google/ })
    expect(await row.textContent()).toContain("€49.00")

    await page.getByRole("link", { name: "Transactions" }).click()
    await shown(page, "A-1")
    await page.locator("tbody th a").first().click()
    await page.getByRole("heading", { name: "Sale of €49.00", level: 1 }).waitFor()
    await shown(page, "Google")
    await page.getByRole("button", { name: "Refund" }).click()
    await page.getByLabel("Amount in EUR").fill("9.00")
    await page.getByRole("button", { name: "Add refund" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await open("/sites/1/revenue?period=today&compare=none")
    const { body } = await instance.api.get(`${SITE}/revenue/report?period=today`, undefined, { cookie: shop.cookie })
    expect((body as ReportResponse).currencies[0]!.net.amount).toBe("40.00")
    expect(await figureOf(page, "Net").textContent()).toBe("€40.00")
    expect(shop.faults).toEqual([])
  },
)

test.skipIf(noBrowser)("adds a transaction with the keyboard, and names what has no rate", async () => {
  await using shop = await openShop()
  const { page, open } = shop
  await enter(shop, [
    { at: "2026-11-20T10:00:00Z", amount: 5_000, trust: "webhook" },
    { at: "2026-11-21T10:00:00Z", amount: 9_000, currency: "JPY", trust: "webhook" },
  ])
  await open("/sites/1/revenue?period=28d&compare=none&cards=currency:base")
  await shown(page, /Not part of the total: JP¥9,000. There is no exchange rate to EUR for 21 Nov/)
  expect(await figureOf(page, "Gross").textContent()).toBe("€50.00")
  await page.getByRole("link", { name: "Add exchange rates" }).click()
  await page.getByRole("button", { name: "Add rate" }).click()
  await page.getByLabel("Day", { exact: true }).fill("2026-11-21")
  await page.getByLabel("To currency").fill("jpy")
  await page.getByLabel("Rate", { exact: true }).fill("180")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await open("/sites/1/revenue?period=28d&compare=none&cards=currency:base")
  expect(await figureOf(page, "Gross").textContent()).toBe("€100.00")

  await tabTo(page, "Add transaction")
  await page.keyboard.press("Enter")
  await page.getByLabel("Amount", { exact: true }).fill("25")
  await page.getByLabel("Time", { exact: true }).fill("2026-11-26T10:00")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await settled(page)
  expect(await figureOf(page, "Gross").textContent()).toBe("€125.00")

  const plot = page.getByRole("img", { name: /Revenue by day/ })
  await plot.focus()
  await page.keyboard.press("End")
  await shown(page, "€25.00 net")
  await page.getByRole("button", { name: "Show as table" }).click()
  expect(await page.getByRole("region", { name: "Revenue over time" }).locator("tbody tr").count()).toBe(28)
  expect(shop.faults).toEqual([])
})

test.skipIf(noBrowser).each([...LOOKS])(
  "%i px, %s: dialogs, rates and settings have no accessibility violation and no overflow",
  async (width, theme) => {
    await using shop = await openShop({ width, theme })
    const { page, open } = shop
    const check = async (what: string) =>
      expect({ what, found: await violations(page), beside: await overflow(page) }).toEqual({ what, found: [], beside: 0 })
    await open("/sites/1/revenue")
    await check("empty")
    for (const [path, button] of [
      ["transactions", "Add transaction"],
      ["transactions", "Upload CSV"],
      ["rates", "Add rate"],
      ["rates", "Upload CSV"],
    ] as const) {
      await open(`/sites/1/revenue/${path}`)
      await page.getByRole("button", { name: button }).first().click()
      await page.getByRole("dialog").waitFor()
      await check(`${path}: ${button}`)
    }
    await open("/sites/1/revenue/settings")
    await check("settings")
  },
)
