import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { sample } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import type { WatchedPage } from "../report/dashboard-stand.ts"
import { trackRequests } from "../requests.ts"
import { openScreens, overflow, type ScreenStand } from "./screens.ts"

setDefaultTimeout(60_000)

let stand: ScreenStand
beforeAll(async () => {
  if (noBrowser) return
  stand = await openScreens()
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** One screen of each kind. The second value names the button that opens a dialog. */
const SCREENS: readonly (readonly [path: string, opener?: string])[] = [
  ["/sites"],
  ["/sites/new"],
  ["/sites/1?period=28d&f=page:is:/pricing"],
  ["/sites/1?period=28d", "Filter"],
  ["/sites/1?period=28d", "Export"],
  ["/sites/1/details/page?period=28d"],
  ["/sites/1/realtime"],
  ["/sites/1/events?period=28d"],
  ["/sites/1/campaigns?period=28d"],
  ["/sites/1/visits?period=28d"],
  ["/sites/1/web-vitals?period=28d"],
  ["/sites/1/goals?period=28d", "Add goal"],
  ["/sites/1/funnels/1?period=28d"],
  ["/sites/1/funnels/1?period=28d", "Edit funnel"],
  ["/sites/1/journeys?period=28d"],
  ["/sites/1/settings/tracking"],
  ["/sites/1/settings/shields"],
  ["/sites/1/settings/privacy"],
  ["/org/1/members"],
  ["/org/1/keys", "Create API key"],
  ["/org/1/audit"],
  ["/account/security"],
  ["/account/preferences"],
  ["/help"],
  ["/admin"],
  ["/admin/users"],
  ["/admin/settings"],
]

/** Opens each screen on a phone, or in a window of the given size. */
async function eachScreen(look: (page: Page, name: string) => Promise<void>, size?: { width: number; height: number }): Promise<void> {
  await using watched: WatchedPage = await stand.look({ cookie: stand.cookie, width: 375, touch: true })
  const { page } = watched
  if (size) await page.setViewportSize(size)
  page.setDefaultTimeout(8_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(page)
  for (const [path, opener] of sample(SCREENS)) {
    await page.goto(stand.origin + path)
    await answered()
    if (opener) {
      await page.getByRole("button", { name: opener }).first().tap()
      await answered()
    }
    await look(page, opener ? `${path}, ${opener}` : path)
  }
}

interface Target {
  name: string
  width: number
  height: number
}

/** Returns the targets that are too small for touch: under 24 px, or 44 px for buttons, fields, tabs and rows. Links in sentences are exempt. */
const tooSmall = (page: Page): Promise<Target[]> =>
  page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [role=tab], [role=option]")]
    const top = document.querySelector("dialog[open], .popover:popover-open") ?? document
    const primary =
      ".button[data-kind=primary], .dialog-foot .button, .menu-item, .bottom-bar > *, .figure, select, input:not([type=checkbox], [type=radio])"
    return all
      .filter(
        (element) =>
          top.contains(element) &&
          !element.matches(".visually-hidden") &&
          element.checkVisibility({ visibilityProperty: true }) &&
          !isInSentence(element),
      )
      .map((element) => ({ element, ...reachOf(element) }))
      .filter(({ width, height }) => width > 0 && height > 0)
      .filter(({ element, width, height }) => height < (element.matches(primary) ? 43.5 : 23.5) || width < 23.5)
      .map(({ element, width, height }) => ({
        name: `${element.tagName.toLowerCase()}.${element.className} ${element.getAttribute("aria-label") ?? element.textContent?.trim().slice(0, 40)}`,
        width: Math.round(width),
        height: Math.round(height),
      }))

    /** Reports whether the element is surrounded by text. */
    function isInSentence(element: Element): boolean {
      const parent = element.parentElement!
      const around = [...parent.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim())
      return getComputedStyle(element).display === "inline" && around
    }

    /** Returns the size of the element's box, its label and its pseudo-elements together. */
    function reachOf(element: HTMLElement): { width: number; height: number } {
      element.scrollIntoView({ block: "center", inline: "center" })
      const boxes = [element, ...((element as HTMLInputElement).labels ?? [])].map((one) => one.getBoundingClientRect())
      const own = boxes[0]!
      const [x, y] = [own.x + own.width / 2, own.y + own.height / 2]
      const hits = (dx: number, dy: number) => {
        const found = document.elementFromPoint(x + dx, y + dy)
        return (
          found !== null &&
          (element.contains(found) || [...((element as HTMLInputElement).labels ?? [])].some((one) => one.contains(found)))
        )
      }
      const reach = (dx: number, dy: number): number => {
        for (let step = 0; step < 23; step++) if (!hits(dx * step, dy * step)) return step
        return 23
      }
      return {
        width: Math.max(...boxes.map(({ width }) => width), reach(1, 0) + reach(-1, 0)),
        height: Math.max(...boxes.map(({ height }) => height), reach(0, 1) + reach(0, -1)),
      }
    }
  })

/** Returns the elements whose text is clipped unintentionally. */
const clipped = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("#app *, dialog *")]
      .filter(
        (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".visually-hidden, svg, [aria-hidden=true]"),
      )
      .filter((element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim()))
      .filter((element) => {
        const style = getComputedStyle(element)
        const hides = (axis: string) => axis === "hidden" || axis === "clip"
        const tooWide = hides(style.overflowX) && style.textOverflow !== "ellipsis" && element.scrollWidth > element.clientWidth + 1
        const tooHigh = hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1
        return tooWide || tooHigh
      })
      .map((element) => `${element.className}: ${element.textContent?.slice(0, 60)}`),
  )

test.skipIf(noBrowser)("on a phone, every target is large enough, and more space between letters and lines clips nothing", async () => {
  const small: Record<string, string[]> = {}
  const cut: Record<string, unknown> = {}
  await eachScreen(async (page, name) => {
    const targets = await tooSmall(page)
    if (targets.length > 0) small[name] = targets.map((target) => `${target.name} ${target.width}×${target.height}`)
    // As a browser extension does, with the values of WCAG 1.4.12.
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(
        "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }",
      )
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    })
    const [texts, pixels] = [await clipped(page), await overflow(page)]
    if (texts.length > 0 || pixels > 0) cut[name] = { texts, pixels }
  })
  expect({ small, cut }).toEqual({ small: {}, cut: {} })
})

/** Scrolls to the last button of the topmost layer and reports whether it is uncovered. */
async function reachesLast(page: Page): Promise<boolean> {
  const dialog = page.locator("dialog[open]")
  const front = (await dialog.count()) > 0 ? dialog.last() : page.locator("main")
  const last = front.locator("button:enabled:visible, a[href]:visible").last()
  return last.click({ trial: true, timeout: 15_000 }).then(
    () => true,
    () => false,
  )
}

test.skipIf(noBrowser)("at 200 % zoom, nothing is clipped, nothing exceeds the window, and the last button is reachable", async () => {
  const faults: Record<string, unknown> = {}
  // The CSS pixels of a window of 1,280 by 720 px at 200 %.
  await eachScreen(
    async (page, name) => {
      const [texts, pixels, reached] = [await clipped(page), await overflow(page), await reachesLast(page)]
      if (texts.length > 0 || pixels > 0 || !reached) faults[name] = { texts, pixels, reached }
    },
    { width: 640, height: 360 },
  )
  expect(faults).toEqual({})
})
