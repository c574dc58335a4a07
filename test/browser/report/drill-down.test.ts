import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import type { Timeseries } from "../../../src/domain/report.ts"
import type { VisitListResponse } from "../../../src/domain/visit-list.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { openAt, report, type Seen } from "./dashboard-figures.ts"
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

/** Returns where a point is on the screen. Bars stand in the middle of their bucket, points of a line at its edges. */
async function placeOf(page: Page, index: number, count: number, form: "bars" | "line"): Promise<{ x: number; y: number }> {
  const box = (await page.locator(".chart-canvas .u-over").boundingBox())!
  const part = form === "bars" ? (index + 0.5) / count : index / (count - 1)
  return { x: box.x + part * box.width, y: box.y + box.height / 2 }
}

const pointsOf = async (given: Record<string, unknown>): Promise<string[]> =>
  (await report<Timeseries>(seen, "timeseries", { ...given, metrics: ["visitors"] })).points.map(({ time }) => time)

test.skipIf(noBrowser)("a click on a day opens it, and going back restores the period", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const days = await pointsOf({ period: "28d" })
  const { x, y } = await placeOf(page, 20, days.length, "line")
  // Between two points, the closer one is meant.
  await page.mouse.click(x + 4, y)
  await page.waitForURL((url) => url.searchParams.get("from") === days[20] && url.searchParams.get("to") === days[20])
  await page.goBack()
  await page.waitForURL("**?period=28d")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("a drag over days selects them, in either direction", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const days = await pointsOf({ period: "28d" })
  const [start, end] = [await placeOf(page, 10, days.length, "line"), await placeOf(page, 15, days.length, "line")]
  await page.mouse.move(end.x, end.y)
  await page.mouse.down()
  await page.mouse.move((start.x + end.x) / 2, end.y, { steps: 4 })
  await page.mouse.move(start.x, end.y, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL((url) => url.searchParams.get("from") === days[10] && url.searchParams.get("to") === days[15])
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("a click on an hour lists its visits, and a drag those of several hours", async () => {
  await using looking = await openAt(seen, "/sites/1?period=today")
  const { page } = looking
  const { points } = await report<Timeseries>(seen, "timeseries", { period: "today", metrics: ["visits"] })
  const index = points.findIndex(({ visits }) => visits! > 0)
  const day = points[index]!.time.slice(0, 10)
  const hour = Number(points[index]!.time.slice(11, 13))
  const at = await placeOf(page, index, points.length, "bars")
  await page.mouse.click(at.x, at.y)
  await page.waitForURL((url) => url.pathname === "/sites/1/visits")
  const { searchParams } = new URL(page.url())
  expect([searchParams.get("from"), searchParams.get("to"), searchParams.get("cards")]).toEqual([day, day, `hours:${hour}-${hour}`])
  await settled(page)
  const path = `/api/private/sites/1/stats/visits?from=${day}&to=${day}&from_hour=${hour}&to_hour=${hour}&limit=200`
  const { data } = (await seen.stand.instance.api.get(path, undefined, { cookie: seen.cookie })).body as VisitListResponse
  expect(data).toHaveLength(points[index]!.visits!)
  await page.locator(".visits tbody tr").first().waitFor()
  expect(await page.locator(".visits tbody tr").count()).toBe(Math.min(50, data.length))
  await page.getByRole("button", { name: /^Remove Started/ }).click()
  await page.waitForURL((url) => !url.searchParams.has("cards"))

  await looking.open("/sites/1?period=today")
  const [from, to] = [await placeOf(page, 2, points.length, "bars"), await placeOf(page, 5, points.length, "bars")]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y, { steps: 8 })
  await page.mouse.up()
  await page.waitForURL((url) => url.pathname === "/sites/1/visits" && url.searchParams.get("cards") === "hours:2-5")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("a selection of hours over several days narrows the page to these days", async () => {
  await using looking = await openAt(seen, "/sites/1?period=7d&interval=hour")
  const { page } = looking
  const hours = await pointsOf({ period: "7d", interval: "hour" })
  const [start, end] = [await placeOf(page, 30, hours.length, "line"), await placeOf(page, 80, hours.length, "line")]
  await page.mouse.move(start.x, start.y)
  await page.mouse.down()
  await page.mouse.move(end.x, end.y, { steps: 8 })
  await page.mouse.up()
  await page.waitForURL(
    ({ pathname, searchParams }) =>
      pathname === "/sites/1" && searchParams.get("from") === hours[30]!.slice(0, 10) && searchParams.get("to") === hours[80]!.slice(0, 10),
  )
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("the crosshair stands on the point that a click opens, and looks unlike the line of a note", async () => {
  await using looking = await openAt(seen, "/sites/1?period=28d")
  const { page } = looking
  const { length: count } = await pointsOf({ period: "28d" })
  const wanted = await placeOf(page, 20, count, "line")
  await page.mouse.move(wanted.x + 5, wanted.y)
  const line = page.locator(".chart-canvas .u-cursor-x")
  const box = (await line.boundingBox())!
  expect(Math.abs(box.x + box.width - wanted.x)).toBeLessThan(2)
  // Notes are dotted and have the colour of secondary text.
  const looks = await line.evaluate((element) => {
    const { borderRightStyle, borderRightColor } = getComputedStyle(element)
    const probe = document.createElement("span")
    probe.style.color = "var(--ink-2)"
    document.body.append(probe)
    return { style: borderRightStyle, isNoteColour: borderRightColor === getComputedStyle(probe).color }
  })
  expect(looks).toEqual({ style: "solid", isNoteColour: false })
  expect(looking.faults).toEqual([])
})
