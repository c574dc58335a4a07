import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser/browser.ts"
import { openStand, type Stand, type Visit } from "./stand.ts"

setDefaultTimeout(20_000)

let stand: Stand
beforeAll(async () => {
  if (noBrowser) return
  stand = openStand()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** An automated page is always visible and focused, so the test sets both states through attributes of the page. */
const before = () => {
  const has = (name: string) => document.documentElement?.hasAttribute(name) ?? false
  Object.defineProperty(document, "hidden", { get: () => has("hidden-now") })
  document.hasFocus = () => !has("blurred-now") && !has("hidden-now")
}
const TALL = '<div style="height:2400px"></div>'
const start = (options = {}) => stand.visit({ before, frozen: true, body: TALL, head: "<style>body{margin:0}</style>", ...options })

function hide(page: Page): Promise<void> {
  return page.evaluate(() => {
    document.documentElement.setAttribute("hidden-now", "")
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
}
function show(page: Page): Promise<void> {
  return page.evaluate(() => {
    document.documentElement.removeAttribute("hidden-now")
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
}
function blur(page: Page): Promise<void> {
  return page.evaluate(() => {
    document.documentElement.setAttribute("blurred-now", "")
    dispatchEvent(new Event("blur"))
  })
}
function focus(page: Page): Promise<void> {
  return page.evaluate(() => {
    document.documentElement.removeAttribute("blurred-now")
    dispatchEvent(new Event("focus"))
  })
}
async function scrollDown(page: Page, top: number): Promise<void> {
  await page.evaluate(
    (y) =>
      new Promise((resolve) => {
        addEventListener("scroll", resolve, { once: true })
        scrollTo(0, y)
      }),
    top,
  )
}
const engagement = (visit: Visit) => visit.sent.flatMap(({ body: { n, e, sd } }) => (n === "engagement" ? [[e, sd]] : []))

test.skipIf(noBrowser)("reports engaged time and scroll depth when the page is hidden", async () => {
  await using visit = await start()
  await visit.page.clock.runFor(5_000)
  await hide(visit.page)
  const [view, sent] = await visit.events(2)
  expect(sent).toEqual({
    n: "engagement",
    d: "test",
    u: view!.u,
    h: false,
    t: "First",
    e: 5_000,
    // 600 of 2,400 pixels.
    sd: 25,
    o: 0,
    id: expect.any(String),
  })
  expect(sent!.id).not.toBe(view!.id)
})

test.skipIf(noBrowser)("measures no time while the page is hidden or unfocused", async () => {
  await using visit = await start()
  await visit.page.clock.runFor(4_000)
  await hide(visit.page)
  await visit.page.clock.runFor(60_000)
  await show(visit.page)
  await visit.page.clock.runFor(3_500)
  await blur(visit.page)
  await visit.page.clock.runFor(60_000)
  await focus(visit.page)
  await visit.page.clock.runFor(3_000)
  await hide(visit.page)
  await visit.events(4)
  expect(engagement(visit)).toEqual([
    [4_000, 25],
    [3_500, 25],
    [3_000, 25],
  ])
})

test.skipIf(noBrowser)("reports again only after three more seconds or a deeper scroll", async () => {
  await using visit = await start()
  await visit.page.clock.runFor(100)
  await hide(visit.page)
  await show(visit.page)
  await visit.page.clock.runFor(2_000)
  await hide(visit.page)
  await show(visit.page)
  await visit.page.clock.runFor(999)
  await hide(visit.page)
  await show(visit.page)
  await visit.page.clock.runFor(1)
  await hide(visit.page)
  await visit.events(3)
  await show(visit.page)
  await scrollDown(visit.page, 600)
  await scrollDown(visit.page, 0)
  await hide(visit.page)
  await visit.events(4)
  expect(engagement(visit)).toEqual([
    [100, 25],
    [3_000, 25],
    [0, 50],
  ])
})

test.skipIf(noBrowser)("reports the old page before a single-page navigation and starts the new one at zero", async () => {
  await using visit = await start()
  await visit.page.clock.runFor(1_200)
  await scrollDown(visit.page, 1_800)
  await visit.page.evaluate(() => {
    history.pushState(null, "", "/b")
    scrollTo(0, 0)
  })
  await visit.page.clock.runFor(700)
  await hide(visit.page)
  const events = await visit.events(4)
  expect(events.map(({ n, u }) => [n, new URL(String(u)).pathname])).toEqual([
    ["pageview", "/"],
    ["engagement", "/"],
    ["pageview", "/b"],
    ["engagement", "/b"],
  ])
  expect(engagement(visit)).toEqual([
    [1_200, 100],
    [700, 25],
  ])
})

test.skipIf(noBrowser)("measures the height again when the page grows", async () => {
  await using visit = await start({ body: "<div id=content style=height:600px></div>" })
  await visit.page.clock.runFor(1_000)
  await visit.page.evaluate(() => {
    const content = document.getElementById("content")
    if (content) content.style.height = "6000px"
  })
  await visit.page.clock.runFor(400)
  await hide(visit.page)
  await visit.events(2)
  expect(engagement(visit)).toEqual([[1_400, 10]])
})

test.skipIf(noBrowser)("reports with a beacon when the page is left", async () => {
  await using visit = await start()
  await visit.page.clock.runFor(800)
  await visit.page.evaluate((url) => location.assign(url), `http://elsewhere.example:${stand.port}/`)
  await visit.events(2)
  expect(visit.sent.map(({ body, beacon, type }) => [body.n, beacon, type])).toEqual([
    ["pageview", false, "text/plain;charset=UTF-8"],
    ["engagement", true, "text/plain;charset=UTF-8"],
  ])
  expect(engagement(visit)).toEqual([[800, 25]])
})

test.skipIf(noBrowser)("a page in a background tab reports nothing before it is first shown", async () => {
  const hiddenFirst = () => {
    let shown = false
    Object.defineProperty(document, "hidden", { get: () => !shown })
    document.hasFocus = () => shown
    addEventListener("look", () => {
      shown = true
    })
    addEventListener("look-away", () => {
      shown = false
    })
  }
  await using visit = await start({ before: hiddenFirst })
  await visit.page.clock.runFor(5_000)
  await visit.page.evaluate(() => {
    dispatchEvent(new Event("look"))
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
  await visit.page.clock.runFor(2_000)
  await visit.page.evaluate(() => {
    dispatchEvent(new Event("look-away"))
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
  await visit.events(2)
  expect(engagement(visit)).toEqual([[2_000, 25]])
})

test.skipIf(noBrowser)("sends no engagement for a page that is not counted", async () => {
  await using visit = await start({ attributes: 'data-exclude="/secret"', path: "/secret" })
  await visit.page.clock.runFor(9_000)
  await hide(visit.page)
  await show(visit.page)
  await visit.page.evaluate(() => history.pushState(null, "", "/b"))
  await visit.page.clock.runFor(100)
  expect((await visit.events(1)).map(({ n, u }) => [n, u])).toEqual([["pageview", `${visit.origin}/b`]])
})
