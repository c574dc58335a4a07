import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { bySize, longTest } from "#plugin/test"
import { noBrowser, overflow, settled, shown, tabTo, violations } from "#plugin/test/browser"
import { EACH_THEME, EXPORT, openImports } from "./dashboard-stand.ts"
import { simpleAnalytics } from "./kit.ts"

/** What happens to an import after it was started, as people see it in a browser. */

setDefaultTimeout(180_000)

/** An import that takes seconds to sort. */
const LARGE = {
  label: "Large",
  files: [
    {
      name: "large.csv",
      content: simpleAnalytics(
        Array.from({ length: 100_000 }, (_, at) => ({
          at: new Date(Date.UTC(2026, 8, 1 + (at % 28), at % 20, at % 60)).toISOString(),
          path: `/${at % 50}`,
          session: `s${at >> 2}`,
        })),
      ),
    },
  ],
}
/** Two of three lines have no date, so the import fails. */
const BROKEN = {
  label: "Broken",
  files: [{ name: "broken.csv", content: `${EXPORT}\n${"soon,/,x,DE,shop.example,pageview\n".repeat(6)}` }],
}

/** Starts a large import. A new zone makes its run sort the rows again, which were sorted when it was started. */
async function startLarge(stand: Awaited<ReturnType<typeof openImports>>): Promise<void> {
  await stand.start(LARGE)
  await stand.instance.app.instance.sites.update(1, { timezone: "Europe/Paris" })
}

/** Sorting takes seconds, and far longer while other tests keep all cores busy. */
const LONG_MS = 90_000
const phase = (page: Page, name: string | RegExp) => page.locator('.stepper li[aria-current="step"]', { hasText: name })

longTest.skipIf(noBrowser)("shows the phases of a running import, also after a reload, and then its result", async () => {
  await using stand = await openImports()
  await startLarge(stand)
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports/1")
  await shown(page, "Waiting to start.")
  const running = stand.instance.runJobs()
  await phase(page, "Sorting rows into visits").waitFor()
  await shown(page, "You can leave this page; the import continues.")
  await shown(page, /^Sorting rows into visits, [\d.]+ [kM]?B of [\d.]+ MB$/)
  await page.reload()
  // Writing takes a fraction of a second, which a browser may not see.
  await phase(page, /^\d(Sorting rows into visits|Writing rows|Completing)$/).waitFor()
  expect(await page.getByRole("progressbar", { name: "Importing" }).count()).toBe(1)
  await running
  await shown(page, "Completed: 100,000 rows imported. Reports include 28 days.", LONG_MS)
  expect(looked.faults).toEqual([])
})

