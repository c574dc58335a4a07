import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Browser, Page } from "playwright-core"
import { noBrowser, openBrowser, openVisitor } from "./browser.ts"
import { type DashboardStand, openDashboard, type Watched } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)
/** The bar is two seconds; a busy machine may take longer for both browsers at once. */
const SOON = { timeout: 10_000 }
let browser: Browser
let stand: DashboardStand
beforeAll(async () => {
  if (noBrowser) return
  browser = await openBrowser()
  stand = await openDashboard(browser)
}, 30_000)
afterAll(async () => {
  await stand?.[Symbol.asyncDispose]()
  await browser?.close()
})

/** Pages of any host, with the tracker of a site in their heads. */
function openPages(trackingId: string) {
  const tag = `<script defer src="${stand.origin}/js/script.js" data-site="${trackingId}"></script>`
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(`<!doctype html><title>Page</title>${tag}`, { headers: { "content-type": "text/html" } }),
  })
}

/** A new site in London, looked at by somebody from Berlin. */
async function newSite(name: string): Promise<{ id: number; tracking_id: string }> {
  const { sites } = stand.instance.app.instance
  const site = await sites.create(stand.instance.site.organization_id, { name, hosts: [`${name}.example`], timezone: "Europe/London" })
  return site
}

async function watch(id: number, role: "owner" | "viewer"): Promise<Watched> {
  const looking = await stand.look({ cookie: await stand.signIn({ role }) })
  await looking.page.goto(`${stand.origin}/sites/${id}?period=today`)
  await looking.page.getByRole("heading", { name: "Live check" }).waitFor(SOON)
  await looking.page.evaluate(() => Object.assign(window, { isSamePage: true }))
  return looking
}

/** Runs in the page: what each line of the check says, without the time of the clock, and how it stands. */
const readLines = (): string[] =>
  [...document.querySelectorAll(".check-list li")].map((line) => {
    const said = [...line.children].slice(1).map((part) => part.textContent!.replace(/\b\d\d:\d\d\b/g, "now"))
    return `${line.getAttribute("data-state")}: ${said.join(" ").trim()}`
  })
const lines = (page: Page): Promise<string[]> => page.evaluate(readLines)

const NO_SCRIPT = "waiting: Waiting for a page that loads the script"
const SCRIPT = "ok: Script found at 21 Nov 2026, now"
const NO_EVENT = "waiting: Waiting for the first event. Open a page of the site."
const NO_HOST = "waiting: Hosts are checked with the first event"
const STRANGER = "failed: Event arrived from cakes.example, not among the hosts."
const OTHER_ZONE = "failed: Days are counted in Europe/London, where it is now. This browser is in Europe/Berlin, where it is now."

test.skipIf(noBrowser)("what pages of the site do is told line by line while one looks, to each with what they may mend", async () => {
  const site = await newSite("bakery")
  await using owner = await watch(site.id, "owner")
  await using viewer = await watch(site.id, "viewer")
  const both = [owner.page, viewer.page]
  const pages = openPages(site.tracking_id)
  const context = await openVisitor(browser)
  try {
    expect(await lines(viewer.page)).toEqual([NO_SCRIPT, NO_EVENT, NO_HOST, OTHER_ZONE])
    expect(await lines(owner.page)).toEqual([NO_SCRIPT, NO_EVENT, NO_HOST, `${OTHER_ZONE} Use Europe/Berlin`])
    await owner.page.getByRole("button", { name: "Use Europe/Berlin" }).click()
    await owner.page.getByText(/^Time zone fits/).waitFor(SOON)

    const visitor = await context.newPage()
    // The script loads, and something keeps its events back.
    await visitor.route("**/api/event", (route) => route.abort())
    await visitor.goto(`http://bakery.example:${pages.port}/`)
    for (const page of both) await page.getByText(/^Script found at/).waitFor(SOON)
    expect((await lines(viewer.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, NO_HOST])
    await visitor.goto("about:blank")
    await visitor.unroute("**/api/event")

    await visitor.goto(`http://cakes.example:${pages.port}/`)
    for (const page of both) await page.getByText("Event arrived from cakes.example").waitFor(SOON)
    expect((await lines(viewer.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, STRANGER])
    expect((await lines(owner.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, `${STRANGER}Allow`])
    await owner.page.getByRole("button", { name: "Allow cakes.example" }).click()
    await owner.page.getByRole("button", { name: "Allow cakes.example" }).waitFor({ state: "detached", ...SOON })
    // What was refused stays refused: the next one counts.
    expect((await lines(owner.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, NO_HOST])

    // The dashboard may take the place of the check any moment from then on.
    const heard = both.map((page) => page.locator(".check-list", { hasText: "Event pageview on cakes.example/menu" }).waitFor(SOON))
    const ended = owner.page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll(".check-list li[data-state=ok]")].map((line) => line.lastElementChild!.textContent).includes(wanted),
      "The host is among the site's hosts",
      SOON,
    )
    await visitor.goto(`http://cakes.example:${pages.port}/menu`)
    await Promise.all([...heard, ended])
    // The figures above follow at once, the cards a little later, and nobody has loaded anything anew.
    for (const page of both) {
      await page.getByRole("button", { name: /^Visitors 1/ }).waitFor(SOON)
      await page.getByRole("heading", { name: "Sources" }).waitFor({ timeout: 20_000 })
      // At least the one that came from a stranger.
      await page.getByRole("button", { name: /^\d dropped$/ }).waitFor(SOON)
      expect(await page.evaluate(() => "isSamePage" in window)).toBe(true)
    }
    expect(owner.faults).toEqual([])
    expect(viewer.faults).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})
