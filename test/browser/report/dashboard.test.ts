import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import type { ComparedBreakdown } from "../../../src/domain/insight.ts"
import type { Summary, Timeseries } from "../../../src/domain/report.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { count, expectedFigures, figures, openAt, report, type Seen } from "./dashboard-figures.ts"
import { openDashboard, settled } from "./dashboard-stand.ts"

setDefaultTimeout(40_000)

let seen: Seen
beforeAll(async () => {
  if (noBrowser) return
  const stand = await openDashboard()
  await fillSite(stand.instance)
  seen = { stand, cookie: await stand.signIn({ role: "owner" }) }
}, 40_000)
afterAll(() => seen?.stand[Symbol.asyncDispose]())

const COMPARED = { compare: "previous_period", match_weekday: true }

/** Returns label and first number of a card's rows. */
const rowsOf = (page: Page, card: string): Promise<string[]> =>
  page
    .locator(".card", { has: page.getByRole("heading", { name: card, exact: true }) })
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => `${row.querySelector(".cut")?.getAttribute("title")} ${row.querySelector("td")?.title}`))

test.skipIf(noBrowser)("figures, chart and cards show the API's numbers with their comparison", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d")
  const { page } = looking
  expect(await figures(page)).toEqual(await expectedFigures(seen, { period: "7d" }))

  await page.keyboard.press("t")
  await page.locator(".chart-table tbody tr").first().waitFor()
  const series = await report<Timeseries>(seen, "timeseries", { period: "7d", metrics: ["visitors"], ...COMPARED })
  const cells = await page.$$eval(".chart-table tbody tr", (rows) =>
    rows.map((row) => [...row.querySelectorAll("td")].slice(0, 2).map((cell) => Number(cell.textContent))),
  )
  expect(cells).toEqual(series.points.map(({ visitors }, index) => [visitors!, series.comparison!.points[index]!.visitors!]))
  expect(await page.locator(".chart-table tbody tr").last().textContent()).toContain("in progress")

  for (const [card, dimension, metric] of [
    ["Sources", "source", "visitors"],
    ["Pages", "page", "visitors"],
    ["Devices", "browser", "visitors"],
    ["Goals and events", "goal", "conversions"],
  ] as const) {
    const { rows } = await report<ComparedBreakdown>(seen, "breakdown", { period: "7d", dimension, metrics: [metric], limit: 9 })
    expect({ card, rows: await rowsOf(page, card) }).toEqual({
      card,
      rows: rows.map((row) => `${row.label ?? row.value} ${count(row[metric]!)}`),
    })
  }
  const busy = await report<{ grid: number[][] }>(seen, "busy-hours", { period: "7d" })
  const hours = await page.$$eval(".hours tbody tr", (rows) =>
    rows.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent))),
  )
  expect(hours).toEqual(busy.grid)
  expect(looking.faults).toEqual([])
  expect(looking.refusals).toEqual([])
})

test.skipIf(noBrowser)(
  "a click on a row filters everything, a second click removes the filter, and back and forward restore it",
  async () => {
    await using looking = await openAt(seen, "/sites/1?period=28d")
    const { page } = looking
    const all = await figures(page)
    await page.getByRole("link", { name: "Firefox", exact: true }).click()
    await page.waitForURL("**f=browser:is:Firefox")
    await settled(page)
    const filters = [{ dimension: "browser", operator: "is", values: ["Firefox"] }]
    const filtered = await figures(page)
    expect(filtered).toEqual(await expectedFigures(seen, { period: "28d", filters }))
    expect(filtered).not.toEqual(all)
    await page.goBack()
    await settled(page)
    expect(await figures(page)).toEqual(all)
    await page.goForward()
    await settled(page)
    expect(await figures(page)).toEqual(filtered)
    await page.getByRole("link", { name: "Firefox", exact: true }).click()
    await settled(page)
    expect(new URL(page.url()).search).toBe("?period=28d")
    expect(await figures(page)).toEqual(all)
    expect(looking.faults).toEqual([])
  },
)

