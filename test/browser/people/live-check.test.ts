import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser, openVisitor } from "../browser.ts"
import { type DashboardStand, openDashboard, type WatchedPage } from "../report/dashboard-stand.ts"

setDefaultTimeout(60_000)
/** The target is two seconds, but a busy machine may need longer for two browsers at once. */
const SOON = { timeout: 10_000 }

let stand: DashboardStand
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** Serves pages for any host with a snippet in the head, by default the plain tracker of a site. */
function openPages(trackingId: string) {
  const pages = { snippet: `<script defer src="${stand.origin}/js/script.js" data-site="${trackingId}"></script>` }
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(`<!doctype html><title>Page</title>${pages.snippet}`, { headers: { "content-type": "text/html" } }),
  })
  return Object.assign(pages, { port: server.port!, stop: () => server.stop(true) })
}

/** Creates a site in London for a user in Berlin. */
async function newSite(name: string): Promise<{ id: number; tracking_id: string }> {
  const { sites } = stand.instance.app.instance
  const site = await sites.create(stand.instance.site.organization_id, { name, hosts: [`${name}.example`], timezone: "Europe/London" })
  return site
}

async function watch(id: number, role: "owner" | "viewer"): Promise<WatchedPage> {
  const looking = await stand.look({ cookie: await stand.signIn({ role }) })
  await looking.page.goto(`${stand.origin}/sites/${id}?period=today`)
  await looking.page.getByRole("heading", { name: "Installation check" }).waitFor(SOON)
  await looking.page.evaluate(() => Object.assign(window, { isSamePage: true }))
  return looking
}

/** Runs in the page: returns text and state of each line of the check, without clock times. */
const readLines = (): string[] =>
  [...document.querySelectorAll(".check-list li")].map((line) => {
    const said = [...line.children].slice(1).map((part) => part.textContent!.replace(/\b\d\d:\d\d\b/g, "now"))
    return `${line.getAttribute("data-state")}: ${said.join(" ").trim()}`
  })
const lines = (page: Page): Promise<string[]> => page.evaluate(readLines)

const NO_SCRIPT = "waiting: Waiting for the script to load"
const SCRIPT = "ok: Script found at 21 Nov 2026, now"
const NO_EVENT = "waiting: Waiting for the first event. Open a page of your site."
const NO_HOST = "waiting: Domain: checked with the first event"
const UNKNOWN_HOST = "failed: An event arrived from cakes.example, which isn't a host of this site."
const OTHER_ZONE = "failed: Reports use Europe/London (now now). Your browser is in Europe/Berlin (now now)."

test.skipIf(noBrowser)("reports the site's activity line by line, with the actions that each role may take", async () => {
  const site = await newSite("bakery")
  await using owner = await watch(site.id, "owner")
  await using viewer = await watch(site.id, "viewer")
  const both = [owner.page, viewer.page]
  const pages = openPages(site.tracking_id)
  const context = await openVisitor()
  try {
    expect(await lines(viewer.page)).toEqual([NO_SCRIPT, NO_EVENT, NO_HOST, OTHER_ZONE])
    expect(await lines(owner.page)).toEqual([NO_SCRIPT, NO_EVENT, NO_HOST, `${OTHER_ZONE} Change to Europe/Berlin`])
    await owner.page.getByRole("button", { name: "Change to Europe/Berlin" }).click()
    await owner.page.getByText(/^Time zone: Europe/).waitFor(SOON)

    const visitor = await context.newPage()
    // The script loads, but something blocks its events.
    await visitor.route("**/api/event", (route) => route.abort())
    await visitor.goto(`http://bakery.example:${pages.port}/`)
    for (const page of both) await page.getByText(/^Script found at/).waitFor(SOON)
    await viewer.page.getByText("The script loaded on bakery.example, but no event has arrived.").waitFor(SOON)
    await viewer.page.getByText("An ad blocker or a browser extension may block requests to").waitFor(SOON)
    expect((await lines(viewer.page))[0]).toBe(SCRIPT)
    await visitor.goto("about:blank")
    await visitor.unroute("**/api/event")

    await visitor.goto(`http://cakes.example:${pages.port}/`)
    for (const page of both) await page.getByText("An event arrived from cakes.example").waitFor(SOON)
    expect((await lines(viewer.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, UNKNOWN_HOST])
    expect((await lines(owner.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, `${UNKNOWN_HOST}Allow host`])
    await owner.page.getByRole("button", { name: "Allow cakes.example" }).click()
    await owner.page.getByRole("button", { name: "Allow cakes.example" }).waitFor({ state: "detached", ...SOON })
    // A rejected event stays rejected; the next one counts.
    expect((await lines(owner.page)).slice(0, 3)).toEqual([SCRIPT, NO_EVENT, NO_HOST])

    // From then on the dashboard may replace the check at any moment.
    const heard = both.map((page) => page.locator(".check-list", { hasText: "Event pageview on cakes.example/menu" }).waitFor(SOON))
    const ended = owner.page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll(".check-list li[data-state=ok]")].map((line) => line.lastElementChild!.textContent).includes(wanted),
      "Domain: allowed",
      SOON,
    )
    await visitor.goto(`http://cakes.example:${pages.port}/menu`)
    await Promise.all([...heard, ended])
    // The figures update immediately and the cards a little later, without a reload.
    for (const page of both) {
      await page.getByRole("button", { name: /^Visitors 1/ }).waitFor(SOON)
      await page.getByRole("heading", { name: "Sources" }).waitFor({ timeout: 20_000 })
      // At least the event from the unknown host.
      await page.getByRole("button", { name: /^\d dropped$/ }).waitFor(SOON)
      expect(await page.evaluate(() => "isSamePage" in window)).toBe(true)
    }
    expect(owner.faults).toEqual([])
    expect(viewer.faults).toEqual([])
  } finally {
    await context.close()
    await pages.stop()
  }
})

