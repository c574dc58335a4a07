import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { CARDS } from "../../../src/ui/report/data/card-tabs.ts"
import { temporaryFolder } from "../../kit.ts"
import { noBrowser } from "../browser.ts"
import { trackRequests } from "../requests.ts"
import { ALPHA, BETA, openPopulations, type Population } from "../two-populations.ts"

setDefaultTimeout(120_000)

const TITLES: Readonly<Record<string, string>> = {
  sources: "Sources",
  pages: "Pages",
  locations: "Locations",
  devices: "Devices",
  acts: "Goals and events",
}
/** Number of rounds. Each round shows another tab of every card, until all tabs were shown. */
const ROUNDS = Math.max(...Object.values(CARDS).map(({ length }) => length))
const tabsOf = (round: number): string[] => Object.entries(CARDS).map(([card, tabs]) => `${card}:${tabs[round % tabs.length]!.id}`)
/** The map lists nothing; the tab Country has the same data as a list. */
const MAP = "locations:map"
/** Filters on events rather than visits, with which cards about other events of the same visits may be empty. */
const OF_EVENTS = ["pages:top", "pages:404", "acts:goals", "acts:events"]

const cardOf = (page: Page, tab: string) =>
  page.locator(".card", { has: page.getByRole("heading", { name: TITLES[tab.split(":")[0]!]!, exact: true }) })

/** Returns the values by tab, and the visitor counts of figure, chart, hours and map. */
async function shown(page: Page, tabs: readonly string[]) {
  const values: Record<string, (string | null)[]> = {}
  for (const tab of tabs)
    if (tab !== MAP)
      values[tab] = await cardOf(page, tab)
        .locator("tbody th .cut")
        .evaluateAll((all) => all.map((cut) => cut.getAttribute("title")).sort())
  const counted = await page.evaluate(() => {
    const number = (cell: Element | null | undefined) => Number(cell?.textContent)
    const sums = (row: Element) => [...row.querySelectorAll("td")].map(number)
    const figures = [...document.querySelectorAll(".figure")].filter(
      (one) => one.querySelector(".figure-label")?.textContent === "Visitors",
    )
    const points = [...document.querySelectorAll(".chart-table tbody tr")].map(sums)
    return {
      strip: figures.map((figure) => number(figure.querySelector(".figure-value"))),
      chart: [0, 1].map((column) => points.reduce((total, point) => total + point[column]!, 0)),
      days: [...document.querySelectorAll(".hours tbody tr")].map((row) => sums(row).reduce((total, visits) => total + visits)),
    }
  })
  const countries = tabs.includes(MAP) ? await page.locator(".map-country[data-heat]").count() : undefined
  return { values, ...counted, countries }
}

const BOTH = { strip: [17], chart: [17, 5], days: [6, 0, 11, 0, 0, 0, 0] }
const OF_ALPHA = { strip: [6], chart: [6, 2], days: [6, 0, 0, 0, 0, 0, 0] }

/** Returns the values of the given populations by tab, sorted. */
const valuesOf = (tabs: readonly string[], ...populations: Population[]) =>
  Object.fromEntries(
    tabs.filter((tab) => tab !== MAP).map((tab) => [tab, [...new Set(populations.flatMap(({ rows }) => rows[tab]!))].sort()]),
  )

test.skipIf(noBrowser)("a filter by any value excludes all other visits from every card, figure, table, map and hour", async () => {
  using folder = temporaryFolder()
  await using stand = await openPopulations(folder.path)
  await using looking = await stand.look({ cookie: await stand.signIn() })
  const { page } = looking
  page.setDefaultTimeout(15_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  await looking.open("/sites/2?period=7d")
  const answered = trackRequests(page)
  await page.keyboard.press("t")
  await page.locator(".chart-table tbody tr").first().waitFor()
  const tried = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const tabs = tabsOf(round)
    const hasMap = tabs.includes(MAP)
    await page.evaluate((to) => history.pushState(null, "", to), `/sites/2?period=7d&cards=${tabs.join()}`)
    if (hasMap) await page.locator(".map-country[data-heat]").first().waitFor()
    await answered()
    const before = { values: valuesOf(tabs, ALPHA, BETA), ...BOTH, countries: hasMap ? 2 : undefined }
    expect({ tabs, ...(await shown(page, tabs)) }).toEqual({ tabs, ...before })
    for (const tab of tabs.filter((one) => one !== MAP && !tried.has(one))) {
      tried.add(tab)
      const value = ALPHA.rows[tab]!.at(-1)!
      await cardOf(page, tab)
        .locator("a.ranked-link", { has: page.locator(`.cut[title="${value}"]`) })
        .click()
      await page.waitForURL("**f=**")
      await answered()
      const { values, ...counted } = await shown(page, tabs)
      expect({ tab, ...counted }).toEqual({ tab, ...OF_ALPHA, countries: hasMap ? 1 : undefined })
      const wanted = valuesOf(tabs, ALPHA)
      if (OF_EVENTS.includes(tab))
        for (const [other, all] of Object.entries(wanted)) wanted[other] = all.filter((one) => values[other]!.includes(one))
      expect({ tab, values }).toEqual({ tab, values: wanted })
      expect(values[tab]).toContain(value)
      expect(await page.locator("main").textContent()).not.toContain(BETA.name)
      await page.goBack()
      await answered()
    }
  }
  expect(tried.size).toBe(Object.keys(ALPHA.rows).length)
  expect(looking.faults).toEqual([])
  expect(looking.refusals).toEqual([])
})
