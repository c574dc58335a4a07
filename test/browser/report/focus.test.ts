import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { figures, openAt, type Seen } from "./dashboard-figures.ts"
import { openDashboard, settled } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

let seen: Seen
beforeAll(async () => {
  if (noBrowser) return
  const stand = await openDashboard()
  await fillSite(stand.instance)
  seen = { stand, cookie: await stand.signIn({ role: "owner", isInstanceAdmin: true }) }
}, 40_000)
afterAll(() => seen?.stand[Symbol.asyncDispose]())

/** Waits until the element with this name has the focus. */
const focusIsOn = (page: Page, name: string) =>
  page
    .waitForFunction((wanted) => {
      const element = document.activeElement
      return element !== document.body && (element?.ariaLabel ?? element?.textContent) === wanted
    }, name)
    .catch(async () => expect(await focused(page)).toBe(name))

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { ariaLabel, textContent, localName } = document.activeElement ?? document.body
    return localName === "body" ? "nothing" : (ariaLabel ?? textContent)
  })

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true }).first()
const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).first()
const scrolled = (page: Page): Promise<number> => page.evaluate(() => scrollY)
const path = (page: Page): string => decodeURIComponent(new URL(page.url()).pathname + new URL(page.url()).search)

/** Opens a dialog by keyboard and closes it with Escape. */
async function openAndLeave(page: Page, dialog: string): Promise<void> {
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: dialog }).waitFor()
  await page.waitForFunction(() => document.activeElement?.closest("dialog"))
  await page.keyboard.press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
}

test.skipIf(noBrowser).each([
  [/^Period:/, "Custom range", "Custom range"],
  [/^Comparison:/, "Custom range", "Compare with"],
])("closing a dialog opened from a menu returns the focus to the menu's button: %s", async (menu, item, dialog) => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  await button(page, menu).focus()
  const name = await focused(page)
  await page.keyboard.press("Enter")
  await page.getByRole("menuitemradio", { name: item }).focus()
  await openAndLeave(page, dialog)
  await focusIsOn(page, name)
})

test.skipIf(noBrowser)(
  "closing a dialog of a row, a point, a note or a filter returns the focus to the control that opened it",
  async () => {
    await using looking = await openAt(seen, "/sites/1?period=28d&f=browser:is:Firefox")
    const { page } = looking
    await button(page, "Actions for /pricing").focus()
    await page.keyboard.press("Enter")
    await page.getByRole("menuitem", { name: "View details" }).focus()
    await openAndLeave(page, "Page")
    await focusIsOn(page, "Actions for /pricing")

    await page.locator(".chart-canvas").focus()
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Enter")
    await page.getByRole("menuitem", { name: "Add note" }).focus()
    await openAndLeave(page, "Add note")
    await page.waitForFunction(() => document.activeElement?.ariaLabel?.startsWith("Actions for "))

    for (const [name, dialog] of [
      ["Notes", "Notes"],
      ["Filter, 1 active", "Add filter"],
      ["Browser is Firefox", "Edit filter"],
      ["Save as segment", "Save as segment"],
    ] as const) {
      await button(page, name).focus()
      await openAndLeave(page, dialog)
      await focusIsOn(page, name)
    }
    expect(looking.faults).toEqual([])
  },
)

