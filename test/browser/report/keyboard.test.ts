import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { TOTP } from "otpauth"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { ask } from "../people/site-stand.ts"
import { trackRequests } from "../requests.ts"
import { fillSite } from "./dashboard-data.ts"
import { type DashboardStand, openDashboard, shown, type WatchedPage } from "./dashboard-stand.ts"

// The set-up and creating a site, an API key and a goal by keyboard are tested in the files of their screens.
setDefaultTimeout(60_000)

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  await fillSite(stand.instance, { days: 3 })
  cookie = await stand.signIn({ role: "owner", isInstanceAdmin: true })
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

interface ByKeys extends WatchedPage {
  answered(): Promise<void>
  /** Faults of the elements that had the focus. */
  stops: string[]
  /** Presses Tab until the element with this name has the focus. */
  tabTo(name: string | RegExp): Promise<void>
  press(...keys: string[]): Promise<void>
  type(text: string): Promise<void>
  /** Returns the name of the focused element. */
  focused(): Promise<string>
  /** Waits until the element has the focus, which returns a moment after a dialog closes. */
  comesBackTo(name: string | RegExp): Promise<void>
}

async function byKeys(path: string, width = 1280): Promise<ByKeys> {
  const watched = await stand.look({ cookie, width, touch: false })
  const { page } = watched
  page.setDefaultTimeout(8_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(page)
  await page.goto(stand.origin + path)
  await answered()
  const stops: string[] = []
  const tabTo = async (name: string | RegExp) => {
    const seen: string[] = []
    for (let presses = 0; presses < 150; presses++) {
      await page.keyboard.press("Tab")
      const { name: here, fault } = await focusOf(page)
      if (fault) stops.push(`${here}: ${fault}`)
      if (typeof name === "string" ? here === name : name.test(here)) return
      seen.push(here)
    }
    throw new Error(`The Tab key does not reach ${name}: ${[...new Set(seen)].join(", ")}`)
  }
  return {
    ...watched,
    answered,
    stops,
    tabTo,
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key)
    },
    type: (text) => page.keyboard.type(text),
    focused: async () => (await focusOf(page)).name,
    async comesBackTo(name) {
      await page.waitForFunction(() => document.activeElement !== document.body)
      expect((await focusOf(page)).name).toMatch(name)
    },
  }
}

/** Returns the focused element and its visual fault: no focus ring, out of view or covered. */
function focusOf(page: Page): Promise<{ name: string; fault: string | undefined; isNothing: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null
    if (!element || element === document.body) return { name: "nothing", fault: undefined, isNothing: true }
    const named = element.getAttribute("aria-labelledby")
    const name = [
      element.getAttribute("aria-label"),
      named && document.getElementById(named)?.textContent,
      element.labels?.[0]?.querySelector("span:not(.visually-hidden)")?.textContent ?? element.labels?.[0]?.textContent,
      element.textContent,
      element.tagName,
    ].find((text) => text)!
    return { name: name.trim(), fault: faultOf(element), isNothing: false }

    function faultOf(focused: HTMLElement): string | undefined {
      const style = getComputedStyle(focused)
      // The parts of a date field show the focus themselves.
      if (!focused.matches(":focus-visible") && (focused as HTMLInputElement).type === "datetime-local") return undefined
      if (!(style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2)) return "no ring"
      const box = focused.getBoundingClientRect()
      const points = [0.1, 0.5, 0.9].flatMap((x) => [0.15, 0.5, 0.85].map((y) => [box.x + x * box.width, box.y + y * box.height] as const))
      const inSight = points.filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight)
      if (inSight.length === 0) return "out of sight"
      const isFree = ([x, y]: readonly [number, number]) => {
        const top = document.elementFromPoint(x, y)
        return top !== null && (focused.contains(top) || top.contains(focused) || (focused as HTMLInputElement).labels?.[0]?.contains(top))
      }
      return inSight.some(isFree) ? undefined : `covered by ${document.elementFromPoint(...inSight[0]!)?.className}`
    }
  })
}

const search = (page: Page) => decodeURIComponent(new URL(page.url()).search)

