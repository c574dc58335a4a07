import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { BROWSER } from "#plugin/test"
import { noBrowser, openDashboard, settled, shown, tabTo } from "#plugin/test/browser"
import pixels from "../pixels.ts"
import { PIXELS } from "./stage.ts"

setDefaultTimeout(40_000)

const GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"

/** Starts a real instance with this plugin and opens it as a user. */
async function openPixels(role: "editor" | "viewer" = "editor") {
  const stand = await openDashboard({ plugins: [pixels] })
  const maker = await stand.signIn({ role: "owner" })
  const cookie = await stand.signIn({ role })
  const ask = async (method: string, path: string, body?: unknown) =>
    (await stand.instance.api.send(method, PIXELS + path, body, undefined, { cookie: maker })).body as Record<string, number & string>
  return {
    ...stand,
    ask,
    look: () => stand.look({ cookie }),
    open: (path: string, agent = BROWSER, address = "198.51.100.7") =>
      stand.instance.fetch(new Request(`http://localhost${path}`, { headers: { "user-agent": agent } }), address),
    [Symbol.asyncDispose]: () => stand[Symbol.asyncDispose](),
  }
}

const figureOf = (page: Page, label: string) =>
  page
    .locator(".figure", { has: page.locator(".figure-label", { hasText: new RegExp(`^${RegExp.escape(label)}$`) }) })
    .locator(".figure-value")
    .textContent()

test.skipIf(noBrowser)("creates a pixel with the keyboard, whose snippet shows an image and counts the open", async () => {
  await using stand = await openPixels()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/pixels")
  await shown(page, "No pixels yet.")
  await tabTo(page, "New pixel")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor()
  await page.keyboard.type("November letter")
  await tabTo(page, "Create pixel")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites/1/pixels/1")
  await settled(page)
  await shown(page, "It does not mean that someone read it.")

  const snippet = (await page.locator("pre.snippet").textContent()) ?? ""
  const [, address = ""] = /^<img src="([^"]+)" width="1" height="1" alt="">$/.exec(snippet) ?? []
  const { pathname } = new URL(address)
  const picture = await stand.open(pathname)
  expect([picture.status, picture.headers.get("content-type"), (await picture.bytes()).length]).toEqual([200, "image/gif", 43])
  await stand.open(pathname, GMAIL)
  await stand.instance.app.collector.recorded()

  await looked.open("/sites/1/pixels/1?period=7d")
  const labels = ["Opens", "Direct", "Proxied", "Prefetched", "Bots (not in opens)"]
  expect(await Promise.all(labels.map((label) => figureOf(page, label)))).toEqual(["2", "1", "1", "0", "0"])
  expect(await stand.ask("GET", "/1/stats?period=7d")).toMatchObject({ opens_total: 2, opens_direct: 1, opens_proxied: 1, bots: 0 })
  await shown(page, "Gmail, proxied")
  await page.getByRole("tab", { name: "Markdown" }).click()
  await shown(page, `![](${address})`)
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("deletes a pixel and undoes it, and explains opens for each kind", async () => {
  await using stand = await openPixels()
  await stand.ask("POST", "", { name: "Badge", kind: "readme" })
  await stand.ask("POST", "", { name: "Feed", kind: "rss" })
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/pixels")
  await page.getByRole("button", { name: "Actions for Feed" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await shown(page, "Feed deleted")
  await page.getByRole("link", { name: "Feed", exact: true }).waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Undo" }).click()
  await page.getByRole("link", { name: "Feed", exact: true }).click()
  await shown(page, "An open means that a feed reader showed the entry or preloaded it.")
  await looked.open("/sites/1/pixels/1")
  await shown(page, "An open means that a page with the README was shown.")
  await page.getByRole("tab", { name: "Markdown", selected: true }).waitFor()
  await shown(page, "/badge.svg)")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("offers no actions to a viewer", async () => {
  await using stand = await openPixels("viewer")
  await stand.ask("POST", "", { name: "Letter", kind: "email", allowed_params: ["issue"] })
  const { slug } = await stand.ask("GET", "/1")
  await stand.open(`/p/${slug}.gif?issue=12&other=1`)
  await stand.instance.app.collector.recorded()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/pixels")
  const row = page.getByRole("row").nth(1).getByRole("cell")
  expect((await row.allTextContents()).slice(0, 4)).toEqual(["1", "1", "0", "0"])
  await page.getByRole("link", { name: "Letter", exact: true }).click()
  await settled(page)
  expect(await page.getByRole("region", { name: "Parameters", exact: true }).locator("tbody tr").allTextContents()).toEqual(["121"])
  for (const name of ["New pixel", "Edit", "Actions for Letter"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0)
  expect(looked.faults).toEqual([])
})
