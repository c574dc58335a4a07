import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { BrowserContextOptions, Page } from "playwright-core"
import { noBrowser, openContext } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, settled, watchRequests } from "../report/dashboard-stand.ts"

setDefaultTimeout(60_000)

let stand: DashboardStand
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  await fillSite(stand.instance, { days: 3 })
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const DASHBOARD = "/sites/1?period=28d&f=country:is_not:DE"

/** Opens a page of a new user whose browser has the given preferences. */
async function openWith(wanted: BrowserContextOptions): Promise<{ page: Page } & AsyncDisposable> {
  const context = await openContext({ viewport: { width: 1280, height: 900 }, ...wanted })
  const [name = "", ...value] = (await stand.signIn({ role: "owner" })).split("=")
  await context.addCookies([{ name, value: value.join("="), url: stand.origin }])
  const page = await context.newPage()
  watchRequests(page)
  page.setDefaultTimeout(20_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  return { page, [Symbol.asyncDispose]: () => context.close() }
}

async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(stand.origin + path)
  await settled(page)
}

/** Returns the elements with a transition or animation in any state of the style sheets. */
const moving = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((element) => {
        const { transitionDuration, animationName } = getComputedStyle(element)
        return animationName !== "none" || transitionDuration.split(",").some((one) => Number.parseFloat(one) > 0)
      })
      .map((element) => `${element.tagName}.${element.getAttribute("class")}`),
  )

test.skipIf(noBrowser)("nothing moves if the user prefers reduced motion", async () => {
  const found = async (reducedMotion: "reduce" | "no-preference") => {
    await using opened = await openWith({ reducedMotion })
    await goTo(opened.page, DASHBOARD)
    // A pending query shows the progress line at the top and dims the cards.
    await opened.page.route("**/stats/batch", () => {})
    await opened.page.keyboard.press("w")
    await opened.page.locator(".progress-line").waitFor({ state: "attached" })
    return await moving(opened.page)
  }
  expect((await found("no-preference")).length).toBeGreaterThan(0)
  expect(await found("reduce")).toEqual([])
})

/** Returns the red, green and blue values in the middle of the page's left edge at this moment. */
async function shownColour(page: Page): Promise<number[]> {
  const picture = `data:image/png;base64,${(await page.screenshot()).toString("base64")}`
  const reader = await (await openContext()).newPage()
  const colour = await reader.evaluate(async (source) => {
    const image = new Image()
    image.src = source
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    const paper = canvas.getContext("2d")!
    paper.drawImage(image, 0, 0)
    return [...paper.getImageData(2, image.height / 2, 1, 1).data.slice(0, 3)]
  }, picture)
  await reader.context().close()
  return colour
}

const LIGHT = [247, 246, 243]
const DARK = [19, 20, 18]

test.skipIf(noBrowser).each([
  ["auto", "dark", DARK],
  ["auto", "light", LIGHT],
  ["dark", "light", DARK],
  ["light", "dark", LIGHT],
] as const)(
  "with the theme %s on a %s system, the first paint has its background before any script runs",
  async (theme, colorScheme, foundation) => {
    await using opened = await openWith({ colorScheme })
    const { page } = opened
    await goTo(page, "/account/preferences")
    if (theme !== "auto") {
      const saved = page.waitForResponse((answer) => answer.request().method() === "PATCH")
      await page.getByLabel(theme === "dark" ? "Dark" : "Light", { exact: true }).check()
      await saved
    }
    // Without scripts, a page shows what the server and the style sheet define, which is the first paint.
    const scripts = /\.js(\?|$)/
    await page.route(scripts, (route) => route.abort())
    await page.goto(stand.origin + DASHBOARD)
    expect(await page.locator("h1").count()).toBe(0)
    const first = await shownColour(page)
    await page.unroute(scripts)
    await goTo(page, DASHBOARD)
    expect({ first, last: await shownColour(page) }).toEqual({ first: [...foundation], last: [...foundation] })
  },
)

