import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser/browser.ts"
import { openStand, type Stand, type Visit, type VisitOptions } from "./stand.ts"

/** Web vitals as a real browser measures them: `/js/vitals.js`, loaded by the tracker for `data-vitals`. */

setDefaultTimeout(60_000)

let stand: Stand
beforeAll(async () => {
  if (noBrowser) return
  stand = openStand()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const BODY = `<h1>Prices</h1><button>Open</button><p>Text</p><script>
  document.querySelector("button").onclick = () => { const until = performance.now() + 120; while (performance.now() < until); }
</script>`
/** An automated page is always visible, so an attribute of the page hides it. */
const before = () => {
  Object.defineProperty(document, "hidden", { get: () => document.documentElement?.hasAttribute("hidden-now") ?? false })
}

/** Opens a page that is measured, once its script is loaded. */
async function measured(options: VisitOptions = {}): Promise<Visit & { requests: string[] }> {
  const requests: string[] = []
  const visit = await stand.visit({ before, body: BODY, attributes: "data-vitals", ...options })
  visit.page.on("request", (request) => requests.push(new URL(request.url()).pathname))
  await visit.page.reload()
  await visit.page.waitForLoadState("networkidle")
  return Object.assign(visit, { requests })
}

const hide = (page: Page) =>
  page.evaluate(() => {
    document.documentElement.setAttribute("hidden-now", "")
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
const show = (page: Page) =>
  page.evaluate(() => {
    document.documentElement.removeAttribute("hidden-now")
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))
  })
/** Returns the vitals that arrived, once every pending request has. */
async function vitalsOf(visit: Visit): Promise<Record<string, unknown>[]> {
  await visit.names()
  return visit.sent.map(({ body }) => body).filter(({ n }) => n === "vitals")
}

test.skipIf(noBrowser)("measures a page load and sends it once, when the page is first hidden", async () => {
  await using visit = await measured()
  const { page } = visit
  // Something above the text appears, which moves it.
  await page.evaluate(() => document.body.prepend(Object.assign(document.createElement("div"), { style: "height:200px" })))
  await page.waitForTimeout(600)
  await page.getByRole("button").click()
  await page.waitForTimeout(300)
  await hide(page)
  await show(page)
  await hide(page)
  // The first load, which `reload` ended before anything was shown in time, may have been measured too.
  const all = await vitalsOf(visit)
  const { u, f } = all.at(-1)! as { u: string; f: Record<string, number> }
  expect(all.length).toBeWithin(1, 3)
  expect(u).toBe(`${visit.origin}/`)
  expect(Object.keys(f).sort()).toEqual(["cls", "fcp", "inp", "lcp", "ttfb"])
  const { ttfb, fcp, lcp, inp, cls } = f as Record<"ttfb" | "fcp" | "lcp" | "inp" | "cls", number>
  expect(ttfb).toBeGreaterThan(0)
  expect(fcp).toBeGreaterThanOrEqual(ttfb)
  expect(lcp).toBeGreaterThanOrEqual(fcp)
  expect(inp).toBeGreaterThanOrEqual(120)
  expect(cls).toBeGreaterThan(0)
  expect(cls).toBeLessThan(1)
})

test.skipIf(noBrowser)("sends what was measured when the visitor leaves the page", async () => {
  await using visit = await measured({ path: "/leaving" })
  const seen = visit.sent.length
  await visit.page.goto("about:blank")
  await visit.events(seen + 1)
  await Bun.sleep(300)
  const [event] = visit.sent.slice(seen).filter(({ body }) => body.n === "vitals")
  expect(event).toMatchObject({ beacon: true, body: { d: "test", u: `${visit.origin}/leaving`, f: { cls: 0 } } })
  expect(event!.body.f).not.toHaveProperty("inp")
})

test.skipIf(noBrowser)("loads and sends nothing without the attribute", async () => {
  await using plain = await measured({ attributes: "" })
  await hide(plain.page)
  expect(plain.requests.filter((path) => path.startsWith("/js/"))).toEqual(["/js/script.js"])
  expect(await vitalsOf(plain)).toEqual([])
  await using asked = await measured()
  expect(asked.requests.filter((path) => path.startsWith("/js/"))).toEqual(["/js/script.js", "/js/vitals.js"])
})

test.skipIf(noBrowser)("sends nothing about a page that is excluded, also after a navigation without a page load", async () => {
  const attributes = 'data-vitals data-exclude="/private*"'
  await using visit = await measured({ attributes, path: "/private/1" })
  await visit.page.evaluate(() => history.pushState(null, "", "/open"))
  await hide(visit.page)
  expect(await vitalsOf(visit)).toEqual([])
  await using open = await measured({ attributes, path: "/open" })
  await hide(open.page)
  expect((await vitalsOf(open)).length).toBeGreaterThan(0)
})

test.skipIf(noBrowser)("belongs to the page that was loaded, wherever a single-page application navigated since", async () => {
  await using visit = await measured({ path: "/first" })
  await visit.page.evaluate(() => history.pushState(null, "", "/second"))
  await hide(visit.page)
  const all = await vitalsOf(visit)
  expect(all.map(({ u }) => u)).toContain(`${visit.origin}/first`)
  expect(all.map(({ u }) => u)).not.toContain(`${visit.origin}/second`)
})
