import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { bySize } from "#plugin/test"
import { noBrowser, overflow, settled, shown, tabTo, violations } from "#plugin/test/browser"
import { EACH_THEME, EXPORT, openImports } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

const FILE = { name: "datapoints.csv", mimeType: "text/csv", buffer: Buffer.from(`${EXPORT}\nyesterday,/late,c,DE,shop.example,pageview`) }
const OCTOBER = "?period=custom&from=2026-10-01&to=2026-10-31"

const choose = (page: Page, file: Parameters<ReturnType<Page["locator"]>["setInputFiles"]>[0]) =>
  page.locator("input[type=file]").setInputFiles(file)
const figureOf = (page: Page, label: string) => page.locator(".figure", { hasText: label }).first().locator(".figure-value").textContent()

test.skipIf(noBrowser)("imports from the gallery to the numbers on the dashboard, hides the import and undoes it", async () => {
  await using stand = await openImports()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports")
  await shown(page, "No imports yet.")
  await page.getByRole("link", { name: "New import" }).click()
  await page.getByRole("link", { name: "Simple Analytics" }).click()
  await shown(page, "Import from Simple Analytics")
  await choose(page, FILE)
  await shown(page, "Nothing is stored yet.")
  await shown(page, "2 of 2 days with rows will be imported.")
  expect([await figureOf(page, "Visitors"), await figureOf(page, "Views")]).toEqual(["2", "3"])
  await page.getByRole("img", { name: "Days from Thu, 1 Oct 2026 – Fri, 2 Oct 2026: imported 2" }).waitFor()
  expect(await page.getByRole("table", { name: "Rejected lines of the files" }).locator("tbody tr").allTextContents()).toEqual([
    '5datapoints.csvInvalid date"yesterday" is not a date or time that can be read.',
  ])
  await page.getByRole("button", { name: "Continue" }).click()
  await shown(page, "3 rows on 2 days")
  await page.getByLabel("Name").fill("Years before")
  await page.getByRole("button", { name: "Start import" }).click()
  await page.waitForURL("**/sites/1/imports/1")
  await shown(page, "Waiting to start.")

  await stand.instance.runJobs()
  await shown(page, "Completed: 3 rows imported. Reports include 2 days.")
  await page.getByRole("link", { name: "Show in the dashboard" }).click()
  await page.waitForURL("**/sites/1?*")
  await settled(page)
  expect([await figureOf(page, "Visitors"), await figureOf(page, "Visits"), await figureOf(page, "Views")]).toEqual(["2", "2", "3"])
  await page.getByRole("button", { name: "imported", exact: true }).first().waitFor()

  await looked.open("/sites/1/imports")
  expect((await page.locator("tbody tr").getByRole("cell").allTextContents()).slice(0, 4)).toEqual([
    "Completed",
    "1 Oct 2026 – 2 Oct 20262 days in reports",
    "3",
    "1",
  ])
  await page.getByLabel("Include Years before in reports").uncheck()
  await shown(page, "Reports no longer include the import")
  await looked.open(`/sites/1${OCTOBER}`)
  expect(await page.locator(".figure-value", { hasText: /^2$/ }).count()).toBe(0)

  await looked.open("/sites/1/imports")
  await page.getByRole("button", { name: "Actions for Years before" }).click()
  await page.getByRole("menuitem", { name: "Undo import" }).click()
  await shown(page, "This removes 3 imported rows on 2 days:")
  await shown(page, "Thu, 1 Oct 2026 – Fri, 2 Oct 2026")
  await page.getByRole("button", { name: "Remove 3 rows" }).click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await stand.instance.runJobs()
  await looked.open("/sites/1/imports/1")
  await shown(page, "The import was undone")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("imports with the keyboard only", async () => {
  await using stand = await openImports()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports/new")
  await tabTo(page, "Simple Analytics")
  await page.keyboard.press("Enter")
  await shown(page, "Import from Simple Analytics")
  await settled(page)
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Import from Simple Analytics")
  // The browser takes a moment to hand its dialogs to the test.
  const picker = page.waitForEvent("filechooser")
  await tabTo(page, "Choose files")
  await page.keyboard.press("Enter")
  await (await picker).setFiles(FILE)
  await shown(page, "Nothing is stored yet.")
  await settled(page)
  await tabTo(page, "Continue")
  await page.keyboard.press("Enter")
  await shown(page, "Start the import?")
  await tabTo(page, "Start import")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites/1/imports/1")
  await stand.instance.runJobs()
  await shown(page, "Completed: 3 rows imported.")
  await tabTo(page, "Undo import")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor()
  await page.keyboard.press("Escape")
  await page.waitForFunction(() => document.activeElement?.textContent === "Undo import")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("updates the preview when the rule for days changes, and explains days of another import", async () => {
  await using stand = await openImports()
  await stand.run({ label: "Earlier" })
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports/new?source=simple_analytics")
  await choose(page, FILE)
  await shown(page, "No day would be imported.")
  expect(await page.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true)
  await page.getByText("Days as a table").waitFor({ state: "detached" })
  await page.getByRole("img", { name: /held by another import 2$/ }).waitFor()
  await page.getByLabel("Replace days of other imports").check()
  await shown(page, "2 of 2 days with rows will be imported.")
  await settled(page)
  expect(await page.getByRole("button", { name: "Continue" }).isEnabled()).toBe(true)
  expect(await page.getByLabel("Count both").isDisabled()).toBe(true)
  await shown(page, "Needs the permission to edit the site.")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("proposes the columns of any CSV file and imports the ones that the user chose", async () => {
  await using stand = await openImports()
  await using looked = await stand.look()
  const { page } = looked
  const csv = ["Time;Page;Who", "2026-10-01 10:00;/a;x", "2026-10-01 10:05;/b;x", "2026-10-02 11:00;/a;y"].join("\n")
  await looked.open("/sites/1/imports/new?source=csv_generic")
  await choose(page, { name: "any.csv", mimeType: "text/csv", buffer: Buffer.from(csv) })
  await shown(page, "The columns were proposed from their names and values.")
  expect(await page.getByLabel("Timestamp").inputValue()).toBe("Time")
  expect(await page.getByLabel("Path").inputValue()).toBe("Page")
  await page.getByRole("button", { name: "Visitor id" }).click()
  await page.getByLabel("Visitor id").selectOption("Who")
  await settled(page)
  expect(await figureOf(page, "Visitors")).toBe("2")
  await page.getByRole("button", { name: "Continue" }).click()
  await page.getByRole("button", { name: "Start import" }).click()
  await page.waitForURL("**/sites/1/imports/1")
  await stand.instance.runJobs()
  await shown(page, "Completed: 3 rows imported.")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("continues an interrupted upload after a reload, and previews it", async () => {
  await using stand = await openImports()
  const folder = mkdtempSync(join(tmpdir(), "imports-"))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  const path = join(folder, "large.csv")
  const row = EXPORT.split("\n")[1]!
  writeFileSync(path, `${EXPORT}\n${`${row}\n`.repeat(Math.ceil(9_000_000 / row.length))}`)
  await using looked = await stand.look()
  const { page } = looked
  // The second chunk never arrives.
  await page.route(/\/uploads\/.*offset=8388608/, () => {})
  await looked.open("/sites/1/imports/new?source=simple_analytics")
  await choose(page, path)
  await shown(page, /^8\.4 MB of 9/)
  // The page is left first: a chunk whose route is removed would be sent after all.
  await page.goto("about:blank")
  await page.unrouteAll()
  await looked.open("/sites/1/imports/new?source=simple_analytics")
  await shown(page, "The upload was interrupted. Choose the same files again to continue where it stopped.")
  const sent: string[] = []
  page.on("request", (request) => request.method() === "PUT" && sent.push(new URL(request.url()).search))
  await choose(page, path)
  await page.getByText("Nothing is stored yet.").waitFor({ timeout: 30_000 })
  expect(sent).toEqual(["?offset=8388608"])
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("says what is wrong with files, and with which to continue", async () => {
  await using stand = await openImports()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports/new?source=simple_analytics")
  await choose(page, { name: "photo.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") })
  await shown(page, "The files were not recognized")
  await shown(page, "photo.csv")
  await page.getByRole("button", { name: "Choose other files" }).click()
  await choose(page, FILE)
  await shown(page, "Nothing is stored yet.")
  // The browser also logs the answer that the page has explained.
  expect(looked.faults).toEqual(["console: Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"])
})

test.skipIf(noBrowser)("marks figures with imported totals, and says in words why others leave them out", async () => {
  await using stand = await openImports()
  const visitors = ["date,visitors,pageviews,bounces,visits,visit_duration", "2026-10-01,10,30,5,12,600", "2026-10-02,20,40,6,25,900"]
  const files = [{ name: "imported_visitors_20261001_20261002.csv", content: visitors.join("\n") }]
  await stand.run({ source: "plausible", files })
  await using looked = await stand.look()
  const { page } = looked
  await looked.open(`/sites/1${OCTOBER}`)
  expect(await figureOf(page, "Visitors")).toBe("30")
  await page.getByRole("button", { name: "imported", exact: true }).first().waitFor()
  await page.getByRole("button", { name: "≈ visitors" }).waitFor()
  // Only totals of the site were imported, none of devices.
  await page.locator("section.card", { hasText: "Devices" }).getByRole("button", { name: "imports excluded" }).waitFor()

  await looked.open(`/sites/1${OCTOBER}&f=country:is:DE`)
  const reason = "Imported totals are not included: no table of totals has all dimensions and filters of this report."
  await page.locator(".trust-line > span:not(.trust)", { hasText: reason }).waitFor()
  await looked.open(`/sites/1${OCTOBER}`)
  await page.getByRole("button", { name: "Exclude imports" }).click()
  await page.getByRole("button", { name: "Include imports" }).waitFor()
  await settled(page)
  expect(await figureOf(page, "Visitors")).toBe("0")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("offers no actions to a viewer", async () => {
  await using stand = await openImports("viewer")
  await stand.run({ label: "Earlier" })
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/imports")
  await page.getByRole("link", { name: "Earlier" }).click()
  await shown(page, "Completed: 3 rows imported.")
  for (const name of ["New import", "Undo import", "Rename"]) expect(await page.getByText(name).count()).toBe(0)
  expect(await page.getByRole("checkbox").count()).toBe(0)
  await looked.open("/sites/1/imports/new")
  await shown(page, "You need the permission to import data.")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser).each(bySize({ check: EACH_THEME.slice(0, 2), full: EACH_THEME, release: EACH_THEME }))(
  "%i px, %s: no step of a new import has an accessibility violation or overflows",
  async (width, theme) => {
    await using stand = await openImports()
    await using looked = await stand.look({ width, theme })
    const { page } = looked
    const check = async (step: string) => {
      await settled(page)
      expect({ step, found: await violations(page), beside: await overflow(page) }).toEqual({ step, found: [], beside: 0 })
    }
    await looked.open("/sites/1/imports")
    await check("empty history")
    await looked.open("/sites/1/imports/new")
    await check("sources")
    await page.getByRole("link", { name: "Not sure" }).click()
    await check("files")
    await choose(page, FILE)
    await shown(page, "Nothing is stored yet.")
    await page.getByText("More options").click()
    await check("preview")
    await page.getByRole("button", { name: "Continue" }).click()
    await check("confirmation")
    await page.getByRole("button", { name: "Start import" }).click()
    await page.waitForURL("**/sites/1/imports/1")
    await check("progress")
    await stand.instance.runJobs()
    await shown(page, "Completed: 3 rows imported.")
    await page.getByRole("button", { name: "Undo import" }).click()
    await check("undo")
    expect(looked.faults).toEqual([])
  },
)
