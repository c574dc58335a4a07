import { expect, setDefaultTimeout, test } from "bun:test"

import type { VisitListResponse } from "../../../src/domain/visit-list.ts"
import type { WebVitals } from "../../../src/domain/web-vitals.ts"
import { LISTENING } from "../../../src/http/server.ts"
import { noBrowser, openVisitor } from "../browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { openDashboard, openSignedIn, type SignedInPage, settled, shown } from "./dashboard-stand.ts"

/** The screens for single visits and for web vitals, with the traffic of a real browser and with generated traffic. */

setDefaultTimeout(120_000)

/** Visits a page with the snippet in a browser of its own, clicks its button and leaves. */
async function visitShop({ stand, instance }: SignedInPage, attributes: string): Promise<string[]> {
  const { tracking_id: id } = await instance.app.instance.sites.get(1)
  const snippet = `<script defer src="${stand.origin}/js/script.js" data-site="${id}" ${attributes}></script>`
  const busy = "const until = performance.now() + 250; while (performance.now() < until);"
  const body = `<h1>Shoes</h1><button onclick="${busy}">Buy</button>`
  const pages = Bun.serve({
    ...LISTENING,
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(`<!doctype html><title>Shoes</title>${snippet}${body}`, { headers: { "content-type": "text/html" } }),
  })
  const scripts: string[] = []
  try {
    const page = await (await openVisitor()).newPage()
    page.on("request", (request) => request.url().includes("/js/") && scripts.push(new URL(request.url()).pathname))
    await page.goto(`http://shop.example:${pages.port}/shoes?utm_source=news`)
    await page.waitForLoadState("networkidle")
    await page.getByRole("button").click()
    // An interaction is reported after the frame that shows its result.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))))
    await page.goto("about:blank")
    await page.waitForTimeout(500)
    await page.context().close()
  } finally {
    await pages.stop(true)
  }
  instance.app.collector.flush()
  return scripts
}

test.skipIf(noBrowser)("a page load with data-vitals is measured by the browser and shown on the screen, by page and device", async () => {
  await using member = await openSignedIn()
  const { page, open, ask, faults } = member
  expect(await visitShop(member, "")).toEqual(["/js/script.js"])
  await open("/sites/1/web-vitals?period=today")
  await shown(page, "No page loads were measured in this period.")
  expect(await page.locator("pre").textContent()).toContain("<script defer data-vitals src=")
  expect(await visitShop(member, "data-vitals")).toEqual(["/js/script.js", "/js/vitals.js"])
  await open("/sites/1/web-vitals?period=today")
  await shown(page, "75th percentile of 1 measured page load")
  const { metrics, measured_loads } = (await ask("GET", "/stats/web-vitals?period=today")).body as WebVitals
  expect(measured_loads).toBe(1)
  expect(Object.keys(metrics).sort()).toEqual(["cls", "fcp", "inp", "lcp", "ttfb"])
  expect(metrics.inp).toBeWithin(200, 60_000)
  const inp = page.locator(".vitals-totals .figure").nth(1)
  expect(await inp.textContent()).toMatch(/^Interaction to next paint(\d+ ms|\d+\.\d+ s)(Needs improvement|Poor)/)
  const pages = page.getByRole("region", { name: "Pages", exact: true })
  expect(await pages.locator("tbody th").allTextContents()).toEqual(["/shoes"])
  expect(await page.getByRole("region", { name: "Devices", exact: true }).locator("tbody th").allTextContents()).toEqual(["Desktop"])
  // A click on a value filters by it.
  await pages.getByRole("link", { name: "/shoes" }).click()
  await settled(page)
  expect(page.url()).toContain("f=page:is:/shoes")
  expect(await page.getByRole("button", { name: "Page is /shoes", exact: true }).count()).toBe(1)
  expect(faults).toEqual([])
})

/** Opens a page of an owner of a site with ten days of traffic. */
async function openFilled() {
  const stand = await openDashboard({ now: "2026-11-12T12:00:00Z" })
  const { instance } = stand
  await fillSite(instance)
  instance.app.collector.flush()
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "signup", name: "Signed up" })
  const cookie = await stand.signIn()
  const looked = await stand.look({ cookie })
  await looked.page.clock.setFixedTime(instance.clock.now())
  return {
    ...looked,
    ask: (path: string) => instance.api.send("GET", `/api/private/sites/1${path}`, undefined, undefined, { cookie }),
    async [Symbol.asyncDispose]() {
      await looked[Symbol.asyncDispose]()
      await stand[Symbol.asyncDispose]()
    },
  }
}

test.skipIf(noBrowser)("visits are listed as the API lists them, are filtered, and open as timelines", async () => {
  await using member = await openFilled()
  const { page, open, ask, faults } = member
  await open("/sites/1/visits?period=28d")
  const rows = page.locator(".visits tbody tr")
  await rows.first().waitFor()
  const { data } = (await ask("/stats/visits?period=28d")).body as VisitListResponse
  expect(await rows.count()).toBe(50)
  const cells = async (name: string) =>
    (await page.locator(`.visits td[data-label="${name}"]`).allTextContents()).map((text) => text.trim())
  expect(await cells("Source")).toEqual(data.map(({ source }) => source ?? "Direct"))
  expect(await cells("Goals")).toEqual(data.map(({ goals }) => goals.join(", ")))
  expect((await cells("Revenue")).filter((text) => text !== "").length).toBe(data.filter(({ revenue }) => revenue!.length > 0).length)
  await page.getByRole("button", { name: "Show more" }).click()
  await settled(page)
  expect(await rows.count()).toBe(80)
  await page.getByLabel("With revenue only").click()
  await settled(page)
  expect(page.url()).toContain("cards=revenue:true")
  expect(await rows.count()).toBe(16)
  await rows.first().getByRole("link").click()
  await page.locator(".timeline li").first().waitFor()
  const dialog = page.getByRole("dialog")
  const names = await dialog.locator(".timeline li").allTextContents()
  expect(names.some((text) => text.includes("order") && text.includes("€49.50"))).toBe(true)
  expect(page.url()).toMatch(/\/sites\/1\/visits\/[0-9a-f]{16}\?/)
  // The address opens the same visit.
  await page.reload()
  await page.locator(".timeline li").first().waitFor()
  expect(await dialog.locator(".timeline li").allTextContents()).toEqual(names)
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "detached" })
  expect(await rows.count()).toBe(16)
  await page.getByLabel("Duration").selectOption("1800")
  await settled(page)
  await shown(page, "No visits match these conditions in this period.")
  await page.getByRole("button", { name: "Show all visits" }).click()
  await settled(page)
  expect(await rows.count()).toBe(50)
  expect(faults).toEqual([])
})
