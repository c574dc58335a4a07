import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { readCsv } from "../../http/public/csv.ts"
import { bySize } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { trackRequests } from "../requests.ts"
import { type DashboardStand, openDashboard } from "./dashboard-stand.ts"

setDefaultTimeout(180_000)
const PAGES = 10_150
/** Number of rows that pagination can reach: the API returns up to 100 rows from offset 10,000. */
const REACHED = 10_100
const SITES = 300
const HEAP_BYTES = 120e6

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  const settings = { limit_site_events: "0" }
  stand = await openDashboard({ now: "2026-11-11T12:00:00Z", settings })
  const { instance } = stand
  const { sites } = instance.app.instance
  for (let site = 1; site <= SITES; site++)
    await sites.create(instance.site.organization_id, { name: siteName(site), hosts: [`s${site}.example`] })
  // On two days, because a day keeps at most ten thousand values apart.
  await readPages(0, PAGES / 2)
  instance.clock.advance(86_400_000)
  await readPages(PAGES / 2, PAGES)
  cookie = await stand.signIn({ role: "owner" })
}, 120_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const siteName = (site: number): string => `Site ${String(site).padStart(3, "0")}`
const pageName = (page: number): string => `/page/${String(page).padStart(5, "0")}`
/** Returns the reads of a page. Most have one, every thousandth has three, so that the order is visible. */
const readsOf = (page: number): number => (page % 1_000 === 0 ? 3 : 1)

/** Sends server events, a thousand per call. Each visitor reads a hundred pages. */
async function readPages(from: number, to: number): Promise<void> {
  const { api, eventsKey } = stand.instance
  const events = Array.from({ length: to - from }, (_, index) => from + index).flatMap((page) =>
    Array.from({ length: readsOf(page) }, () => ({
      name: "pageview",
      url: `https://shop.example${pageName(page)}`,
      ip: `203.0.113.${Math.floor(page / 100) % 250}`,
      user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    })),
  )
  for (let start = 0; start < events.length; start += 1_000) {
    const { body } = await api.post("/api/public/v1/sites/1/events", { events: events.slice(start, start + 1_000) }, eventsKey)
    expect(body).toMatchObject({ accepted: Math.min(1_000, events.length - start) })
  }
}

/** Opens a page as the owner, with the instance's time as the page's clock. */
async function open(path: string, width: number) {
  const watched = await stand.look({ cookie, width })
  const { page } = watched
  page.setDefaultTimeout(20_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(page)
  await page.goto(stand.origin + path)
  await answered()
  return { ...watched, answered }
}

/** Returns the bytes of live objects after a garbage collection. */
async function heapOf(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("HeapProfiler.collectGarbage")
  await devtools.send("Performance.enable")
  const { metrics } = await devtools.send("Performance.getMetrics")
  return metrics.find(({ name }) => name === "JSHeapUsedSize")!.value
}

/** Pages through the details to the end and returns the first column and the pager's text of each page. */
const walkPages = (page: Page) =>
  page.evaluate(async () => {
    const dialog = document.querySelector("dialog")!
    const next = [...dialog.querySelectorAll("button")].find(({ textContent }) => textContent === "Next")!
    /** Polls more often than frames are drawn, because a hundred rows are drawn only when there is time. */
    const change = () =>
      new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          observer.disconnect()
          resolve()
        })
        observer.observe(dialog, { subtree: true, childList: true, attributes: true, characterData: true })
      })
    const pages: { said: string; values: string[]; views: number[] }[] = []
    for (;;) {
      const rows = [...dialog.querySelectorAll("tbody tr")]
      pages.push({
        said: dialog.querySelector(".pager [role=status]")!.textContent!,
        values: rows.map((row) => row.querySelector(".cut")!.getAttribute("title")!),
        views: rows.map((row) => Number(row.querySelectorAll("td")[2]!.textContent)),
      })
      if (next.disabled) return pages
      const first = rows[0]
      next.click()
      do await change()
      while (dialog.querySelector("tbody tr") === first || dialog.querySelector("[aria-busy=true]"))
    }
  })

