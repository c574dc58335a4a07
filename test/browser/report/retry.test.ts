import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { type DashboardStand, openDashboard } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

let stand: DashboardStand
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const FAILED = {
  type: "about:blank",
  title: "Something went wrong",
  status: 500,
  code: "internal_error",
  detail: "The cause is in the log.",
}

/** Holds requests to a URL until the test lets each of them fail or reach the server. */
async function holdUp(page: Page, address: string) {
  const held: ((fails: boolean) => Promise<void>)[] = []
  await page.route(address, (route) => {
    const contentType = "application/problem+json"
    held.push((fails) => (fails ? route.fulfill({ status: 500, contentType, body: JSON.stringify(FAILED) }) : route.continue()))
  })
  return async (fails: boolean) => {
    while (held.length === 0) await Bun.sleep(20)
    await held.shift()!(fails)
  }
}

/** Counts alerts, skeletons and busy alerts on the page. */
const shown = async (page: Page) => ({
  alerts: await page.getByRole("alert").count(),
  skeletons: await page.locator(".skeleton").count(),
  busy: await page.locator("[role=alert] [aria-busy=true]").count(),
})

test.skipIf(noBrowser)("keeps showing that realtime failed during automatic retries, until one succeeds or the user retries", async () => {
  await using looking = await stand.look({ cookie: await stand.signIn({ role: "owner" }) })
  const { page } = looking
  page.setDefaultTimeout(20_000)
  let requests = 0
  page.on("request", (request) => {
    if (request.url().endsWith("/stats/batch") && request.postData()?.includes('"limit":10')) requests += 1
  })
  // Counts alerts that were removed at any time.
  await page.addInitScript(() => {
    const lost = { count: 0 }
    Object.assign(window, { lost })
    new MutationObserver((changes) => {
      for (const { removedNodes } of changes)
        for (const node of removedNodes) if (node instanceof Element && node.matches("[role=alert]")) lost.count += 1
    }).observe(document, { childList: true, subtree: true })
  })
  const answer = await holdUp(page, "**/stats/batch")
  await page.goto(`${stand.origin}/sites/1/realtime`)
  const isAsked = async (times: number) => {
    while (requests < times) await Bun.sleep(20)
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  }
  await answer(true)
  await page.getByRole("alert").first().waitFor()
  const alerts = await page.getByRole("alert").count()

  // A new event triggers another query.
  await stand.instance.collect({ n: "pageview", d: "shop.example", u: "https://shop.example/" }, { address: "192.0.2.1" })
  await isAsked(2)
  expect(await shown(page)).toEqual({ alerts, skeletons: 0, busy: 0 })
  await answer(true)

  await page.getByRole("button", { name: "Try again" }).first().click()
  await isAsked(3)
  expect(await shown(page)).toEqual({ alerts, skeletons: 0, busy: 1 })
  expect(await page.evaluate(() => (window as unknown as { lost: { count: number } }).lost.count)).toBe(0)
  await answer(false)
  await page.getByRole("alert").first().waitFor({ state: "detached" })
  await page.locator(".now-figure").waitFor()
})