test.skipIf(noBrowser).each([
  ["/sites/1?period=28d", 1280],
  ["/sites/1?period=28d", 375],
  ["/sites/1/goals?period=28d", 1280],
  ["/sites/1/settings/privacy", 375],
  ["/org/1/members", 1280],
  ["/account/preferences", 375],
  ["/admin/settings", 1280],
])("%s at %d px: the focus traverses the whole page and leaves it, always visible and uncovered", async (path, width) => {
  await using keys = await byKeys(path, width)
  const { page } = keys
  const stops: string[] = []
  for (let presses = 0; presses < 400; presses++) {
    await page.keyboard.press("Tab")
    const { name, fault, isNothing } = await focusOf(page)
    // After the last element the focus leaves the page.
    if (isNothing) break
    stops.push(name)
    if (fault) keys.stops.push(`${name}: ${fault}`)
  }
  expect(stops.length).toBeGreaterThan(8)
  expect(stops.length).toBeLessThan(400)
  expect(keys.stops).toEqual([])
  expect(stops[0]).toBe("Skip to content")
  await page.keyboard.press("Shift+Tab")
  expect(await keys.focused()).toBe(stops.at(-1)!)
  expect(keys.faults).toEqual([])
})

test.skipIf(noBrowser)("adds a filter, saves it as a segment and removes it by keyboard", async () => {
  await using keys = await byKeys("/sites/1?period=28d")
  const { page, press, tabTo, type } = keys
  await press("/")
  await page.getByRole("dialog", { name: "Filter" }).waitFor()
  expect(await keys.focused()).toStartWith("Value")
  await press("Shift+Tab", "Shift+Tab")
  expect(await keys.focused()).toStartWith("Filter by")
  await type("Browser")
  await tabTo(/^Value/)
  await page.locator(".option").first().waitFor()
  await type("Fire")
  await page.waitForFunction(() => document.querySelectorAll(".option").length === 1)
  await press("ArrowDown", "Enter", "Enter")
  await page.waitForURL("**f=browser:is:Firefox")
  await keys.answered()
  await tabTo("Save as segment")
  await press("Enter")
  await page.getByRole("dialog", { name: "Save as segment" }).waitFor()
  await type("Foxes")
  await tabTo("Save segment")
  await press("Enter")
  await page.waitForURL("**segment=1")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await shown(page, "Segment is Foxes")
  await tabTo("Remove segment Foxes")
  await press("Enter")
  await page.waitForURL((url) => !url.search.includes("segment"))
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})

test.skipIf(noBrowser)("compares with the previous year, and opens and closes details by keyboard", async () => {
  await using keys = await byKeys("/sites/1?period=28d")
  const { page, press, tabTo } = keys
  await tabTo(/^Comparison:/)
  await press("Enter")
  await page.waitForFunction(() => document.activeElement?.closest("[popover]"))
  // The selected item has the focus; the next one is the previous year.
  await press("ArrowDown", "Enter")
  await page.waitForFunction(() => location.search.includes("compare=previous_year"))
  await keys.comesBackTo("Comparison: vs previous year")
  await tabTo("Details")
  await press("Enter")
  const dialog = page.getByRole("dialog")
  await dialog.locator("tbody tr").first().waitFor()
  expect(new URL(page.url()).pathname).toStartWith("/sites/1/details/")
  await tabTo(/^Visitors/)
  await press("Enter")
  await page.locator("dialog [aria-sort=ascending]").waitFor()
  // The focus cycles within the dialog and reaches nothing behind it.
  for (let presses = 0; presses < 40; presses++) {
    await press("Tab")
    expect(await page.evaluate(() => document.activeElement === document.body || !!document.activeElement?.closest("dialog"))).toBe(true)
  }
  await press("Escape")
  await dialog.waitFor({ state: "detached" })
  await keys.comesBackTo("Details")
  expect(search(page)).toContain("compare=previous_year")
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})

