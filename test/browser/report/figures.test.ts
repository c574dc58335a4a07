import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { ask } from "../people/site-stand.ts"
import { fillSite } from "./dashboard-data.ts"
import { expectedFigures, figures, openAt, type Seen } from "./dashboard-figures.ts"
import { openDashboard, settled } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

let seen: Seen
beforeAll(async () => {
  if (noBrowser) return
  const stand = await openDashboard()
  await fillSite(stand.instance)
  seen = { stand, cookie: await stand.signIn({ role: "owner" }) }
}, 40_000)
afterAll(() => seen?.stand[Symbol.asyncDispose]())

const SIX = ["Visitors", "Visits", "Views", "Views per visit", "Bounce rate", "Visit duration"]
const labels = async (page: Page): Promise<string[]> => Object.keys(await figures(page))

async function addGoals(page: Page): Promise<void> {
  const { body } = await ask(page, "/api/private/sites/1/goals")
  if (body.data.length > 0) return
  for (const value of ["signup", "order"])
    await ask(page, "/api/private/sites/1/goals", "POST", { name: `Goal ${value}`, kind: "event", value })
}

/** Returns the number of cells per line of the strip, and the cells whose content overflows. */
const lines = (page: Page): Promise<{ counts: number[]; cut: string[] }> =>
  page.$$eval(".strip > .figure", (cells) => {
    const tops = cells.map((cell) => cell.getBoundingClientRect().top)
    return {
      counts: [...new Set(tops)].map((top) => tops.filter((one) => one === top).length),
      cut: cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent ?? ""),
    }
  })

