import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import type { Page } from "playwright-core"
import type { Dimension } from "../../../src/domain/dimension.ts"
import { DEFAULT_ADDRESS, type SiteAddress, STRIP_METRICS, writeSiteAddress } from "../../../src/domain/site-address.ts"
import { bySize } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { type DashboardStand, openDashboard, type WatchedPage } from "./dashboard-stand.ts"

/** Number of random states. */
const STATES = bySize({ check: 15, full: 100, release: 500 })
setDefaultTimeout(60_000 + STATES * 2_000)

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  await fillSite(stand.instance)
  cookie = await stand.signIn({ role: "owner" })
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const VALUES: Partial<Record<Dimension, string[]>> = {
  page: ["/", "/pricing", "/docs/install", "/a|b:c%d", "/nowhere"],
  browser: ["Chrome", "Firefox", "Mobile Safari"],
  country: ["DE", "US", "JP", "FR"],
  source: ["Direct", "Google", "DuckDuckGo"],
  utm_campaign: ["autumn"],
  event: ["signup", "order"],
}

const filter = fc.constantFrom(...(Object.keys(VALUES) as Dimension[])).chain((dimension) =>
  fc.record({
    dimension: fc.constant(dimension),
    operator: fc.constantFrom("is" as const, "is_not" as const, "contains" as const, "starts_with" as const),
    values: fc.uniqueArray(fc.constantFrom(...VALUES[dimension]!), { minLength: 1, maxLength: 2 }),
  }),
)

/** Generates addresses that the dashboard itself can create. */
const address: fc.Arbitrary<SiteAddress> = fc
  .record({
    period: fc.constantFrom<SiteAddress["period"]>("today", "yesterday", "7d", "28d", "91d", "month", "12mo", "all", "custom"),
    compare: fc.constantFrom<SiteAddress["compare"]>("none", "previous_period", "previous_year"),
    match: fc.constantFrom<SiteAddress["match"]>("weekday", "date"),
    metric: fc.constantFrom(...STRIP_METRICS),
    interval: fc.constantFrom<SiteAddress["interval"]>("auto", "day", "week"),
    filters: fc.array(filter, { maxLength: 2 }),
    cards: fc.constantFrom<Record<string, string>>(
      {},
      { sources: "channel" },
      { pages: "entry", devices: "system" },
      { locations: "language" },
    ),
  })
  .map((given) => ({ ...DEFAULT_ADDRESS, ...given, ...(given.period === "custom" && { from: "2026-11-22", to: "2026-11-26" }) }))

async function openPage(): Promise<WatchedPage> {
  const looking = await stand.look({ cookie })
  looking.page.setDefaultTimeout(15_000)
  await looking.page.clock.setFixedTime(stand.instance.clock.now())
  return looking
}

/** Returns all numbers and texts of the page that depend on the address. */
async function shown(page: Page): Promise<string[]> {
  await page.waitForFunction(
    () => document.querySelector(".card") && !document.querySelector(".skeleton, .progress-line, [aria-busy=true]"),
  )
  return page.$$eval(".figure, .pill, .key-of-series, .card tbody tr, .tab[aria-selected=true]", (parts) =>
    parts.map((part) => part.textContent ?? ""),
  )
}

test.skipIf(noBrowser)(
  `${STATES} random states: a step to them, and a new profile, show the same; back leads through them again`,
  async () => {
    const states = fc.sample(address, { seed: 20_261_121, numRuns: STATES }).map((one) => `/sites/1${writeSiteAddress(one)}`)
    await using walking = await openPage()
    await walking.open("/sites/1?period=7d")
    const seen: { path: string; parts: string[] }[] = []
    for (const path of states) {
      // Navigates like a click on a link, without loading the page.
      await walking.page.evaluate((to) => history.pushState(null, "", to), path)
      await walking.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)))
      seen.push({ path, parts: await shown(walking.page) })
    }
    await using fresh = await openPage()
    for (const { path, parts } of seen) {
      await fresh.page.goto(stand.origin + path, { waitUntil: "commit" })
      await fresh.page.locator(".figure").first().waitFor()
      expect({ path, parts: await shown(fresh.page) }).toEqual({ path, parts })
      // A clean profile, which does not remember the previous state.
      await fresh.page.evaluate(() => localStorage.clear())
      expect(await fresh.page.evaluate(() => location.pathname + location.search)).toBe(path)
    }
    for (const { path, parts } of seen.toReversed().slice(1, 11)) {
      await walking.page.goBack()
      expect(await walking.page.evaluate(() => location.pathname + location.search)).toBe(path)
      expect(await shown(walking.page)).toEqual(parts)
    }
    expect(walking.faults).toEqual([])
    expect(fresh.faults).toEqual([])
    expect(fresh.refusals).toEqual([])
  },
)
