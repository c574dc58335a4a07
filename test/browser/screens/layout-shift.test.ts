import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { bySize } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, settled } from "../report/dashboard-stand.ts"
import { openScreens, SCREENS, type ScreenStand } from "./screens.ts"

setDefaultTimeout(120_000)

let stand: DashboardStand
let every: ScreenStand
let cookie: string
const slugs: Record<string, string> = {}
beforeAll(async () => {
  if (noBrowser) return
  every = await openScreens()
  stand = await openDashboard()
  await fillSite(stand.instance, { days: 3 })
  cookie = await stand.signIn({ role: "owner" })
  const { api } = stand.instance
  const sections = ["summary", "sources", "pages", "locations", "devices", "events", "goals", "busy_hours", "realtime", "revenue"]
  for (const [name, allows] of Object.entries({ open: true, fixed: false })) {
    const body = { name, sections, allow_range: allows, allow_filters: allows, allow_export: allows }
    const made = await api.send("POST", "/api/private/sites/1/shares", body, undefined, { cookie })
    slugs[name] = (made.body as { slug: string }).slug
  }
}, 60_000)
afterAll(async () => {
  await stand?.[Symbol.asyncDispose]()
  await every?.[Symbol.asyncDispose]()
})

/** Runs in the page before everything else: adds up layout shifts without user input. */
function watchShifts(): void {
  const shifts: { value: number; moved: string[] }[] = []
  Object.assign(window, { shifts })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number
      hadRecentInput: boolean
      sources: { node?: Element }[]
    })[])
      if (!entry.hadRecentInput) shifts.push({ value: entry.value, moved: entry.sources.map(({ node }) => node?.className ?? "") })
  }).observe({ type: "layout-shift", buffered: true })
}

/** Returns the layout shift while a page loads and what moved. Each answer of the server has a different delay. */
async function shiftOf(page: Page, { origin, instance }: DashboardStand, path: string): Promise<{ total: number; moved: string[] }> {
  await page.clock.setFixedTime(instance.clock.now())
  await page.addInitScript(watchShifts)
  let requests = 0
  await page.route("**/api/**", async (route) => {
    await Bun.sleep(150 + 130 * (requests++ % 4))
    await route.continue().catch(() => {})
  })
  await page.goto(origin + path)
  await settled(page)
  const shifts = await page.evaluate(() => (window as unknown as { shifts: { value: number; moved: string[] }[] }).shifts)
  return { total: shifts.reduce((sum, { value }) => sum + value, 0), moved: shifts.flatMap(({ moved }) => moved) }
}

const PAGES = [
  "/share/s/open",
  "/share/s/fixed",
  "/sites/1?period=28d",
  "/sites/1",
  "/sites/1?period=28d&f=country:is_not:DE&f=page:is_not:/a&f=source:is_not:b",
  "/sites",
]

const WIDTHS = [375, 1280, 768]
const EACH_WIDTH = PAGES.flatMap((path) => WIDTHS.map((width) => [path, width] as const))
const EACH_ONCE = PAGES.map((path, index) => [path, WIDTHS[index % WIDTHS.length]!] as const)

test.skipIf(noBrowser).each(bySize({ check: EACH_ONCE, full: EACH_WIDTH, release: EACH_WIDTH }))(
  "%s at %i px doesn't move while it loads",
  async (path, width) => {
    const share = /^\/share\/s\/(.*)/.exec(path)?.[1]
    await using watched = await stand.look({ width, ...(share === undefined && { cookie }) })
    const { total, moved } = await shiftOf(watched.page, stand, share === undefined ? path : `/share/s/${slugs[share]}`)
    if (total > 0.02) console.log(path, width, moved)
    expect(total).toBeLessThanOrEqual(0.02)
  },
)

test.skipIf(noBrowser)("a card that is late neither hides the cards below it nor moves them when it is loaded", async () => {
  await using watched = await every.look({ cookie: every.cookie })
  const { page } = watched
  await page.clock.setFixedTime(every.instance.clock.now())
  const released = Promise.withResolvers<void>()
  await page.route("**/api/private/organizations/1", async (route) => {
    await released.promise
    await route.continue()
  })
  await page.goto(`${every.origin}/org/1/usage`)
  const below = page.locator("section:has(> #requests)")
  await below.waitFor()
  expect(await page.locator(".skeleton").count()).toBe(1)
  const before = await below.boundingBox()
  released.resolve()
  await settled(page)
  expect(await page.locator(".facts").count()).toBe(1)
  expect(await below.boundingBox()).toEqual(before)
})

/** All screens as they open, without what is opened on them. */
const OPENING = SCREENS.filter(({ after }) => after === undefined)
const ON_ALL = OPENING.flatMap((screen) => [375, 1280].map((width) => [screen.name, width, screen] as const))
// The smallest size takes some screens, at each width in turn.
const ON_SOME = ON_ALL.filter((_, index) => index % 13 === 0)

test.skipIf(noBrowser).each(bySize({ check: ON_SOME, full: ON_ALL, release: ON_ALL }))(
  "the screen %s at %i px doesn't move while it loads",
  async (_, width, { path, guest }) => {
    await using watched = await every.look({ width, ...(!guest && { cookie: every.cookie }) })
    const { total, moved } = await shiftOf(watched.page, every, path)
    if (total > 0.02) console.log(path, width, moved)
    expect(total).toBeLessThanOrEqual(0.02)
  },
)