test.skipIf(noBrowser)("creates a funnel by keyboard", async () => {
  await using keys = await byKeys("/sites/1/funnels?period=28d")
  const { page, press, tabTo, type } = keys
  await tabTo("Add funnel")
  await press("Enter")
  await page.getByRole("dialog").waitFor()
  if ((await keys.focused()) !== "Name") await tabTo("Name")
  await type("Way in")
  for (const [field, value] of [
    ["Page of step 1", "/"],
    ["Page of step 2", "/pricing"],
  ] as const) {
    await tabTo(field)
    await type(value)
  }
  await tabTo("Add funnel")
  await press("Enter")
  await page.waitForURL("**/funnels/1?**")
  await page.getByRole("heading", { name: "Way in" }).waitFor()
  await keys.answered()
  await tabTo("Delete funnel")
  await press("Enter")
  await page.getByRole("dialog").waitFor()
  await press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await keys.comesBackTo("Delete funnel")
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})

test.skipIf(noBrowser)("creates and removes a shared view by keyboard", async () => {
  await using keys = await byKeys("/sites/1/settings/sharing")
  const { page, press, tabTo, type } = keys
  await tabTo("New shared view")
  await press("Enter")
  await page.getByRole("dialog").waitFor()
  await type("For the board")
  await tabTo("Create shared view")
  await press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await shown(page, "For the board")
  await keys.comesBackTo("New shared view")
  const { body } = await ask(page, "/api/private/sites/1/shares")
  expect(body.data).toMatchObject([{ name: "For the board" }])
  await tabTo(/^Revoke link to/)
  await press("Enter")
  await page.getByRole("dialog").waitFor()
  await tabTo("Revoke link")
  await press("Enter")
  await shown(page, "No shared views yet.")
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})

test.skipIf(noBrowser)("makes a member an editor by keyboard", async () => {
  await stand.signIn({ role: "viewer" })
  await using keys = await byKeys("/org/1/members")
  const { page, press, tabTo, type } = keys
  await tabTo(/^Edit/)
  await press("Enter")
  await page.getByRole("dialog").waitFor()
  if (!(await keys.focused()).startsWith("Role")) await tabTo(/^Role/)
  await type("Editor")
  await tabTo("Save changes")
  await press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await page.getByRole("cell", { name: "Editor" }).waitFor()
  await keys.comesBackTo(/^Edit/)
  const { body } = await ask(page, "/api/private/organizations/1/members")
  expect(body.data.map(({ role }: { role: string }) => role).toSorted()).toEqual(["editor", "owner"])
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})

test.skipIf(noBrowser)("adds an authenticator app by keyboard", async () => {
  await using keys = await byKeys("/account/security")
  const { page, press, tabTo, type } = keys
  await tabTo("Add authenticator app")
  await press("Enter")
  const secret = (await page.locator(".key-text").textContent())!.replaceAll(" ", "")
  if ((await keys.focused()) !== "Code") await tabTo("Code")
  await type(new TOTP({ secret }).generate({ timestamp: stand.instance.clock.now() }))
  await press("Enter")
  await page.locator("pre.codes").waitFor()
  await tabTo("I've saved them")
  await press("Enter")
  await shown(page, "You have 10 left.")
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})

test.skipIf(noBrowser)("creates a backup and opens its restore dialog by keyboard", async () => {
  await using keys = await byKeys("/admin/backups")
  const { page, press, tabTo, type } = keys
  await tabTo("Create backup")
  await press("Enter")
  await page.getByRole("dialog").waitFor()
  if ((await keys.focused()) !== "Label (optional)") await tabTo("Label (optional)")
  await type("Before the move")
  await press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await stand.instance.runJobs()
  await shown(page, "verified")
  await tabTo(/^More actions for/)
  await press("Enter")
  await page.waitForFunction(() => document.activeElement?.closest("[popover]"))
  for (let presses = 0; presses < 8 && (await keys.focused()) !== "Restore"; presses++) await press("ArrowDown")
  await press("Enter")
  await page.getByRole("button", { name: "Restore and restart" }).waitFor()
  await tabTo(/^Type .+ to confirm$/)
  await type(/^Type (.+) to confirm$/.exec(await keys.focused())![1]!)
  await tabTo("Restore and restart")
  // Not pressed, because it would stop the instance.
  await press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await keys.comesBackTo(/^More actions for/)
  expect({ stops: keys.stops, faults: keys.faults }).toEqual({ stops: [], faults: [] })
})