longTest.skipIf(noBrowser)("cancels a running import after a confirmation, and nothing of it remains", async () => {
  await using stand = await openImports()
  await startLarge(stand)
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports/1")
  const running = stand.instance.runJobs()
  await phase(page, "Sorting rows into visits").waitFor()
  await page.getByRole("button", { name: "Cancel import" }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByText("the rows that it has written so far are removed").waitFor()
  await dialog.getByRole("button", { name: "Cancel import" }).click()
  await shown(page, "The import was cancelled. Reports don't include any of its data.")
  await running
  expect(await page.getByRole("button", { name: "Cancel import" }).count()).toBe(0)
  await looked.open("/sites/1?period=custom&from=2026-09-01&to=2026-09-30")
  expect(await page.locator(".figure-value").first().textContent()).toBe("0")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("says why an import failed, and retries it", async () => {
  await using stand = await openImports()
  await stand.run(BROKEN)
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports/1")
  await shown(page, "The import failed.")
  const remedy = "Correct the files and import them again, or choose “Import even if most lines are rejected” in a new import."
  await shown(page, `Reports don't include any of its data. ${remedy}`)
  await page.getByRole("button", { name: "Retry" }).click()
  await shown(page, "Waiting to start.")
  await stand.instance.runJobs()
  await shown(page, "The import failed.")
  await looked.open("/sites/1/imports?state=failed")
  await page.getByRole("button", { name: "Actions for Broken" }).click()
  await page.getByRole("menuitem", { name: "Retry" }).click()
  await shown(page, "No imports in this state.")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("renames, hides and undoes an import from the list with the keyboard", async () => {
  await using stand = await openImports()
  await stand.run({ label: "Earlier" })
  await using looked = await stand.look()
  const { page } = looked
  const press = (key: string) => page.keyboard.press(key)
  const choose = async (name: string, action: string) => {
    await tabTo(page, `Actions for ${name}`)
    await press("Enter")
    await page.getByRole("menu").waitFor()
    while ((await page.evaluate(() => document.activeElement?.textContent)) !== action) await press("ArrowDown")
    await press("Enter")
    await page.getByRole("dialog").waitFor()
  }
  await looked.open("/sites/1/imports")
  await choose("Earlier", "Rename")
  await press("Control+A")
  await page.keyboard.type("Years before")
  await press("Enter")
  await page.getByRole("link", { name: "Years before" }).waitFor()
  await page.getByRole("dialog").waitFor({ state: "detached" })

  const toggle = page.getByLabel("Include Years before in reports")
  await toggle.focus()
  await press("Space")
  await shown(page, "Reports no longer include the import")
  expect(await toggle.isChecked()).toBe(false)

  await choose("Years before", "Undo import")
  await shown(page, "This removes 3 imported rows on 2 days:")
  await press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Actions for Years before")
  await choose("Years before", "Undo import")
  await tabTo(page, "Remove 3 rows")
  await press("Enter")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await stand.instance.runJobs()
  await page.getByRole("cell", { name: "Undone" }).waitFor()
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser).each(bySize({ check: EACH_THEME.slice(0, 2), full: EACH_THEME, release: EACH_THEME }))(
  "%i px, %s: no state of an import has an accessibility violation or overflows",
  async (width, theme) => {
    await using stand = await openImports()
    await stand.run({ label: "Earlier" })
    await stand.run({ ...BROKEN, force: true })
    await stand.start({ label: "Waiting", files: [{ name: "later.csv", content: EXPORT.replaceAll("2026-10", "2026-09") }] })
    await using looked = await stand.look({ width, theme })
    const { page } = looked
    const check = async (screen: string) => {
      await settled(page)
      const scrolls = await page.locator(".table-wrap").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)
      const found = { violations: await violations(page), overflow: await overflow(page), scrolls }
      expect({ screen, ...found }).toEqual({ screen, violations: [], overflow: 0, scrolls: 0 })
    }
    await looked.open("/sites/1/imports")
    await page.getByRole("rowheader", { name: /Earlier/ }).waitFor()
    await check("history")
    await page.getByRole("button", { name: "Actions for Earlier" }).click()
    await check("menu")
    await page.getByRole("menuitem", { name: "Rename" }).click()
    await check("rename")
    for (const [id, action] of [
      ["1", "Undo import"],
      ["2", "Retry"],
      ["3", "Cancel import"],
    ]) {
      await looked.open(`/sites/1/imports/${id}`)
      await page.getByRole("button", { name: action! }).waitFor()
      await check(`import ${id}`)
    }
    await page.getByRole("button", { name: "Cancel import" }).click()
    await check("cancel")
    await page.getByRole("dialog").getByRole("button", { name: "Cancel import" }).click()
    await shown(page, "The import was cancelled.")
    await check("cancelled")
    expect(looked.faults).toEqual([])
  },
)

test.skipIf(noBrowser)("the list of funnels and the chart say which imports they include", async () => {
  await using stand = await openImports()
  const visitors = ["date,visitors,pageviews,bounces,visits,visit_duration", "2026-10-01,10,30,5,12,600", "2026-10-02,20,40,6,25,900"]
  await stand.run({ source: "plausible", files: [{ name: "imported_visitors_20261001_20261002.csv", content: visitors.join("\n") }] })
  const steps = ["/", "/pricing"].map((value) => ({ type: "page" as const, match: "exact" as const, value, name: value }))
  const { instance } = stand
  await instance.app.instance.funnels.create(instance.site, { name: "Purchase", steps })
  await using looked = await stand.look()
  const { page } = looked
  const range = "?period=custom&from=2026-10-01&to=2026-10-04"
  await looked.open(`/sites/1/funnels${range}`)
  await page.getByRole("button", { name: "imports excluded" }).waitFor()
  await looked.open(`/sites/1${range}`)
  await shown(page, "Imported days")
  await page.locator(".chart-canvas").focus()
  await page.keyboard.press("Home")
  await page.locator(".chart-read-out", { hasText: "Thu, 1 Oct 2026 imported" }).waitFor()
  await page.getByRole("button", { name: "Show as table" }).click()
  await page.locator(".chart-table tbody th").first().waitFor()
  expect((await page.locator(".chart-table tbody th").allTextContents()).map((text) => text.includes("(imported)"))).toEqual([
    true,
    true,
    false,
    false,
  ])
  await page.getByRole("button", { name: "imported", exact: true }).first().click()
  await page.waitForURL("**/sites/1/imports")
  expect(looked.faults).toEqual([])
})