test.skipIf(noBrowser)("the strip has six figures, plus revenue and conversions if the site has a currency and goals", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  expect(await labels(page)).toEqual([...SIX, "Revenue"])
  expect(await figures(page)).toEqual(await expectedFigures(seen, { period: "28d" }))
  await addGoals(page)
  await page.reload()
  await settled(page)
  expect(await labels(page)).toEqual([...SIX, "Conversion rate", "Revenue"])
  expect(await figures(page)).toEqual(await expectedFigures(seen, { period: "28d" }))

  // Each can be charted, and fits into its place.
  await page.getByRole("button", { name: /^Revenue/ }).click()
  await page.waitForURL("**metric=revenue")
  await settled(page)
  expect(await page.locator(".figure[aria-pressed=true] .figure-label").textContent()).toBe("Revenue")
  await page.getByRole("img", { name: /^Revenue by day/ }).waitFor()
  for (const [width, counts] of [
    [1280, [8]],
    [900, [4, 4]],
    [375, [2, 2, 2, 2]],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
    expect({ width, ...(await lines(page)) }).toEqual({ width, counts: [...counts], cut: [] })
  }
  // A filter by goal has its own figures.
  await page.goto(`${seen.stand.origin}/sites/1?period=28d&f=goal:is:Goal%20order`)
  await settled(page)
  expect(await labels(page)).toEqual(["Visitors", "Conversions", "Conversion rate", "Revenue"])
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("shows a dash instead of 0 for rows without revenue, on the dashboard, in details and among the goals", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  await addGoals(page)
  const cells = async (heads: string, row: string) => {
    const place = (await page.locator(heads).allTextContents()).findIndex((head) => head.startsWith("Revenue"))
    return page.locator(heads.replace("thead th", "tbody tr")).filter({ hasText: row }).locator("th, td").nth(place).textContent()
  }
  for (const [path, heads] of [
    ["/sites/1?period=28d", ".card[data-full] .ranked thead th"],
    ["/sites/1/details/goal?period=28d", "dialog thead th"],
    ["/sites/1/goals?period=28d", "main thead th"],
  ] as const) {
    await looking.open(path)
    await page.locator(heads).first().waitFor()
    expect({ path, revenue: await cells(heads, "Goal signup") }).toEqual({ path, revenue: "–" })
    expect(await cells(heads, "Goal order")).toStartWith("€")
  }
  await looking.open("/sites/1?period=28d&cards=acts:events")
  expect(await cells(".card[data-full] .ranked thead th", "signup")).toBe("–")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("notes once that the current period is not over and that its comparison is complete", async () => {
  await using looking = await openAt(seen, "/sites/1?period=today")
  const { page } = looking
  const other = () => page.locator(".instrument .key-of-series[data-other]").textContent()
  const countOf = (text: string) => page.locator(".instrument").getByText(text, { exact: true }).count()
  const whole = (await other())!
  expect(whole).toEndWith(" (full day)")
  expect(await page.locator(".figure-note").first().getAttribute("title")).toBe(whole)
  expect(await countOf("in progress")).toBe(1)
  await page.getByRole("button", { name: "in progress" }).focus()
  await page.getByRole("tooltip").getByText("the comparison will look low until it is").waitFor()

  // During the current day, hours are complete but days are not.
  await looking.open("/sites/1?period=7d")
  await page.locator(".chart-canvas").focus()
  await page.keyboard.press("End")
  await page.locator(".chart-read-out").getByText("in progress").waitFor()
  expect(await page.locator(".chart-read-out").textContent()).toContain(" (full period) on ")
  await page.keyboard.press("ArrowLeft")
  await page.locator(".chart-read-out").getByText("in progress").waitFor({ state: "detached" })
  expect(await page.locator(".chart-read-out").textContent()).not.toContain("(full period) on")

  await looking.open("/sites/1?period=yesterday")
  expect(await other()).not.toContain("(full")
  expect(await countOf("in progress")).toBe(0)
  // Compared with another current period, nothing is complete.
  const today = new Date(seen.stand.instance.clock.now()).toISOString().slice(0, 10)
  await looking.open(`/sites/1?period=today&compare=custom&compare_from=${today}&compare_to=${today}`)
  expect(await other()).not.toContain("(full")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the first view requests its cards in one call, without data that the page already contains", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d")
  const { page } = looking
  const paths: string[] = []
  const reports: string[] = []
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname
    if (path.startsWith("/api/private/") && !path.includes("/admin/")) paths.push(path.replace("/api/private/sites/1", ""))
    if (!path.endsWith("/batch")) return
    const { queries } = request.postDataJSON() as { queries: { report: string; dimension?: string }[] }
    reports.push(queries.flatMap(({ report, dimension }) => (report === "breakdown" ? [dimension] : [])).join())
  })
  await looking.open("/sites/1?period=28d")
  expect(paths.filter((path) => !path.startsWith("/stats/")).sort()).toEqual(["/annotations", "/drops"])
  expect(reports.filter((dimensions) => dimensions !== "")).toEqual(["source,page,country,browser,goal"])
  expect(await page.locator(".bands > .card").count()).toBe(6)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("without visits, counts are 0 and averages and rates are missing", async () => {
  const before = "/sites/1?period=custom&from=2020-01-01&to=2020-01-02"
  await using looking = await openAt(seen, before)
  const { page } = looking
  const counts = { Visitors: "0", Visits: "0", Views: "0" }
  expect(await figures(page)).toEqual({ ...counts, "Views per visit": "–", "Bounce rate": "–", "Visit duration": "–" })
  await looking.open(`${before}&f=page:is:/pricing`)
  expect(await figures(page)).toEqual({ ...counts, "Scroll depth": "–", "Time on page": "–", "Exit rate": "–" })

  // The earlier values are not shown as a decrease of 100 percent.
  const day = new Date(seen.stand.instance.clock.now() - 86_400_000).toISOString().slice(0, 10)
  await looking.open(`${before}&compare=custom&compare_from=${day}&compare_to=${day}`)
  const notes = await page.$$eval(".figure", (cells) => cells.map((cell) => cell.querySelector(".figure-note")?.textContent ?? ""))
  expect(notes.slice(0, 6)).toEqual([expect.stringContaining("▼100%"), ...Array(2).fill(expect.stringContaining("▼100%")), "", "", ""])
  expect((await figures(page))["Conversion rate"]).toBe("–")
  expect(looking.faults).toEqual([])
})