test.skipIf(noBrowser)("counts a visit on localhost with the suggested snippet, and explains why it fails with another one", async () => {
  const { sites } = stand.instance.app.instance
  const site = await sites.create(stand.instance.site.organization_id, { name: "Local", hosts: ["localhost"], timezone: "Europe/Berlin" })
  await using owner = await watch(site.id, "owner")
  const pages = openPages(site.tracking_id)
  const context = await openVisitor()
  try {
    const visitor = await context.newPage()
    await visitor.goto(`http://localhost:${pages.port}/`)
    await owner.page.getByText("The script loaded on localhost, which is a local address.").waitFor(SOON)
    expect((await lines(owner.page))[1]).toBe(
      "failed: The script loaded on localhost, which is a local address. Visits there are only counted if the script element has " +
        "data-local. The snippet above has it, so replace the one on your page.",
    )
    const offered = (await owner.page.getByRole("tabpanel", { name: "HTML" }).locator("pre").first().textContent())!
    expect(offered).toContain(" data-local>")
    // The instance's base URL differs from the port it listens on here.
    pages.snippet = offered.replace(/src="[^"]+"/, `src="${stand.origin}/js/script.js"`)
    const heard = owner.page.locator(".check-list", { hasText: "Event pageview on localhost/start" }).waitFor(SOON)
    await visitor.goto(`http://localhost:${pages.port}/start`)
    await heard
    await owner.page.getByRole("button", { name: /^Visitors 1/ }).waitFor(SOON)
    expect(owner.faults).toEqual([])
  } finally {
    await context.close()
    await pages.stop()
  }
})

test.skipIf(noBrowser)("the check reports a wrong tracking id, and a local address that the site does not list", async () => {
  const site = await newSite("florist")
  await using owner = await watch(site.id, "owner")
  const pages = openPages("00000000-0000-4000-8000-000000000000")
  const context = await openVisitor()
  try {
    const visitor = await context.newPage()
    await visitor.goto(`http://127.0.0.1:${pages.port}/`)
    await owner.page.getByText("Add it to the site's hosts, then replace the snippet").waitFor(SOON)
    await owner.page.getByRole("button", { name: "Allow 127.0.0.1" }).click()
    await owner.page.getByText("The snippet above has it, so replace the one on your page.").waitFor(SOON)
    await owner.page
      .getByText(/ data-local>/)
      .first()
      .waitFor(SOON)

    await visitor.goto(`http://florist.example:${pages.port}/`)
    await owner.page.getByText("An event from florist.example was dropped: unknown site.").waitFor(SOON)
    await owner.page.getByText("The tracking ID in the page's snippet isn't that of this site.").waitFor(SOON)
    expect(owner.faults).toEqual([])
  } finally {
    await context.close()
    await pages.stop()
  }
})
