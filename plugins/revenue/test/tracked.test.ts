import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser, openDashboard, openVisitor, overflow, violations } from "#plugin/test/browser"
import { LOOKS } from "./looks.ts"

setDefaultTimeout(240_000)

type Stand = Awaited<ReturnType<typeof openDashboard>>

/** Serves a page of the shop with the tracker of the instance, and opens it in a visitor's browser. */
async function openShopPage({ instance, origin }: Stand, path: string): Promise<Page & AsyncDisposable> {
  const script = `${origin.replace("localhost", "stats.example")}/js/script.js`
  const html = `<!doctype html><title>Shop</title><script defer src="${script}" data-site="${instance.site.tracking_id}"></script>`
  const pages = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(html, { headers: { "content-type": "text/html" } }) })
  const context = await openVisitor()
  const page = await context.newPage()
  await reported(page, () => page.goto(`http://shop.example:${pages.port}${path}`))
  return Object.assign(page, {
    async [Symbol.asyncDispose]() {
      await context.close()
      await pages.stop(true)
    },
  })
}

/** Does something and waits until its event was accepted. */
async function reported(page: Page, act: () => Promise<unknown>): Promise<void> {
  const [response] = await Promise.all([page.waitForResponse((one) => new URL(one.url()).pathname === "/api/event"), act()])
  expect(response.status()).toBe(202)
}

const buy = (page: Page, order: string, amount: string, currency = "EUR") =>
  reported(page, () =>
    page.evaluate((sent) => window.footfall?.("Purchase", sent), { props: { order_id: order }, revenue: { amount, currency } }),
  )

/** Lets the sales become transactions, as the running process does within seconds. */
async function fold({ instance }: Stand): Promise<void> {
  for (let step = 0; step < 2; step++) {
    instance.clock.advance(3_000)
    await instance.runJobs()
  }
}

test.skipIf(noBrowser)(
  "an order that the tracker reports becomes a figure of the report and of a dashboard, and its refund another",
  async () => {
    await using stand = await openDashboard({ now: "2026-11-26T12:00:00Z" })
    const cookie = await stand.signIn({ role: "owner" })
    await stand.instance.runJobs()
    await using visitor = await openShopPage(stand, "/?utm_source=newsletter&utm_campaign=november")
    await buy(visitor, "A-1", "49.00")
    // The page after the order is reloaded.
    await buy(visitor, "A-1", "49.00")
    await buy(visitor, "A-2", "900", "JPY")
    await buy(visitor, "A-1", "-9.00")
    await fold(stand)

    await using looked = await stand.look({ cookie })
    const { page, open, faults } = looked
    await open("/sites/1/revenue?period=today&compare=none")
    const figure = (label: string) =>
      page
        .locator(".revenue-strip .figure", { has: page.getByText(label, { exact: true }) })
        .locator(".figure-value")
        .textContent()
    expect([await figure("Gross"), await figure("Refunds"), await figure("Net"), await figure("Orders")]).toEqual([
      "€49.00",
      "€9.00",
      "€40.00",
      "1",
    ])
    expect(await page.getByRole("row", { name: /newsletter/ }).textContent()).toContain("€40.00")
    await page.getByRole("button", { name: "JPY", exact: true }).click()
    await page.getByText("JP¥900").first().waitFor()

    const board = await stand.instance.api.send(
      "POST",
      "/api/private/sites/1/dashboards",
      {
        name: "Money",
        widgets: [
          { type: "revenue", config: { group_by: "utm_campaign" }, x: 0, y: 0, w: 6, h: 6 },
          { type: "revenue", title: "No chart", config: { chart: false, currency: "JPY" }, x: 6, y: 0, w: 6, h: 4 },
        ],
      },
      undefined,
      { cookie },
    )
    expect(board).toMatchObject({ status: 201 })
    await open("/sites/1/dashboards/1?period=today")
    const tiles = page.locator(".tile[data-type=revenue]")
    const first = tiles.filter({ hasText: "november" })
    await first.waitFor()
    expect(await first.textContent()).toContain("€40.00")
    expect(await first.textContent()).toContain("Net · €49.00 gross · €9.00 refunds · 1 order")
    expect(await first.getByRole("img", { name: /Revenue by hour/ }).count()).toBe(1)
    const second = tiles.filter({ hasText: "No chart" })
    expect(await second.textContent()).toContain("JP¥900")
    expect(await second.textContent()).toContain("no exchange rate to JPY")
    expect(await second.getByRole("img").count()).toBe(0)
    expect(faults).toEqual([])
  },
)

test.skipIf(noBrowser).each([...LOOKS])(
  "%i px, %s: report, transactions and dashboard with orders have no accessibility violation and no overflow",
  async (width, theme) => {
    await using stand = await openDashboard({ now: "2026-11-26T12:00:00Z" })
    const cookie = await stand.signIn({ role: "owner" })
    await stand.instance.runJobs()
    await using visitor = await openShopPage(stand, "/")
    await buy(visitor, "A-1", "123456789.01")
    await buy(visitor, "A-2", "12.345", "KWD")
    await buy(visitor, "A-1", "-9.00")
    await fold(stand)
    const widgets = [{ type: "revenue", config: { group_by: "source" }, x: 0, y: 0, w: 4, h: 6 }]
    await stand.instance.api.send("POST", "/api/private/sites/1/dashboards", { name: "Money", widgets }, undefined, { cookie })
    await using looked = await stand.look({ cookie, width, theme })
    for (const path of [
      "revenue?period=today",
      "revenue?period=today&cards=currency:base",
      "revenue/transactions",
      "revenue/transactions/1",
      "revenue/rates",
      "dashboards/1?period=today",
    ]) {
      await looked.open(`/sites/1/${path}`)
      expect({ path, found: await violations(looked.page), beside: await overflow(looked.page) }).toEqual({ path, found: [], beside: 0 })
    }
  },
)