test.skipIf(noBrowser)("with forced colours, controls keep their borders and the focus its ring", async () => {
  await using opened = await openWith({ forcedColors: "active" })
  const { page } = opened
  for (const path of [DASHBOARD, "/sites/1/goals", "/account/profile", "/sites/new"]) {
    await goTo(page, path)
    expect(await page.evaluate(() => matchMedia("(forced-colors: active)").matches)).toBe(true)
    const bare = await page.$$eval(
      ".button:not([data-kind=quiet], .skip-link), input:not([type=checkbox], [type=radio], .visually-hidden), select.input, .card, .instrument",
      (all) =>
        all
          .filter((element) => (element as HTMLElement).checkVisibility())
          .filter((element) => {
            const { borderTopStyle, borderTopWidth, borderTopColor, backgroundColor } = getComputedStyle(element)
            return borderTopStyle === "none" || Number.parseFloat(borderTopWidth) < 1 || borderTopColor === backgroundColor
          })
          .map((element) => element.outerHTML.slice(0, 120)),
    )
    expect({ path, bare }).toEqual({ path, bare: [] })
    for (let stop = 0; stop < 12; stop++) {
      await page.keyboard.press("Tab")
      const ring = await page.evaluate(() => {
        const { outlineStyle, outlineWidth, outlineColor, backgroundColor } = getComputedStyle(document.activeElement!)
        // After the last element the focus leaves the page.
        return {
          shown:
            document.activeElement === document.body ||
            (outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2 && outlineColor !== backgroundColor),
        }
      })
      expect({ path, stop, ...ring }).toEqual({ path, stop, shown: true })
    }
  }
})

test.skipIf(noBrowser)("prints the report without controls", async () => {
  await using opened = await openWith({})
  const { page } = opened
  await goTo(page, DASHBOARD)
  const seen = (selector: string) =>
    page.$$eval(selector, (all) => all.filter((element) => (element as HTMLElement).checkVisibility()).length)
  const pressed = ".rail, .top-bar, .bottom-bar, .card-foot, .ranked-menu, .toasts"
  expect(await seen(pressed)).toBeGreaterThan(3)
  await page.emulateMedia({ media: "print" })
  expect(await seen(pressed)).toBe(0)
  expect(await seen(".figure")).toBe(6)
  expect(await seen("table.ranked tbody tr")).toBeGreaterThan(5)
  expect(await seen(".chart-canvas")).toBe(1)
})

test.skipIf(noBrowser)("the dark theme prints dark ink on white paper, without a button", async () => {
  await using opened = await openWith({ colorScheme: "dark" })
  const { page } = opened
  await goTo(page, DASHBOARD)
  expect(await shownColour(page)).toEqual(DARK)
  const line = () => page.$eval(".chart-canvas canvas", (canvas) => darkestOf(canvas as HTMLCanvasElement))
  await page.evaluate(`window.darkestOf = ${darkest}`)
  expect(await line()).toBeGreaterThan(40)
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")))
  expect(await line()).toBeLessThan(20)
  await page.evaluate(() => dispatchEvent(new Event("afterprint")))
  expect(await line()).toBeGreaterThan(40)
  await page.emulateMedia({ media: "print" })
  await settled(page)
  const ink = (selector: string) => page.$eval(selector, (element) => getComputedStyle(element).color)
  expect([await ink(".figure-value"), await ink(".ranked-link"), await ink("h1")]).toEqual(Array(3).fill("rgb(28, 27, 25)"))
  expect(await line()).toBeLessThan(20)
  // The remaining buttons are informative: the period, the figures and their marks.
  const buttons = await page.$$eval("button, .button, select", (all) =>
    all.filter(
      (element) => (element as HTMLElement).checkVisibility() && !element.matches(".figure, .trust-mark, [role=tab], .pill > button"),
    ),
  )
  expect(buttons).toHaveLength(1)
})

declare function darkestOf(canvas: HTMLCanvasElement): number
/** Runs in the page: returns the red value (0 to 255) of the darkest drawn pixel. */
function darkest(canvas: HTMLCanvasElement): number {
  const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height)
  let least = 255
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) least = Math.min(least, data[at]!)
  return least
}

test.skipIf(noBrowser)("shortcuts can be disabled and enabled again on the preferences page", async () => {
  await using opened = await openWith({})
  const { page } = opened
  const set = async (on: boolean) => {
    await goTo(page, "/account/preferences")
    await page.getByLabel("Keyboard shortcuts", { exact: true }).setChecked(on)
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("Preferences saved").first().waitFor()
    await goTo(page, "/sites/1?period=28d")
  }
  await set(false)
  for (const key of ["w", "/", "?", "r"]) await page.keyboard.press(key)
  // A shortcut takes effect immediately, so two frames are enough to see that none did.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/sites/1?period=28d")
  expect(await page.locator("dialog").count()).toBe(0)
  await set(true)
  await page.keyboard.press("w")
  await page.waitForURL("**/sites/1?period=7d")
})
