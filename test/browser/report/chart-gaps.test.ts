import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { type DashboardStand, openDashboard, settled, type WatchedPage } from "./dashboard-stand.ts"

setDefaultTimeout(40_000)
const DAY_MS = 86_400_000
/** Days before today, and the number of pages per visit. Within the 28 days there is a single day, then three in a row. */
const VISITS: readonly (readonly [ago: number, pages: number])[] = [
  [40, 1],
  [20, 1],
  [10, 1],
  [9, 2],
  [8, 1],
]
const at = (ago: number): number => 27 - ago

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  const { clock, collect } = stand.instance
  const end = clock.now() + 40 * DAY_MS
  for (const [ago, pages] of VISITS) {
    clock.advance(end - ago * DAY_MS - clock.now())
    for (let page = 0; page < pages; page++) await collect({ n: "pageview", u: `https://shop.example/${page}`, d: "shop.example" })
  }
  clock.advance(end - clock.now())
  cookie = await stand.signIn({ role: "owner" })
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

async function open(search: string): Promise<WatchedPage> {
  const watched = await stand.look({ cookie })
  await watched.page.clock.setFixedTime(stand.instance.clock.now())
  await watched.open(`/sites/1?period=28d&${search}`)
  return watched
}

/** Counts the pixels with a series' colour, from one bucket to the next, at the given positions of the axis. */
const inked = (page: Page, colour: string, places: readonly number[]): Promise<number[]> =>
  page.evaluate(
    ({ colour, places }) => {
      const canvas = document.querySelector<HTMLCanvasElement>(".chart-canvas canvas")!
      const ctx = canvas.getContext("2d")!
      const probe = document.createElement("canvas").getContext("2d")!
      probe.fillStyle = getComputedStyle(canvas).getPropertyValue(colour).trim()
      probe.fillRect(0, 0, 1, 1)
      const wanted = probe.getImageData(0, 0, 1, 1).data
      const { data, width, height } = ctx.getImageData(0, 0, canvas.width, canvas.height)
      const isInked = (i: number): boolean =>
        data[i + 3]! > 150 && [0, 1, 2].every((part) => Math.abs(data[i + part]! - wanted[part]!) < 40)
      const [left, right] = [52, 8]
      return places.map((place) => {
        const x = Math.round(left + (place / 27) * (width - left - right))
        return Array.from({ length: height }, (_, y) => 4 * (y * width + x)).filter(isInked).length
      })
    },
    { colour, places },
  )

test.skipIf(noBrowser)("a rate is a gap in the line on a day without visits, and a rate of 0 is not", async () => {
  await using looking = await open("metric=bounce_rate")
  const { page } = looking
  const [before, alone, empty, rising, zero, after] = await inked(page, "--series-1", [
    3.5,
    at(20),
    at(15) + 0.5,
    at(10) + 0.5,
    at(9),
    22.5,
  ])
  expect([before, empty, after]).toEqual([0, 0, 0])
  for (const drawn of [alone, rising, zero]) expect(drawn).toBeGreaterThan(0)
  const label = await page.locator(".chart-canvas").getAttribute("aria-label")
  expect(label).toStartWith("Bounce rate by day, 28 points, lowest 0%, highest 100%.")
  expect(looking.faults).toEqual([])
  // The earlier range is drawn in the same way. Read last, because the browser warns about a second read of a canvas.
  const [dot, gap] = await inked(page, "--comparison", [15, 10.5])
  expect([dot! > 0, gap]).toEqual([true, 0])
})

test.skipIf(noBrowser).each([
  ["bounce_rate", "Bounce rate", ["100%", "0%", "100%"]],
  ["visit_duration", "Visit duration", ["0s", "0s", "0s"]],
  ["views_per_visit", "Views per visit", ["1", "2", "1"]],
  ["engaged_time", "Engaged time", ["0s", "0s", "0s"]],
])("the table and the tooltip show – for %s on a day without visits", async (metric, name, known) => {
  await using looking = await open(`metric=${metric}`)
  const { page } = looking
  await page.locator(".chart-canvas").focus()
  await page.keyboard.press("End")
  const readOut = page.locator(".chart-read-out")
  await readOut.getByText(`– ${name.toLowerCase()}`).waitFor()
  expect(await readOut.textContent()).toMatch(/– \(full period\) on \D+\d+ \w+ \d+\s*$/)
  await page.getByRole("button", { name: "Show as table" }).click()
  await settled(page)
  const rows = await page.$$eval(".chart-table tbody tr", (all) =>
    all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
  )
  const now = rows.map(([value]) => value)
  expect(now.slice(at(10), at(7))).toEqual(known)
  expect(now.filter((value) => value !== "–")).toHaveLength(4)
  expect(rows[0]).toEqual(["–", "–", "–"])
  expect(rows.filter(([, earlier]) => earlier !== "–")).toHaveLength(1)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("a count is 0 on a day without visits, also in the line", async () => {
  await using looking = await open("metric=visits")
  const { page } = looking
  const [before, between] = await inked(page, "--series-1", [3.5, at(15) + 0.5])
  expect([before! > 0, between! > 0]).toEqual([true, true])
  await page.getByRole("button", { name: "Show as table" }).click()
  await settled(page)
  const cells = await page.locator(".chart-table tbody td:nth-of-type(1)").allTextContents()
  expect(cells.filter((value) => value === "0")).toHaveLength(24)
  expect(looking.faults).toEqual([])
})
