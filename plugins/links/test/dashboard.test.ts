import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { BROWSER } from "#plugin/test"
import { noBrowser, openDashboard, settled, shown, tabTo } from "#plugin/test/browser"
import links from "../links.ts"
import { GOOGLEBOT, PATH } from "./kit.ts"

setDefaultTimeout(40_000)

// biome-ignore lint/suspicious/noExplicitAny: answers from which the tests read ids and numbers
type Json = any

/** Starts a real instance with this plugin, a user and visitors. */
async function openLinks(role: "editor" | "viewer" | "owner" = "editor") {
  const stand = await openDashboard({ plugins: [links] })
  const maker = await stand.signIn({ role: "owner" })
  const cookie = role === "owner" ? maker : await stand.signIn({ role })
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> =>
    (await stand.instance.api.send(method, path, body, undefined, { cookie: maker })).body
  return {
    ...stand,
    ask,
    /** Creates a link and returns the answer. */
    make: (body: object) => ask("POST", PATH, body),
    look: (looking = {}) => stand.look({ cookie, ...looking }),
    visit: (path: string, headers: Record<string, string> = {}, address = "198.51.100.7") =>
      stand.instance.fetch(
        new Request(`http://localhost${path}`, { headers: { host: "localhost", "user-agent": BROWSER, ...headers } }),
        address,
      ),
    [Symbol.asyncDispose]: () => stand[Symbol.asyncDispose](),
  }
}

const final = (page: Page) => page.getByLabel("Final address", { exact: true }).textContent()
const figureOf = (page: Page, label: string) => page.locator(".figure", { hasText: label }).locator(".figure-value").textContent()
const slugs = (page: Page) => page.locator("tbody th a").allTextContents()

/** Runs in the page: returns the pixels by which a select is wider than its longest option needs. */
function roomOf(select: HTMLElement): number {
  const whole = select.cloneNode(true) as HTMLElement // the clone of an element is an element
  whole.style.width = "max-content"
  select.after(whole)
  const needed = whole.offsetWidth
  whole.remove()
  return select.offsetWidth - needed
}

