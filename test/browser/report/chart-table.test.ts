import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { trackRequests } from "../requests.ts"
import { fillSite } from "./dashboard-data.ts"
import { type DashboardStand, openDashboard, type WatchedPage } from "./dashboard-stand.ts"

setDefaultTimeout(40_000)

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  const { instance } = stand
  await fillSite(instance, { days: 5 })
  const steps = [
    { type: "page" as const, value: "/pricing" },
    { type: "event" as const, value: "signup" },
    { type: "event" as const, value: "order" },
  ]
  await instance.app.instance.funnels.create(instance.site, { name: "To an order", steps })
  cookie = await stand.signIn({ role: "owner" })
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

async function open(path: string): Promise<WatchedPage & { answered(): Promise<void> }> {
  const watched = await stand.look({ cookie })
  const { page } = watched
  page.setDefaultTimeout(8_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(page)
  await page.goto(stand.origin + path)
  await answered()
  return { ...watched, answered }
}

/** Returns the texts of a table's cells by row, including headers. */
const cellsOf = (page: Page, selector: string): Promise<string[][]> =>
  page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")))

const figureIn = (text: string): string => /[\d,.]+/.exec(text)?.[0] ?? ""

test.skipIf(noBrowser).each([
  ["7d", "visitors"],
  ["28d", "bounce_rate"],
  ["today", "pageviews"],
])("the chart for %s shows the same %s at each point as its table", async (period, metric) => {
  await using looking = await open(`/sites/1?period=${period}&metric=${metric}`)
  const { page } = looking
  await page.locator(".chart-canvas").focus()
  const label = (await page.locator(".chart-canvas").getAttribute("aria-label")) ?? ""
  const points = Number(/(\d+) points/.exec(label)?.[1])
  const drawn: string[][] = []
  for (let point = 0; point < points; point++) {
    await page.keyboard.press(point === 0 ? "Home" : "ArrowRight")
    drawn.push(
      await page
        .locator(".chart-read-out .row")
        .evaluate((row) => [row.querySelector("strong")?.textContent ?? "", row.children[2]?.textContent?.split(" on ")[0] ?? ""]),
    )
  }
  await page.getByRole("button", { name: "Show as table" }).click()
  await page.locator(".chart-table tbody tr").first().waitFor()
  const rows = await cellsOf(page, ".chart-table")
  expect(rows.length).toBe(points)
  expect(drawn.map((texts) => texts.map(figureIn))).toEqual(rows.map(([, now = "", before = ""]) => [now, before].map(figureIn)))
  // The values differ, otherwise the test would prove nothing.
  expect(new Set(rows.map(([, now]) => now)).size).toBeGreaterThan(1)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the bars of the last minutes show the same values as their table", async () => {
  await using looking = await open("/sites/1/realtime")
  const { page } = looking
  const bars = await page.$$eval(".minute-bar title", (all) =>
    all.map((one) => /^(.+): ([\d,]+) visitors$/.exec(one.textContent ?? "")?.slice(1)),
  )
  await page.getByRole("button", { name: "Show as table" }).click()
  const rows = await cellsOf(page, ".minutes-table")
  expect(rows.map(([minute, visitors]) => [minute, visitors])).toEqual(bars.toReversed() as string[][])
  expect(bars).toHaveLength(30)
  expect(bars.some((bar) => bar?.[1] !== "0")).toBe(true)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the bars of a funnel show the same values as their table", async () => {
  await using looking = await open("/sites/1/funnels/1?period=7d")
  const { page, answered } = looking
  const bars = await page.$$eval(".funnel-bars li", (all) =>
    all.map((one) => ({
      name: one.querySelector("strong")?.textContent,
      visitors: one.querySelector("span[title]")?.getAttribute("title"),
      facts: one.querySelector("p.small")?.textContent?.split(" · ") ?? [],
    })),
  )
  await page.getByRole("button", { name: "Show as table" }).click()
  await answered()
  const rows = await cellsOf(page, ".card")
  expect(bars).toHaveLength(3)
  expect(bars.map(({ name, visitors }) => [name, visitors])).toEqual(rows.slice(0, 3).map(([step, visitors]) => [step, visitors]))
  for (const [index, { facts }] of bars.entries()) {
    const [, , first, previous, left] = rows[index]!
    if (index === 0) continue
    expect(facts[0]).toStartWith(`${first} of step 1`)
    expect(facts).toContain(`${left} dropped off`)
    if (index > 1) expect(facts).toContain(`${previous} of step ${index}`)
  }
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the bands of journeys show the same values as their table", async () => {
  await using looking = await open("/sites/1/journeys?period=7d")
  const { page, answered } = looking
  const nodes = await page.$$eval(".flow-node", (all) =>
    all.map((one) => ({
      column: Number(one.getAttribute("data-node")?.split("-")[0]),
      name: one.querySelector(".cut")?.getAttribute("title") ?? one.querySelector(".flow-text")?.textContent ?? "",
      visits: Number(one.querySelector(".flow-count")?.getAttribute("title")?.replace(/\D/g, "")),
    })),
  )
  await page.getByRole("button", { name: "Show as table" }).click()
  await answered()
  const rows = await cellsOf(page, ".card")
  const arrivals = (column: number, name: string) =>
    rows
      .filter(([step, , to]) => step?.startsWith(`${column} step`) && to === name)
      .reduce((sum, [, , , visits = ""]) => sum + Number(visits.replace(/\D/g, "")), 0)
  const later = nodes.filter(({ column, name }) => column > 0 && name !== "Left the site")
  expect(later.length).toBeGreaterThan(1)
  expect(later.map(({ column, name, visits }) => [column, name, visits])).toEqual(
    later.map(({ column, name }) => [column, name, arrivals(column, name)]),
  )
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the map shows the same ranks as its list, and is announced only for keyboard users", async () => {
  await using looking = await open("/sites/1?period=7d&cards=locations:map")
  const { page, answered } = looking
  const map = page.locator(".map svg[role=img]")
  await page.locator(".map-country[data-heat]").first().waitFor()
  await map.focus()
  const shaded = await page.locator(".map-country[data-heat]").count()
  const said: string[] = []
  for (let rank = 0; rank < shaded; rank++) {
    await page.keyboard.press("ArrowDown")
    said.push((await page.locator(".map p").textContent()) ?? "")
  }
  expect(await page.locator(".map p").getAttribute("aria-live")).toBe("polite")
  await page.locator(".map-country[data-heat]").first().hover({ force: true })
  await page.mouse.move(400, 400)
  await map.hover()
  expect(await page.locator(".map p").getAttribute("aria-live")).toBe("off")
  const card = page.locator(".card", { has: page.getByRole("heading", { name: "Locations" }) })
  await card.getByRole("tab", { name: "Country" }).click()
  await answered()
  const rows = await card
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [row.querySelector(".cut")?.getAttribute("title"), row.querySelector("td")?.title]))
  expect(said).toEqual(rows.map(([country, visitors], index) => `${index + 1}. ${country}: ${visitors}`))
  expect(said.length).toBeGreaterThan(3)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("announces the number of current visitors at most once in fifteen seconds", async () => {
  await using watched = await stand.look({ cookie })
  const { page } = watched
  page.setDefaultTimeout(10_000)
  await page.clock.install({ time: stand.instance.clock.now() })
  const answered = trackRequests(page)
  await page.goto(`${stand.origin}/sites/1/realtime`)
  await answered()
  await page.waitForFunction(() => document.querySelector("main [role=status]")?.textContent?.includes("visitors online"))
  await page.evaluate(() => {
    const announced: string[] = []
    Object.assign(window, { announced })
    const region = document.querySelector("main [role=status]")!
    new MutationObserver(() => announced.push(region.textContent ?? "")).observe(region, {
      characterData: true,
      childList: true,
      subtree: true,
    })
  })
  const announced = () => page.evaluate(() => (window as unknown as { announced: string[] }).announced)
  const figure = page.locator(".now-figure")
  const before = Number(await figure.textContent())
  for (let visitor = 1; visitor <= 3; visitor++) {
    await stand.instance.collect({ n: "pageview", d: "shop.example", u: "https://shop.example/" }, { address: `192.0.2.${visitor}` })
    // The figures are requested at most every two seconds.
    await page.clock.runFor(2_100)
    await page.waitForFunction((wanted) => document.querySelector(".now-figure")?.textContent === wanted, String(before + visitor))
  }
  expect(await announced()).toEqual([])
  await page.clock.runFor(15_000)
  expect(await announced()).toEqual([`${before + 3} visitors online`])
})

test.skipIf(noBrowser)("the axis of integers has no fractions, even for small numbers", async () => {
  await using looking = await open("/sites/1?period=7d&f=country:is:JP")
  const { page } = looking
  await page.addInitScript(() => {
    const { fillText } = CanvasRenderingContext2D.prototype
    const written = new Set<string>()
    CanvasRenderingContext2D.prototype.fillText = function (...args) {
      written.add(args[0])
      fillText.apply(this, args)
    }
    Object.assign(window, { written })
  })
  await page.reload()
  await page.waitForFunction(() => (window as unknown as { written: Set<string> }).written.has("0"))
  const written = await page.evaluate(() => [...(window as unknown as { written: Set<string> }).written])
  const numbers = written.filter((text) => /^[\d.,]+$/.test(text))
  expect(numbers.toSorted()).toEqual(["0", "1", "2", "3", "4"])
})