test.skipIf(noBrowser)("if the control that opened a dialog is gone, the focus moves to its replacement", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d&f=browser:is:Firefox&f=page:is:/pricing")
  const { page } = looking
  await button(page, "Save as segment").focus()
  await page.keyboard.press("Enter")
  await page.getByLabel("Name", { exact: true }).fill("Foxes")
  await page.keyboard.press("Enter")
  await page.waitForURL("**segment=1")
  await focusIsOn(page, "Segment is Foxes")

  // The first of the segment's filters replaces it.
  await page.keyboard.press("Enter")
  await focusIsOn(page, "Browser is Firefox")

  await button(page, "Page is /pricing").focus()
  await page.keyboard.press("Enter")
  await page.getByLabel("Condition", { exact: true }).selectOption("is_not")
  await button(page, "Apply").focus()
  await page.keyboard.press("Enter")
  await focusIsOn(page, "Page is not /pricing")

  await button(page, "Remove Page is not /pricing").focus()
  await page.keyboard.press("Enter")
  await page.waitForFunction(() => document.activeElement?.closest(".filter-bar"))

  // The whole bar disappears with the last one.
  await button(page, "Browser is Firefox").focus()
  await page.keyboard.press("Enter")
  await button(page, "Remove").focus()
  await page.keyboard.press("Enter")
  await page.locator(".filter-bar").waitFor({ state: "detached" })
  await page.waitForFunction(() => document.activeElement?.closest("main") && document.activeElement.id !== "main")

  // In a dialog with a list, removing an item keeps the focus inside.
  await page.keyboard.press("/")
  await button(page, "Delete segment Foxes").focus()
  await page.keyboard.press("Enter")
  await page.getByText("Segment Foxes deleted").waitFor()
  await page.waitForFunction(() => document.activeElement?.closest("dialog"))
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("in a menu, arrow keys wrap around, Home and End jump to the ends, and letters to matching items", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const at = () => page.evaluate(() => document.activeElement?.querySelector("span")?.textContent)
  await button(page, /^Period:/).focus()
  await page.keyboard.press("Enter")
  await page.waitForFunction(() => document.activeElement?.closest("[popover]"))
  const steps = [
    ["Home", "Today"],
    ["ArrowUp", "Custom range"],
    ["ArrowDown", "Today"],
    ["End", "Custom range"],
    ["m", "Month to date"],
    ["Home", "Today"],
    ["y", "Yesterday"],
  ] as const
  expect(await at()).toBe("Last 28 days")
  for (const [key, expected] of steps) {
    await page.keyboard.press(key)
    expect({ key, at: await at() }).toEqual({ key, at: expected })
    // For a moment, further letters extend the search.
    if (key.length === 1) await page.waitForTimeout(600)
  }
  // After a pause, the same letter moves to the next match.
  for (const expected of ["Year to date", "Yesterday"]) {
    await page.keyboard.press("y")
    expect(await at()).toBe(expected)
    await page.waitForTimeout(600)
  }
  await page.keyboard.type("mon")
  expect(await at()).toBe("Month to date")
  await page.keyboard.press("Enter")
  await page.waitForURL("**period=month")
  await focusIsOn(page, "Period: Month to date")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)(
  "back and forward restore figures, scroll position and focus after a row, another page and another document",
  async () => {
    await using looking = await openAt(seen, "/sites/1?period=28d")
    const { page } = looking
    const rowOf = async (name: string) => {
      await link(page, name).scrollIntoViewIfNeeded()
      return scrolled(page)
    }
    const before = await figures(page)
    const first = await rowOf("Firefox")
    expect(first).toBeGreaterThan(100)
    await link(page, "Firefox").click()
    await page.waitForURL("**f=browser:is:Firefox")
    await settled(page)
    const filtered = await figures(page)
    expect(filtered).not.toEqual(before)

    await button(page, "Browser is Firefox").focus()
    await page.evaluate(() => scrollTo(0, 40))
    await page.goBack()
    await settled(page)
    await focusIsOn(page, "Firefox")
    expect({ figures: await figures(page), top: await scrolled(page) }).toEqual({ figures: before, top: first })
    await page.goForward()
    await settled(page)
    await focusIsOn(page, "Browser is Firefox")
    expect({ figures: await figures(page), top: await scrolled(page) }).toEqual({ figures: filtered, top: 40 })

    // To another page, which starts at its top, and back.
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    const low = await scrolled(page)
    expect(low).toBeGreaterThan(first)
    await page.locator(".rail").getByRole("link", { name: "Goals" }).click()
    await page.getByRole("heading", { name: "Goals", level: 1 }).waitFor()
    expect(await scrolled(page)).toBe(0)
    await page.goBack()
    await settled(page)
    await page.waitForFunction((top) => scrollY === top, low)
    expect(await figures(page)).toEqual(filtered)

    // To another document, which discards this one, and back.
    const second = await rowOf("/pricing")
    await link(page, "/pricing").focus()
    await page.goto(`${seen.stand.origin}/health`)
    await page.goBack()
    await settled(page)
    await focusIsOn(page, "/pricing")
    await page.waitForFunction((top) => scrollY === top, second)
    expect({ path: path(page), figures: await figures(page) }).toEqual({
      path: "/sites/1?period=28d&f=browser:is:Firefox",
      figures: filtered,
    })
  },
)