/** Scrolls the scrollable container to its end, as a wheel does, and reports whether the last row is visible. */
async function seesLast(page: Page, rows: string): Promise<boolean> {
  const last = page.locator(rows).last()
  await last.hover()
  await page.mouse.wheel(0, 100_000)
  return last.evaluate((row) => {
    const { top, bottom, left } = row.getBoundingClientRect()
    const seen = document.elementFromPoint(Math.max(left, 0) + 20, (top + bottom) / 2)
    return bottom <= innerHeight && row.contains(seen)
  })
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

test.skipIf(noBrowser)(
  "pages through the details of ten thousand pages in order, without repeating or losing a row, and exports all of them",
  async () => {
    await using opened = await open("/sites/1/details/page?period=7d", 1280)
    const { page, answered } = opened
    await page.getByRole("button", { name: "Views", exact: true }).click()
    await answered()
    const pages = await walkPages(page)
    expect(pages).toHaveLength(101)
    expect(pages.at(-1)!.said).toBe("10,001 to 10,100 of 10,150. Search or download the CSV file to see the rest.")
    expect(pages.flatMap(({ views }) => views)).toEqual([...range(0, 11).map(() => 3), ...range(11, REACHED).map(() => 1)])
    expect(new Set(pages.flatMap(({ values }) => values)).size).toBe(REACHED)
    expect(await heapOf(page)).toBeLessThan(HEAP_BYTES)
    expect(await seesLast(page, "dialog tbody tr")).toBe(true)

    const href = await page.getByRole("dialog").getByRole("link", { name: "CSV" }).getAttribute("href")
    const { header, records } = readCsv(await page.evaluate(async (path) => (await fetch(path!)).text(), href))
    const views = header.indexOf("pageviews")
    const counted = records.map((cells) => `${cells[0]} ${(cells[views] as { bare: string }).bare}`) // numbers are not quoted
    expect(counted.sort()).toEqual(range(0, PAGES).map((one) => `${pageName(one)} ${readsOf(one)}`))

    await page.getByRole("searchbox", { name: "Search page" }).fill("/page/0123")
    await page.getByText("1 to 10 of 10").waitFor()
    await answered()
    expect((await walkPages(page)).flatMap(({ values }) => values).sort()).toEqual(range(1_230, 1_240).map(pageName))
    await page.getByRole("searchbox", { name: "Search page" }).fill("/nowhere")
    await page.getByText("No matches in this period.").waitFor()
    expect(opened.faults).toEqual([])
    expect(opened.refusals).toEqual([])
  },
)

test.skipIf(noBrowser)("on a phone, pages and scrolls through a thousand search results to the end", async () => {
  await using opened = await open("/sites/1/details/page?period=7d", 375)
  const { page, answered } = opened
  await page.getByRole("searchbox", { name: "Search page" }).fill("/page/00")
  await page.getByText("1 to 100 of 1,000").waitFor()
  await answered()
  const pages = await walkPages(page)
  expect(pages.map(({ said }) => said).at(-1)).toBe("901 to 1,000 of 1,000")
  expect(pages.flatMap(({ values }) => values).sort()).toEqual(range(0, 1_000).map(pageName))
  expect(await seesLast(page, "dialog tbody tr")).toBe(true)
  expect(opened.faults).toEqual([])
})

/** Scrolls from top to end. Returns the names by position, and the maximum number of elements that existed at a time. */
async function scrollThrough(page: Page): Promise<{ names: string[]; most: number }> {
  const names: string[] = []
  let most = 0
  for (;;) {
    const seen = await page.$$eval(".site-entry", (all) =>
      all.map((entry) => [Number(entry.getAttribute("aria-posinset")), entry.querySelector(".site-entry-link")!.textContent!] as const),
    )
    most = Math.max(most, seen.length)
    for (const [place, name] of seen) {
      expect(names[place - 1] ?? name).toBe(name)
      names[place - 1] = name
    }
    const isEnd = await page.evaluate(async () => {
      const before = scrollY
      scrollBy(0, innerHeight)
      // The list handles the event before the next frame and is drawn in it.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      return scrollY === before
    })
    if (isEnd) return { names, most }
  }
}

test.skipIf(noBrowser).each(bySize({ check: [375], full: [1280, 375], release: [1280, 375] }))(
  "%i px: scrolls, searches and navigates three hundred sites by keyboard",
  async (width) => {
    await using opened = await open("/sites?sort=name", width)
    const { page, answered } = opened
    const all = ["Shop", ...range(1, SITES + 1).map(siteName)]
    const { names, most } = await scrollThrough(page)
    expect(names).toEqual(all)
    expect(most).toBeLessThan(60)
    expect(await seesLast(page, ".site-entry")).toBe(true)
    expect(await heapOf(page)).toBeLessThan(HEAP_BYTES)

    await page.evaluate(() => scrollTo(0, 0))
    await page.getByRole("link", { name: "Shop", exact: true }).focus()
    const walked: (string | null)[] = []
    for (const _ of range(0, 60)) {
      walked.push(await page.evaluate(() => document.activeElement!.textContent))
      await page.keyboard.press("ArrowDown")
      await page.evaluate(() => new Promise(requestAnimationFrame))
    }
    expect(walked).toEqual(all.slice(0, 60))

    await page.getByRole("searchbox", { name: "Search sites" }).fill("s29")
    await answered()
    // Searches by name or host; the arrow key leads from the field to the results.
    await page.waitForFunction(() => document.querySelectorAll(".site-entry").length === 11)
    await page.getByRole("searchbox", { name: "Search sites" }).press("ArrowDown")
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe("Site 029")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/sites\/291/)
    expect(opened.faults).toEqual([])
  },
)