test.skipIf(noBrowser)("creates a link with the keyboard, which redirects to the final address shown", async () => {
  await using stand = await openLinks()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/links")
  await shown(page, "No short links yet.")
  await tabTo(page, "New link")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor()
  await page.keyboard.type("https://shop.example/sale?colour=red&utm_medium=print#top")
  await tabTo(page, "Slug")
  await page.keyboard.type("spring")
  await tabTo(page, "Source")
  await page.keyboard.type("news letter")
  await tabTo(page, "Medium")
  await page.keyboard.type("email")
  const wanted = "https://shop.example/sale?colour=red&utm_medium=print&utm_source=news+letter#top"
  expect(await final(page)).toBe(wanted)
  await shown(page, "Available.")
  await tabTo(page, "Create link")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites/1/links/1")
  await settled(page)
  expect((await stand.visit("/l/spring")).headers.get("location")).toBe(wanted)
  expect(await page.getByAltText(/^QR code of/).evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0)
  const png = await page.getByRole("link", { name: "Download PNG" }).getAttribute("href")
  const file = await page.request.get(stand.origin + png)
  expect([file.status(), file.headers()["content-type"]]).toEqual([200, "image/png"])
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("shows which rule matches in a test without counting a click", async () => {
  await using stand = await openLinks("viewer")
  await stand.make({
    destination: "https://shop.example/",
    slug: "ruled",
    rules: [
      { when: { country: ["DE"] }, destination: "https://shop.example/de" },
      { when: { device: ["mobile"] }, destination: "https://m.shop.example/" },
    ],
  })
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/links/1")
  expect(await page.getByLabel("Visitor", { exact: true }).evaluate(roomOf)).toBeGreaterThanOrEqual(0)
  await page.getByText("Place, time and parameters").click()
  const tryAs = async (program: string, country: string) => {
    await page.getByLabel("Visitor", { exact: true }).selectOption({ label: program })
    await page.getByRole("textbox", { name: "Country" }).fill(country)
    await page.getByRole("button", { name: "Run test", exact: true }).click()
    return page.getByLabel("Test result").textContent()
  }
  expect(await tryAs("iPhone", "")).toBe("https://m.shop.example/")
  await shown(page, "Rule 2 matches: redirect with status 302 to")
  expect(await tryAs("iPhone", "de")).toBe("https://shop.example/de")
  await shown(page, "Rule 1 matches")
  expect(await tryAs("Search engine", "")).toBe("https://shop.example/")
  await shown(page, "No rule matches")
  await shown(page, "This would count as a bot click.")
  await stand.instance.app.collector.recorded()
  expect((await stand.ask("GET", `${PATH}/1/stats?period=today`)).clicks.total).toBe(0)
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("shows the numbers of the API on a link's page, and no actions to a viewer", async () => {
  await using stand = await openLinks("viewer")
  await stand.make({ destination: "https://shop.example/", slug: "spring" })
  await stand.visit("/l/spring")
  await stand.visit("/l/spring", {}, "198.51.100.8")
  await stand.visit("/l/spring", { "user-agent": GOOGLEBOT }, "198.51.100.9")
  await stand.instance.app.collector.recorded()
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/links/1?period=7d")
  const { clicks } = await stand.ask("GET", `${PATH}/1/stats?period=7d`)
  expect(clicks).toMatchObject({ human: 2, bot: 1, total: 3, unique: 2 })
  expect([await figureOf(page, "Human clicks"), await figureOf(page, "Bot clicks"), await figureOf(page, "Unique people")]).toEqual([
    "2",
    "1",
    "2",
  ])
  await shown(page, "User agent of a bot")
  expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0)
  await page.getByRole("link", { name: "All links" }).click()
  await page.locator("tbody th a").first().waitFor()
  await settled(page)
  expect(await slugs(page)).toEqual(["spring"])
  expect(
    await page.getByRole("img", { name: "Clicks of spring, 30 days: 2 by people, 1 by bots, at most 2 by people in a day" }).count(),
  ).toBe(1)
  for (const name of ["New link", "Actions for spring"]) expect(await page.getByRole("button", { name }).count()).toBe(0)
  expect(await page.getByRole("checkbox").count()).toBe(0)
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("explains a taken slug and unreadable colours, and how to continue", async () => {
  await using stand = await openLinks()
  await stand.make({ destination: "https://shop.example/", slug: "spring" })
  await using looked = await stand.look()
  const { page } = looked
  await looked.open("/sites/1/links/1")
  await page.getByText("Size and colours").click()
  await page.getByLabel("Colour", { exact: true }).fill("#cccccc")
  await shown(page, "Cameras can't read these colours. Use a contrast of at least 4:1.")
  expect(await page.getByRole("link", { name: "Download SVG" }).count()).toBe(0)
  // The browser also logs the answer that the page has just explained.
  expect(looked.faults.splice(0)).toEqual([
    "console: Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)",
  ])
  await page.getByLabel("Colour", { exact: true }).fill("#003300")
  await page.getByRole("link", { name: "Download SVG" }).waitFor()

  await looked.open("/sites/1/links")
  await page.getByRole("button", { name: "New link" }).click()
  await page.getByLabel("Destination", { exact: true }).fill("https://shop.example/other")
  await page.getByLabel("Slug", { exact: true }).fill("Spring")
  await shown(page, "This slug is taken.")
  await page.getByRole("button", { name: "Spring-2" }).click()
  await shown(page, "Available.")
  await page.getByRole("button", { name: "Create link" }).click()
  await page.waitForURL("**/sites/1/links/2")
  expect((await stand.visit("/l/spring-2")).headers.get("location")).toBe("https://shop.example/other")
  await settled(page)
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)(
  "previews links before the import, archives and restores several at once, and shows a domain's DNS record",
  async () => {
    await using stand = await openLinks("owner")
    await using looked = await stand.look()
    const { page } = looked
    await looked.open("/sites/1/links")
    const more = async (name: string) => {
      await page.getByRole("button", { name: "More about links" }).click()
      await page.getByRole("menuitem", { name }).click()
    }
    await more("Import links")
    await page
      .getByLabel("Or paste the content")
      .fill("slug,destination,tags\none,https://shop.example/1,print\ntwo,javascript:alert(1),\nthree,https://shop.example/3,")
    await page.getByRole("button", { name: "Preview" }).click()
    await shown(page, "Read as plain CSV: 2 rows can be imported, 1 have problems.")
    expect((await stand.ask("GET", PATH)).data).toEqual([])
    await page.getByRole("button", { name: "Import 2 links" }).click()
    await shown(page, "2 links imported, 1 rows failed")
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click()
    await settled(page)
    expect(await slugs(page)).toEqual(["three", "one"])

    for (const slug of ["one", "three"]) await page.getByLabel(`Select ${slug}`).check()
    await page.getByRole("button", { name: "Archive these 2 links" }).click()
    await shown(page, "2 archived")
    expect((await stand.visit("/l/one")).status).toBe(404)
    await shown(page, "No short links yet.")
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("link", { name: "three", exact: true }).waitFor()
    expect((await stand.visit("/l/one")).headers.get("location")).toBe("https://shop.example/1")

    await more("Link domains")
    await page.getByLabel("Host", { exact: true }).fill("go.shop.example")
    await page.getByRole("button", { name: "Add domain" }).click()
    await shown(page, "Add this DNS record")
    const [domain] = (await stand.ask("GET", "/api/private/sites/1/link-domains")).data
    expect(domain.txt_record).toStartWith("footfall-verify=")
    await shown(page, domain.txt_record)
    expect(looked.faults).toEqual([])
  },
)
