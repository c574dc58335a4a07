import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { type DashboardStand, openDashboard, settled } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  cookie = await stand.signIn({ role: "owner", isInstanceAdmin: true })
  await stand.signIn({ role: "viewer" })
  const { instance } = stand
  await instance.collect(
    { site: instance.site.tracking_id, name: "pageview", url: "https://shop.example/../../etc/passwd" },
    { headers: { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } },
  )
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const LINE_PX = 22

/** Counts the lines of text in each cell without controls. */
const linesOf = (page: Page): Promise<number[]> =>
  page.locator("tbody tr > :not(:has(button))").evaluateAll((cells, line) => {
    const range = document.createRange()
    return cells.map((cell) => {
      // What closed details hide has a size, too.
      range.selectNodeContents(cell.querySelector("details:not([open]) > summary") ?? cell)
      return Math.round(range.getBoundingClientRect().height / line)
    })
  }, LINE_PX)

test.skipIf(noBrowser).each([
  ["/admin/schedules", 1],
  ["/admin/sessions", 2],
  ["/account/sessions", 3],
  ["/admin/organizations/1", 2],
  ["/admin/retention", 1],
  ["/admin/ingestion", 2],
  ["/org/1/members", 4],
  ["/org/1/keys", 4],
])("on a phone, cells of %s keep their lines and the table scrolls", async (path, most) => {
  await using looked = await stand.look({ cookie, width: 375 })
  await looked.open(path)
  const lines = await linesOf(looked.page)
  expect(lines.length).toBeGreaterThan(0)
  expect(Math.max(...lines)).toBeLessThanOrEqual(most)
  expect(await looked.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
})

test.skipIf(noBrowser)("on a phone, figures and their captions stay within their cells", async () => {
  await using looked = await stand.look({ cookie, width: 375 })
  for (const path of ["/admin", "/admin/storage", "/admin/ingestion"]) {
    await looked.open(path)
    expect({
      path,
      figures: (await looked.page.locator(".figure").count()) > 0,
      notes: (await looked.page.locator(".figure-note").count()) > 0,
    }).toEqual({ path, figures: true, notes: true })
    const wider = looked.page.locator(".figure-note").evaluateAll((notes) => notes.filter((note) => note.scrollWidth > note.clientWidth))
    expect(await wider).toEqual([])
    const beside = await looked.page
      .locator(".figure")
      .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map(({ textContent }) => textContent))
    expect(beside).toEqual([])
  }
})

test.skipIf(noBrowser)("counts slow queries on the overview, and lists them with advice", async () => {
  const { app, clock, site } = stand.instance
  await using looked = await stand.look({ cookie })
  await looked.open("/admin/questions")
  const { page } = looked
  await page.getByText("No slow queries since the last start.").waitFor()
  const goal = { id: 1, name: "a", kind: "event", match: "exact", value: "a" } as const
  const asked = app.engine.lastMatch({ site: { id: site.id }, goal }, { organizationId: 1 })
  clock.advance(4_200)
  await asked
  const again = app.engine.pulse({ site: { id: site.id }, now: clock.now() }, { organizationId: 1 })
  clock.advance(1_300)
  await again

  await looked.open("/admin")
  const figure = page.locator(".figure", { hasText: "Slow queries" })
  expect(await figure.locator(".figure-value").textContent()).toBe("2")
  await figure.getByRole("link").click()
  await page.waitForURL("**/admin/questions")
  await settled(page)
  const table = page.getByRole("region", { name: "Slow queries" })
  const rows = async () => (await table.getByRole("row").allTextContents()).slice(1).map((text) => text.replace(/answered.*$/, ""))
  expect(await rows()).toEqual(["Current visitorsShop (1)–1.3 s0.0 s", "Last match of a goalShop (1)–4.2 s0.0 s"])
  await table.getByRole("button", { name: "Duration" }).click()
  await page.waitForURL("**/admin/questions?sort=took_ms")
  await settled(page)
  expect((await rows())[0]).toBe("Last match of a goalShop (1)–4.2 s0.0 s")
  await page.getByText("FOOTFALL_QUERY_WORKERS").waitFor()
  expect(looked.faults).toEqual([])
})