test.skipIf(noBrowser)("the filter editor works by keyboard: several values, editing a pill, clearing and undo", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  await page.keyboard.press("/")
  await page.getByRole("dialog", { name: "Filter" }).waitFor()
  await page.getByLabel("Filter by", { exact: true }).selectOption("browser")
  await page.locator(".option").first().waitFor()
  await page.getByRole("combobox", { name: "Value" }).focus()
  await page.keyboard.type("fire")
  await page.getByRole("option", { name: /Firefox/ }).waitFor()
  await page.waitForFunction(() => document.querySelectorAll(".option").length === 1)
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.keyboard.type("Chrome")
  await page.keyboard.press("Enter")
  await page.keyboard.press("Enter")
  await page.waitForURL("**f=browser:is:Firefox|Chrome")
  await settled(page)
  const values = ["Firefox", "Chrome"]
  expect(await figures(page)).toEqual(
    await expectedFigures(seen, { period: "28d", filters: [{ dimension: "browser", operator: "is", values }] }),
  )
  await page.getByRole("button", { name: "Browser is Firefox or Chrome" }).first().click()
  await page.getByRole("dialog", { name: "Edit filter" }).waitFor()
  await page.getByLabel("Condition", { exact: true }).selectOption("is_not")
  await page.getByRole("button", { name: "Apply" }).click()
  await page.waitForURL("**f=browser:is_not:Firefox|Chrome")
  await settled(page)
  await page.keyboard.press("Escape")
  await page.waitForURL((url) => url.search === "?period=28d")
  await page.getByRole("button", { name: "Undo" }).click()
  await page.waitForURL("**f=browser:is_not:Firefox|Chrome")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("one opening of the filter dialog takes several filters of which any must match, and counts them", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const [firefox, phone] = [
    { dimension: "browser", operator: "is", values: ["Firefox"] },
    { dimension: "device", operator: "is", values: ["Mobile"] },
  ]
  const visitorsOf = async (filters: unknown[]) =>
    (await report<Summary>(seen, "summary", { period: "28d", metrics: ["visitors"], filters })).metrics.visitors!
  const counted = async (filters: unknown[]) =>
    page.locator(".filter-count", { hasText: `${count(await visitorsOf(filters))} visitors match` }).waitFor()

  await page.keyboard.press("/")
  const dialog = page.getByRole("dialog", { name: "Add filter" })
  await dialog.getByLabel("Filter by", { exact: true }).selectOption("browser")
  await dialog.getByRole("option", { name: /Firefox/ }).click()
  await counted([firefox])
  await dialog.getByRole("button", { name: "Add another filter" }).click()
  await dialog.getByLabel("Filter by", { exact: true }).selectOption("device")
  // With all filters, only values of the other one's visits are suggested: Firefox is on no phone.
  await dialog.getByLabel("Visits must match").selectOption("any")
  await dialog.getByRole("option", { name: /Phone/ }).click()
  await counted([{ any: [firefox, phone] }])
  await dialog.getByLabel("Visits must match").selectOption("all")
  await counted([firefox, phone])
  expect(await visitorsOf([{ any: [firefox, phone] }])).toBeGreaterThan(await visitorsOf([firefox, phone]))
  await dialog.getByLabel("Visits must match").selectOption("any")
  await dialog.getByRole("button", { name: "Apply" }).click()
  await page.waitForURL("**any=browser:is:Firefox&any=device:is:Mobile")
  await settled(page)
  const either = await expectedFigures(seen, { period: "28d", filters: [{ any: [firefox, phone] }] })
  expect(await figures(page)).toEqual(either)

  // A click on a row narrows the alternatives.
  const [country] = (await report<ComparedBreakdown>(seen, "breakdown", { period: "28d", dimension: "country", metrics: ["visitors"] }))
    .rows
  await looking.open(`/sites/1?period=28d&f=country:is:${country!.value}&any=browser:is:Firefox&any=device:is:Mobile`)
  const narrowed = [{ dimension: "country", operator: "is", values: [country!.value] }, { any: [firefox, phone] }]
  expect(await figures(page)).toEqual(await expectedFigures(seen, { period: "28d", filters: narrowed }))

  await page.getByRole("button", { name: "Browser is Firefox or Device is Phone" }).first().click()
  await page.getByLabel("Visits must match").selectOption("all")
  await page.getByRole("button", { name: "Apply" }).click()
  await page.waitForURL((url) => url.searchParams.getAll("f").length === 3 && !url.searchParams.has("any"))
  await page.getByRole("group", { name: "Filters" }).getByRole("button", { name: "Clear filters" }).click()
  await page.waitForURL((url) => url.search === "?period=28d")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("saves filters as a segment and applies it", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d&f=browser:is:Firefox")
  const { page } = looking
  const filtered = await figures(page)
  await page.getByRole("button", { name: "Save as segment" }).click()
  await page.getByLabel("Name").fill("Foxes")
  await page.getByRole("button", { name: "Save segment" }).click()
  await page.waitForURL("**segment=1")
  await settled(page)
  await page.getByText("Segment is Foxes").waitFor()
  expect(await figures(page)).toEqual(filtered)
  await page.getByRole("button", { name: "Remove segment Foxes" }).click()
  await page.keyboard.press("/")
  await page.getByRole("button", { name: "Foxes", exact: true }).click()
  await page.waitForURL("**segment=1")
  await looking.open("/sites/1?period=28d&segment=99")
  await page.getByText("Segment 99 no longer exists").waitFor()
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("saves filters of which any must match as a segment, applies it and shows its filters again", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d&f=page:is_not:/nowhere&any=browser:is:Firefox&any=device:is:Mobile")
  const { page } = looking
  const filtered = await figures(page)
  await page.getByRole("button", { name: "Save as segment" }).click()
  await page.getByRole("dialog").getByText("Browser is Firefox or Device is Phone").waitFor()
  await page.getByLabel("Name").fill("Foxes and phones")
  await page.getByRole("button", { name: "Save segment" }).click()
  await page.waitForURL((url) => url.searchParams.has("segment") && !url.searchParams.has("any") && !url.searchParams.has("f"))
  await settled(page)
  expect(await figures(page)).toEqual(filtered)
  expect(await page.getByRole("button", { name: "Save as segment" }).count()).toBe(0)

  // Its filters replace it.
  const pill = page.getByRole("button", { name: "Segment is Foxes and phones" })
  expect(await pill.getAttribute("title")).toBe("Edit filters: Page is not /nowhere, Browser is Firefox or Device is Phone")
  await pill.click()
  await page.waitForURL("**f=page:is_not:/nowhere&any=browser:is:Firefox&any=device:is:Mobile")
  await settled(page)
  expect(await figures(page)).toEqual(filtered)

  // A page with alternatives of its own can't show those of the segment, too.
  await page.keyboard.press("/")
  await page.getByRole("button", { name: "Foxes and phones", exact: true }).click()
  await page.waitForURL("**any=browser:is:Firefox&any=device:is:Mobile&segment=*")
  await settled(page)
  expect(await figures(page)).toEqual(filtered)
  await page.getByText("Segment is Foxes and phones").waitFor()
  expect(await pill.count()).toBe(0)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("searches and sorts details, and closing them restores address and focus", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const link = page.locator(".card", { has: page.getByRole("heading", { name: "Pages" }) }).getByRole("link", { name: "Details" })
  await link.focus()
  await page.keyboard.press("Enter")
  const dialog = page.getByRole("dialog", { name: "Page" })
  await dialog.locator("tbody tr").first().waitFor()
  const metrics = ["visitors", "visits", "pageviews", "bounce_rate", "time_on_page", "scroll_depth"]
  const { rows } = await report<ComparedBreakdown>(seen, "breakdown", { period: "28d", dimension: "page", metrics, limit: 100 })
  const shown = () =>
    dialog
      .locator("tbody tr")
      .evaluateAll((all) => all.map((row) => `${row.querySelector(".cut")?.getAttribute("title")} ${row.querySelector("td")?.textContent}`))
  expect(await shown()).toEqual(rows.map(({ value, visitors }) => `${value} ${count(visitors!)}`))
  await dialog.getByRole("button", { name: "Visitors" }).click()
  await settled(page)
  const ascending = await report<ComparedBreakdown>(seen, "breakdown", {
    period: "28d",
    dimension: "page",
    metrics,
    sort: "visitors",
    order: "asc",
    limit: 100,
  })
  expect(await shown()).toEqual(ascending.rows.map(({ value, visitors }) => `${value} ${count(visitors!)}`))
  await dialog.getByRole("searchbox").fill("pric")
  await page.waitForFunction(() => document.querySelectorAll("dialog tbody tr").length === 1)
  expect((await shown())[0]).toStartWith("/pricing ")
  // The first press clears the search.
  await page.keyboard.press("Escape")
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "detached" })
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/sites/1?period=28d")
  expect(await link.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("adds a note to a day by keyboard, shows it in the table, deletes it and undoes that", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d")
  const { page } = looking
  await page.locator(".chart-canvas").focus()
  await page.keyboard.press("End")
  await page.keyboard.press("ArrowLeft")
  await page.keyboard.press("Enter")
  await page.getByRole("menuitem", { name: "Add note" }).click()
  await page.getByLabel("Text").fill("A letter went out")
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByRole("button", { name: "Notes 1" }).waitFor()
  await page.getByRole("button", { name: "Show as table" }).click()
  const yesterday = new Date(seen.stand.instance.clock.now() - 86_400_000).toLocaleDateString("en-GB", { day: "numeric", month: "short" })
  const row = page.locator(".chart-table tr", { hasText: "A letter went out" })
  expect(await row.textContent()).toContain(yesterday)
  await page.getByRole("button", { name: "Notes 1" }).click()
  await page.getByRole("button", { name: "Delete note" }).click()
  await page.getByText("No notes in this period.").waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Undo" }).click()
  await page.getByRole("button", { name: "Notes 1" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Show as chart" }).click()
  await page.locator(".chart-canvas").focus()
  await page.keyboard.press("Home")
  await page.keyboard.press("Enter")
  // The first menu item has the focus.
  await page.getByRole("menuitem", { name: "Show this day" }).waitFor()
  await page.waitForFunction(() => document.activeElement?.textContent === "Show this day")
  await page.keyboard.press("Enter")
  const first = new Date(seen.stand.instance.clock.now() - 6 * 86_400_000).toISOString().slice(0, 10)
  await page.waitForURL(`**/sites/1?period=custom&from=${first}&to=${first}`)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the calendar of a custom range does not overlap the focused field above it", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d")
  const { page } = looking
  await page.keyboard.press("c")
  const dialog = page.getByRole("dialog", { name: "Custom range" })
  const field = (await dialog.getByLabel("From").boundingBox())!
  const days = (await dialog.getByRole("status").boundingBox())!
  expect(days.y - field.y - field.height).toBeGreaterThanOrEqual(8)
})

test.skipIf(noBrowser)("shows missing values as unknown in lists, filters and the feed, with an explanation in the row", async () => {
  const { instance } = seen.stand
  // Without a time zone there is no country.
  await instance.collect({ n: "pageview", d: "shop.example", u: "https://shop.example/far" }, { address: "192.0.2.9" })
  await using looking = await openAt(seen, "/sites/1?period=today&cards=locations:country")
  const { page } = looking
  const row = page.locator(".ranked tr", { hasText: "Unknown" })
  await row.getByRole("button", { name: "?" }).focus()
  await row.getByRole("tooltip").getByText("Filters, exports and the API call this (none).").waitFor()
  await row.getByRole("link", { name: "Unknown" }).click()
  await page.waitForURL((url) => url.searchParams.get("f") === "country:is:(none)")
  await settled(page)
  expect((await figures(page)).Visitors).toBe("1")
  await page.getByRole("button", { name: "Country is Unknown" }).first().waitFor()

  await looking.open("/sites/1/details/country?period=today")
  await page.locator("dialog tr", { hasText: "Unknown" }).getByRole("button", { name: "?" }).waitFor()

  await looking.open("/sites/1/realtime")
  await page.getByRole("link", { name: "Unknown" }).click()
  const events = page.getByRole("table", { name: "Views and events, newest first" }).locator("tbody tr")
  await page.waitForFunction(() => document.querySelectorAll("main .table tbody tr").length === 1)
  expect(await events.first().locator("th, td").allTextContents()).toContain("Unknown")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the tick of the earlier value overlaps no text", async () => {
  await using looking = await openAt(seen, "/sites/1?period=today")
  const crossed = await looking.page.$$eval(".ranked-label", (labels) =>
    labels.flatMap((label) => {
      const [tick, text] = [label.querySelector(".ranked-tick"), label.querySelector(".cut")]
      if (!tick || !text) return []
      const range = document.createRange()
      range.selectNodeContents(text)
      return [tick.getBoundingClientRect().top < range.getBoundingClientRect().bottom]
    }),
  )
  expect(crossed.length).toBeGreaterThan(3)
  expect(crossed).not.toContain(true)
})

test.skipIf(noBrowser)("menus show shortcuts with a keyboard, and none on a touch screen", async () => {
  for (const [width, isShown] of [
    [1280, true],
    [375, false],
  ] as const) {
    await using looking = await openAt(seen, "/sites/1?period=28d", width)
    await looking.page.getByRole("button", { name: /^Period:/ }).click()
    const item = looking.page.getByRole("menuitemradio", { name: "Today" })
    await item.waitFor()
    expect({ width, isShown: await item.locator("kbd").isVisible() }).toEqual({ width, isShown })
  }
})
