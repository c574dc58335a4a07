import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { sample } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, settled, type WatchedPage } from "../report/dashboard-stand.ts"
import { overflow } from "./screens.ts"

setDefaultTimeout(120_000)

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  await fillSite(stand.instance, { days: 3 })
  const name = "The shop that sells shoes and boots to everyone"
  await stand.instance.app.instance.sites.update(1, { name, timezone: "America/Argentina/ComodRivadavia" })
  cookie = await stand.signIn({ role: "owner" })
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** The longest texts that a page's toolbar can show. */
const LONG =
  "period=custom&from=2025-10-20&to=2026-11-20&compare=custom&compare_from=2024-09-20&compare_to=2025-10-19" +
  "&f=page:is_not:/a&f=page:is_not:/b&f=page:is_not:/c"

async function lookAt(width: number): Promise<WatchedPage> {
  const watched = await stand.look({ width, cookie })
  await watched.page.clock.setFixedTime(stand.instance.clock.now())
  return watched
}

/** Returns the pixels by which the last control of the top bar exceeds the window. */
const beyond = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const edges = [...document.querySelectorAll(".top-bar > *, .top-bar .range-tools > *")].map(
      (part) => part.getBoundingClientRect().right,
    )
    return Math.max(0, ...edges.map((right) => right - innerWidth))
  })

/** Returns the controls of the top bar that overlap. */
const covered = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const parts = [
      ...document.querySelectorAll<HTMLElement>(".top-bar > :not(.grow, .range-tools, .skip-link), .top-bar > .range-tools > *"),
    ]
    const shown = parts.filter((part) => part.checkVisibility() && !part.classList.contains("popover"))
    return shown.flatMap((part, index) => {
      const next = shown[index + 1]
      return next && part.getBoundingClientRect().right > next.getBoundingClientRect().left + 0.5 ? [part.outerHTML.slice(0, 80)] : []
    })
  })

test.skipIf(noBrowser).each(sample([320, 375, 900, 768, 1024, 1099, 1280]))(
  "long names of a site, a time zone and a period stay inside the window at %i px",
  async (width) => {
    await using watched = await lookAt(width)
    const { page } = watched
    for (const path of ["/sites/1?period=24h", `/sites/1?${LONG}`, "/sites/1/realtime", `/sites/1/goals?${LONG}`]) {
      await watched.open(path)
      const found = { overflow: await overflow(page), beyond: await beyond(page), covered: await covered(page) }
      expect({ path, ...found }).toEqual({ path, overflow: 0, beyond: 0, covered: [] })
      // The menu at the end of the bar can be opened.
      await page.getByRole("button", { name: /: account of / }).click()
      await page.getByRole("menuitem", { name: "Sign out" }).waitFor()
    }
  },
)

test.skipIf(noBrowser).each(sample([320, 375, 768]))("the chart's table shows all its columns at %i px", async (width) => {
  await using watched = await lookAt(width)
  const { page } = watched
  await watched.open("/sites/1?period=28d")
  await page.getByRole("button", { name: "Show as table" }).click()
  for (const metric of ["Visitors", "Revenue", "Visit duration"]) {
    await page.getByRole("button", { name: new RegExp(`^${metric}`) }).click()
    await settled(page)
    const table = page.locator(".chart-table")
    const hidden = await table.evaluate((wrap) => wrap.scrollWidth - wrap.clientWidth)
    expect({ metric, hidden, overflow: await overflow(page) }).toEqual({ metric, hidden: 0, overflow: 0 })
  }
})

test.skipIf(noBrowser).each([375, 1280])("a menu whose items arrive late is entirely within the window at %i px", async (width) => {
  await using watched = await lookAt(width)
  const { page } = watched
  // The items arrive after the menu was opened.
  await page.route(/take-along-items/, async (route) => {
    await Bun.sleep(400)
    await route.continue()
  })
  await watched.open("/sites/1?period=28d")
  const button = page.getByRole("button", { name: "Export" })
  // The button is at the lower edge of the window, above the navigation bar of phones.
  await button.evaluate((element) => scrollBy(0, element.getBoundingClientRect().bottom - innerHeight + 64))
  await button.click()
  await page.getByRole("menuitem").first().waitFor()
  const box = await page.locator(".popover").boundingBox()
  const height = page.viewportSize()!.height
  expect(box!.height).toBeGreaterThan(120)
  expect({ top: box!.y >= 0, bottom: box!.y + box!.height <= height }).toEqual({ top: true, bottom: true })
})
